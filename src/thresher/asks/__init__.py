"""What may be asked, before it has a price: one small frozen ask for each kind of question.

    ask (text or names, options) + desk (declarations, public tables, ledger) ─► plan

A module of an ask loads the family that plans it, so the engine imports it when such a question is first asked.
Reads: options, declarations, public tables, the ledger where a price depends on it. Writes: nothing. Never: private
rows; a mechanism's arithmetic.
"""
