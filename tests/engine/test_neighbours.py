"""Neighbouring databases through SQL and source: no unit moves a margin by more than it is charged for.

Exact, not statistical: for random tables and each of their units, the margins with and without that unit are compared.
At most `max_groups` groups may move, each by at most one unit's worth, and none at all where the account says that the
unit does not look: in regions of a fixed column in which it is not.
"""

from dataclasses import replace

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import thresher
from thresher.config import read
from thresher.decisions.decision_plan import truth_of
from thresher.sources.reading import SqlSource

WARDS = ["A", "B", "C"]
QUESTIONS = [
    "SELECT ward FROM stays GROUP BY ward HAVING COUNT(*) > 2",
    "SELECT ward FROM stays GROUP BY ward HAVING SUM(cost) > 3 OR AVG(age) < 5",
    "SELECT ward FROM stays WHERE age > 3 GROUP BY ward HAVING COUNT(*) < 2 AND AVG(cost) >= 1",
    "SELECT ward FROM stays GROUP BY ward HAVING COUNT(DISTINCT person) >= 2 AND COUNT(*) FILTER (WHERE age < 4) <= 1",
    "SELECT ward FROM stays GROUP BY ward HAVING COUNT(*) FILTER (WHERE age < 4) >= 2 "
    "AND COUNT(*) FILTER (WHERE age > 4) >= 3",
    "SELECT ward FROM stays GROUP BY ward HAVING SUM(cost) - 2 * COUNT(DISTINCT person) > 0",
    "SELECT ward, town FROM stays GROUP BY ward, town HAVING NOT (COUNT(*) > 1 AND SUM(age) > 4)",
    "SELECT ward FROM stays WHERE town = 'N' GROUP BY ward HAVING COUNT(*) > 1 OR SUM(cost) < 2",
]

cells = st.tuples(
    st.sampled_from(["p1", "p2", "p3", None]),
    st.sampled_from([*WARDS, "elsewhere", None]),
    st.sampled_from(["N", "S", None]),
    st.one_of(st.none(), st.integers(-5, 15)),
    st.sampled_from([None, float("nan"), float("inf"), 1e300, -3.0, 0.0, 0.5, 1.25, 2.0, 9.0]),
)


def declared(folder, max_groups, max_rows, unit=True):
    bounds = f'unit = "person"\nmax_groups_per_unit = {max_groups}\nmax_rows_per_group = {max_rows}' if unit else ""
    fixed = ", fixed = true" if unit else ""
    text = f"""
[source]
url = "memory://"
[tables.stays]
{bounds}
count_range = 10
budget = "1000"
[tables.stays.columns]
ward = {{ values = ["A", "B", "C"] }}
town = {{ values = ["N", "S"]{fixed} }}
age = {{ min = 0, max = 10 }}
cost = {{ min = -1, max = 2, step = 0.5 }}
"""
    return read(text, folder)


def margins_of(declarations, databases, sql):
    """Return each group's margin in each database, taken just before noise would be added, and the plan charged for it.

    The databases are relations of one source, each read as the declared table: to open a source takes longer than this.
    """
    names = ("person", "ward", "town", "age", "cost")
    types = (pa.string(), pa.string(), pa.string(), pa.int64(), pa.float64())
    tables = {}
    for number, rows in enumerate(databases):
        columns = [pa.array([row[i] for row in rows], kind) for i, kind in enumerate(types)]
        tables[f"stays{number or ''}"] = pa.table(dict(zip(names, columns, strict=True)))
    margins = []
    with thresher.open(declarations, tables=tables) as engine:
        plan = engine.plan(sql, uncertain_region=2)
        for relation in tables:
            exact = engine._source.fetch(replace(plan.need, table=replace(plan.need.table, relation=relation)))
            distances = truth_of(plan.asked, exact).margins(plan.look.scale).tolist()
            margins.append(dict(zip(plan.question.groups, distances, strict=True)))
    return margins, plan


@pytest.mark.parametrize("sql", QUESTIONS)
@settings(max_examples=12)
@given(rows=st.lists(cells, max_size=10), max_groups=st.integers(1, 2), max_rows=st.integers(1, 2))
def test_one_person_more_or_less(tmp_path_factory, sql, rows, max_groups, max_rows):
    declarations = declared(tmp_path_factory.mktemp("n"), max_groups, max_rows)
    persons = list({row[0] for row in rows})
    databases = [rows, *([row for row in rows if row[0] != person] for person in persons)]
    (whole, *others), plan = margins_of(declarations, databases, sql)
    for person, without in zip(persons, others, strict=True):
        moved = {group: abs(whole[group] - without[group]) for group in whole if whole[group] != without[group]}
        assert len(moved) <= max_groups
        assert all(distance <= plan.look.scale for distance in moved.values())
        if person is None:
            assert not moved, "rows of nobody are not counted"
        towns = {row[2] for row in rows if row[0] == person} - {None}
        if "town = 'N'" in sql and towns and min(towns) != "N":
            assert not moved, "the account believes that this person is not there"


@pytest.mark.parametrize("sql", [sql for sql in QUESTIONS if "DISTINCT" not in sql])
@settings(max_examples=8)
@given(rows=st.lists(cells, min_size=1, max_size=8))
def test_one_row_more_or_less_where_rows_are_units(tmp_path_factory, sql, rows):
    declarations = declared(tmp_path_factory.mktemp("n"), 1, 1, unit=False)
    databases = [rows, *(rows[:place] + rows[place + 1 :] for place in range(len(rows)))]
    (whole, *others), plan = margins_of(declarations, databases, sql)
    for without in others:
        moved = [abs(whole[group] - without[group]) for group in whole if whole[group] != without[group]]
        assert len(moved) <= 1
        assert all(distance <= plan.look.scale for distance in moved)


def test_the_check_has_teeth(tmp_path, monkeypatch):
    """A build that forgets to bound a person's rows is seen by the same comparison."""
    rows = [("p1", "A", "N", 1, 1.0)] * 9
    sql = QUESTIONS[0]
    databases = [rows, rows[1:], []]
    margins, _ = margins_of(declared(tmp_path, 1, 1), databases, sql)
    assert [of_groups[("A",)] for of_groups in margins] == [1 - 3, 1 - 3, 0 - 3]
    monkeypatch.setattr(SqlSource, "_is_unique", lambda source, name, unit: True)
    margins, _ = margins_of(declared(tmp_path, 1, 1), databases, sql)
    assert [of_groups[("A",)] for of_groups in margins] == [9 - 3, 8 - 3, 0 - 3]
