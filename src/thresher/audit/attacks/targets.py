"""Load the histograms that the dissertation attacks, or make up similar ones where there are no data.

Reads: `dpbench/hist_1d.parquet` of a folder of public data. Writes: nothing. Never: protected data, a draw.
Citations: Hay et al., "Principled Evaluation of Differentially Private Algorithms using DPBench", 2016 (the files).
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from thresher.audit.attacks.public_files import columns, lack, must_be_there
from thresher.errors import ArgumentError, SourceError

SOURCE = "dpbench"
_FILE = "hist_1d.parquet"
_COLUMNS = {"dataset": "string", "bin": "int64", "count": "int64"}
_MOST_BINS = 1 << 20
# Names in the files, and in the dissertation.
PUBLIC = {"ADULT": "Adult", "MEDCOST": "MedicalCost", "INCOME": "Income", "HEPTH": "HepPh"}
_CELLS = 4096
# The share of cells that count i is proportional to (i + 1) to the power of minus the first number, i up to the second.
_FALLS = {
    "made-up-steep": (2.895, 20_000),
    "made-up-falling": (2.246, 134_528),
    "made-up-flat": (1.350, 158_489),
    "made-up-crowded": (0.882, 434),
}


@dataclass(frozen=True, slots=True, eq=False)
class Histogram:
    """Hold counts by cell under a name; `printed` is the dissertation's name, if it has one."""

    name: str
    counts: NDArray[np.int64]
    printed: str | None = None

    @property
    def unbroken(self) -> int:
        """Return the k of the dissertation's Table 3.1: all counts from 0 to k occur; -1 if no cell is empty."""
        occurring = np.unique(self.counts)
        places = np.arange(occurring.size)
        return int(np.append(occurring != places, True).argmax()) - 1


@dataclass(frozen=True, slots=True, eq=False)
class Histograms:
    """Hold the histograms to attack, and a sentence on those left out."""

    found: tuple[Histogram, ...]
    missing: str


def histograms(folder: Path | None, name: str | None = None) -> Histograms:
    """Return the histograms of the folder, or made-up ones if it has none; with `name`, only that histogram."""
    must_be_there(folder)
    lacking = lack(folder, SOURCE, [_FILE])
    found = made_up() if folder is None or lacking else _public(folder)
    missing = lacking and f"{', '.join(PUBLIC)} are left out: {lacking}."
    if folder is None:
        missing += f" They need {SOURCE}/{_FILE}."
    if name is None:
        return Histograms(found, missing)
    known = found if not lacking and name in PUBLIC else (*found, *made_up())
    chosen = tuple(one for one in known if one.name == name)[:1]
    if not chosen:
        names = ", ".join(dict.fromkeys(one.name for one in known))
        rule = "no histogram has this name" + (f"; {missing.removesuffix('.')}" if missing else "")
        raise ArgumentError("dataset", name, rule, f"Pass one of {names}")
    return Histograms(chosen, "")


def made_up() -> tuple[Histogram, ...]:
    """Return power laws by their quantiles. They are always the same, because nothing is drawn."""
    return tuple(Histogram(name, _falling(*law)) for name, law in _FALLS.items())


def _falling(exponent: float, most: int) -> NDArray[np.int64]:
    """Return 4,096 cells, with a share of cells that count i near (i + 1) ** -exponent."""
    cumulative = np.cumsum(np.arange(1.0, most + 2.0) ** -exponent)
    middles = (np.arange(_CELLS) + 0.5) / _CELLS
    counts = np.searchsorted(cumulative, middles * cumulative[-1])
    # Put the cells in another order than their counts. An odd stride visits each cell once.
    return np.asarray(counts[np.arange(_CELLS) * 1337 % _CELLS], dtype=np.int64)


def _public(folder: Path) -> tuple[Histogram, ...]:
    table = columns(folder / SOURCE, _FILE, _COLUMNS)
    label, place, count = (np.asarray(table[name]) for name in _COLUMNS)
    lacking = next((name for name in PUBLIC if name not in label), "")
    if lacking:
        raise SourceError(f"{SOURCE}/{_FILE} has no rows of {lacking}. See docs/reproduce.md, or remove the file")
    if place.min() < 0 or place.max() >= _MOST_BINS or count.min() < 0:
        rule = f"counts of 0 or more, in {_MOST_BINS:,} cells numbered from 0"
        raise SourceError(f"{SOURCE}/{_FILE} cannot be read. It needs {rule}. See docs/reproduce.md")
    found = []
    for name, printed in PUBLIC.items():
        cells = place[label == name]
        counts = np.zeros(cells.max() + 1, dtype=np.int64)
        counts[cells] = count[label == name]
        found.append(Histogram(name, counts, printed))
    return tuple(found)
