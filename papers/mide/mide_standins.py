"""Read the paper's four questions from public data that stand in for its own.

The paper's campus and its yellow cabs are not public or not at hand; `ABOUT` says what is taken instead, and where the
thresholds come from. Groups that do not occur count 0.
Reads: parquet and CSV files of public data. Writes: nothing. Never: a file that is not there as an error; a folder
that was named and is not there is one.
"""

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from papers.mide.dataset import DataSet
from thresher.audit.attacks.public_files import columns, lack, must_be_there

CAMPUS, CABS = "campus_wifi_gt", "nyc_green_taxi_2020"
ABOUT = {
    CAMPUS: (
        "Q1 (14 April 2025, a Monday) and Q2 (15 April): Wi-Fi devices on a campus. A group is a building in one hour"
        " from 7 to 21, its count the most devices seen in it at once. No capacities are published: 9/10 of the"
        " building's max_occupancy, the most devices ever seen there, stands in. Thresholds are 1 (H), 0.8 (M) and"
        " 0.6 (L) of it. The paper has 24 buildings, and a day of the weekend as Q2."
    ),
    CABS: (
        "Q3 (1 to 14 March 2020, before the lockdown) and Q4 (15 to 30 March): pickups of green cabs by region and"
        " day. Thresholds are 1 (H), 0.8 (M) and 0.6 (L) of the region's busiest day. The paper takes that day from"
        " January and February, which are missing here, so it is taken from 8 to 14 March, the last week before the"
        " lockdown. (Taken from all of 1 to 14 March, no day of Q3 could be above H.) The paper has yellow cabs."
    ),
}
_LEVELS = {"H": Fraction(1), "M": Fraction(4, 5), "L": Fraction(3, 5)}
_CAPACITY = Fraction(9, 10)
_FIRST_HOUR, _HOURS = 7, 15
_REGIONS = 34
_BUSIEST = "2020-03-08", "2020-03-15"
_DAYS = {"Q1": "2025-04-14", "Q2": "2025-04-15"}
_PERIODS = {"Q3": ("2020-03-01", "2020-03-15"), "Q4": ("2020-03-15", "2020-03-31")}
# The columns that are needed of each file, and what they are read as; codes such as 002 are names, not numbers.
FILES = {
    CAMPUS: {
        "occupancy_10min.parquet": {"time": "timestamp[us]", "building_id": "string", "devices": "int64"},
        "buildings.csv": {"building_id": "string", "max_occupancy": "int64"},
    },
    CABS: {"trips.parquet": {"pickup_time": "timestamp[us]", "pickup_region": "int64"}},
}


@dataclass(frozen=True, slots=True, eq=False)
class StandIns:
    """The data sets in the folder, by the name of their source, and a sentence for each source that is missing."""

    found: dict[str, tuple[DataSet, ...]]
    missing: tuple[str, ...]


def stand_ins(folder: Path | None) -> StandIns:
    """Read each question whose files are in the folder. A named folder that does not exist is refused at once."""
    must_be_there(folder)
    found, missing = {}, []
    for source, questions, read in ((CAMPUS, _DAYS, _campus), (CABS, _PERIODS, _cabs)):
        lacking = lack(folder, source, FILES[source])
        if folder is None or lacking:
            files = " and ".join(f"{source}/{name}" for name in FILES[source])
            missing.append(f"{' and '.join(questions)} are left out: {lacking}. They need {files}.")
        else:
            found[source] = read(folder / source)
    return StandIns(found, tuple(missing))


def _campus(folder: Path) -> tuple[DataSet, ...]:
    import pyarrow.compute as pc  # noqa: PLC0415

    buildings, seen = _rows(folder, "buildings.csv"), _rows(folder, "occupancy_10min.parquet")
    places = pc.index_in(seen["building_id"], value_set=buildings["building_id"].combine_chunks())
    places = pc.fill_null(places, -1).to_numpy()
    times, devices = seen["time"].to_numpy(), seen["devices"].to_numpy()
    capacities = [_CAPACITY * most for most in buildings["max_occupancy"].to_pylist()]
    sets = []
    for question, day in _DAYS.items():
        hours = (times - np.datetime64(day)) // np.timedelta64(1, "h") - _FIRST_HOUR
        held = (places >= 0) & (hours >= 0) & (hours < _HOURS)
        most = np.zeros((len(capacities), _HOURS), dtype=np.int64)
        np.maximum.at(most, (places[held], hours[held]), devices[held])
        sets += _levels(question, most, capacities)
    return tuple(sets)


def _cabs(folder: Path) -> tuple[DataSet, ...]:
    trips = _rows(folder, "trips.parquet")
    rows = trips["pickup_region"].to_numpy() - 1
    days = trips["pickup_time"].to_numpy().astype("datetime64[D]").astype(np.int64)

    def by_day(period: tuple[str, str]) -> NDArray[np.int64]:
        first, end = np.array(period, dtype="datetime64[D]").astype(np.int64).tolist()
        held = (days >= first) & (days < end) & (rows >= 0) & (rows < _REGIONS)
        counts = np.zeros((_REGIONS, end - first), dtype=np.int64)
        np.add.at(counts, (rows[held], days[held] - first), 1)
        return counts

    busiest = [Fraction(most) for most in by_day(_BUSIEST).max(axis=1).tolist()]
    return tuple(data for question, period in _PERIODS.items() for data in _levels(question, by_day(period), busiest))


def _levels(question: str, counts: NDArray[np.int64], highest: list[Fraction]) -> list[DataSet]:
    """Return the three heights of one question; `highest` is the highest threshold of each row."""
    days = counts.shape[1]
    return [
        DataSet(f"{question}{level}", counts.ravel(), tuple(share * line for line in highest for _ in range(days)))
        for level, share in _LEVELS.items()
    ]


def _rows(folder: Path, name: str) -> Any:
    """Return the rows of a file without missing values, as a pyarrow table."""
    return columns(folder, name, FILES[folder.name][name]).drop_null()
