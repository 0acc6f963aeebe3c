"""Releases in which each person sets a budget of their own, and loses at most that.

    roster (public budgets) ─► plan (weights, parts or rates: a function of the roster alone) ─► one or more releases

There are two ways in. Questions about a declared table go through the engine: `budget_classes` (who allows what),
`class_weights` (who counts how much), `weighted_read` (what is read and charged), `personal_counts` and
`personal_verdicts` (the two plans). Plain arrays need no engine and no ledger: `roster`, then a method.

    weighted (the best one), baselines     everybody in proportion to the budget; everybody at one budget
    sampling, count_choice                 the literature's methods
    parts, partition, precision_partition, part_releases     neighbouring budgets released together
    forecast                               the error of each method, known beforehand
    learners/                              models of rows

Read `roster.py` first, then `weighted.md`. Reads: a public roster, private values in its order, entropy. Writes:
nothing. Never: a plan that depends on who is present; a person whose budget is 0; a source, SQL or a ledger.
"""
