"""The noise itself, gradual release and the ledger's sums on trial.

Reads: entropy. Writes: nothing. Never: a claim of its own.
"""

import math
from collections.abc import Hashable

import numpy as np
from numpy.typing import NDArray

from thresher.accounting import CommonSpending, Grouping, Region, account_loss
from thresher.amounts import Epsilon
from thresher.audit.subjects import Enumerated, Pair, Sampled, Subject
from thresher.noise import Entropy, chain, discrete_laplace, refine

_LEVELS = ("0.3", "1")
_REACH = 60
_COUNT = (Pair("a count of 0, and of 1", 0, 1), Pair("a count of 1000000, and of 999999", 10**6, 10**6 - 1))


def subjects() -> tuple[Subject, ...]:
    both = Pair("one more patient, over 65 and diabetic", (10, 10), (11, 11))
    return (
        Sampled("discrete laplace", "one count", Epsilon(1), _COUNT, _count),
        Sampled("discrete laplace, sum", "a sum that one unit moves by 5", Epsilon(1), (Pair("0, and 5", 0, 5),), _sum),
        Sampled(
            "gradual release, chain", "both looks shown, the last one charged", Epsilon(_LEVELS[1]), _COUNT, _chain
        ),
        Sampled(
            "gradual release, refine", "the same, the second made from the first", Epsilon(_LEVELS[1]), _COUNT, _refine
        ),
        Sampled(
            "two overlapping questions",
            "charged as the ledger adds them up",
            _overlapping_charge(),
            (both,),
            _overlapping,
        ),
        Enumerated("discrete laplace, law", "all outcomes within 60", Epsilon(1), _COUNT[:1], _law, missing=1e-20),
    )


def _count(data: int, runs: int, entropy: Entropy) -> NDArray[np.int64]:
    return data + discrete_laplace(1, runs, entropy=entropy)


def _sum(data: int, runs: int, entropy: Entropy) -> NDArray[np.int64]:
    return data + discrete_laplace(1, runs, 5, entropy)


def _chain(data: int, runs: int, entropy: Entropy) -> NDArray[np.int64]:
    return (data + chain(_LEVELS, runs, entropy=entropy)).T


def _refine(data: int, runs: int, entropy: Entropy) -> NDArray[np.int64]:
    first = discrete_laplace(_LEVELS[0], runs, entropy=entropy)
    return data + np.stack([first, refine(first, *_LEVELS, entropy=entropy)], axis=1)


def _overlapping(data: tuple[int, int], runs: int, entropy: Entropy) -> NDArray[np.int64]:
    return np.array(data) + discrete_laplace(1, 2 * runs, entropy=entropy).reshape(runs, 2)


def _overlapping_charge() -> Epsilon:
    """What an account loses when two overlapping questions of epsilon 1 are asked of it."""
    filters = Region.where([("age", ">=", 65)]), Region.where([("diabetic", "=", "yes")])
    spent = [CommonSpending(Grouping.of_rows([], where), Epsilon(1)) for where in filters]
    return account_loss([loss for each in spent for loss in each.losses()]).loss


def _law(data: int) -> dict[Hashable, float]:
    p = math.exp(-1)
    return {x: (1 - p) / (1 + p) * p ** abs(x - data) for x in range(-_REACH, _REACH + 1)}
