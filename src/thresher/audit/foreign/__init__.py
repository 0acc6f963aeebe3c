"""Try a mechanism of somebody else: `visitor` calls it on two neighbouring inputs in a separate process.

`neighbours` checks the inputs, `own_process` runs the calls. A mechanism of somebody else is called a visitor here.

Reads: the module that is named. Writes: nothing. Never: lets a mechanism take the audit down.
"""
