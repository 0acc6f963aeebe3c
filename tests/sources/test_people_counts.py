"""People by how many groups they have rows in, and by their most rows in one group: the same in every source."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sources.places import declared, in_arrow

from thresher.amounts import Epsilon
from thresher.config import Column, Contribution, Grid, Listed, Numbered, Table
from thresher.mechanisms.people_limits import limit_edges, people_in_bins
from thresher.question import PeopleNeed

PHYSICAL = {"who": "int", "w": "text", "n": "int"}
COLUMNS = {
    "w": Column("w", Listed(("a", "b", "c"))),
    "n": Column("n", Grid(Fraction(0), Fraction(3), Fraction(1))),
    "twin": Column("n", Numbered((0, 1, 2))),
}
GROUPS, ROWS = limit_edges(4), limit_edges(6)


def visits(key="w"):
    kept = {name: column for name, column in COLUMNS.items() if name in ("w", "n")}
    if key == "twin":
        kept["n"] = COLUMNS["twin"]
    return Table("visits", kept, Epsilon(1), contribution=Contribution("who", 1, 1))


def need(key, edges=GROUPS):
    table = visits(key)
    keys = {"": (), "twin": (table.columns["n"],)}.get(key) if key in ("", "twin") else (table.columns[key],)
    return PeopleNeed(table, keys, edges, ROWS)


def by_hand(rows, key):
    """The same counts in plain Python. Numbers of a grid are limited to its ends; others must be declared."""
    cells = Counter()
    for row in rows:
        value = {"": "all", "twin": row["n"]}.get(key, row.get(key))
        if key == "n" and value is not None:
            value = min(max(value, 0), 3)
        listed = {"twin": (0, 1, 2), "n": (0, 1, 2, 3)}.get(key, ("a", "b", "c", "all"))
        if row["who"] is not None and value in listed:
            cells[row["who"], value] += 1
    people = {who for who, _ in cells}
    groups = [sum(who == one for who, _ in cells) for one in people]
    most = [max(n for (who, _), n in cells.items() if who == one) for one in people]
    return [*people_in_bins(groups, GROUPS), *people_in_bins(most, ROWS)]


EXAMPLE = [
    *({"who": 1, "w": w, "n": n} for w in "abc" for n in range(5)),
    *({"who": 2, "w": "a", "n": 9} for _ in range(9)),
    {"who": 3, "w": "z", "n": None},
    {"who": None, "w": "a", "n": 1},
    {"who": 4, "w": None, "n": -5},
    {"who": 5, "w": "b", "n": 1},
]


@pytest.mark.parametrize("place", ["duckdb", "parquet", "csv", "arrow", "pandas", "postgres", "spark"])
@pytest.mark.parametrize("key", ["w", "n", "twin", ""])
def test_every_source_counts_the_same_people(place, key, put):
    source = put(place, EXAMPLE, visits(key), PHYSICAL)
    source.check(declared("", visits(key)))
    assert source.fetch(need(key)).unseal()[:, 0].tolist() == by_hand(EXAMPLE, key)


ROW = st.fixed_dictionaries(
    {
        "who": st.sampled_from([1, 2, 3, None]),
        "w": st.sampled_from(["a", "b", "c", "z", None]),
        "n": st.sampled_from([0, 1, 2, 3, 7, None]),
    }
)


@settings(max_examples=60, deadline=None)
@given(st.lists(ROW, max_size=20), st.lists(ROW, min_size=1, max_size=20), st.sampled_from(["w", "n", "twin", ""]))
def test_one_person_more_moves_one_count_of_groups_and_one_of_rows_by_one(rows, more, key):
    """Exact neighbours: whatever rows a person brings, one bin of each kind moves, by one at most."""
    newcomer = [{**row, "who": 99} for row in more]
    counts = []
    for table in (rows, rows + newcomer):
        source = in_arrow(table, visits(key), None, PHYSICAL)
        counts.append(source.fetch(need(key)).unseal()[:, 0])
        source.close()
    assert counts[0].tolist() == by_hand(rows, key)
    moved = counts[1] - counts[0]
    for part in (moved[: len(GROUPS)], moved[len(GROUPS) :]):
        assert np.abs(part).sum() <= 1
        assert part.min() >= 0


def test_an_empty_table_has_nobody(tmp_path):
    source = in_arrow([], visits(), tmp_path, PHYSICAL)
    assert not source.fetch(need("w")).unseal().any()
    source.close()
