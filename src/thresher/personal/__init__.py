"""A budget of one's own: releases in which every person loses at most what that person allows.

    roster (public budgets) ─► plan (weights, parts or rates: a function of the roster alone) ─► one or more releases

Reads: a public roster, private values in its order, entropy. Writes: nothing. Never: a plan made by looking at who is
present; a person whose budget is 0.
"""
