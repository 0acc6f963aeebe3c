"""Private streams: a noisy count every step, and all that follows from it without further loss.

    counts ─► perturber ─► noisy counts ─┬► smoothers, windows, monitors, alarms (all of it free)
           └► grouper ───► marks ────────┘

Reads: true counts of one step at a time. Writes: nothing. Never: a true count in what is shown or kept in the clear.
"""
