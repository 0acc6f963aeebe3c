"""What every mechanism on margins gives: a verdict for each group, and at which level it was reached.

Reads: noisy margins. Writes: nothing. Never: a true margin, or noise of a level that a group did not need.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from thresher.accounting import MinEntropy, box_min_entropy, cone_min_entropy
from thresher.amounts import Epsilon
from thresher.config import decimal_text
from thresher.errors import ArgumentError

Bound = Literal["misses", "false_alarms"]
MISSES: Bound = "misses"
FALSE_ALARMS: Bound = "false_alarms"
SEEN_ABOVE, SEEN_BETWEEN, SEEN_BELOW = 1, 0, -1


@dataclass(frozen=True, slots=True)
class Level:
    """One look: below if v < -steps, above if v >= certain, otherwise it is undecided."""

    epsilon: Epsilon
    steps: int
    certain: int

    def document(self, scale: int) -> dict[str, str]:
        """For JSON; the half width in privacy units."""
        return {"epsilon": self.epsilon.to_json(), "half_width": few_digits(Fraction(self.steps, scale))}


@dataclass(frozen=True, slots=True)
class Certificate:
    """With this confidence, at most `share` of the groups that do not qualify are reported; `aim` was asked for.

    If false alarms are bounded first it is the mirror: at most `share` of those that qualify are left out.
    """

    share: Fraction
    confidence: Fraction
    aim: Fraction

    @property
    def reached(self) -> bool:
        return self.share <= self.aim

    def document(self) -> dict[str, str]:
        """For JSON."""
        return {name: decimal_text(getattr(self, name)) for name in ("share", "confidence", "aim")}


@dataclass(frozen=True, slots=True)
class Verdicts:
    """All of it may be shown: it follows from the noisy margins of each group up to the level where it stopped.

    `verdict` is 1 above, 0 uncertain, -1 below. `noisy` is the last noisy margin, `stopped` says which of `levels` that
    was at, and `steps` is the half width there. A group as far as `clear` on the wrong side is rarely reported. All
    distances are in 1/`scale` of a privacy unit.
    """

    verdict: NDArray[np.int8]
    noisy: NDArray[np.int64]
    stopped: NDArray[np.int64]
    steps: NDArray[np.int64]
    levels: tuple[Epsilon, ...]
    scale: int
    worst: Epsilon
    clear: int = 0
    bound: Bound = MISSES
    # Noisy margins at the last level, where verdicts were taken earlier than that; and what was certified.
    latest: NDArray[np.int64] | None = None
    certificate: Certificate | None = None

    @property
    def reported(self) -> NDArray[np.bool_]:
        """Where misses are bounded, uncertain groups are reported; where false alarms are, they are not."""
        return np.asarray(self.verdict >= (SEEN_BETWEEN if self.bound == MISSES else SEEN_ABOVE))

    @property
    def certain(self) -> NDArray[np.bool_]:
        return np.asarray(self.verdict == SEEN_ABOVE)

    @property
    def epsilons(self) -> tuple[Epsilon, ...]:
        """What each group lost: the level where it stopped (ex-post), for a unit that is in this group."""
        return tuple(self.levels[level] for level in self.stopped.tolist())

    @property
    def loss(self) -> Epsilon:
        """The largest loss of a group; `worst` is what it could have been."""
        return self.levels[int(self.stopped.max())] if self.stopped.size else Epsilon(0)

    @property
    def half_width(self) -> Fraction:
        """The half width reached: that of the groups left uncertain; 0 if several looks have decided them all."""
        one_look = self.levels == (self.worst,)
        left = self.steps if one_look else self.steps[self.verdict == SEEN_BETWEEN]
        return Fraction(int(left.max()), self.scale) if left.size else Fraction(0)

    @property
    def box_min_entropy(self) -> MinEntropy:
        """As in the paper; presumes that a unit is in one group."""
        return box_min_entropy(*self._losses())

    @property
    def cone_min_entropy(self) -> MinEntropy:
        return cone_min_entropy(*self._losses())

    def facing(self, bound: Bound) -> "Verdicts":
        """What was seen in the mirror, turned back."""
        if bound == MISSES:
            return self
        latest = None if self.latest is None else mirrored(self.latest)
        return replace(self, verdict=-self.verdict, noisy=mirrored(self.noisy), latest=latest, bound=bound)

    def _losses(self) -> tuple[list[float], list[int]]:
        groups = np.bincount(self.stopped, minlength=len(self.levels))
        seen = np.flatnonzero(groups)
        return [float(self.levels[i]) for i in seen.tolist()], groups[seen].tolist()


def few_digits(number: Fraction) -> str:
    """For people."""
    return decimal_text(number) if 10**6 % number.denominator == 0 else f"{float(number):.3f}"


def mirrored(margins: NDArray[np.int64]) -> NDArray[np.int64]:
    """The margins of the opposite: it holds (0 or more) exactly where the formula does not (-1 or less)."""
    return -1 - margins


def faced(margins: NDArray[np.int64], bound: Bound) -> NDArray[np.int64]:
    """Margins so turned that a miss is the error to bound. Bounding false alarms is bounding misses in the mirror."""
    return margins if bound == MISSES else mirrored(margins)


def checked_bound(bound: object) -> Bound:
    said = bound.replace("-", "_") if isinstance(bound, str) else ""
    if said not in (MISSES, FALSE_ALARMS):
        raise ArgumentError("bound", bound, "it names the error to bound", f"Pass {MISSES} or {FALSE_ALARMS}")
    return FALSE_ALARMS if said == FALSE_ALARMS else MISSES


def unread(size: int, bound: Bound) -> Verdicts:
    """A rate of half or more needs no data: every group is uncertain, at no loss."""
    nothing = np.zeros(size, dtype=np.int64)
    return Verdicts(nothing.astype(np.int8), nothing, nothing, nothing, (Epsilon(0),), 1, Epsilon(0), 0, bound)
