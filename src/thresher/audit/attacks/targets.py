"""The histograms that the dissertation attacks, and made-up ones of the same kind for whoever has no data at hand.

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
# As the files and as the dissertation call them.
PUBLIC = {"ADULT": "Adult", "MEDCOST": "MedicalCost", "INCOME": "Income", "HEPTH": "HepPh"}
_CELLS = 4096
# The share of cells that count i falls as (i + 1) to the power of minus the first number, up to the second.
_FALLS = {
    "made-up-steep": (2.895, 20_000),
    "made-up-falling": (2.246, 134_528),
    "made-up-flat": (1.350, 158_489),
    "made-up-crowded": (0.882, 434),
}


@dataclass(frozen=True, slots=True, eq=False)
class Histogram:
    """Counts by cell under a name; `printed` is what the dissertation calls it, if it does."""

    name: str
    counts: NDArray[np.int64]
    printed: str | None = None

    @property
    def unbroken(self) -> int:
        """The k of the dissertation's Table 3.1: all counts from 0 to k occur; -1 if no cell is empty."""
        occurring = np.unique(self.counts)
        places = np.arange(occurring.size)
        return int(np.append(occurring != places, True).argmax()) - 1


@dataclass(frozen=True, slots=True, eq=False)
class Histograms:
    """What there is to attack, and a sentence on what is left out."""

    found: tuple[Histogram, ...]
    missing: str


def histograms(folder: Path | None, name: str | None = None) -> Histograms:
    """Those of the folder, or made-up ones if none is named or it has not got them; with `name`, only that one."""
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
        rule = "there is no such histogram" + (f"; {missing.removesuffix('.')}" if missing else "")
        raise ArgumentError("dataset", name, rule, f"Pass one of {names}")
    return Histograms(chosen, "")


def made_up() -> tuple[Histogram, ...]:
    """Power laws by their quantiles: the same everywhere, for nothing is drawn."""
    return tuple(Histogram(name, _falling(*law)) for name, law in _FALLS.items())


def _falling(exponent: float, most: int) -> NDArray[np.int64]:
    """4,096 cells, of which a share near (i + 1) ** -exponent counts i."""
    cumulative = np.cumsum(np.arange(1.0, most + 2.0) ** -exponent)
    middles = (np.arange(_CELLS) + 0.5) / _CELLS
    counts = np.searchsorted(cumulative, middles * cumulative[-1])
    # Cells in another order than their counts, as in life: an odd stride visits each once.
    return np.asarray(counts[np.arange(_CELLS) * 1337 % _CELLS], dtype=np.int64)


def _public(folder: Path) -> tuple[Histogram, ...]:
    table = columns(folder / SOURCE, _FILE, _COLUMNS)
    label, place, count = (np.asarray(table[name]) for name in _COLUMNS)
    lacking = next((name for name in PUBLIC if name not in label), "")
    if lacking:
        raise SourceError(f"{SOURCE}/{_FILE} has no rows of {lacking}: see docs/reproduce.md, or take the file away")
    if place.min() < 0 or place.max() >= _MOST_BINS or count.min() < 0:
        rule = f"counts of 0 or more, in {_MOST_BINS:,} cells numbered from 0"
        raise SourceError(f"{SOURCE}/{_FILE} cannot be read; it needs {rule}: see docs/reproduce.md")
    found = []
    for name, printed in PUBLIC.items():
        cells = place[label == name]
        counts = np.zeros(cells.max() + 1, dtype=np.int64)
        counts[cells] = count[label == name]
        found.append(Histogram(name, counts, printed))
    return tuple(found)
