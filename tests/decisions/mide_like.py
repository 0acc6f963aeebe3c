"""Counts like those of the paper's campus: 420 groups around a threshold of 2,000, a tenth of them above it."""

import numpy as np

THRESHOLD = 2000
MEDIANS = {"far": 5.5, "mid": 3.5, "near": 1.0}


def mide_like(kind, seed=3, groups=420):
    """Distances from the threshold are log-normal; how far away most groups are is in the name."""
    rng = np.random.default_rng(seed)
    distance = np.ceil(np.exp(rng.normal(MEDIANS[kind], 1.2, groups)))
    sign = np.where(rng.random(groups) < 0.1, 1, -1)
    return np.maximum(THRESHOLD + sign * distance + (sign < 0), 0).astype(np.int64)
