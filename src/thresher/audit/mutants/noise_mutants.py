"""Break noise and charges: noise in floats, too little noise, fresh noise without a charge, groups charged once.

Reads: entropy. Writes: nothing. Never: reachable from a release.
"""

import math

import numpy as np
from numpy.typing import NDArray

from thresher.audit.mutants import ONE, by_samples
from thresher.audit.subjects import Pair, Sampled
from thresher.noise import Entropy, discrete_laplace

_SPREAD = 4
_ABSENT = -(1 << 40)


def subjects() -> tuple[Sampled, ...]:
    both = Pair("one more patient, over 65 and diabetic", (10, 10), (11, 11))
    alone = Pair("somebody is the first of a group", (50, 0), (50, 1))
    ten = Pair("a count of 10, and of 11", 10, 11)
    four = Pair("one unit moves the sum by 4", 0, _SPREAD)
    return (
        by_samples(broken_float_laplace, Pair("a count of 0, and of 1", 0, 1)),
        by_samples(broken_square_root_scale, four),
        by_samples(broken_free_retry, ten),
        by_samples(broken_overlapping_groups, both),
        by_samples(broken_undeclared_keys, alone),
    )


def broken_float_laplace(data: int, runs: int, entropy: Entropy) -> NDArray[np.float64]:
    """Add Laplace noise in floats: which floats are possible depends on the true value (Mironov, 2012)."""
    words = np.frombuffer(entropy.read(8 * runs), dtype=np.uint64) >> np.uint64(11)
    signs = np.where(np.frombuffer(entropy.read(runs), dtype=np.uint8) & 1, 1.0, -1.0)
    return data + signs * np.log((words + 1) / 2.0**53)


def broken_square_root_scale(data: int, runs: int, entropy: Entropy) -> NDArray[np.int64]:
    """Scale the noise by the root of the sensitivity; pure privacy needs the sensitivity itself."""
    return data + discrete_laplace(ONE.fraction, runs, math.isqrt(_SPREAD), entropy)


def broken_free_retry(data: int, runs: int, entropy: Entropy) -> NDArray[np.int64]:
    """Answer twice with fresh noise and charge once; two answers cost twice as much."""
    return data + discrete_laplace(ONE, 2 * runs, entropy=entropy).reshape(runs, 2)


def broken_overlapping_groups(data: tuple[int, int], runs: int, entropy: Entropy) -> NDArray[np.int64]:
    """Charge the largest of two groups that share people; the charges of such groups add up."""
    return np.array(data) + discrete_laplace(ONE, 2 * runs, entropy=entropy).reshape(runs, 2)


def broken_undeclared_keys(data: tuple[int, ...], runs: int, entropy: Entropy) -> NDArray[np.int64]:
    """List a group only if somebody is in it: the noise hides how many, but the row shows that there is somebody."""
    true = np.array(data)
    noisy = true + discrete_laplace(ONE, true.size * runs, entropy=entropy).reshape(runs, true.size)
    return np.where(true > 0, noisy, _ABSENT)
