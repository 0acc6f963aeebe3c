"""Buy a recommendation for the contribution limits of a table. For the curator only.

`suggestion_plan` plans and prices it; the noisy counts and the limits are those of `thresher.mechanisms.people_limits`.
Reads: counts of people. Writes: nothing. Never: thresher.toml, which only a person changes.
"""
