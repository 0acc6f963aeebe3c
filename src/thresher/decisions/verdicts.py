"""What each mechanism returns: a verdict for each group, and the level at which it was reached.

In arrays a verdict is 1 (above), 0 (uncertain) or -1 (below); `words` turns it into what a release says.
Reads: noisy margins. Writes: nothing. Never: a true margin, or noise of a level that a group did not need.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import Epsilon
from thresher.guarantee import ABOVE, BELOW, UNCERTAIN, few_digits
from thresher.release import Certificate, CountBound

SEEN_ABOVE, SEEN_BETWEEN, SEEN_BELOW = 1, 0, -1
_WORDS = {SEEN_ABOVE: ABOVE, SEEN_BETWEEN: UNCERTAIN, SEEN_BELOW: BELOW}


@dataclass(frozen=True, slots=True)
class Level:
    """One look: a group is below if v < -steps, above if v >= certain, and undecided otherwise."""

    epsilon: Epsilon
    steps: int
    certain: int

    def document(self, scale: int) -> dict[str, str]:
        """Return the level for JSON, with the half width in privacy units."""
        return {"epsilon": self.epsilon.to_json(), "half_width": few_digits(Fraction(self.steps, scale))}


@dataclass(frozen=True, slots=True)
class Verdicts:
    """Verdicts, all of which may be shown: they follow from the noisy margins of each group up to where it stopped.

    Distances are in 1/`scale` of a privacy unit.

    verdict    1 above, 0 uncertain, -1 below
    noisy      the last noisy margin of each group; empty if no margin was measured
    stopped    which of the `levels` that was at, and `steps`: the half width there
    worst      what the largest loss could have been
    clear      a group this far short of the threshold is rarely reported
    latest     noisy margins at the last level, if verdicts were taken earlier than that
    denied     why the answer is not released, if a mechanism declines after measuring
    """

    verdict: NDArray[np.int8]
    noisy: NDArray[np.int64]
    stopped: NDArray[np.int64]
    steps: NDArray[np.int64]
    levels: tuple[Epsilon, ...]
    scale: int
    worst: Epsilon
    clear: int = 0
    latest: NDArray[np.int64] | None = None
    certificate: Certificate | None = None
    count_bound: CountBound | None = None
    denied: str = ""

    @property
    def reported(self) -> NDArray[np.bool_]:
        """Tell which groups are reported: those above and those uncertain."""
        return np.asarray(self.verdict >= SEEN_BETWEEN)

    @property
    def certain(self) -> NDArray[np.bool_]:
        """Tell which groups are above."""
        return np.asarray(self.verdict == SEEN_ABOVE)

    @property
    def epsilons(self) -> tuple[Epsilon, ...]:
        """Return what each group lost: for a unit in it, the level where it stopped (ex-post)."""
        return tuple(self.levels[level] for level in self.stopped.tolist())

    @property
    def loss(self) -> Epsilon:
        """Return the largest loss of a group; `worst` is what it could have been."""
        return self.levels[int(self.stopped.max())] if self.stopped.size else Epsilon(0)

    @property
    def half_width(self) -> Fraction:
        """Return the half width reached, of the uncertain groups; 0 if several looks have decided all groups."""
        one_look = self.levels == (self.worst,)
        left = self.steps if one_look else self.steps[self.verdict == SEEN_BETWEEN]
        return Fraction(int(left.max()), self.scale) if left.size else Fraction(0)


def counted_wrong(verdict: NDArray[np.int8], most: int, confidence: Fraction) -> CountBound:
    """Return how many reported groups do not qualify, at most: the uncertain ones, and `most` of those above."""
    above, between = (int((verdict == seen).sum()) for seen in (SEEN_ABOVE, SEEN_BETWEEN))
    return CountBound(between + min(most, above), above + between, confidence)


def words(verdict: NDArray[np.int8]) -> tuple[str, ...]:
    """Return verdicts in the words of a release."""
    return tuple(_WORDS[seen] for seen in verdict.tolist())


def opposite(margins: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the margins of the complement: 0 or more exactly where these are -1 or less."""
    return -1 - margins


def nothing_read(size: int) -> Verdicts:
    """Return verdicts without data: each group is uncertain, at no loss. A rate of half or more allows that."""
    nothing = np.zeros(size, dtype=np.int64)
    return Verdicts(nothing.astype(np.int8), nothing, nothing, nothing, (Epsilon(0),), 1, Epsilon(0))
