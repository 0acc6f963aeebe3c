"""The smooth median with the constants in print: noise of 8 / epsilon sensitivities, smoothed with all of epsilon.

It loses up to 0.78 % more than epsilon. That is too little to be seen in samples, and plain in the law.
Reads: made-up data. Writes: nothing. Never: a draw; reachable from a release.
"""

import math
from collections.abc import Hashable, Mapping

import numpy as np

from thresher.amounts import Epsilon
from thresher.audit.subjects import Enumerated, Pair, Subject
from thresher.mechanisms.smooth_median import smooth_sensitivity

_EPSILON = Epsilon("0.1")
_CELLS = 4000
_LOT = 110


def subjects() -> tuple[Subject, ...]:
    # As far from the end as the smooth sensitivity of the larger data: the median moves by all of it.
    step = math.exp(-float(_EPSILON) * (_LOT + 1))
    fewer = (0.0,) * _LOT + (step,) * (_LOT + 1)
    pair = Pair("the median crosses a gap as wide as its sensitivity", fewer, (0.0, *fewer))
    about = "the smooth median with the constants in print, by its law"
    return (Enumerated("broken_smooth_median_constants", about, _EPSILON, (pair,), broken_smooth_median_constants),)


def broken_smooth_median_constants(records: tuple[float, ...]) -> Mapping[Hashable, float]:
    """In which cell of [0, 1] the noisy median falls, or that it falls outside and the middle is taken.

    What is wrong: smoothing with all of epsilon leaves nothing for the move of the median itself.
    """
    line, epsilon = sorted(records), float(_EPSILON)
    centre, scale = line[(len(line) + 1) // 2 - 1], 8 / epsilon * smooth_sensitivity(line, 0, 1, epsilon)
    edges = (np.linspace(0, 1, _CELLS + 1) - centre) / scale
    # The difference of two arctangents, without the loss of digits.
    inside = np.arctan2(np.diff(edges), 1 + edges[1:] * edges[:-1]) / math.pi
    outside = (math.atan2(1, -edges[0]) + math.atan2(1, edges[-1])) / math.pi
    return {"outside": outside, **{cell: float(mass) for cell, mass in enumerate(inside)}}
