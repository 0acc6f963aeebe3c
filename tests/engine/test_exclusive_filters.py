"""Counts over exclusive filters: what is wanting adds up, and one row still moves the margin by one."""

from itertools import product

import numpy as np
import pytest
from clinics import DECLARATIONS, clinic

import thresher
from thresher.decisions.margin import margins, parts_apart
from thresher.question import Aggregate, Atom, Every, Some, Within

THRESHOLDS = (3, 4)
ATOMS = [
    Atom(((Aggregate("rows", None, Within("age", low, high)), 1),), line, "", "", 1)
    for (low, high), line in zip(((0, 9), (10, 19)), THRESHOLDS, strict=True)
]
ONES = dict.fromkeys(ATOMS, 1)


def margin(formula, counts, *, apart=True, scale=1):
    slacks = {atom: np.array([count - line]) for atom, count, line in zip(ATOMS, counts, THRESHOLDS, strict=True)}
    return int(margins(formula, slacks, ONES, scale, (formula,) if apart else ())[0])


@pytest.mark.parametrize("join", [Every, Some])
@pytest.mark.parametrize("scale", [1, 3])
def test_signs_stay_and_one_row_moves_the_margin_by_one_unit(join, scale):
    formula = join(tuple(ATOMS))
    for counts in product(range(9), repeat=2):
        held = [count >= line for count, line in zip(counts, THRESHOLDS, strict=True)]
        here = margin(formula, counts, scale=scale)
        assert (here >= 0) == (all(held) if join is Every else any(held))
        for place in range(2):
            more = [count + (i == place) for i, count in enumerate(counts)]
            assert abs(margin(formula, more, scale=scale) - here) <= scale


def test_an_and_that_fails_is_as_far_off_as_rows_must_be_added():
    formula = Every(tuple(ATOMS))
    for counts in product(range(4), range(5)):
        needed = sum(max(line - count, 0) for count, line in zip(counts, THRESHOLDS, strict=True))
        if needed:
            assert margin(formula, counts) == -needed
    assert margin(formula, (0, 0), apart=False) == -4, "the least part alone"


def test_overlapping_filters_would_be_moved_twice_by_one_row():
    """Must not be used there: a row in both filters moves the sum by two."""
    formula = Every(tuple(ATOMS))
    assert margin(formula, (1, 1)) - margin(formula, (0, 0)) == 2


YOUNG, OLD = "COUNT(*) FILTER (WHERE age < 50) >= 100", "COUNT(*) FILTER (WHERE age >= 50) >= 100"
OVERLAP = "COUNT(*) FILTER (WHERE age >= 40) >= 100"


@pytest.mark.parametrize(
    ("having", "parts"),
    [
        (f"{YOUNG} AND {OLD}", 1),
        (f"{YOUNG} OR {OLD}", 1),
        (f"{YOUNG} AND {OVERLAP}", 0),
        (f"{YOUNG} AND COUNT(*) >= 7", 0),
        (f"({YOUNG} AND {OLD}) OR AVG(age) > 60", 1),
        (f"{YOUNG} AND SUM(age) > 9", 0),
    ],
)
def test_it_is_claimed_only_where_the_text_proves_it(tmp_path, having, parts):
    with thresher.open(clinic(tmp_path)) as engine:
        plan = engine.plan(f"SELECT ward FROM patients GROUP BY ward HAVING {having}", uncertain_region=10)
        assert len(parts_apart(plan.question)) == parts


def test_units_with_several_rows_may_be_in_both(tmp_path):
    several = DECLARATIONS.replace(
        "count_range", 'unit = "ward"\nmax_groups_per_unit = 1\nmax_rows_per_group = 2\ncount_range'
    ).replace('ward = { values = ["A", "B", "C", "D"] }', "")
    with thresher.open(clinic(tmp_path, declarations=several)) as engine:
        plan = engine.plan(f"SELECT age FROM patients GROUP BY age HAVING {YOUNG} AND {OLD}", uncertain_region=10)
        assert parts_apart(plan.question) == ()
