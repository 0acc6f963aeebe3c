"""What one noisy margin says about false alarms: a public table of scores, one for every level and weight.

A group is reported if its noisy margin lies above the line, and by a coin if it lies on it. Its score is what the
certificate is charged for it (near the line) or credited (far below it). The scores of all groups are added up as
whole numbers, so that one group's score can be taken out of the sum without a trace.
Reads: noisy margins and coins. Writes: nothing. Never: a promise; those are proved of a table in
`score_verification.py`. Proof: `score_tables.md`.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thresher.errors import BugError
from thresher.noise import conditional_shift
from thresher.noise.chances import CHANCES
from thresher.noise.enclosure import Enclosure, certified, exp_minus

# Scores are counted in units of 2**-20.
SCORE = 1 << 20


@dataclass(frozen=True, slots=True, eq=False)
class ScoreTable:
    """Scores of noisy margins v = h + X at one level, for margins that a unit moves by at most 1.

    reported   v > -steps, or v = -steps and the group's coin, of chance `boundary`, was lucky
    starts     where the bins begin, rising; the first bin has no beginning, and -steps is a bin of its own
    values     the score of each bin, in units of 2**-20; of the bin at -steps first the unlucky, then the lucky one
    """

    level: Fraction
    weight: Fraction
    false_alarm_rate: Fraction
    steps: int
    boundary: Fraction
    starts: NDArray[np.int64]
    values: NDArray[np.int64]

    def __post_init__(self) -> None:
        if self.values.size != self.starts.size + 2 or (np.diff(self.starts) <= 0).any():
            raise BugError("a score table has one score for every bin, two for the bin on the line, and rising bins")
        if not {-self.steps, 1 - self.steps} <= set(self.starts.tolist()):
            raise BugError("the line of a score table is a bin of its own")
        self.starts.setflags(write=False)
        self.values.setflags(write=False)

    @property
    def on_line(self) -> int:
        """Which of the values is that of an unlucky group on the line; the ones after it are reported."""
        return int(np.searchsorted(self.starts, -self.steps)) + 1

    def reported(self, noisy: NDArray[np.int64], lucky: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which groups are reported."""
        reported: NDArray[np.bool_] = (noisy > -self.steps) | ((noisy == -self.steps) & lucky)
        return reported

    def scores(self, noisy: NDArray[np.int64], lucky: NDArray[np.bool_]) -> NDArray[np.int64]:
        """The score of each group, in units of 2**-20."""
        # From the line on, every bin is one place further: the line has two.
        return self.values[np.searchsorted(self.starts, noisy, side="right") + self.reported(noisy, lucky)]

    def with_values(self, values: NDArray[np.int64]) -> "ScoreTable":
        """The same bins with other scores."""
        return replace(self, values=values)


def blank_table(
    level: Fraction, miss_rate: Fraction, false_alarm_rate: Fraction, weight: Fraction, starts: NDArray[np.int64]
) -> ScoreTable:
    """A table of zeros."""
    steps, boundary = line_of(level, miss_rate)
    values = np.zeros(starts.size + 2, dtype=np.int64)
    return ScoreTable(level, weight, false_alarm_rate, steps, boundary, starts, values)


@lru_cache(maxsize=4096)
def line_of(level: Fraction, miss_rate: Fraction) -> tuple[int, Fraction]:
    """The steps and the boundary with which a group at margin 0 is missed with probability `miss_rate`.

    The boundary is rounded up to a whole number of 2**-32, so misses are rarer by less than that.
    """
    steps = conditional_shift(0, level, miss_rate) - 1

    def exact(bits: int) -> int:
        formula: Enclosure = boundary_formula(exp_minus(level, bits), steps, Enclosure.of(miss_rate, bits))
        return formula.floor(CHANCES.bit_length() - 1)

    # The number is transcendental, so it is never whole and the next one is above it.
    return steps, Fraction(min(certified(exact) + 1, CHANCES), CHANCES)


def boundary_formula(p: Any, steps: int, missed: Any) -> Any:
    """The chance at v = -s for which P[0 is not reported] = p^s (1 - chance (1-p)) / (1+p) is the miss rate."""
    return (1 - missed * (1 + p) / p**steps) / (1 - p)
