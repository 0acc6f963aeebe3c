"""Broken residual plots: a second look at a range that nobody pays for, a box that ends where the data do.

Reads: entropy. Writes: nothing. Never: reachable from a release.
"""

from functools import partial

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import Epsilon
from thresher.audit.shipped.residual_plot import LAW_PAIRS, LOOKS, TOTAL, Rows, looks_law
from thresher.audit.subjects import Enumerated, Pair, Sampled, Subject
from thresher.noise import Entropy, discrete_laplace

_EPSILON = Epsilon(1)


def subjects() -> tuple[Subject, ...]:
    near = tuple((float(i), 0.5 * i) for i in range(8))
    return (
        Enumerated(
            "broken_residual_looks",
            "a second look at the range for nothing",
            TOTAL,
            LAW_PAIRS,
            partial(looks_law, rest=lambda _: TOTAL - LOOKS.epsilon),
            1e-6,
        ),
        Sampled(
            "broken_residual_box",
            "cells between the least and the largest of the data",
            _EPSILON,
            (Pair("one more row, far from all others", near, (*near, (100.0, -50.0))),),
            broken_residual_box,
            20_000,
        ),
    )


def broken_residual_box(rows: Rows, runs: int, entropy: Entropy) -> NDArray[np.int64]:
    """What is wrong: counts are noisy, and one row decides which cells they are counts of."""
    table = np.array(rows)
    counts, _, _ = np.histogram2d(table[:, 0], table[:, 1], bins=2)
    cells = counts.astype(np.int64).ravel()
    noise: NDArray[np.int64] = discrete_laplace(_EPSILON, runs * cells.size, entropy=entropy)
    return np.asarray(cells + noise.reshape(runs, cells.size))
