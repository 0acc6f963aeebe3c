"""Put the cells of a table in the order of Hilbert's curve: cells near in the order are near in the table.

Reads: nothing. Writes: nothing. Never: anything but a shape. Proof: `hilbert.md`.
Citation: Hilbert, "Über die stetige Abbildung einer Linie auf ein Flächenstück", 1891.
"""

import numpy as np
from numpy.typing import NDArray

from thresher.errors import ArgumentError
from thresher.mechanisms.histograms.estimate import MOST_CELLS
from thresher.noise.arguments import checked_whole


def hilbert_order(rows: int, columns: int) -> NDArray[np.int64]:
    """Return the positions in the flattened table, in the order of the curve through the enclosing 2**k square.

    Cells of the square outside the table are left out. Runtime: a sort of the cells.
    """
    height = checked_whole(rows, "rows", 1, MOST_CELLS, "Pass the shape of a table")
    width = checked_whole(columns, "columns", 1, MOST_CELLS, "Pass the shape of a table")
    if height * width > MOST_CELLS:
        rule = f"rows times columns must be at most {MOST_CELLS:,}"
        raise ArgumentError("columns", columns, rule, "Pass the shape of a smaller table")
    row, column = (part.ravel().astype(np.int64) for part in np.indices((height, width)))
    index = np.zeros(row.size, dtype=np.int64)
    side = 1 << (max(height, width) - 1).bit_length()
    half = side >> 1
    while half:
        low_row, low_column = row < half, column < half
        # Quarters in the order of the curve: upper left, upper right, lower right, lower left.
        quarter = np.where(low_row, np.where(low_column, 0, 1), np.where(low_column, 3, 2))
        index = 4 * index + quarter
        row, column = np.where(low_row, row, row - half), np.where(low_column, column, column - half)
        # The first quarter is passed mirrored at one diagonal, the last at the other.
        first, last = quarter == 0, quarter == 3
        row, column = (
            np.where(first, column, np.where(last, half - 1 - column, row)),
            np.where(first, row, np.where(last, half - 1 - row, column)),
        )
        half >>= 1
    return np.argsort(index, kind="stable")
