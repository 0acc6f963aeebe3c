"""What each point of a grid costs as a quantile: by how many records its rank misses the rank asked for.

Reads: records on the grid, entropy. Writes: nothing. Never: a float. Why one record moves costs so little, and why the
draw has the law it should: `quantiles.md`.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from thresher.noise import Entropy, choose_many, uniform


@dataclass(frozen=True, slots=True)
class Cells:
    """Runs of points that cost the same: where each begins, how many points it has (or none), what each costs.

    `spread` is by how much the difference of two costs can change with one record.
    """

    starts: NDArray[np.int64]
    widths: NDArray[np.int64]
    costs: NDArray[np.int64]
    spread: int

    def drawn(self, epsilon: Fraction, size: int, entropy: Entropy) -> NDArray[np.int64]:
        """`size` independent points, each with P proportional to exp(-epsilon cost / spread)."""
        run = choose_many(self.costs, epsilon / self.spread, self.widths, size, entropy)
        return self.starts[run] + uniform(self.widths[run], entropy)


def cells_of(records: NDArray[np.int64], part: Fraction, first: int, last: int) -> Cells:
    """Costs of the points from `first` to `last`; records come in order.

    With part = a / b and n records, cost(g) = max(0, b #{records < g} - a n, a n - b #{records <= g}).
    """
    inside = records[np.searchsorted(records, first) : np.searchsorted(records, last, side="right")]
    # They are in order already: np.unique would sort a million of them again.
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
    """Costs move by max(a, b - a) either way; for the least and the greatest record they all move the same way."""
    numerator, denominator = part.numerator, part.denominator
    return 1 if denominator == 1 else 2 * max(numerator, denominator - numerator)
