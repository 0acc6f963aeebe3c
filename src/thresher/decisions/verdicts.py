"""What every mechanism gives: a verdict for each group, and at which level it was reached.

In arrays a verdict is 1 (above), 0 (uncertain) or -1 (below); `words` turns it into what a release says.
Reads: noisy margins. Writes: nothing. Never: a true margin, or noise of a level that a group did not need.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import Epsilon
from thresher.guarantee import ABOVE, BELOW, UNCERTAIN, few_digits
from thresher.release import Certificate

SEEN_ABOVE, SEEN_BETWEEN, SEEN_BELOW = 1, 0, -1
_WORDS = {SEEN_ABOVE: ABOVE, SEEN_BETWEEN: UNCERTAIN, SEEN_BELOW: BELOW}


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
class Verdicts:
    """All of it may be shown: it follows from the noisy margins of each group up to the level where it stopped.

    `verdict` is 1 above, 0 uncertain, -1 below. `noisy` is the last noisy margin, empty where no margin was measured;
    `stopped` says which of `levels` that was at, and `steps` is the half width there. A group as far as `clear` on the
    wrong side is rarely reported. Distances are in 1/`scale` of a privacy unit. `denied`: why nothing of it is told.
    """

    verdict: NDArray[np.int8]
    noisy: NDArray[np.int64]
    stopped: NDArray[np.int64]
    steps: NDArray[np.int64]
    levels: tuple[Epsilon, ...]
    scale: int
    worst: Epsilon
    clear: int = 0
    # Noisy margins at the last level, where verdicts were taken earlier than that; and what was certified.
    latest: NDArray[np.int64] | None = None
    certificate: Certificate | None = None
    denied: str = ""

    @property
    def reported(self) -> NDArray[np.bool_]:
        """The groups that are reported: certain ones and uncertain ones."""
        return np.asarray(self.verdict >= SEEN_BETWEEN)

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


def words(verdict: NDArray[np.int8]) -> tuple[str, ...]:
    """Verdicts as a release says them."""
    return tuple(_WORDS[seen] for seen in verdict.tolist())


def opposite(margins: NDArray[np.int64]) -> NDArray[np.int64]:
    """The margins of the complement: 0 or more exactly where these are -1 or less."""
    return -1 - margins


def nothing_read(size: int) -> Verdicts:
    """A rate of half or more needs no data: every group is uncertain, at no loss."""
    nothing = np.zeros(size, dtype=np.int64)
    return Verdicts(nothing.astype(np.int8), nothing, nothing, nothing, (Epsilon(0),), 1, Epsilon(0))
