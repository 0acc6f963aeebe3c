"""Hold counts with their thresholds, from which the truth of each decision follows.

Reads: nothing. Writes: nothing. Never: counts that somebody must be protected from.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from thresher.decisions.arrays import slack


@dataclass(frozen=True, slots=True, eq=False)
class DataSet:
    """Groups with a count and a threshold each; a group is above if its count is greater."""

    name: str
    counts: NDArray[np.int64]
    thresholds: tuple[Fraction, ...]

    @property
    def margins(self) -> NDArray[np.int64]:
        """0 or more exactly where a group is above."""
        return slack(self.counts, ">", np.array(self.thresholds, dtype=object))
