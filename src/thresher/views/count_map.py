"""Draw counts that were found against true counts, with characters.

Reads: numbers. Writes: nothing. Never: a truth that is not public; more than 78 columns.
"""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thresher.errors import ArgumentError

_COLUMNS, _ROWS = 60, 18
# The least number of cells in one place, and its character.
_SHADES = ((100, "█"), (10, "●"), (1, "·"))


def count_map(truth: ArrayLike, found: ArrayLike) -> str:
    """Return cells by true count (across) and count found (up), on axes of log(1 + count); exact ones are diagonal."""
    true, seen = np.asarray(truth, dtype=np.int64), np.maximum(np.asarray(found, dtype=np.int64), 0)
    if true.ndim != 1 or true.shape != seen.shape or not true.size:
        rule = "each count that was found needs a true count"
        raise ArgumentError("found", f"{seen.size} counts", rule, f"Pass {true.size} counts")
    most = max(int(true.max()), int(seen.max()), 1)
    cells = np.zeros((_ROWS, _COLUMNS), dtype=np.int64)
    np.add.at(cells, (_places(seen, most, _ROWS), _places(true, most, _COLUMNS)), 1)
    marks = _ticks(most, _ROWS)
    lines = [
        f"  {marks.get(row, ''):>9} │{''.join(map(_shade, cells[row].tolist()))}".rstrip()
        for row in reversed(range(_ROWS))
    ]
    below, free = [" "] * (_COLUMNS + 4), 0
    for place, text in sorted(_ticks(most, _COLUMNS).items()):
        if place >= free and place + len(text) <= len(below):
            below[place : place + len(text)] = text
            free = place + len(text) + 1
    return "\n".join(["  found", *lines, f"  {'':>9} {'─' * (_COLUMNS + 1)}", f"  {'':>9}  {''.join(below)}".rstrip()])


def _places(counts: NDArray[np.int64], most: int, room: int) -> NDArray[np.int64]:
    shares = np.log1p(counts) / math.log1p(most)
    return np.minimum((shares * room).astype(np.int64), room - 1)


def _ticks(most: int, room: int) -> dict[int, str]:
    """Return the places of 0, 1, 10, 100 ... with their text; of two in one place, the first."""
    ticks: dict[int, str] = {}
    for value in [0, *(10**power for power in range(19) if 10**power <= most)]:
        place = int(_places(np.array([value]), most, room)[0])
        ticks.setdefault(place, f"{value:,}")
    return ticks


def _shade(cells: int) -> str:
    return next((mark for least, mark in _SHADES if cells >= least), " ")
