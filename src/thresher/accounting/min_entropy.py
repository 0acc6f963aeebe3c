"""Measure min-entropy, a statistic: how unsure the best-informed adversary stays about which group a record is in.

`box_min_entropy` is the paper's (MIDE, Def. 6 with eq. 10), and `dppwlm` chooses its levels by it; `least_entropy`
accepts other relaxations. All assume one group for each record and equal prior odds. Floats are enough here, because no
budget depends on the result.
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

# Beyond this many distinct levels the relaxation alone is within a thousandth of a nat.
_BRANCHED_LEVELS = 512
_MAX_LOOKS = 6_000
_MAX_GROUPS = 10**12
# A single loss of 100 leaves less than 1e-25 nats among that many groups; larger numbers only overflow.
_CERTAINTY = 300.0
# A function of levels in increasing order and the number of groups at each.
Relaxed = Callable[[NDArray[np.float64], NDArray[np.int64]], Relaxation[State]]


@dataclass(frozen=True, slots=True)
class MinEntropy:
    """The least entropy, in nats: between `low` and `high`, and exact up to rounding if the two are equal.

    To use one number, take `low`: the adversary is at least that unsure.
    """

    low: float
    high: float
    groups: int

    @property
    def exact(self) -> bool:
        return self.low == self.high

    @property
    def normalised_low(self) -> float:
        """`low` as a share of ln k, the entropy before any answer; 1 if there is a single group."""
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
    """Return the paper's min-entropy of losses by group; `counts`: how many groups have each loss (default: one)."""
    return least_entropy(BoxRelaxation, losses, counts)


def least_entropy(
    relaxed: Relaxed[State], losses: ArrayLike | Sequence[Epsilon], counts: ArrayLike | None = None
) -> MinEntropy:
    """Return the least entropy by this relaxation; rounding never puts it below 0 or above ln k."""
    levels, sizes = _levels(losses, counts)
    low, high = least(relaxed(levels, sizes), _MAX_LOOKS if levels.size <= _BRANCHED_LEVELS else 0)
    groups = int(sizes.sum())
    most = math.log(groups)
    return MinEntropy(min(max(low, 0.0), most), min(max(high, 0.0), most), groups)


def _levels(
    losses: ArrayLike | Sequence[Epsilon], counts: ArrayLike | None
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the distinct losses in increasing order, and how many groups have each."""
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
        rule = f"it must hold one positive whole number for each loss, at most {_MAX_GROUPS} in all"
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
        rule = "it must list one number or more, a loss for each group (a boolean is not a number)"
        raise ArgumentError("losses", losses, rule, "Pass a one-dimensional array of epsilons")
    numbers = values.astype(np.float64)
    wrong = np.flatnonzero(~(np.isfinite(numbers) & (numbers >= 0)))
    if wrong.size:
        i = int(wrong[0])
        rule = "a loss must be finite, and 0 or more"
        raise ArgumentError(f"losses[{i}]", float(numbers[i]), rule, "Check the mechanism that reported it")
    return np.minimum(numbers, _CERTAINTY)
