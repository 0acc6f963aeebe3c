"""Neighbouring databases through SQL and source: no unit moves what is measured for values by more than is charged.

Exact, not statistical: for random tables and each of their units, all readings with and without that unit are compared,
weighted by their rates. And what is read is what it should be: cells against a query of their own, numbers against the
aggregates that were asked about.
"""

from fractions import Fraction

import duckdb
import pyarrow as pa
import pytest
from engine.test_neighbours import cells, declared
from hypothesis import given, settings
from hypothesis import strategies as st

import thresher
from thresher.decisions.decision_options import options_of
from thresher.decisions.decision_plan import plan_decision
from thresher.decisions.values import values_look
from thresher.decisions.values.values_plan import plan_values
from thresher.question import signatures as signatures_module
from thresher.sql.read_question import ask

QUESTIONS = [
    "SELECT ward FROM stays GROUP BY ward HAVING COUNT(*) > 2 AND COUNT(*) FILTER (WHERE age < 4) > 1",
    "SELECT ward FROM stays GROUP BY ward HAVING COUNT(*) FILTER (WHERE age > 3) > 2 OR"
    " COUNT(*) FILTER (WHERE town = 'N') > 1 OR COUNT(*) FILTER (WHERE cost > 0.5) > 1",
    "SELECT ward FROM stays GROUP BY ward HAVING SUM(cost) > 3 AND AVG(cost) < 5 AND COUNT(*) > 2",
    "SELECT ward FROM stays WHERE age > 3 GROUP BY ward HAVING COUNT(age) < 2 AND AVG(age) >= 1",
    "SELECT ward FROM stays GROUP BY ward HAVING COUNT(DISTINCT person) >= 2 AND COUNT(*) FILTER (WHERE age < 4) <= 1"
    " AND COUNT(DISTINCT person) FILTER (WHERE town = 'S') > 0",
    "SELECT ward FROM stays GROUP BY ward HAVING SUM(cost) - 2 * COUNT(DISTINCT person) > 0 OR SUM(cost) > 1",
    "SELECT ward, town FROM stays GROUP BY ward, town HAVING NOT (COUNT(*) > 1 AND SUM(age) > 4)",
    "SELECT ward FROM stays GROUP BY ward HAVING SUM(age) FILTER (WHERE town = 'N') > 1 AND"
    " SUM(age) FILTER (WHERE town = 'S') > 1 AND SUM(age) > 3",
]


KINDS = {
    "person": pa.string(),
    "ward": pa.string(),
    "town": pa.string(),
    "age": pa.int64(),
    "cost": pa.float64(),
}


def stays(rows):
    return pa.table({name: pa.array([row[i] for row in rows], KINDS[name]) for i, name in enumerate(KINDS)})


def opened(declarations, rows):
    return thresher.open(declarations, tables={"stays": stays(rows)})


def readings_of(plan, engine):
    """Every reading of every group just before noise would be added, by block."""
    exact = engine._source.fetch(plan.need).unseal()
    place = {aggregate: i for i, aggregate in enumerate(plan.need.aggregates)}
    return [
        [sum(weight * exact[:, place[a]].astype(object) for a, weight in one.weights) for one in block.readings]
        for block in plan.measurement.strategy.blocks
    ]


def measured_in(declarations, rows, sql):
    """All readings, and the plan; numbers made of them are checked on the way."""
    with opened(declarations, rows) as engine:
        plan = plan_values(ask(sql, engine._declarations, engine._desk.public), options_of({"uncertain_region": 2}))
        found = readings_of(plan, engine)
        check_numbers(plan, found, engine)
    return found, plan


def without(declarations, rows, plan):
    with opened(declarations, rows) as engine:
        return readings_of(plan, engine)


def check_numbers(plan, found, engine):
    """Without noise, numbers made of cells and ends are what the aggregates say."""
    direct = plan_decision(plan.question, plan.asked.options).need
    exact = engine._source.fetch(direct).unseal()
    place = {aggregate: i for i, aggregate in enumerate(direct.aggregates)}
    answers = values_look.answers_of(plan.measurement.strategy)
    for atom, literal in zip(plan.question.atoms, plan.measurement.formula.literals, strict=True):
        block, answer = answers[literal.measure]
        number = sum(factor * found[block][i] for i, factor in answer.parts)
        asked = sum(weight * exact[:, place[a]].astype(object) for a, weight in atom.weights)
        assert (literal.sign * number == answer.over * asked).all()


def lost(whole, others_whole, plan):
    """What a unit loses in each group: the weighted change of all readings there."""
    strategy = plan.measurement.strategy
    total = [Fraction(0)] * len(plan.question.groups)
    for block, epsilon, ones, others in zip(strategy.blocks, strategy.epsilons, whole, others_whole, strict=True):
        for reading, one, other in zip(block.readings, ones, others, strict=True):
            for group, moved in enumerate(abs(one - other)):
                total[group] += epsilon.fraction / reading.sensitivity * int(moved)
    return total


