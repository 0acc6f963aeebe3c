"""Where two declarations make one measurement, the numbers that are read are the same: else old noise would be reused.

Declarations are edited at random; people have too many rows and groups, so that whatever decides which rows are kept
shows in the numbers. Power: with any fact left out of the measurement, or columns in the order of the file, it fails.
"""

from collections import defaultdict
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from random import Random

import pyarrow as pa
import pytest

from thresher.amounts import Epsilon
from thresher.asks.decision import DecisionAsk
from thresher.asks.desk import Desk
from thresher.config import Bands, Column, Contribution, Declarations, Grid, Listed, Numbered, Table, Text, Truth
from thresher.decisions.decision_plan import decision_identity
from thresher.question import Present, identity
from thresher.question.identity import identity_text
from thresher.sources import bounding, open_source

SEED, EDITED = 20_261_119, 160
SQL = "SELECT ward FROM stays WHERE age <= 90 GROUP BY ward HAVING COUNT(*) > {} AND SUM(age) > 20 AND COUNT(cost) > 5"
WARDS = ("eye", "stroke", "surgery")


def grid(low, high, step=1, missing=None):
    return Grid(Fraction(low), Fraction(high), Fraction(step), None if missing is None else Fraction(missing))


COLUMNS = {
    "ward": Column("ward", Listed(WARDS)),
    "age": Column("age", grid(0, 100)),
    "cost": Column("cost", grid(0, 50)),
    "year": Column("year", Numbered((2023, 2024))),
    "smoker": Column("smoker", Truth()),
    "note": Column("note", Text()),
    "height": Column("height", grid(0, 50)),
    "band": Column("band", Bands("cost", (Fraction(0), Fraction(20), Fraction(50)))),
}
BASE = Table("stays", COLUMNS, Epsilon("3"), contribution=Contribution("pid", 2, 2), count_range=100)


def rows(seed):
    random = Random(seed)
    some = range(900)
    return pa.table(
        {
            "pid": [random.randrange(60) for _ in some],
            "home": [random.randrange(50) for _ in some],
            "ward": [random.choice((*WARDS, "other")) for _ in some],
            "age": [random.choice((None, *range(120))) for _ in some],
            "cost": [random.choice((None, *range(60))) for _ in some],
            "year": [random.choice((2022, 2023, 2024)) for _ in some],
            "smoker": [random.choice((True, False, None)) for _ in some],
            "note": [random.choice("xyz") for _ in some],
            "height": [random.choice((None, *range(60))) for _ in some],
        }
    )


def column(table, name, **changes):
    return replace(table, columns={**table.columns, name: replace(table.columns[name], **changes)})


def shuffled(table, random):
    names = list(table.columns)
    random.shuffle(names)
    return replace(table, columns={name: table.columns[name] for name in names})


def limits(table, **changes):
    return replace(table, contribution=replace(table.contribution, **changes))


# What a curator may edit: each gives another table from one and a source of chance.
EDITS = {
    "move lines": shuffled,
    "another budget": lambda table, random: replace(table, budget=Epsilon(random.randrange(1, 9))),
    "another range": lambda table, random: replace(table, count_range=random.choice((None, 100, 900))),
    "another limit": lambda table, _: replace(table, max_epsilon_per_question=Epsilon("2.5")),
    "drop a column": lambda table, random: replace(
        table, columns={n: c for n, c in table.columns.items() if n != random.choice(("year", "smoker", "note"))}
    ),
    "fix a column": lambda table, random: column(
        table, random.choice([n for n in table.columns if n in ("year", "smoker", "note")] or ["cost"]), fixed=True
    ),
    "other bounds": lambda table, random: column(table, "age", kind=grid(0, random.choice((80, 95)))),
    "other bounds, unused": lambda table, _: column(table, "height", kind=grid(0, 30)),
    "another step": lambda table, _: column(table, "height", kind=grid(0, 50, 5)),
    "missing": lambda table, _: column(table, "height", kind=grid(0, 50, 1, 0)),
    "other edges": lambda table, _: column(table, "band", kind=Bands("cost", (Fraction(5), Fraction(9)))),
    "other values": lambda table, _: column(table, "ward", kind=Listed((*WARDS, "other"))),
    "more groups": lambda table, _: limits(table, max_groups=3),
    "fewer rows": lambda table, _: limits(table, max_rows=1),
    "another unit": lambda table, _: limits(table, unit="home"),
    "a version": lambda table, random: replace(table, version=random.choice(("1", "2"))),
    "another relation": lambda table, _: replace(table, relation="moved"),
    "a file": lambda table, _: replace(table, file=Path("/data/other.parquet")),
    "another name": lambda table, _: replace(table, name="visits"),
}


