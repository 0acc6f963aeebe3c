"""Right noise, wrong bill: a free retry, overlapping groups charged once, groups that only show if somebody is there.

Reads: entropy. Writes: nothing. Never: reachable from a release.
"""

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import Epsilon
from thresher.audit.subjects import Pair, Sampled, Subject
from thresher.noise import Entropy, discrete_laplace

_EPSILON = Epsilon(1)
_ABSENT = -(1 << 40)


def subjects() -> tuple[Subject, ...]:
    pair = Pair("a count of 10, and of 11", 10, 11)
    both = Pair("one more patient, over 65 and diabetic", (10, 10), (11, 11))
    alone = Pair("somebody is the first of a group", (50, 0), (50, 1))
    return (
        Sampled(
            "broken_free_retry",
            "asked again, answered anew, charged once",
            _EPSILON,
            (pair,),
            broken_free_retry,
            20_000,
        ),
        Sampled(
            "broken_overlapping_groups",
            "groups that share people, charged as if they did not",
            _EPSILON,
            (both,),
            broken_overlapping_groups,
            20_000,
        ),
        Sampled(
            "broken_undeclared_keys",
            "groups listed because somebody is in them",
            _EPSILON,
            (alone,),
            broken_undeclared_keys,
            20_000,
        ),
    )


def broken_free_retry(data: int, runs: int, entropy: Entropy) -> NDArray[np.int64]:
    """What is wrong: the second answer has fresh noise, so two answers cost twice as much as one."""
    return data + discrete_laplace(_EPSILON, 2 * runs, entropy=entropy).reshape(runs, 2)


def broken_overlapping_groups(data: tuple[int, int], runs: int, entropy: Entropy) -> NDArray[np.int64]:
    """What is wrong: the largest charge is enough only where no unit lies in two groups; here the charges add up."""
    return np.array(data) + discrete_laplace(_EPSILON, 2 * runs, entropy=entropy).reshape(runs, 2)


def broken_undeclared_keys(data: tuple[int, ...], runs: int, entropy: Entropy) -> NDArray[np.int64]:
    """What is wrong: noise hides how many there are, and the row itself tells that there is somebody."""
    true = np.array(data)
    noisy = true + discrete_laplace(_EPSILON, true.size * runs, entropy=entropy).reshape(runs, true.size)
    return np.where(true > 0, noisy, _ABSENT)
