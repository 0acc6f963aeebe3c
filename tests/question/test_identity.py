"""What makes a question the same question, and a measurement the same measurement: every field of every declaration.

A new field of a declaration or a new option must be listed here, or `test_no_field_is_forgotten` fails.
"""

from dataclasses import fields, replace
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import get_args

import pytest

from thresher.amounts import Epsilon
from thresher.asks.decision import DecisionAsk
from thresher.asks.desk import Desk
from thresher.asks.personal_asks import personal_question
from thresher.config import (
    AccountDeclaration,
    Bands,
    BudgetRoster,
    Column,
    Contribution,
    Days,
    Declarations,
    Grid,
    Hours,
    Kind,
    Listed,
    Numbered,
    OwnBudgets,
    PublicDeclaration,
    Referenced,
    Table,
    Text,
    Truth,
)
from thresher.config.declarations import place_of
from thresher.decisions.decision_options import NAMES
from thresher.question import PublicTable
from thresher.question.identity import folded, identity_text

SQL = (
    "SELECT ward FROM stays WHERE year = 2024 AND day >= '2024-01-02' AND hour >= '2024-01-01T05:00' AND smoker "
    "AND note = 'a' AND decade = '[0, 50)' GROUP BY ward HAVING COUNT(*) > 10 AND AVG(age) > 30"
)
OF_ONE = "SELECT ward FROM stays GROUP BY ward HAVING COUNT(*) > 10"
FIRST, LAST = date(2024, 1, 1), date(2024, 1, 9)
COLUMNS = {
    "ward": Column("ward", Listed(("a", "b"))),
    "year": Column("year", Numbered((2023, 2024))),
    "smoker": Column("smoker", Truth()),
    "age": Column("age", Grid(Fraction(0), Fraction(100), Fraction(1))),
    "day": Column("day", Days(FIRST, LAST)),
    "hour": Column("hour", Hours(FIRST, LAST)),
    "decade": Column("decade", Bands("age", (Fraction(0), Fraction(50), Fraction(100)))),
    "note": Column("note", Text()),
    "unused": Column("unused", Listed(("x", "y"))),
}
BASE = Table("stays", COLUMNS, Epsilon("3"), contribution=Contribution("pid", 2, 3), count_range=500)


def identity(table=BASE, sql=SQL, options=None, *, source="memory://", ledger="sqlite:///l.db", **declared):
    desk = Desk(Declarations(source, ledger, {table.name: table}, **declared), {}, None)
    given = {"uncertain_region": "10"} if options is None else options
    return DecisionAsk(sql.replace("stays", table.name), given).plan(desk).identity


def kind(name, **changes):
    """The table with another declaration of one column."""
    column = COLUMNS[name]
    return with_columns(**{name: replace(column, kind=replace(column.kind, **changes))})


def with_columns(**columns):
    return replace(BASE, columns={**COLUMNS, **columns})


def of_public(*, table="wards", column="name", names=("a", "b"), beds=(5, 6), floors=(1, 2), **declared):
    """A question whose keys and thresholds come from a public table."""
    values = {column: names, "beds": tuple(map(Fraction, beds)), "floor": tuple(map(Fraction, floors))}
    asked = replace(BASE, columns={**COLUMNS, "ward": Column("ward", Referenced(table, column))})
    tables = Declarations("m://", "sqlite:///l.db", {"stays": asked}, {table: PublicDeclaration(table, **declared)})
    join = f"JOIN {table} ON stays.ward = {table}.{column}"
    sql = f"SELECT ward FROM stays {join} GROUP BY ward HAVING COUNT(*) > {table}.beds"
    desk = Desk(tables, {table: PublicTable(table, values)}, None)
    return DecisionAsk(sql, {"uncertain_region": "10"}).plan(desk).identity


TENTHS, FINER = (Grid(Fraction(0), Fraction(1), Fraction(1, steps)) for steps in (10, 20))
OWN = OwnBudgets("allows", TENTHS, BudgetRoster("roster", "eps"))


