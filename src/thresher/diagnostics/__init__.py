"""Does the model fit? Residual plots, ROC curves and binned residuals of private rows, as releases that can be drawn.

Reads: arrays, entropy. Writes: nothing. Never: a source, a ledger, a picture made of anything but a release.
"""

from thresher.diagnostics.diagnosis_plan import KINDS, DiagnosisOptions, DiagnosisPlan, plan_diagnosis
from thresher.diagnostics.releases import BinnedResiduals, Diagnostic, ResidualPlot, RocCurve

__all__ = [
    "KINDS",
    "BinnedResiduals",
    "DiagnosisOptions",
    "DiagnosisPlan",
    "Diagnostic",
    "ResidualPlot",
    "RocCurve",
    "plan_diagnosis",
]
