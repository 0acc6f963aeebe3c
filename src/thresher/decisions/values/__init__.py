"""The numbers behind verdicts, measured together where that is cheaper: `show="values"`.

The default measures one margin for each group, which is cheaper and tells nothing but the verdict.
What may not enter: sources, SQL, the ledger; a mechanism that decides by margins.
"""