def personal(own=OWN, *, allows=TENTHS, roster=("roster", "eps", None), levels=(1, 2, 5)):
    """A question to a table in which everybody brings a budget."""
    own = None if own is None else replace(own, roster=BudgetRoster(*roster))
    columns = {**COLUMNS, "allows": Column("allows", allows, fixed=True), "other": Column("other", TENTHS, fixed=True)}
    name, column, _ = roster
    numbers = tuple(Fraction(level, 10) for level in levels)
    public = {name: PublicTable(name, {column: numbers, "many": (Fraction(7),) * len(numbers)})}
    declared = Declarations(
        "m://",
        "sqlite:///l.db",
        {"stays": replace(BASE, columns=columns, own_budgets=own)},
        {name: PublicDeclaration(name)},
    )
    desk = Desk(declared, public, None)
    return (personal_question if own else DecisionAsk)(OF_ONE, {}).plan(desk).identity


BASES = {"decision": identity, "public": of_public, "personal": personal}
QUESTION, MEASUREMENT, BOTH, NEITHER = (True, False), (False, True), (True, True), (False, False)
OTHER = Column("unused", Listed(("x", "z")))
PEOPLE = AccountDeclaration("people", "person", Epsilon(1))
# What is changed: (the declaration and field, the identity after the change, whether question and measurement change).
CHANGES = {
    "Table.name": (lambda: identity(replace(BASE, name="visits")), BOTH),
    "Table.columns, one that is used": (lambda: identity(kind("age", maximum=Fraction(90))), BOTH),
    "Table.columns, one that is not used": (lambda: identity(with_columns(unused=OTHER)), MEASUREMENT),
    "Table.columns, one more": (lambda: identity(with_columns(more=replace(OTHER, name="more"))), MEASUREMENT),
    "Table.columns, their order": (
        lambda: identity(replace(BASE, columns=dict(reversed(COLUMNS.items())))),
        NEITHER,
    ),
    "Table.budget": (lambda: identity(replace(BASE, budget=Epsilon("9"))), NEITHER),
    "Table.max_epsilon_per_question": (
        lambda: identity(replace(BASE, max_epsilon_per_question=Epsilon("0.2"))),
        NEITHER,
    ),
    "Table.contribution": (lambda: identity(replace(BASE, contribution=None)), BOTH),
    "Table.count_range, an average is measured by it": (lambda: identity(replace(BASE, count_range=900)), QUESTION),
    "Table.relation": (lambda: identity(replace(BASE, relation="clinic.stays")), BOTH),
    "Table.file": (lambda: identity(replace(BASE, file=Path("stays.parquet"))), BOTH),
    "Table.version": (lambda: identity(replace(BASE, version="2")), BOTH),
    "Table.version, the first one written": (lambda: identity(replace(BASE, version="1")), BOTH),
    "Table.snapshot": (lambda: identity(replace(BASE, snapshot=True)), MEASUREMENT),
    "Table.people": (lambda: identity(replace(BASE, people=PEOPLE)), NEITHER),
    "Contribution.unit": (lambda: identity(replace(BASE, contribution=Contribution("person", 2, 3))), BOTH),
    "Contribution.max_groups": (lambda: identity(replace(BASE, contribution=Contribution("pid", 1, 3))), BOTH),
    "Contribution.max_rows": (lambda: identity(replace(BASE, contribution=Contribution("pid", 2, 2))), BOTH),
    "Column.name": (lambda: identity(with_columns(more=Column("more", Truth()))), MEASUREMENT),
    "Column.kind": (lambda: identity(with_columns(smoker=Column("smoker", Truth(), fixed=True))), BOTH),
    "Column.fixed, of one that is used": (
        lambda: identity(with_columns(ward=replace(COLUMNS["ward"], fixed=True))),
        BOTH,
    ),
    "Column.fixed, of one that is not used": (
        lambda: identity(with_columns(unused=replace(COLUMNS["unused"], fixed=True))),
        MEASUREMENT,
    ),
    "Listed.values": (lambda: identity(kind("ward", values=("a", "c"))), BOTH),
    "Numbered.values": (lambda: identity(kind("year", values=(2022, 2024))), BOTH),
    "Grid.minimum": (lambda: identity(kind("age", minimum=Fraction(-1))), BOTH),
    "Grid.maximum": (lambda: identity(kind("age", maximum=Fraction(110))), BOTH),
    "Grid.step": (lambda: identity(kind("age", step=Fraction(1, 2))), BOTH),
    "Grid.missing": (lambda: identity(kind("age", missing=Fraction(0))), BOTH),
    "Days.first": (lambda: identity(kind("day", first=date(2023, 12, 31))), BOTH),
    "Days.last": (lambda: identity(kind("day", last=date(2024, 1, 10))), BOTH),
    "Hours.first": (lambda: identity(kind("hour", first=date(2023, 12, 31))), BOTH),
    "Hours.last": (lambda: identity(kind("hour", last=date(2024, 1, 10))), BOTH),
    "Bands.of": (
        lambda: identity(
            with_columns(
                years=replace(COLUMNS["age"], name="years"),
                decade=replace(COLUMNS["decade"], kind=replace(COLUMNS["decade"].kind, of="years")),
            )
        ),
        BOTH,
    ),
    "Bands.edges": (
        lambda: identity(kind("decade", edges=(Fraction(0), Fraction(50), Fraction(99)))),
        BOTH,
    ),
    "PublicDeclaration.name, what is read stays": (lambda: of_public(table="hospital"), NEITHER, "public"),
    "PublicDeclaration.relation, what is read stays": (lambda: of_public(relation="clinic.w"), NEITHER, "public"),
    "PublicDeclaration.file, what is read stays": (lambda: of_public(file=Path("w.csv")), NEITHER, "public"),
    "Referenced.table, its values stay": (lambda: of_public(table="hospital"), NEITHER, "public"),
    "Referenced.column, its values stay": (lambda: of_public(column="called"), NEITHER, "public"),
    "PublicTable.name": (lambda: of_public(table="hospital"), NEITHER, "public"),
    "PublicTable.columns, keys": (lambda: of_public(names=("a", "c")), BOTH, "public"),
    "PublicTable.columns, thresholds": (lambda: of_public(beds=(5, 7)), QUESTION, "public"),
    "PublicTable.columns, not used": (lambda: of_public(floors=(8, 9)), NEITHER, "public"),
    "Table.own_budgets": (lambda: personal(None), BOTH, "personal"),
    "OwnBudgets.column": (lambda: personal(replace(OWN, column="other")), BOTH, "personal"),
    "OwnBudgets.grid": (lambda: personal(replace(OWN, grid=FINER), allows=FINER), BOTH, "personal"),
    "OwnBudgets.roster": (lambda: personal(levels=(1, 2, 5, 5)), BOTH, "personal"),
    "BudgetRoster.table, its numbers stay": (lambda: personal(roster=("people", "eps", None)), NEITHER, "personal"),
    "BudgetRoster.column, its numbers stay": (lambda: personal(roster=("roster", "grant", None)), NEITHER, "personal"),
    "BudgetRoster.people": (lambda: personal(roster=("roster", "eps", "many")), BOTH, "personal"),
    "Declarations.source": (lambda: identity(source="duckdb:///other.duckdb"), BOTH),
    "Declarations.ledger": (lambda: identity(ledger="sqlite:///other.db"), NEITHER),
    "Declarations.tables": (lambda: identity(replace(BASE, name="visits")), BOTH),
    "Declarations.public_tables": (lambda: of_public(table="hospital"), NEITHER, "public"),
    "Declarations.accounts": (lambda: identity(accounts={"people": PEOPLE}), NEITHER),
    "Declarations.lease_seconds": (lambda: identity(lease_seconds=9), NEITHER),
    "Declarations.folder": (lambda: identity(folder=Path("elsewhere")), NEITHER),
    "Declarations.anchor": (lambda: identity(anchor=Path("elsewhere")), NEITHER),
    "Declarations.timeout_seconds": (lambda: identity(timeout_seconds=9), NEITHER),
    "Declarations.max_groups": (lambda: identity(max_groups=9), NEITHER),
    "Declarations.lines": (lambda: identity(lines={"tables.stays": 9}), NEITHER),
}
# Streams have a table of their own; a table learns its source from the declarations that it stands in.
ELSEWHERE = {"Declarations.streams": "tests/streams/test_stream_identity.py", "Table.source": "Declarations.source"}
DECLARATIONS = (Declarations, Table, Contribution, Column, PublicDeclaration, PublicTable, OwnBudgets, BudgetRoster)
KINDS = get_args(Kind)


