"""Does the model fit? Residual plots, ROC curves and binned residuals of private rows, as releases that can be drawn.

Reads: arrays, entropy. Writes: nothing. Never: a source, a ledger, a picture made of anything but a release.
"""