@pytest.fixture(scope="module")
def source():
    declared = Declarations("memory://", "sqlite:///l.db", {"stays": BASE})
    opened = open_source(declared, {"stays": rows(1), "moved": rows(2), "visits": rows(1)})
    yield opened
    opened.close()


def plan_of(table, least):
    desk = Desk(Declarations("memory://", "sqlite:///l.db", {table.name: table}), {}, None)
    sql = SQL.format(least).replace("stays", table.name)
    return DecisionAsk(sql, {"uncertain_region": "10", "mechanism": "tslm"}).plan(desk)


@pytest.fixture(scope="module")
def edited():
    """Plans of tables with some edits each, always from one base: two of them often meet."""
    random, plans = Random(SEED), []
    for _ in range(EDITED):
        table = BASE
        for name in random.sample(list(EDITS), random.choice((1, 1, 1, 2, 2, 3))):
            table = EDITS[name](table, random)
        plans.append(plan_of(shuffled(table, random), 10))
    return plans


def read(source, need):
    """What is read. Rows chosen `among` some, here all, are chosen anew: those kept for another table are no help."""
    # Rows that stand for a file lie in memory here.
    table = need.table if need.table.file is None else replace(need.table, file=None, relation="moved")
    return source.fetch(replace(need, table=table, among=Present("ward"))).unseal().tolist()


@pytest.fixture(scope="module")
def numbers(source, edited):
    return [read(source, plan.need) for plan in edited]


def contradictions(measurements, numbers):
    """Measurements that stand for different numbers."""
    found = defaultdict(list)
    for text, read_then in zip(measurements, numbers, strict=True):
        if read_then not in found[text]:
            found[text].append(read_then)
    return [text for text, each in found.items() if len(each) > 1]


def rows_of(plan):
    """The measurement, without its noise: that too depends on some limits and bounds."""
    told = decision_identity(plan.asked, plan.family, {})
    return identity_text({name: part for name, part in told.parts.items() if name != "noise"})


def test_equal_measurements_read_equal_numbers(edited, numbers):
    texts = [plan.identity.measurement for plan in edited]
    assert not contradictions(texts, numbers)
    assert not contradictions([rows_of(plan) for plan in edited], numbers)
    # It says something only if many declarations share a measurement, and if rows do depend on declarations.
    assert 20 < len(set(texts)) < EDITED / 2
    assert len({str(each) for each in numbers}) > 15


def test_columns_in_the_order_of_the_file_would_be_found(source, edited, monkeypatch):
    monkeypatch.setattr(bounding, "by_name", lambda table: list(table.columns.items()))
    assert contradictions([plan.identity.measurement for plan in edited], [read(source, p.need) for p in edited])


LEFT_OUT = ["name", "relation", "file", "version", "unit", "max_groups_per_unit", "max_rows_per_group"]


@pytest.mark.parametrize("fact", LEFT_OUT)
def test_a_fact_of_the_table_that_is_left_out_would_be_found(edited, numbers, monkeypatch, fact):
    honest = identity.table_facts
    monkeypatch.setattr(identity, "table_facts", lambda table: {**honest(table), fact: None})
    # The first version that is written is told apart by a fact of its own.
    plans = [(p, n) for p, n in zip(edited, numbers, strict=True) if fact != "version" or p.question.table.version]
    assert contradictions([rows_of(plan) for plan, _ in plans], [each for _, each in plans])


# Of each column that some edit changes: what the edit changes.
OF_COLUMNS = [*((name, "fixed") for name in ("year", "note")), ("age", "max"), ("band", "edges")]
OF_COLUMNS += [("height", fact) for fact in ("max", "step", "missing")]


@pytest.mark.parametrize(("name", "fact"), OF_COLUMNS)
def test_a_fact_of_a_column_that_is_left_out_would_be_found(edited, numbers, monkeypatch, name, fact):
    honest = identity.column_facts

    def without(declared):
        return {f: v for f, v in honest(declared).items() if declared.name != name or f != fact}

    monkeypatch.setattr(identity, "column_facts", without)
    assert contradictions([rows_of(plan) for plan in edited], numbers)


@pytest.mark.parametrize("name", ["year", "smoker", "note"])
def test_a_column_that_is_left_out_would_be_found(edited, numbers, monkeypatch, name):
    """Columns that the question does not use decide which rows of a person are kept."""
    honest = identity.identity_of

    def without(family, table, columns, asked, measured):
        fewer = replace(table, columns={n: c for n, c in table.columns.items() if n != name})
        return honest(family, fewer, columns, asked, measured)

    monkeypatch.setattr("thresher.decisions.decision_plan.identity_of", without)
    assert contradictions([rows_of(plan) for plan in edited], numbers)
