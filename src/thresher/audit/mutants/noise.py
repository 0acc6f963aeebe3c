"""Broken noise: floating-point Laplace noise, and noise that grows with the root of the sensitivity.

Reads: entropy. Writes: nothing. Never: reachable from a release.
"""

import math

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import Epsilon
from thresher.audit.subjects import Pair, Sampled, Subject
from thresher.noise import Entropy, discrete_laplace

_EPSILON = Epsilon(1)
_SPREAD = 4


def subjects() -> tuple[Subject, ...]:
    count = Pair("a count of 0, and of 1", 0, 1)
    four = Pair("one unit moves the sum by 4", 0, _SPREAD)
    return (
        Sampled(
            "broken_float_laplace", "textbook Laplace noise in floats", _EPSILON, (count,), broken_float_laplace, 20_000
        ),
        Sampled(
            "broken_square_root_scale",
            "scale sqrt(4) for a sum that moves by 4",
            _EPSILON,
            (four,),
            broken_square_root_scale,
            20_000,
        ),
    )


def broken_float_laplace(data: int, runs: int, entropy: Entropy) -> NDArray[np.float64]:
    """What is wrong: which floats can come out at all depends on the true value (Mironov, 2012)."""
    words = np.frombuffer(entropy.read(8 * runs), dtype=np.uint64) >> np.uint64(11)
    signs = np.where(np.frombuffer(entropy.read(runs), dtype=np.uint8) & 1, 1.0, -1.0)
    return data + signs * np.log((words + 1) / 2.0**53)


def broken_square_root_scale(data: int, runs: int, entropy: Entropy) -> NDArray[np.int64]:
    """What is wrong: pure privacy needs noise in proportion to the sensitivity, not to its root."""
    return data + discrete_laplace(_EPSILON.fraction, runs, math.isqrt(_SPREAD), entropy)
