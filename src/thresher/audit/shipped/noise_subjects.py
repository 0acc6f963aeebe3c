"""Try the noise itself, gradual release and the sums of the ledger.

Reads: entropy. Writes: nothing. Never: sets a charge.
"""

from collections.abc import Hashable, Mapping

import numpy as np
from numpy.typing import NDArray

from thresher.accounting import CommonSpending, Grouping, Region, account_loss
from thresher.amounts import Epsilon
from thresher.audit.laws.noise_laws import laplace_law
from thresher.audit.subjects import Enumerated, Pair, Sampled, Subject
from thresher.noise import Entropy, chain, discrete_laplace, refine

_LEVELS = ("0.3", "1")
_REACH = 60
_COUNT = (Pair("a count of 0, and of 1", 0, 1), Pair("a count of 1000000, and of 999999", 10**6, 10**6 - 1))


def subjects() -> tuple[Subject, ...]:
    both = (Pair("one more patient, over 65 and diabetic", (10, 10), (11, 11)),)
    one, second, charge = Epsilon(1), Epsilon(_LEVELS[1]), _overlapping_charge()
    five, refined = (Pair("0, and 5", 0, 5),), "the same, the second made from the first"
    return (
        Sampled("discrete laplace", "one count", one, _COUNT, _count),
        Sampled("discrete laplace, sum", "a sum that one unit moves by 5", one, five, _sum),
        Sampled("gradual release, chain", "both looks shown, the last one charged", second, _COUNT, _chain),
        Sampled("gradual release, refine", refined, second, _COUNT, _refine),
        Sampled("two overlapping questions", "charged as the ledger adds them up", charge, both, _overlapping),
        Enumerated("discrete laplace, law", "all outcomes within 60", one, _COUNT[:1], _law, missing=1e-20),
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
    """Return what the ledger charges for two overlapping questions of epsilon 1."""
    filters = Region.where([("age", ">=", 65)]), Region.where([("diabetic", "=", "yes")])
    spent = [CommonSpending(Grouping.of_rows([], where), Epsilon(1)) for where in filters]
    return account_loss([loss for each in spent for loss in each.losses()]).loss


def _law(data: int) -> Mapping[Hashable, float]:
    return laplace_law(data, 1.0, _REACH)
