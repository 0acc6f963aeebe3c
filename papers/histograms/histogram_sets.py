"""Supply histograms to measure on: public ones (DPBench) if the folder has them, and made-up ones.

Made-up histograms are computed, not drawn: heavy tails, steps and three residual plots are the same everywhere.
Reads: parquet files of public data. Writes: nothing. Never: an error for a missing file. A missing folder is an error.
"""

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from thresher.audit.attacks.public_files import columns, lack, must_be_there
from thresher.errors import ArgumentError, SourceError

SOURCE = "dpbench"
# The files of the folder, and the columns that are needed of them.
FILES = {
    "hist_1d.parquet": {"dataset": "string", "bin": "int64", "count": "int64"},
    "hist_2d_nonzero.parquet": {"dataset": "string", "row": "int64", "col": "int64", "count": "int64"},
}
SIDES = (16, 32, 64, 128, 256)
_SIDE = 256
_MOST_BINS = 1 << 20


@dataclass(frozen=True, slots=True, eq=False)
class HistogramSet:
    """A histogram and its name."""

    name: str
    counts: NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class PublicHistograms:
    """The histograms in the folder, in one and in two dimensions, and a sentence for each file that is missing."""

    found: tuple[HistogramSet, ...]
    missing: tuple[str, ...]


def public_histograms(folder: Path | None, side: int = _SIDE) -> PublicHistograms:
    """Read the sets of DPBench: lists of cells by name, and tables of 256 x 256 cells, added up to `side` x `side`.

    The file has the cells of tables that are above zero.
    """
    if side not in SIDES:
        raise ArgumentError("side", side, f"it must be one of {', '.join(map(str, SIDES))}", "Pass 128, say")
    must_be_there(folder)
    found: list[HistogramSet] = []
    missing: list[str] = []
    for name, kinds in FILES.items():
        why = lack(folder, SOURCE, [name])
        if why or folder is None:
            missing.append(f"{SOURCE}/{name} is left out: {why}.")
            continue
        table = columns(folder / SOURCE, name, kinds)
        values = {column: np.asarray(table[column]) for column in kinds}
        found += _sets(values, [column for column in kinds if column not in ("dataset", "count")], name)
    return PublicHistograms(tuple(_coarser(each, side) for each in found), tuple(missing))


def _coarser(data: HistogramSet, side: int) -> HistogramSet:
    if data.counts.ndim == 1 or side == _SIDE:
        return data
    times = _SIDE // side
    return HistogramSet(data.name, data.counts.reshape(side, times, side, times).sum(axis=(1, 3)))


def _sets(values: dict[str, NDArray[np.int64]], axes: list[str], name: str) -> list[HistogramSet]:
    """Return a histogram for each name in the file; a list ends at its last bin, a table has 256 rows and columns."""
    sets = []
    for label in sorted(set(values["dataset"].tolist())):
        mine = values["dataset"] == label
        places, counts = [values[axis][mine] for axis in axes], values["count"][mine]
        sides = (_SIDE, _SIDE) if len(axes) > 1 else (min(int(places[0].max()) + 1, _MOST_BINS),)
        inside = all((place >= 0).all() and (place < side).all() for place, side in zip(places, sides, strict=True))
        if not inside or counts.min() < 0:
            rule = f"counts of 0 or more, in {' by '.join(f'{side:,}' for side in sides)} cells numbered from 0"
            raise SourceError(f"{SOURCE}/{name} cannot be read; it needs {rule}: see docs/reproduce.md")
        table = np.zeros(sides, dtype=np.int64)
        table[tuple(places)] = counts
        sets.append(HistogramSet(str(label), table))
    return sets


def made_up_histograms() -> tuple[HistogramSet, ...]:
    """Return two lists of 512 cells, and three residual plots of 5,000 points on 20 x 20 cells."""
    cells = np.arange(512)
    # 389 has no factor in common with 512, so the places of large counts are shuffled.
    heavy = 100_000 // (1 + cells * 389 % 512) ** 1.3
    steps = np.repeat([0, 40, 3, 250, 0, 90, 12, 1], 64)
    lists = (HistogramSet("heavy tail", heavy.astype(np.int64)), HistogramSet("steps", steps.astype(np.int64)))
    return lists + tuple(
        HistogramSet(name, _plot(spread, bend))
        for name, spread, bend in (("even", 0.0, 0.0), ("fan", 0.8, 0.0), ("curve", 0.0, 1.5))
    )


def _plot(spread: float, bend: float) -> NDArray[np.int64]:
    """Return expected counts of residuals: normal, wider to the right by `spread`, along an arc of height `bend`."""
    side, points, reach = 20, 5000, 3.5
    edges = np.linspace(-reach, reach, side + 1)
    table = np.zeros((side, side), dtype=np.int64)
    for column in range(side):
        x = (column + 0.5) / side
        middle, deviation = bend * (4 * (x - 0.5) ** 2 - 1 / 3), 1 - spread + 2 * spread * x
        below = np.array([0.5 * (1 + math.erf((edge - middle) / deviation / math.sqrt(2))) for edge in edges])
        table[:, column] = np.rint(points / side * np.diff(below)).astype(np.int64)
    return table