@pytest.mark.parametrize("name", CHANGES)
def test_what_changes_with_a_declaration(name):
    changed, expected, *base = CHANGES[name]
    before, after = BASES[base[0] if base else "decision"](), changed()
    assert (after.question != before.question, after.measurement != before.measurement) == expected
    assert (after.parts != before.parts) is expected[1]


def test_no_field_is_forgotten():
    known = {f"{one.__name__}.{field.name}" for one in (*DECLARATIONS, *KINDS) for field in fields(one)}
    assert {name.partition(",")[0] for name in (*CHANGES, *ELSEWHERE)} == known


def test_without_a_unit_other_columns_do_not_decide_which_rows_count():
    table = replace(BASE, contribution=None)
    changed = replace(table, columns={**COLUMNS, "unused": OTHER})
    assert identity(changed) == identity(table)


@pytest.mark.parametrize(
    ("region", "sql", "question"),
    [
        ("10%", OF_ONE, True),
        ("10", OF_ONE, False),
        ("COUNT(*)=10, AVG(age)=1", SQL, True),
        (None, OF_ONE, False),
        (None, SQL, False),
    ],
)
def test_the_range_counts_where_an_option_is_measured_by_it(region, sql, question):
    """R.1: 10 % is 50 rows or 5,000; an average's half width is meant for a group of so many rows."""
    options = {} if region is None else {"uncertain_region": region}
    before, after = (identity(replace(BASE, count_range=size), sql, options) for size in (500, 5000))
    assert (before.question != after.question) is question
    assert before.measurement == after.measurement


