"""The bound against the truth: the most that any unit of a small world can add to a group."""

import itertools
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thresher.amounts import Epsilon
from thresher.config import Column, Contribution, Grid, Listed, Table
from thresher.question import ALWAYS, Aggregate, Atom, OneOf, sensitivity

FILTERS = (ALWAYS, OneOf("kind", ("a",)), OneOf("kind", ("b",)))


def table(low=-2, high=3, missing=None, rows=2):
    grid = Grid(Fraction(low), Fraction(high), Fraction(1), None if missing is None else Fraction(missing))
    columns = {"x": Column("x", grid), "kind": Column("kind", Listed(("a", "b")))}
    bound = None if rows is None else Contribution("person", 1, rows)
    return Table("t", columns, Epsilon(1), contribution=bound)


def atom(*weights):
    return Atom(tuple(weights), 0, "f", "f >= 0", Fraction(1))


def worlds(declared):
    """Every set of rows that one unit may have in one group: values of x (None: missing) and of kind."""
    grid = declared.columns["x"].kind
    values = list(grid.codes()) + ([None] if grid.missing is None else [])
    rows = list(itertools.product(values, ("a", "b", "other")))
    for count in range(1, declared.rows_per_unit + 1):
        yield from itertools.combinations_with_replacement(rows, count)


def added(aggregate, rows):
    chosen = [x for x, kind in rows if aggregate.where == ALWAYS or kind in aggregate.where.codes]
    return {
        "rows": len(chosen),
        "present": sum(x is not None for x in chosen),
        "total": sum(x for x in chosen if x is not None),
        "units": int(bool(chosen)),
    }[aggregate.measure]


def most(asked, declared):
    return max(
        abs(sum(weight * added(aggregate, rows) for aggregate, weight in asked.weights)) for rows in worlds(declared)
    )


aggregates = st.one_of(
    st.builds(Aggregate, st.just("rows"), st.none(), st.sampled_from(FILTERS)),
    st.builds(Aggregate, st.sampled_from(["present", "total"]), st.just("x"), st.sampled_from(FILTERS)),
    st.builds(Aggregate, st.just("units"), st.none(), st.sampled_from(FILTERS)),
)
atoms = st.dictionaries(aggregates, st.integers(-5, 5).filter(bool), min_size=1, max_size=4).map(
    lambda weights: atom(*weights.items())
)


@settings(max_examples=300)
@given(asked=atoms, low=st.integers(-3, 1), missing=st.sampled_from([None, 1]), rows=st.sampled_from([None, 1, 2]))
def test_no_unit_of_a_small_world_moves_an_atom_further(asked, low, missing, rows):
    declared = table(low, 2, missing, rows)
    assert most(asked, declared) <= sensitivity(asked, declared)


@pytest.mark.parametrize(
    ("weights", "expected"),
    [
        ([(Aggregate("rows"), 1)], 1),
        ([(Aggregate("total", "x"), 1)], 3),
        ([(Aggregate("total", "x"), 1), (Aggregate("present", "x"), -1)], 3),  # AVG(x) > 1: |-2 - 1|, not 3 + 1
        ([(Aggregate("rows", where=FILTERS[1]), 10), (Aggregate("rows"), -3)], 7),  # a share of the rows
        ([(Aggregate("units"), 1)], 1),
        ([(Aggregate("total", "x"), 1), (Aggregate("units"), -2)], 4),  # value per person
    ],
)
def test_it_is_tight_for_the_usual_questions(weights, expected):
    declared = table(rows=1)
    assert sensitivity(atom(*weights), declared) == expected == most(atom(*weights), declared)


def test_rows_of_a_unit_add_up_but_its_count_does_not():
    declared = table(rows=2)
    assert sensitivity(atom((Aggregate("rows"), 1)), declared) == 2
    assert sensitivity(atom((Aggregate("units"), 5)), declared) == 5
    assert sensitivity(atom((Aggregate("total", "x"), 2), (Aggregate("units"), 1)), declared) == 13


def test_careless_bounds_are_caught_by_this_test():
    """Power: bounds that forget the second row, the missing value, or a filter are too small somewhere."""
    declared = table(low=1, high=2, rows=2)
    asked = atom((Aggregate("rows"), 2), (Aggregate("total", "x"), -1))
    assert most(asked, declared) == 4  # both rows without a value: 2 + 2; with values at most 2
    assert most(asked, table(low=1, high=2, missing=1, rows=2)) == 2
    assert sensitivity(asked, declared) == 4
    assert sensitivity(asked, table(low=1, high=2, missing=1, rows=2)) == 2
