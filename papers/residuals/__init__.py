"""Models that fit and models that do not, for residual plots and binned residuals: the dissertation."""