OPTIONS = {
    "miss_rate": "0.04",
    "false_alarm_rate": "0.2",
    "uncertain_region": "20",
    "max_epsilon": "2.5",
    "confidence": "0.9",
    "mechanism": "tslm",
    "bound": "false_alarms",
    "levels": "3",
    "first_epsilon": "0.001",
    "show": "values",
}


@pytest.mark.parametrize("name", OPTIONS)
def test_every_option_that_is_given_makes_another_question(name):
    """The complement is another measurement, and so are numbers; of the others, only the question is another."""
    given = {"mechanism": "ppwlm"} if name in ("levels", "first_epsilon") else {}
    # Few groups allow no certificate, so that a confidence needs another way of looking.
    given |= {"mechanism": "three-way"} if name == "confidence" else {}
    given |= {} if name == "uncertain_region" else {"uncertain_region": "10"}
    before = identity(sql=OF_ONE, options=given)
    after = identity(sql=OF_ONE, options={**given, name: OPTIONS[name]})
    assert before.question != after.question
    moved = {part for part in before.parts if before.parts[part] != after.parts[part]}
    allowed = {"bound": {"formula"}, "show": {"noise"}}
    assert moved == allowed.get(name, moved & {"noise"})


def test_every_option_is_listed():
    # within is another spelling of uncertain_region, and makes no other question.
    assert {*OPTIONS, "within"} == set(NAMES)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"miss_rate": "0.05"}, {"miss_rate": 0.05}),
        ({"miss_rate": "5e-2"}, {"miss_rate": Fraction(1, 20)}),
        ({"uncertain_region": "COUNT( * )=10"}, {"uncertain_region": {"count(*)": 10}}),
        ({"uncertain_region": "10.0 %"}, {"uncertain_region": "10%"}),
        ({"bound": "false-alarms"}, {"bound": "false_alarms"}),
        ({"max_epsilon": "2.50"}, {"max_epsilon": Fraction(5, 2)}),
    ],
)
def test_an_option_is_one_however_it_is_written(one, other):
    base = {"uncertain_region": "10"}
    assert identity(sql=OF_ONE, options={**base, **one}) == identity(sql=OF_ONE, options={**base, **other})


