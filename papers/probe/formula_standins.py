"""Read formulas on public data that stand in for those of the ProBE paper: counts of several conditions by group.

`ABOUT` says what is taken, which groups there are, and the conditions in their order. Thresholds are two standard
deviations above the mean of the groups, as outliers are called in the paper; ranges are round numbers that anyone could
name without the data. Groups that do not occur count 0, and a missing value satisfies no condition.
Reads: parquet and CSV files of public data. Writes: nothing. Never: an error for a missing file. A missing folder is an
error.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from papers.probe.outliers import Counted
from thresher.audit.attacks.public_files import columns, lack, must_be_there

CABS, CAMPUS, SHOP, MALLS = "nyc_green_taxi_2020", "campus_wifi_nus", "online_retail_uk", "istanbul_mall_sales"
ABOUT = {
    CABS: (
        "Green cabs of New York, for the yellow ones of the paper: region of pickup by day, 1 to 14 March 2020. More"
        " than 1,444 trips; more than 210 of fares above 20; more than 614 paid in cash. Ranges 4,000, 500 and 2,000."
    ),
    CAMPUS: (
        "People by Wi-Fi on a campus (Singapore), for the campus of the paper: location by hour of a usual day of week"
        " 4. More than 116 students; more than 24 of the staff. Ranges 500 and 100."
    ),
    SHOP: (
        "Lines of invoices of a shop in Britain, for the market sales of the paper: the 43 items with most lines in the"
        " whole file by day, 14 to 29 November 2011 without Saturdays, when it is closed. More than 15 lines; more than"
        " 7 of a total above 20. Ranges 50 and 20."
    ),
    MALLS: (
        "Sales in malls of Istanbul, for the market sales of the paper: mall by day, 1 March to 30 April 2021. More"
        " than 28 sales; more than 17 to women; more than 11 of clothing. Ranges 100, 50 and 50."
    ),
}
# The columns that are needed of each file, and what they are read as.
FILES = {
    CABS: {
        "trips.parquet": {
            "pickup_time": "timestamp[us]",
            "pickup_region": "int64",
            "fare_amount": "double",
            "payment_type": "int64",
        }
    },
    CAMPUS: {
        "hourly_people.csv": {
            "user_type": "string",
            "week": "string",
            "location": "string",
            "hour": "int64",
            "people": "int64",
        }
    },
    SHOP: {"lines.parquet": {"invoice_time": "timestamp[us]", "stock_code": "string", "net_total": "double"}},
    MALLS: {
        "sales.parquet": {
            "invoice_date": "timestamp[us]",
            "shopping_mall": "string",
            "gender": "string",
            "category": "string",
        }
    },
}
_REGIONS, _HOURS, _ITEMS = 34, 24, 43
_CASH = 2
_SATURDAY = 5


@dataclass(frozen=True, slots=True, eq=False)
class FormulaStandIns:
    """The data in the folder, by the name of the source, with their formulas; a sentence for each missing source."""

    found: dict[str, tuple[Counted, tuple[str, ...]]]
    missing: tuple[str, ...]


def formula_stand_ins(folder: Path | None) -> FormulaStandIns:
    """Read each data set whose file is in the folder. A named folder that does not exist is refused at once."""
    must_be_there(folder)
    found: dict[str, tuple[Counted, tuple[str, ...]]] = {}
    missing = []
    for source, shapes, read in (
        (CABS, ("AND2", "OR2", "AND3"), _cabs),
        (CAMPUS, ("AND2", "OR2"), _campus),
        (SHOP, ("AND2", "OR2"), _shop),
        (MALLS, ("AND3", "OR2"), _malls),
    ):
        ((name, kinds),) = FILES[source].items()
        lacking = lack(folder, source, [name])
        if folder is None or lacking:
            missing.append(f"{source} is left out: {lacking}. It needs {source}/{name}.")
        else:
            found[source] = read(columns(folder / source, name, kinds)), shapes
    return FormulaStandIns(found, tuple(missing))


def _cabs(trips: Any) -> Counted:
    rows = _filled(trips["pickup_region"], 0) - 1
    days, number = _days(trips["pickup_time"], "2020-03-01", "2020-03-15")
    rows = np.where((rows >= 0) & (rows < _REGIONS), rows, -1)
    dear, cash = _filled(trips["fare_amount"], 0.0) > 20, _filled(trips["payment_type"], 0) == _CASH
    every = np.ones(len(rows), dtype=bool)
    return _counted(rows, days, (_REGIONS, number), (every, dear, cash), (1444, 210, 614), (4000, 500, 2000))


def _campus(people: Any) -> Counted:
    rows, number = _codes(people["location"], _names(people["location"]))
    hours = _filled(people["hour"], -1)
    hours = np.where((hours < _HOURS) & _is(people["week"], "week 4"), hours, -1)
    seen = _filled(people["people"], 0)
    amounts = [np.where(_is(people["user_type"], kind), seen, 0) for kind in ("student", "staff")]
    return _counted(rows, hours, (number, _HOURS), amounts, (116, 24), (500, 100))


def _shop(lines: Any) -> Counted:
    import pyarrow.compute as pc  # noqa: PLC0415

    counted = pc.value_counts(lines["stock_code"].drop_null()).to_pylist()
    counted.sort(key=lambda item: (-item["counts"], item["values"]))
    rows, number = _codes(lines["stock_code"], [item["values"] for item in counted[:_ITEMS]])
    open_days = np.arange("2011-11-14", "2011-11-30", dtype="datetime64[D]")
    # Day 0 of numpy's calendar is a Thursday, so 3 more make Monday the first day of a week.
    open_days = open_days[(open_days.astype(np.int64) + 3) % 7 != _SATURDAY]
    times = lines["invoice_time"].to_numpy().astype("datetime64[D]")
    days = np.searchsorted(open_days, times).clip(max=open_days.size - 1)
    days = np.where(open_days[days] == times, days, -1)
    every = np.ones(len(rows), dtype=bool)
    large = _filled(lines["net_total"], 0.0) > 20
    return _counted(rows, days, (number, open_days.size), (every, large), (15, 7), (50, 20))


def _malls(sales: Any) -> Counted:
    rows, number = _codes(sales["shopping_mall"], _names(sales["shopping_mall"]))
    days, length = _days(sales["invoice_date"], "2021-03-01", "2021-05-01")
    every = np.ones(len(rows), dtype=bool)
    amounts = every, _is(sales["gender"], "Female"), _is(sales["category"], "Clothing")
    return _counted(rows, days, (number, length), amounts, (28, 17, 11), (100, 50, 50))


def _counted(
    rows: NDArray[np.int64],
    places: NDArray[np.int64],
    shape: tuple[int, int],
    amounts: Sequence[NDArray[Any]],
    thresholds: Sequence[int],
    ranges: Sequence[int],
) -> Counted:
    """Add up amounts by row and place for each condition; an index below 0 belongs to no group."""
    held = (rows >= 0) & (places >= 0)
    groups = rows[held] * shape[1] + places[held]
    counts = [np.bincount(groups, amount[held], minlength=shape[0] * shape[1]) for amount in amounts]
    return Counted(np.stack(counts), np.array(thresholds, dtype=float), np.array(ranges, dtype=float))


def _days(times: Any, first: str, end: str) -> tuple[NDArray[np.int64], int]:
    """Return the day of the period for each time, -1 outside it, and the number of days."""
    length = int((np.datetime64(end) - np.datetime64(first)) // np.timedelta64(1, "D"))
    days = times.to_numpy().astype("datetime64[D]")
    since = (days - np.datetime64(first)).astype(np.int64)
    return np.where(~np.isnat(days) & (since >= 0) & (since < length), since, -1), length


def _names(column: Any) -> list[str]:
    """Return all names in the file, at any time: a public list."""
    return sorted(column.drop_null().unique().to_pylist())


def _codes(column: Any, names: list[str]) -> tuple[NDArray[np.int64], int]:
    """Return the place of each value in the list, -1 if it is not in it, and the length of the list."""
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.compute as pc  # noqa: PLC0415

    found = pc.index_in(column, value_set=pa.array(names, pa.string()), skip_nulls=True)
    return _filled(found, -1).astype(np.int64), len(names)


def _is(column: Any, value: str) -> NDArray[np.bool_]:
    import pyarrow.compute as pc  # noqa: PLC0415

    return _filled(pc.equal(column, value), fill=False).astype(bool)


def _filled(column: Any, fill: float) -> NDArray[Any]:
    """Return an array with `fill` instead of missing values."""
    import pyarrow.compute as pc  # noqa: PLC0415

    return np.asarray(pc.fill_null(column, fill).to_numpy())
