"""Models of people who each set a budget of their own: logistic regression, a support vector machine, a linear model.

    membership (roster ─► weights) ─► clipped_rows ─► erm (risks, norm_noise) ─► classifiers ─► estimators
                                                  └──► linear_model ───────────────────────────────┘

Read `membership.py` first: it says who takes part in a fit, and with what weight. The caller keeps count of what is
spent; the engine offers none of this. Reads: a public roster, private rows in its order, entropy. Writes: nothing.
Never: a person whose budget is 0; a choice that depends on rows.
"""