def test_defaults_of_the_product_are_no_part_of_it():
    """What was left out is left out: a default that changes leaves answers that were paid for as they are."""
    text = identity(sql=OF_ONE, options={}).question
    assert '"options":{}' in text
    assert "certified" not in text


def test_another_threshold_of_one_condition_is_the_same_measurement():
    one, other = identity(sql=OF_ONE), identity(sql=OF_ONE.replace("> 10", "> 20"))
    assert one.question != other.question
    assert one.measurement == other.measurement
    two, three = identity(), identity(sql=SQL.replace("> 30", "> 40"))
    assert two.measurement != three.measurement


def test_identities_are_versioned_texts_and_short():
    long = with_columns(ward=Column("ward", Listed(tuple(f"w{i}" for i in range(5000)))))
    found = identity(long)
    for text, version in ((found.question, "question 1"), (found.measurement, "measurement 1")):
        assert f'"identity":"{version}"' in text
        assert len(text) < 5000
    other = with_columns(ward=Column("ward", Listed(tuple(f"w{i}" for i in range(1, 5001)))))
    assert identity(other).question != found.question


def test_a_folded_list_differs_from_every_other_list():
    lists = [list(range(n)) for n in range(500)]
    assert len({identity_text(folded(one)) for one in lists}) == len(lists)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("postgresql://ann:secret@db:5432/clinic?sslmode=require", "postgresql://bob@db:5432/clinic", True),
        ("postgresql://db/clinic", "postgresql://db/copy", False),
        ("postgresql://db/clinic", "postgresql://standby/clinic", False),
        ("postgresql://db?dbname=clinic&password=secret&user=ann", "postgresql://db?dbname=clinic", True),
        ("postgresql://db?dbname=clinic", "postgresql://db?dbname=copy", False),
        ("postgresql:///clinic?host=one", "postgresql:///clinic?host=two", False),
        ("postgresql://db/clinic?options=-csearch_path%3Da", "postgresql://db/clinic", False),
        ("postgresql://ann:secret@db", "postgresql://bob:secret@db", False),  # the database of that name
        ("postgresql://ann:secret@one,two/clinic", "postgresql://bob@one,two/clinic", True),
        ("postgresql://one:1,two:2/clinic", "postgresql://one:1,two:2/copy", False),
        ("file:///data/a.parquet", "/data/a.parquet", True),
        ("postgresql://ann:secret@[::1/clinic", "postgresql://bob:secret@[::1/copy", True),  # no server has this name
        ("spark://local[2]", "spark://host:7077", True),
        ("duckdb:////data/a.duckdb", "duckdb:////data/b.duckdb", False),
        ("a.parquet", "b.parquet", False),
    ],
)
def test_other_rows_are_another_place(one, other, same):
    """Rows of another database were never measured; who logs in, and how, changes no row."""
    assert (place_of(one) == place_of(other)) is same
    assert "secret" not in place_of(one)
    assert (identity(source=one) == identity(source=other)) is same
