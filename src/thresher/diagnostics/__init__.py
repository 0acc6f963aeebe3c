"""Does the model fit? Residual plots, ROC curves and binned residuals of private rows, as releases that can be drawn.

    scored_rows ─► roc_curve (curves, roc_price) | binned_residuals (bin_merging, bin_measures) ─┐
    residual_options ─► residual_plot (residual_ranges) ─────────────────────────────────────────┴─► releases
    releases ─► displays (canvas) ─► pictures        releases ─► sparklines        diagnosis_plan: for the engine

Each release holds all that a picture needs, so that it is paid for once and drawn often. `smooth_auc` is a baseline
from the literature. Read `releases.py` first, then `roc_curve.py`.
Reads: arrays, entropy. Writes: pictures of releases. Never: a source, a ledger, a picture of anything but a release.
"""
