"""Releases of known content, as a diagnostic would make them."""

import numpy as np

from thresher.amounts import Epsilon
from thresher.diagnostics.releases import MODEL_CAVEAT, BinnedResiduals, ResidualPlot, RocCurve
from thresher.noise import NOT_PRIVATE

PRICE = {"epsilon": Epsilon("0.25"), "split": {"bins": Epsilon("0.05"), "counts": Epsilon("0.2")}}


def roc(*, stamp="", auc=0.84, points=40):
    across = np.linspace(0, 1, points) ** 2
    return RocCurve(
        **PRICE,
        rows=1234,
        rows_public=True,
        caveats=(MODEL_CAVEAT,),
        stamp=stamp,
        thresholds=np.linspace(1, 0, points)[1:-1],
        false_positive_rate=across,
        true_positive_rate=np.sqrt(across),
        auc=auc,
        positives=600.0,
        negatives=634.0,
    )


def binned(*, stamp="", bins=12):
    edges = np.linspace(0, 1, bins + 1)
    middle = (edges[1:] + edges[:-1]) / 2
    return BinnedResiduals(
        **PRICE,
        rows=1234,
        rows_public=False,
        caveats=("Two standard errors.", MODEL_CAVEAT),
        stamp=stamp,
        edges=edges,
        counts=np.full(bins, 100.0),
        predicted=middle,
        residual=np.where(middle > 0.8, 0.2, 0.01 * np.cos(9 * middle)),
        band=np.full(bins, 0.1),
    )


def residuals(*, stamp="", points=300):
    counts = np.zeros((6, 8), dtype=np.int64)
    counts[2:4] = 30
    counts[1:5, 5:] = 20
    generator = np.random.default_rng(1)
    return ResidualPlot(
        **PRICE,
        rows=1234,
        rows_public=True,
        caveats=(MODEL_CAVEAT,),
        stamp=stamp,
        fitted_range=(-2.0, 6.0),
        residual_range=(-1.5, 1.5),
        counts=counts,
        points=generator.uniform((-2, -1.5), (6, 1.5), (points, 2)),
        histogram="laplace",
    )


MAKERS = {"roc": roc, "binned": binned, "residuals": residuals}
STAMPED = NOT_PRIVATE
