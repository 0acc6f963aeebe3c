"""Make up a day on a campus: how many people are in each of five buildings, every five minutes, with two incidents.

    hall    a crowd in the afternoon, from 14:00 to 16:30
    dorms   an outage of the access points in the morning, from 9:40 to 11:10: nobody is counted

Reads: nothing. Writes: a folder with `thresher.toml`. Never: real people. The day is the same in each run.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from thresher.errors import ArgumentError
from thresher.noise import SeededEntropy
from thresher.streams.step_release import StepRecord

STREAM, FILE = "campus", "thresher.toml"
STEPS = 288
_SEED, _JITTER = 288, 8

DECLARATIONS = """\
# What is public about the made-up campus. `docs/streams.md` explains every setting.
[ledger]
url = "sqlite:///ledger.db"

[streams.campus]
states = ["dorms", "hall", "library", "canteen", "gym"]
start = 2026-03-02T00:00:00Z
step_seconds = 300
protect = 288                    # a person who is there all day, in whichever buildings,
epsilon = "1"                    # loses at most this much on that day
budget = "1"
windows = [12]

[streams.campus.alarms.outage]
kind = "low"                     # half an hour with fewer than 3,000 in all, 500 at a time
series = "dorms"
threshold = 3000
window = 6
miss_rate = 0.001
false_alarm_rate = 0.001

[streams.campus.alarms.crowded]
kind = "high"                    # half an hour with more than 18,000 in all, 3,000 at a time
series = "hall"
threshold = 18000
window = 6
miss_rate = 0.001
false_alarm_rate = 0.001
"""


@dataclass(frozen=True, slots=True)
class Campus:
    """Hold the path of the declarations, and the true counts by step and building, known because they are made up."""

    declarations: Path
    buildings: tuple[str, ...]
    counts: NDArray[np.int64]

    def truth(self, record: StepRecord) -> dict[str, int]:
        """Return the true counts of a record's step, by building."""
        return dict(zip(self.buildings, self.counts[record.step].tolist(), strict=True))


def campus_day(folder: Path) -> Campus:
    """Return the campus in `folder`. An empty folder gets a new one; a folder that this demo kept is used again."""
    declarations = folder / FILE
    try:
        folder.mkdir(parents=True, exist_ok=True)
        found = declarations.read_text(encoding="utf-8") if declarations.exists() else None
        if found is None and not any(folder.iterdir()):
            declarations.write_text(DECLARATIONS, encoding="utf-8")
            found = DECLARATIONS
    except (OSError, UnicodeDecodeError):
        rule = "this folder cannot be made or read"
        raise ArgumentError("keep", str(folder), rule, "Name another folder") from None
    if found != DECLARATIONS:
        rule = "the folder is not empty, and does not hold a campus of this demo"
        raise ArgumentError("keep", str(folder), rule, "Name a new folder, or one that this demo kept")
    people = _people()
    return Campus(declarations, tuple(people), np.column_stack(list(people.values())))


def _people() -> dict[str, NDArray[np.int64]]:
    """Return the number of people in each building at each step, with small random changes."""
    expected = {
        "dorms": (5200 - 2400 * _bell(13.0, 4.5)) * (1 - _during(_at(9, 40), _at(11, 10))),
        "hall": 60 + 500 * _bell(10.5, 1.5) + 4300 * _during(_at(14, 0), _at(16, 30)),
        "library": 120 + 2100 * _bell(14.5, 4.0),
        "canteen": 40 + 2400 * _bell(12.5, 0.8) + 1300 * _bell(18.5, 0.9),
        "gym": 30 + 800 * _bell(19.0, 1.8),
    }
    thrown = np.frombuffer(SeededEntropy(_SEED).read(STEPS * len(expected)), dtype=np.uint8)
    jitter = 1 + (thrown.reshape(len(expected), STEPS) % (2 * _JITTER + 1) - float(_JITTER)) / 200
    return {name: (level * jitter[i]).astype(np.int64) for i, (name, level) in enumerate(expected.items())}


def _at(hour: int, minute: int) -> int:
    """Return the step that begins at this time."""
    return hour * 12 + minute // 5


def _bell(centre: float, width: float) -> NDArray[np.float64]:
    """Return a bell curve over the day that is 1 at the hour `centre`, and about one half 1.2 widths from it."""
    return np.exp(-(((np.arange(STEPS) / 12 - centre) / width) ** 2) / 2)


def _during(first: int, last: int) -> NDArray[np.int64]:
    """Return 1 for the steps from `first` up to, and without, `last`, and 0 elsewhere."""
    return np.where(np.isin(np.arange(STEPS), np.arange(first, last)), 1, 0)
