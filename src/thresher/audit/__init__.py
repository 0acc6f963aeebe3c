"""Try to refute the promises of all mechanisms, and show that the testers refute mechanisms known to be broken.

Read in this order:
- `subjects`: what can be put on trial (a claim and the inputs to try it on), and what a trial finds.
- `testers`: one for each kind of claim. `outputs` turns outputs of any kind into numbers for them.
- `shipped`: each mechanism of Thresher on trial. `mutants`: broken mechanisms. `laws`: exact output laws for both.
- `session`: run all trials, as `thresher audit` does. `foreign`: try a mechanism of somebody else.
- `attacks`: read a histogram off a published mechanism that is broken.
Nothing outside of this package and its command imports it. A new mechanism brings a subject and a mutant with it.
Reads: mechanisms and made-up or public data. Writes: nothing. Never: protected data, a ledger of an installation.
"""
