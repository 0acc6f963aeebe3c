"""Min-entropy: how unsure the best-placed adversary must stay about which group a record is in. A statistic.

`box_min_entropy` is that of the paper (MIDE, Def. 6 with eq. 10), by which `dppwlm` chooses its levels; another form
brings its own relaxation. All presume one group for each record and equal prior odds. Floats are right here: no budget
depends on the result.
Reads: losses by group. Writes: nothing. Never: decides what may be spent.
Proof: `min_entropy.md`.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thresher.accounting.branching import Relaxation, State, least
from thresher.accounting.posterior_box import BoxRelaxation
from thresher.amounts import Epsilon
from thresher.errors import ArgumentError

# Beyond so many distinct levels the relaxation alone is already within a thousandth of a nat or better.
_BRANCHED_LEVELS = 512
_MAX_LOOKS = 6_000
_MAX_GROUPS = 10**12
# A single loss of 100 already leaves less than 1e-25 nats among that many groups; larger numbers only overflow.
_CERTAINTY = 300.0
# Made of levels in increasing order and how many groups have each.
Relaxed = Callable[[NDArray[np.float64], NDArray[np.int64]], Relaxation[State]]


@dataclass(frozen=True, slots=True)
class MinEntropy:
    """The least entropy lies between `low` and `high`, in nats; it is exact, up to rounding, if the two are equal.

    Where one number is wanted take `low`: the adversary is at least that unsure.
    """

    low: float
    high: float
    groups: int

    @property
    def exact(self) -> bool:
        return self.low == self.high

    @property
    def normalised_low(self) -> float:
        """As a share of ln k, the entropy of knowing nothing; 1 for a single group, about which nothing is asked."""
        return self._share(self.low)

    @property
    def normalised_high(self) -> float:
        return self._share(self.high)

    def _share(self, entropy: float) -> float:
        return 1.0 if self.groups == 1 else entropy / math.log(self.groups)

    def __str__(self) -> str:
        if self.exact:
            return f"{self.normalised_low:.4f} of ln {self.groups}"
        return f"between {self.normalised_low:.4f} and {self.normalised_high:.4f} of ln {self.groups}"


def box_min_entropy(losses: ArrayLike | Sequence[Epsilon], counts: ArrayLike | None = None) -> MinEntropy:
    """The paper's min-entropy of losses by group; `counts` says how many groups share each loss (default: one each)."""
    return least_entropy(BoxRelaxation, losses, counts)


def least_entropy(
    relaxed: Relaxed[State], losses: ArrayLike | Sequence[Epsilon], counts: ArrayLike | None = None
) -> MinEntropy:
    """The least entropy by this relaxation: never below 0 or above ln k, whatever rounding says."""
    levels, sizes = _levels(losses, counts)
    low, high = least(relaxed(levels, sizes), _MAX_LOOKS if levels.size <= _BRANCHED_LEVELS else 0)
    groups = int(sizes.sum())
    most = math.log(groups)
    return MinEntropy(min(max(low, 0.0), most), min(max(high, 0.0), most), groups)


def _levels(
    losses: ArrayLike | Sequence[Epsilon], counts: ArrayLike | None
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Distinct losses in increasing order, and how many groups have each."""
    values = _checked_losses(losses)
    if counts is None:
        return np.unique(values, return_counts=True)
    groups = np.asarray(counts)
    if (
        groups.shape != values.shape
        or groups.dtype.kind not in "iu"
        or groups.min() < 1
        or groups.max() > _MAX_GROUPS
        or groups.sum(dtype=object) > _MAX_GROUPS
    ):
        rule = "it must hold one positive whole number for each loss"
        raise ArgumentError("counts", counts, rule, "Pass integers, and leave out losses that no group has")
    levels, place = np.unique(values, return_inverse=True)
    totals = np.zeros(levels.size, dtype=np.int64)
    np.add.at(totals, place, groups.astype(np.int64))
    return levels, totals


def _checked_losses(losses: ArrayLike | Sequence[Epsilon]) -> NDArray[np.float64]:
    try:
        values = np.asarray(losses)
    except ValueError:
        raise ArgumentError(
            "losses", losses, "it must be one list of numbers", "Pass a one-dimensional array"
        ) from None
    if values.dtype == object and all(isinstance(loss, Epsilon) for loss in values.flat):
        values = values.astype(np.float64)
    if values.ndim != 1 or values.size == 0 or values.dtype.kind not in "iuf":
        rule = "it must list one number or more, a loss for each group, and a boolean is not a number"
        raise ArgumentError("losses", losses, rule, "Pass a one-dimensional array of epsilons")
    numbers = values.astype(np.float64)
    wrong = np.flatnonzero(~(np.isfinite(numbers) & (numbers >= 0)))
    if wrong.size:
        i = int(wrong[0])
        rule = "a loss is finite and never below zero"
        raise ArgumentError(f"losses[{i}]", float(numbers[i]), rule, "Check the mechanism that reported it")
    return np.minimum(numbers, _CERTAINTY)
