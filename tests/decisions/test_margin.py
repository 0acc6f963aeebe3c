"""The margin on all small databases: its sign is the verdict, and one unit moves it by one. With mutants that fail."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.decisions import margin as margin_module
from thresher.decisions import margins
from thresher.question import Aggregate, Atom, Every, OneOf, Some

A = Aggregate("rows", where=OneOf("kind", ("a", "ab")))
B = Aggregate("rows", where=OneOf("kind", ("b", "ab")))
SIGNATURES = ("a", "b", "ab")


def atom(aggregate, at_least, sign=1, weight=1):
    return Atom(((aggregate, sign * weight),), sign * at_least, "f", "f", Fraction(1))


def slack(asked, counts):
    """`counts`: one array for each aggregate."""
    return sum(weight * counts[aggregate] for aggregate, weight in asked.weights) - asked.at_least


def evaluate(formula, slacks):
    if isinstance(formula, Atom):
        return slacks[formula] >= 0
    parts = [evaluate(part, slacks) for part in formula.parts]
    return np.logical_and.reduce(parts) if isinstance(formula, Every) else np.logical_or.reduce(parts)


ATLEAST_A, ATLEAST_B = atom(A, 2), atom(B, 3)
ATMOST_A = atom(A, 5, sign=-1)
FORMULAS = [
    ATLEAST_A,
    Every((ATLEAST_A, ATLEAST_B)),
    Some((ATLEAST_A, ATLEAST_B)),
    Some((Every((ATLEAST_A, ATMOST_A)), ATLEAST_B)),
    Every((Some((ATLEAST_A, ATLEAST_B)), ATMOST_A)),
]


def databases(most=7):
    """Counts of each signature from 0 to `most`, as arrays over all databases, and the neighbours by one record."""
    grid = np.array(list(itertools.product(range(most + 1), repeat=3)), dtype=np.int64)
    aggregates = {A: grid[:, 0] + grid[:, 2], B: grid[:, 1] + grid[:, 2]}
    place = {tuple(row): i for i, row in enumerate(grid.tolist())}
    pairs = [
        (i, place[(*row[:j], row[j] + 1, *row[j + 1 :])]) for row, i in place.items() for j in range(3) if row[j] < most
    ]
    return aggregates, np.array(pairs)


def violations(formula, spreads, scale=1, change=None, rows=1):
    """How often the sign is wrong, and how often a neighbour is further than `scale` away."""
    aggregates, pairs = databases()
    counts = {aggregate: rows * values for aggregate, values in aggregates.items()}
    slacks = {asked: slack(asked, counts) for asked in spreads}
    if change:
        slacks = change(slacks)
    found = margins(formula, slacks, spreads, scale)
    truth = evaluate(formula, {asked: slack(asked, counts) for asked in spreads})
    apart = np.abs(found[pairs[:, 0]] - found[pairs[:, 1]])
    return int(((found >= 0) != truth).sum()), int((apart > scale).sum())


@pytest.mark.parametrize("scale", [1, 3, 16])
@pytest.mark.parametrize("formula", FORMULAS, ids=range(len(FORMULAS)))
def test_sign_and_sensitivity_on_every_small_database(formula, scale):
    spreads = dict.fromkeys([ATLEAST_A, ATLEAST_B, ATMOST_A], 1)
    assert violations(formula, spreads, scale) == (0, 0)
    # The same when a unit brings three rows and every slack is thrice as coarse.
    assert violations(formula, dict.fromkeys(spreads, 3), scale, rows=3) == (0, 0)


def test_average_and_count_together():
    """y = x - c in {-5, -3, -1, 1, 3}, sensitivity 5, counts of each from 0 to 3: all neighbours, all signs."""
    contributions = np.array([-5, -3, -1, 1, 3])
    worlds = np.array(list(itertools.product(range(4), repeat=5)), dtype=np.int64)
    above, many = atom(A, 1), atom(B, 4)
    slacks = {above: worlds @ contributions - 1, many: worlds.sum(axis=1) - 4}
    place = {tuple(world): i for i, world in enumerate(worlds.tolist())}
    for formula in (Every((above, many)), Some((above, many))):
        found = margins(formula, slacks, {above: 5, many: 1})
        assert ((found >= 0) == evaluate(formula, slacks)).all()
        for world, i in place.items():
            for j in range(5):
                bigger = (*world[:j], world[j] + 1, *world[j + 1 :])
                assert bigger not in place or abs(found[i] - found[place[bigger]]) <= 1


def test_division_goes_towards_minus_infinity():
    assert margins(ATLEAST_A, {ATLEAST_A: np.array([-1, 0, 64, 65])}, {ATLEAST_A: 65}).tolist() == [-1, 0, 0, 1]


def test_wide_sums_stay_exact():
    huge = np.array([-(2**90), -1, 0, 2**90], dtype=object)
    found = margins(ATLEAST_A, {ATLEAST_A: huge}, {ATLEAST_A: 2**70})
    assert found.dtype == np.int64
    assert found.tolist() == [-(2**20), -1, 0, 2**20]


@given(values=st.lists(st.integers(-500, 500), min_size=3, max_size=3), spread=st.sampled_from([1, 2, 3, 7, 65]))
def test_equal_formulas_have_equal_margins_and_negation_mirrors(values, spread):
    first, second, third = (atom(Aggregate("rows", where=OneOf("k", (str(i),))), 0) for i in range(3))
    slacks = {asked: np.array([value]) for asked, value in zip((first, second, third), values, strict=True)}
    spreads = dict.fromkeys(slacks, spread)
    apart = margins(Every((Some((first, second)), Some((first, third)))), slacks, spreads)
    together = margins(Some((first, Every((second, third)))), slacks, spreads)
    assert apart == together
    turned = {asked: -1 - value for asked, value in slacks.items()}
    assert margins(Every((first, second)), turned, spreads) == -1 - margins(Some((first, second)), slacks, spreads)


class TestMutants:
    """Known mistakes, each caught by the exhaustive check above."""

    spreads = dict.fromkeys([ATLEAST_A, ATLEAST_B, ATMOST_A], 3)

    def test_division_towards_zero_calls_a_near_miss_true(self, monkeypatch):
        monkeypatch.setattr(
            margin_module, "floor_ratio", lambda value, scale, spread: np.trunc(value * scale / spread).astype(np.int64)
        )
        wrong_signs, _ = violations(ATLEAST_A, self.spreads)
        assert wrong_signs

    def test_a_line_one_step_off_has_the_wrong_sign_there(self):
        assert violations(ATMOST_A, self.spreads, change=lambda slacks: {**slacks, ATMOST_A: slacks[ATMOST_A] - 1})[0]

    def test_half_the_sensitivity_is_seen(self):
        assert violations(ATLEAST_A, dict.fromkeys(self.spreads, 1), rows=2)[1]

    def test_a_sum_for_and_moves_twice(self, monkeypatch):
        monkeypatch.setattr(np, "min", lambda parts, axis: parts.sum(axis=axis))
        assert violations(Every((ATLEAST_A, ATLEAST_B)), dict.fromkeys(self.spreads, 1))[1]
