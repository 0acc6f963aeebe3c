"""Read public streams that stand in for the dissertation's access points: flights, car parks, people in streets, etc.

Some series of each set are measured one by one, from quiet to busy; all of them are leaves of a binary tree if their
number is a power of two. A missing row counts 0. Steps are those of the file; hours without any row are skipped.
Reads: parquet and CSV files of public data. Writes: nothing. Never: an error for a missing file. A missing folder is an
error.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from papers.streams.stream_data import Counts, StreamSet
from thresher.audit.attacks.public_files import columns, lack, must_be_there
from thresher.errors import SourceError

_SENSORS = 16


@dataclass(frozen=True, slots=True, eq=False)
class PublicStreams:
    """What was found: `singles` from quiet to busy, `trees` with all their leaves; and a sentence for what was not."""

    singles: tuple[StreamSet, ...]
    trees: tuple[StreamSet, ...]
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _File:
    """A file of streams: the series that are measured one by one (none: the least, middle and largest total)."""

    name: str
    place: str
    file: str
    read: Callable[[Path, str], tuple[Counts, tuple[str, ...]]]
    singles: tuple[str, ...]
    about: str
    tree: bool = False


def _other_columns(folder: Path, name: str, leaving: str) -> Any:
    """Return all columns of a parquet file but one, as whole numbers; the file must have that one and another."""
    import pyarrow as pa  # noqa: PLC0415
    from pyarrow import parquet  # noqa: PLC0415

    try:
        names = parquet.read_schema(folder / name).names
    except (pa.ArrowException, OSError):
        names = []
    if leaving not in names or len(set(names)) < max(len(names), 2):
        fix = "see docs/reproduce.md, or take the file away"
        raise SourceError(f"{folder.name}/{name} cannot be read; it needs a column {leaving} and one per series: {fix}")
    table = columns(folder, name, {column: "int64" for column in names if column != leaving})
    if any(column.null_count for column in table.columns):
        raise SourceError(f"{folder.name}/{name} cannot be read; it needs a whole number in every row and column")
    return table


def _wide(time: str) -> Callable[[Path, str], tuple[Counts, tuple[str, ...]]]:
    """Return a reader of files with one column for each series and one for the step."""

    def read(folder: Path, file: str) -> tuple[Counts, tuple[str, ...]]:
        table = _other_columns(folder, file, time)
        return np.stack([np.asarray(column) for column in table.columns], axis=1), tuple(table.column_names)

    return read


def _one(folder: Path, file: str) -> tuple[Counts, tuple[str, ...]]:
    """Read one series from a column called count."""
    return np.asarray(columns(folder, file, {"count": "int64"})["count"])[:, None], ("count",)


def _long(folder: Path, file: str) -> tuple[Counts, tuple[str, ...]]:
    """Read rows of sensors and hours: the sensors with most rows, in the order of their numbers."""
    table = columns(folder, file, {"time": "timestamp[us]", "sensor_id": "int64", "count": "int64"})
    values: dict[str, NDArray[Any]] = {name: np.asarray(table[name]) for name in table.column_names}
    sensors, rows = np.unique(values["sensor_id"], return_counts=True)
    kept = np.sort(sensors[np.lexsort((sensors, -rows))[:_SENSORS]])
    mine = np.isin(values["sensor_id"], kept)
    hours, at = np.unique(values["time"][mine], return_inverse=True)
    counts = np.zeros((len(hours), len(kept)), dtype=np.int64)
    counts[at, np.searchsorted(kept, values["sensor_id"][mine])] = values["count"][mine]
    return counts, tuple(f"sensor {number}" for number in kept.tolist())


_FLIGHTS, _PARKS, _SINGLE = "us_flights_2001", "car_parks_de_2020", "single_streams"
_FILES = (
    _File(
        "flights",
        _FLIGHTS,
        "departures_128_airports_5min.parquet",
        _wide("step"),
        ("PSG", "FAI", "ORD"),
        "departures in 5 minutes from 128 airports of the United States",
        tree=True,
    ),
    _File(
        "car parks",
        _PARKS,
        "arrivals_5min.parquet",
        _wide("time_utc"),
        ("p055", "p014", "p090"),
        "cars that came in 5 minutes to 128 car parks in Germany",
        tree=True,
    ),
    _File(
        "pedestrians",
        "melbourne_pedestrians",
        "hourly_counts.parquet",
        _long,
        (),
        "people in an hour in 16 streets of Melbourne",
        tree=True,
    ),
    _File(
        "tweets",
        _SINGLE,
        "tweet_volume_10_tickers_5min.parquet",
        _wide("time"),
        ("cvs", "crm", "aapl"),
        "tweets in 5 minutes that name a company",
    ),
    _File("entrance", _SINGLE, "calit2_inflow_30min.csv", _one, (), "people entering a building in half an hour"),
    _File("road", _SINGLE, "aarhus_road_158324_5min.csv", _one, (), "vehicles on a road in 5 minutes"),
    _File("bank", _SINGLE, "bank_calls_5min.csv", _one, (), "calls to a bank in 5 minutes"),
    _File("taxis", _SINGLE, "nyc_taxi_passengers_30min.csv", _one, (), "passengers of taxis in half an hour"),
)
# By name of the set: the folder and the file.
PLACES: Mapping[str, str] = MappingProxyType({each.name: f"{each.place}/{each.file}" for each in _FILES})


def public_streams(folder: Path | None, steps: int) -> PublicStreams:
    """Read the last `steps` steps of each set that the folder has."""
    must_be_there(folder)
    if folder is None:
        return PublicStreams((), (), ("Public streams are left out: no folder of data was named.",))
    singles, trees, missing = [], [], []
    for each in _FILES:
        why = lack(folder, each.place, [each.file])
        if why:
            missing.append(f"{each.place}/{each.file} is left out: {why}.")
            continue
        counts, series = each.read(folder / each.place, each.file)
        if not counts.size or counts.min() < 0:
            raise SourceError(f"{each.place}/{each.file} cannot be read; it needs counts of 0 or more in every step")
        chosen = _chosen(counts, series, each.singles, PLACES[each.name])
        names = tuple(series[i] for i in chosen) if len(series) > 1 else (each.name,)
        singles.append(StreamSet(each.name, counts[-steps:, chosen], names, each.about))
        if each.tree:
            trees.append(StreamSet(each.name, counts[-steps:], series, each.about))
    return PublicStreams(tuple(singles), tuple(trees), tuple(missing))


def _chosen(counts: Counts, series: Sequence[str], wanted: Sequence[str], place: str) -> list[int]:
    """Return the places of these series, or of those with the least, the middle and the largest total."""
    if not wanted:
        order = np.argsort(counts.sum(axis=0), kind="stable").tolist()
        return list(dict.fromkeys((order[0], order[len(order) // 2], order[-1])))
    if not set(wanted) <= set(series):
        raise SourceError(f"{place} cannot be read; it needs the columns {', '.join(wanted)}: see docs/reproduce.md")
    return [series.index(name) for name in wanted]
