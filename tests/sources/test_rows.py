"""Rows as they are needed by pictures: whole numbers, one row of each unit, the same from every database."""

from fractions import Fraction

import pytest

from thresher.amounts import Epsilon
from thresher.config import Column, Contribution, Grid, Listed, Referenced, Table, Truth
from thresher.errors import BugError, SourceFailedError
from thresher.question import PublicTable, RowsNeed

PHYSICAL = {"unit": "big", "sick": "bool", "risk": "double", "ward": "text"}
COLUMNS = {
    "sick": Column("sick", Truth()),
    "risk": Column("risk", Grid(Fraction(0), Fraction(1), Fraction(1, 100))),
    "ward": Column("ward", Listed(("eye", "heart"))),
}
LOOSE = Table("scored", COLUMNS, Epsilon(1))
OWNED = Table("scored", COLUMNS, Epsilon(1), contribution=Contribution("unit", 3, 5))
PLACES = ["duckdb", "parquet", "arrow", "postgres", "spark"]


def row(unit, sick, risk, ward="eye"):
    return {"unit": unit, "sick": sick, "risk": risk, "ward": ward}


ROWS = [
    row(1, True, 0.25),
    row(1, True, 0.5),
    row(1, False, 0.75),
    row(2, False, 1.7),
    row(3, None, 0.1),
    row(4, True, None),
    row(5, True, -3.0),
    row(None, True, 0.9),
]


def need(table, *names):
    return RowsNeed(table, tuple(table.columns[name] for name in names))


def listed(source, asked):
    return sorted(map(tuple, source.fetch(asked).unseal().tolist()))


@pytest.mark.parametrize("place", PLACES)
class TestEverywhere:
    def test_rows_that_have_all_columns(self, place, put):
        """Values are clamped and put on their grid; a row with a hole is no row."""
        found = listed(put(place, ROWS, LOOSE, PHYSICAL), need(LOOSE, "sick", "risk"))
        assert found == sorted([(1, 25), (1, 50), (0, 75), (0, 100), (1, 0), (1, 90)])

    def test_one_row_of_each_unit(self, place, put):
        """Whatever else a unit may contribute, here it is one row; a row of nobody is none."""
        found = listed(put(place, ROWS, OWNED, PHYSICAL), need(OWNED, "risk"))
        assert len(found) == 4
        assert sum(code in ((25,), (50,), (75,)) for code in found) == 1
        assert {(100,), (10,), (0,)} <= set(found)

    def test_a_unit_more_adds_one_row_and_moves_no_other(self, place, put):
        more = [*ROWS, row(9, True, 0.33), row(9, False, 0.44)]
        before, after = (listed(put(place, rows, OWNED, PHYSICAL), need(OWNED, "risk")) for rows in (ROWS, more))
        for code in before:
            after.remove(code)
        assert len(after) == 1

    def test_no_rows(self, place, put):
        source = put(place, [], LOOSE, PHYSICAL)
        assert source.fetch(need(LOOSE, "sick", "risk")).unseal().shape == (0, 2)


def test_the_same_rows_from_every_database(put):
    many = [row(k % 40, k % 3 == 0, (k * 37 % 101) / 100) for k in range(200)]
    found = [listed(put(place, many, OWNED, PHYSICAL), need(OWNED, "sick", "risk")) for place in PLACES]
    assert all(each == found[0] for each in found)
    assert len(found[0]) == 40


def test_text_is_not_listed(put):
    source = put("arrow", ROWS, LOOSE, PHYSICAL)
    with pytest.raises((BugError, SourceFailedError)):
        source.fetch(need(LOOSE, "ward"))


def test_a_column_of_public_values_that_nobody_asks_about(put):
    """It decides which row of a person is kept, so its public values are looked up."""
    columns = {**COLUMNS, "ward": Column("ward", Referenced("wards", "name"))}
    table = Table("scored", columns, Epsilon(1), contribution=Contribution("unit", 1, 1))
    source = put("arrow", ROWS, OWNED, PHYSICAL)
    source.public_table = lambda _: PublicTable("wards", {"name": ("eye", "heart")})
    found = listed(source, need(table, "sick", "risk"))
    assert found == listed(source, need(OWNED, "sick", "risk"))
