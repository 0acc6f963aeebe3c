"""One suite for every source: random tables and needs give the aggregates of a plain Python loop, and nothing else."""

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sources import worlds
from sources.places import HERE, arrow, declared
from sources.plain_rows import bounded, code, evaluate

from thresher.config import Contribution
from thresher.question import ALWAYS, Aggregate, Need
from thresher.sources import open_source

NEEDS = 3
# Spark takes a second for what takes the others milliseconds.
EXAMPLES = {**dict.fromkeys(HERE, 20), "postgres": 20, "spark": 4}
EVERYWHERE = list(EXAMPLES)


@pytest.mark.parametrize("place", EVERYWHERE)
def test_every_source_gives_what_plain_python_gives(place, put, soak):
    @settings(
        max_examples=EXAMPLES[place] * (10 if soak else 1), suppress_health_check=list(HealthCheck), database=None
    )
    @given(rnd=st.randoms(use_true_random=False))
    def check(rnd):
        table, rows = worlds.table(rnd), worlds.rows(rnd)
        source = put(place, rows, table)
        source.check(source._declarations)
        for _ in range(NEEDS):
            need = worlds.need(rnd, table)
            assert source.fetch(_in_source(need, source)).unseal().tolist() == evaluate(need, rows)
        source.close()

    check()


def _in_source(need, source):
    """The need with the table as this source declares it (it may lie in a file of its own)."""
    return replace(need, table=source._declarations.tables[need.table.name])


def test_the_order_of_rows_never_matters():
    """200 orders of rows with doubles whose plain sum would change with the order."""
    rnd = worlds.chance(5)
    table = worlds.table(rnd, units=True)
    rows = worlds.rows(rnd, most=60)
    need = Need(table, (table.columns["icu"],), ((0,), (1,)), ALWAYS, _everything(table))
    shuffled = {f"order{n}": arrow(rnd.sample(rows, len(rows))) for n in range(200)}
    source = open_source(declared("memory://", table), shuffled)
    seen = {
        str(source.fetch(replace(need, table=replace(table, relation=name))).unseal().tolist()) for name in shuffled
    }
    source.close()
    assert seen == {str(evaluate(need, rows))}


def _everything(table):
    totals = [Aggregate("total", name) for name in ("age", "cost", "third", "price", "far")]
    return (Aggregate("rows"), Aggregate("units"), *(Aggregate("present", name) for name in table.columns), *totals)


@pytest.mark.parametrize("place", EVERYWHERE)
@pytest.mark.parametrize("number", [0, 1])
def test_a_table_with_no_row_or_one(place, number, put):
    rnd = worlds.chance(11)
    table = worlds.table(rnd, units=False)
    rows = [{"pid": 1, **{name: worlds.value(rnd, name) for name in worlds.PHYSICAL if name != "pid"}}][:number]
    source = put(place, rows, table)
    for keys in ((), ("disease", "icu")):
        need = _grouped(source, table, keys)
        assert source.fetch(need).unseal().tolist() == evaluate(need, rows)


def _grouped(source, table, keys):
    columns = tuple(table.columns[key] for key in keys)
    groups = ((),)
    for column in columns:
        groups = tuple((*group, code) for group in groups for code in column.kind.codes())
    return _in_source(Need(table, columns, groups, ALWAYS, _everything(table)), source)


@pytest.mark.parametrize("place", ["duckdb", "postgres", "spark"])
def test_one_unit_with_many_rows_moves_the_aggregates_by_no_more_than_its_bounds(place, put):
    rnd, many = worlds.chance(3), {"spark": 5_000, "postgres": 20_000}.get(place, 100_000)
    table = replace(worlds.table(rnd, units=True), contribution=Contribution("pid", 2, 3))
    others = [row for row in worlds.rows(rnd, most=60) if row["pid"] != 77]
    template = [
        {"pid": 77, **{name: worlds.value(rnd, name) for name in worlds.PHYSICAL if name != "pid"}} for _ in range(50)
    ]
    source = put(place, [*others, *(rnd.choice(template) for _ in range(many))], table)
    need = Need(
        table, (table.columns["disease"],), tuple((v,) for v in worlds.DECLARED_WORDS), ALWAYS, (Aggregate("rows"),)
    )
    with_them = source.fetch(_in_source(need, source)).unseal()[:, 0]
    without = [row[0] for row in evaluate(need, others)]
    moved = [int(a) - b for a, b in zip(with_them, without, strict=True)]
    assert all(0 <= m <= 3 for m in moved)
    assert sum(m > 0 for m in moved) <= 2
    assert sum(moved) > 0


def test_rows_of_a_unit_that_disagree_in_a_fixed_column_are_left_out(put):
    rnd = worlds.chance(8)
    table = replace(worlds.table(rnd, units=True), contribution=Contribution("pid", 1000, 1000))
    columns = {name: replace(column, fixed=name == "icu") for name, column in table.columns.items()}
    table = replace(table, columns=columns)
    blank = dict.fromkeys(worlds.PHYSICAL)
    rows = [{**blank, "pid": 1, "icu": value} for value in (True, False, True, None)]
    rows += [{**blank, "pid": 2, "icu": True}]
    source = put("duckdb", rows, table)
    need = Need(table, (), ((),), ALWAYS, (Aggregate("rows"), Aggregate("present", "icu")))
    # Of unit 1: the row with the smallest value, and the one without a value.
    assert source.fetch(need).unseal().tolist() == [[3, 2]] == evaluate(need, rows)


def test_the_reference_itself_bounds():
    """The reference keeps a subset of each unit's rows, and prefers different groups for different units."""
    rnd = worlds.chance(2)
    table = replace(worlds.table(rnd, units=True), contribution=Contribution("pid", 1, 1))
    table = replace(table, columns={name: replace(column, fixed=False) for name, column in table.columns.items()})
    blank = dict.fromkeys(worlds.PHYSICAL)
    rows = [{**blank, "pid": pid, "disease": word} for pid in range(50) for word in worlds.DECLARED_WORDS]
    coded = [(row["pid"], {name: code(table, name, row) for name in table.columns}) for row in rows]
    kept = bounded(table, ["disease"], coded)
    assert sorted(unit for unit, _ in kept) == list(range(50))
    assert len({codes["disease"] for _, codes in kept}) == len(worlds.DECLARED_WORDS)


def test_undeclared_groups_never_leave_the_database(put):
    rnd = worlds.chance(4)
    table = worlds.table(rnd, units=False)
    blank = dict.fromkeys(worlds.PHYSICAL)
    rows = [{**blank, "disease": "canary-7919"}] * 3 + [{**blank, "disease": "flu"}]
    source = put("duckdb", rows, table)
    results = []
    original = source._columns
    source._columns = lambda asked: results.append(original(asked)) or results[-1]
    need = Need(table, (table.columns["disease"],), (("flu",), ("it's",)), ALWAYS, (Aggregate("rows"),))
    assert source.fetch(need).unseal().tolist() == [[1], [0]]
    assert [int(place) for place in results[0][0]] in ([0, 1], [1, 0])
    assert "canary" not in str(results)