@pytest.mark.parametrize("sql", QUESTIONS)
@settings(max_examples=3)
@given(rows=st.lists(cells, max_size=9), max_groups=st.integers(1, 2), max_rows=st.integers(1, 3))
def test_one_person_more_or_less(tmp_path_factory, sql, rows, max_groups, max_rows):
    declarations = declared(tmp_path_factory.mktemp("n"), max_groups, max_rows)
    whole, plan = measured_in(declarations, rows, sql)
    for person in {row[0] for row in rows}:
        others = without(declarations, [row for row in rows if row[0] != person], plan)
        moved = lost(whole, others, plan)
        assert sum(loss > 0 for loss in moved) <= max_groups
        assert max(moved) <= plan.measurement.strategy.epsilon.fraction
        assert sum(moved) <= plan.epsilon.fraction
        if person is None:
            assert not any(moved), "rows of nobody are not counted"


@pytest.mark.parametrize("sql", [sql for sql in QUESTIONS if "DISTINCT" not in sql])
@settings(max_examples=2)
@given(rows=st.lists(cells, min_size=1, max_size=7))
def test_one_row_more_or_less_where_rows_are_units(tmp_path_factory, sql, rows):
    declarations = declared(tmp_path_factory.mktemp("n"), 1, 1, unit=False)
    whole, plan = measured_in(declarations, rows, sql)
    for place in range(len(rows)):
        moved = lost(whole, without(declarations, rows[:place] + rows[place + 1 :], plan), plan)
        assert sum(loss > 0 for loss in moved) <= 1
        assert sum(moved) <= plan.epsilon.fraction


FILTERS = [
    "age > 3",
    "age > 6",
    "town = 'N'",
    "cost BETWEEN 0 AND 1",
    "NOT (age > 3 AND town = 'S')",
    "cost IS NULL",
    "age <> 5",
]


@settings(max_examples=12)
@given(
    rows=st.lists(
        st.tuples(
            st.just("p"), st.sampled_from(["A", "B"]), st.sampled_from(["N", "S", "elsewhere", None]),
            st.one_of(st.none(), st.integers(0, 10)), st.sampled_from([None, -1.0, 0.0, 0.5, 2.0]),
        ),
        min_size=1, max_size=12,
    ),
    chosen=st.lists(st.sampled_from(FILTERS), min_size=2, max_size=4, unique=True),
)  # fmt: skip
def test_cells_are_what_duckdb_counts_with_not(tmp_path_factory, rows, chosen):
    """Cells by inclusion and exclusion, without NOT, against a query that says which filters are not true."""
    declarations = declared(tmp_path_factory.mktemp("c"), 1, 1, unit=False)
    having = " OR ".join(f"COUNT(*) FILTER (WHERE {text}) > 1" for text in chosen)
    with opened(declarations, rows) as engine:
        question = ask(
            f"SELECT ward FROM stays GROUP BY ward HAVING {having}", engine._declarations, engine._desk.public
        )
        plan = plan_values(question, options_of({"uncertain_region": 5}))
        found = readings_of(plan, engine)
    found_in = plan.measurement.formula
    held = {}
    for text in chosen:
        [atom] = ask(one_filter(text), engine._declarations, {}).atoms
        literal = found_in.literals[question.atoms.index(atom)]
        held[found_in.measures[literal.measure].place] = text
    known = signatures_module.signatures(found_in.filters, question.table)
    with duckdb.connect() as connection:
        connection.register("stays", stays(rows))
        for block, readings in zip(plan.measurement.strategy.blocks, found, strict=True):
            cells_of = known.within(block.touched, 64) if block.kind == "cells" else [block.touched]
            for cell, reading in zip(cells_of, readings, strict=True):
                wanted = " AND ".join(
                    f"({held[place]}) IS {'' if cell >> place & 1 else 'NOT '}TRUE"
                    for place in held
                    if block.touched >> place & 1
                )
                for group, ward in enumerate("ABC"):
                    [(true,)] = connection.execute(
                        f"SELECT count(*) FROM stays WHERE ward = '{ward}' AND {wanted}"
                    ).fetchall()
                    assert reading[group] == true


def one_filter(text):
    return f"SELECT ward FROM stays GROUP BY ward HAVING COUNT(*) FILTER (WHERE {text}) > 1"


def test_the_check_has_teeth(tmp_path, monkeypatch):
    """A build that believes overlapping filters to be exclusive charges too little, and the same comparison sees it."""
    rows = [("p1", "A", "N", 5, 1.0), ("p2", "A", "N", 5, 1.0)]
    declarations, sql = declared(tmp_path, 1, 1), QUESTIONS[1]
    whole, plan = measured_in(declarations, rows, sql)
    assert max(lost(whole, without(declarations, rows[1:], plan), plan)) == plan.epsilon.fraction
    honest = signatures_module._possible
    monkeypatch.setattr(
        signatures_module, "_possible", lambda *arguments: [m for m in honest(*arguments) if m.bit_count() < 2]
    )
    whole, plan = measured_in(declarations, rows, sql)
    assert max(lost(whole, without(declarations, rows[1:], plan), plan)) > plan.epsilon.fraction
