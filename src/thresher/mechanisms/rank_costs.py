"""Compute the cost of each grid point as a quantile: by how many records its rank misses the rank asked for.

Reads: records on the grid, entropy. Writes: nothing. Never: a float. By how much one record moves a cost, and why the
draw has the right law: `quantiles.md`.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from thresher.noise import Entropy, choose_many, uniform


@dataclass(frozen=True, slots=True)
class Cells:
    """Hold runs of points of equal cost: where each run begins, how many points it has (perhaps none), and the cost.

    One record can change the difference of two costs by `spread` at most.
    """

    starts: NDArray[np.int64]
    widths: NDArray[np.int64]
    costs: NDArray[np.int64]
    spread: int

    def drawn(self, epsilon: Fraction, size: int, entropy: Entropy) -> NDArray[np.int64]:
        """Draw `size` independent points, each with probability proportional to exp(-epsilon cost / spread)."""
        run = choose_many(self.costs, epsilon / self.spread, self.widths, size, entropy)
        return self.starts[run] + uniform(self.widths[run], entropy)


def cells_of(records: NDArray[np.int64], part: Fraction, first: int, last: int) -> Cells:
    """Return the costs of the points from `first` to `last`; `records` are sorted.

    With part = a / b and n records, cost(g) = max(0, b #{records < g} - a n, a n - b #{records <= g}).
    """
    inside = records[np.searchsorted(records, first) : np.searchsorted(records, last, side="right")]
    # The records are sorted already, and np.unique would sort them again.
    changes = np.flatnonzero(np.concatenate([np.ones(min(inside.size, 1), dtype=bool), inside[1:] != inside[:-1]]))
    spots, counts = inside[changes], np.diff(changes, append=inside.size)
    fewer = int(np.searchsorted(records, first))
    upto = fewer + np.cumsum(counts)
    starts, widths, below, most = (np.empty(2 * spots.size + 1, dtype=np.int64) for _ in range(4))
    # Runs without a record, and between them single points with records.
    starts[0::2], starts[1::2] = np.concatenate([[first], spots + 1]), spots
    widths[0::2], widths[1::2] = np.concatenate([spots, [last + 1]]) - starts[0::2], 1
    below[0::2] = most[0::2] = np.concatenate([[fewer], upto])
    below[1::2], most[1::2] = upto - counts, upto
    target = part.numerator * records.size
    costs = np.maximum(np.maximum(part.denominator * below - target, target - part.denominator * most), 0)
    return Cells(starts, widths, costs, spread_of(part))


def spread_of(part: Fraction) -> int:
    """Return 2 max(a, b - a) for part = a / b: one record moves some costs up and others down by max(a, b - a).

    For parts 0 and 1 it is 1, because all costs move the same way.
    """
    numerator, denominator = part.numerator, part.denominator
    return 1 if denominator == 1 else 2 * max(numerator, denominator - numerator)
