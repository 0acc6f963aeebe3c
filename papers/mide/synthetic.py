"""Make groups far from, not so far from and near their thresholds, and list the reference numbers for them.

The data must be the same as in our reference simulation, so they are made by the same calls to numpy's generator.
They are data, not noise: a test checks that no release can reach this file.
Reads: nothing. Writes: nothing. Never: noise.
"""

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from papers.mide.dataset import DataSet

_SEED, _GROUPS, _THRESHOLD = 3, 420, 2000
# The logarithm of the median distance from the threshold.
_DISTANCES = {"far": 5.5, "mid": 3.5, "near": 1.0}
_SPREAD, _SHARE_ABOVE = 1.2, 0.1


class Reference(NamedTuple):
    """Numbers of our reference simulation: means of 20 runs on continuous noise, miss rate 0.05, half width 1."""

    epsilon: float
    box: float
    cone: float
    missed: float
    alarmed: float


_REFERENCES = {
    ("far", "nlm"): Reference(2.303, 0.264, 0.650, 0.0, 0.0),
    ("far", "tslm"): Reference(2.303, 0.264, 0.650, 0.0, 0.0),
    ("far", "ppwlm"): Reference(3.689, 0.496, 0.743, 0.0225, 0.0215),
    ("far", "dppwlm best effort"): Reference(1.263, 0.887, 0.955, 0.0098, 0.0129),
    ("far", "dppwlm strict"): Reference(3.711, 0.378, 0.702, 0.0098, 0.0126),
    ("mid", "tslm"): Reference(2.303, 0.264, 0.650, 0.0, 0.0064),
    ("mid", "ppwlm"): Reference(3.689, 0.247, 0.607, 0.0255, 0.0328),
    ("mid", "dppwlm best effort"): Reference(1.263, 0.725, 0.903, 0.0225, 0.0581),
    ("mid", "dppwlm strict"): Reference(3.711, 0.133, 0.513, 0.0235, 0.0321),
    ("near", "tslm"): Reference(2.303, 0.264, 0.650, 0.0, 0.2791),
    ("near", "ppwlm"): Reference(3.689, 0.035, 0.420, 0.0206, 0.2904),
    ("near", "dppwlm best effort"): Reference(1.263, 0.680, 0.889, 0.0324, 0.5325),
    ("near", "dppwlm strict"): Reference(3.711, 0.016, 0.411, 0.0343, 0.2977),
}


def reference(data: str, mechanism: str) -> Reference | None:
    """Return the numbers of the reference simulation, if there are any."""
    return _REFERENCES.get((data, mechanism))


def synthetic() -> tuple[DataSet, ...]:
    """Return sets of 420 groups, about one in ten above 2,000, at log-normal distances; 2,000 itself is not above."""
    return tuple(_made(name, distance) for name, distance in _DISTANCES.items())


def _made(name: str, distance: float) -> DataSet:
    generator = np.random.default_rng(_SEED)
    away = np.ceil(np.exp(generator.normal(distance, _SPREAD, _GROUPS))).astype(np.int64)
    above = generator.random(_GROUPS) < _SHARE_ABOVE
    counts = np.where(above, _THRESHOLD + away, np.maximum(_THRESHOLD + 1 - away, 0))
    return DataSet(name, counts, (Fraction(_THRESHOLD),) * _GROUPS)
