"""Models fitted to people who each set a budget of their own.

    membership (roster ─► weights) ─► clipped_rows ─► erm (risks, norm_noise) ─► classifiers ─► estimators
                                                  └──► linear_model ───────────────────────────────┘

Reads: a public roster, private rows in its order, entropy. Writes: nothing. Never: a person whose budget is 0; a choice
made by looking at rows.
"""
