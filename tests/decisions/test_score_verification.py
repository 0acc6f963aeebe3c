import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import score_sums
from hypothesis import given, settings
from hypothesis import strategies as st

from thresher.decisions.score_design import designed
from thresher.decisions.score_files import FALSE_ALARM_RATES, LEVELS, MISS_RATE, WEIGHTS, score_table
from thresher.decisions.score_levels import grid
from thresher.decisions.score_tables import (
    SCORE,
    Expectations,
    ScoreTable,
    expectations,
    lowered,
    supremum,
    verified_table,
)
from thresher.errors import BugError

RATE, WEIGHT = Fraction(1, 10), Fraction(143, 100)
HALF = math.log(2)
# A few levels of each kind: fine noise, a few values to a bin, one value to a bin, almost no noise.
SOME_LEVELS = [Fraction(1, 32), Fraction(1, 4), Fraction(1), Fraction(45, 16), Fraction(19, 4)]


def some_table(level=Fraction(1), rate=RATE, weight=WEIGHT):
    return score_table(level, MISS_RATE, rate, weight)


def inflated(table, factor=1.01):
    """The same table with exp(-score) larger by a factor everywhere but in the outermost bins."""
    values = table.values.copy()
    values[1:-1] -= math.floor(SCORE * math.log(factor))
    return table.with_values(values)


@pytest.mark.parametrize(
    ("starts", "weights", "reference"),
    [
        ([-3, -2], [0.5, 2, 1], 7 / 6),
        ([-3, -2], [1, 1, 1], 1),
        ([-1], [0.5, 2], 3 / 2),
        ([0], [0.5, 2], 1),
    ],
)
def test_the_supremum_meets_the_exact_reference_for_p_one_half(starts, weights, reference):
    assert supremum(HALF, np.array(starts), np.array(weights, float)) == pytest.approx(reference, abs=1e-14)


@pytest.mark.parametrize(
    ("edges", "weights", "reference"),
    [((-1, 1), (0.5, 2, 1), 1.5401507), ((-1, 1), (1, 1, 1), 1), ((0,), (0.5, 2), 1.25)],
)
def test_with_fine_integers_it_meets_the_continuous_reference(edges, weights, reference):
    unit = 1 << 24
    starts = np.array([edge * unit for edge in edges])
    assert supremum(1 / unit, starts, np.array(weights, float)) == pytest.approx(reference, abs=2e-7)


@settings(max_examples=200)
@given(
    st.sampled_from(grid(Fraction(1, 4), Fraction(8))),
    st.lists(st.integers(-14, 9), min_size=1, max_size=9, unique=True).map(sorted),
    st.lists(st.floats(0, 30), min_size=10, max_size=10),
)
def test_no_margin_exceeds_the_supremum_and_it_is_met_between_or_at_whole_margins(level, starts, weights):
    """Any bins and weights, by summation over all noise at every margin down to where nothing changes any more."""
    chosen = np.array(weights[: len(starts) + 1])
    noise, masses = score_sums.noise_masses(level)
    sums = [masses @ chosen[np.searchsorted(starts, h + noise, side="right")] for h in range(-1, starts[0] - 60, -1)]
    found = supremum(float(level), np.array(starts), chosen)
    slack = 1e-12 * max(weights)
    assert max(*sums, chosen[0]) <= found + slack
    # A bin of one value has nothing between its ends, so there the supremum is a value that is taken.
    cells = sorted({*starts, *range(starts[0], 1)})
    fine = chosen[np.searchsorted(starts, cells, side="right")]
    exact = supremum(float(level), np.array(cells), np.array([chosen[0], *fine]))
    assert exact == pytest.approx(max(*sums, chosen[0]), abs=slack)


def test_the_top_may_lie_inside_a_bin():
    """Neither end of the long bin is the largest: a check of the ends alone would accept this table."""
    starts, weights = np.array([-41, -1]), np.array([0.2, 1.01, 0.2])
    noise, masses = score_sums.noise_masses(Fraction(1, 4))
    sums = {h: masses @ weights[np.searchsorted(starts, h + noise, side="right")] for h in range(-60, 0)}
    assert max(sums[-41], sums[-2]) < 0.7
    assert 1 < max(sums.values()) <= supremum(0.25, starts, weights) < max(sums.values()) + 1e-3


@pytest.mark.parametrize("level", SOME_LEVELS, ids=str)
@pytest.mark.parametrize("weight", [Fraction(65, 100), WEIGHT, Fraction(39, 10)], ids=str)
def test_every_margin_by_summation_over_noise_and_coin(level, weight):
    """Groups that do not qualify, at every margin down to 20 scales below the bins, and those that do."""
    table = some_table(level, weight=weight)
    found = expectations(table)
    margins = range(-1, int(table.starts[0]) - math.ceil(20 / level), -1)
    # At the finest of these levels every margin near the line and some further down; at the others all of them.
    step = max(1, len(margins) // 300)
    sums = [score_sums.not_qualifying(table, h) for h in [*margins[:40], *margins[40::step]]]
    assert max(sums) <= found.not_qualifying + 1e-12 <= 1
    for h in (0, 1, 2, 3, 5, 8, 50):
        assert score_sums.unreported(table, h) == pytest.approx(found.unreported, abs=1e-12)
        masses, _, kept = score_sums.outcomes(table, h)
        assert math.fsum((masses * kept).tolist()) <= 1


@pytest.mark.parametrize("level", LEVELS, ids=str)
def test_all_shipped_tables_at_all_margins(level):
    """(N) of every table against the sum at every margin down to 20 scales below its bins; 1 % more must fail."""
    tables = [some_table(level, rate, weight) for rate in FALSE_ALARM_RATES for weight in WEIGHTS]
    margins = np.arange(int(tables[0].starts[0]) - math.ceil(20 / level), 0)
    masses = score_sums.masses_by_value(tables[0], margins)
    for table in tables:
        found, weights = expectations(table), score_sums.weights(table)
        largest = max((masses @ weights).max(), weights[0])
        assert found.kept
        # The supremum may lie between two whole margins, nowhere else above the sums.
        assert largest - 1e-12 <= found.not_qualifying <= largest + 1e-6
        assert table.values[0] == math.ceil(-table.weight * table.false_alarm_rate * SCORE)
        assert table.values[-1] == 0
        broken = expectations(inflated(table))
        assert not broken.kept
        assert max(broken.not_qualifying, broken.unreported) > 1.001


@pytest.mark.parametrize("level", [LEVELS[0], Fraction(1, 16), *SOME_LEVELS], ids=str)
def test_with_one_value_to_a_bin_the_supremum_is_the_largest_sum(level):
    """The same scores on bins of single values: nothing lies between whole margins, so both are one number."""
    table = some_table(level)
    starts = np.arange(int(table.starts[0]), int(table.starts[-1]) + 1)
    chance, weights = float(table.boundary), score_sums.weights(table)
    coarse = np.delete(weights, table.on_line)
    coarse[table.on_line] = (1 - chance) * weights[table.on_line] + chance * weights[table.on_line + 1]
    fine = coarse[np.searchsorted(table.starts, starts, side="right")]
    margins = np.arange(int(table.starts[0]) - math.ceil(20 / level), 0)
    largest = max((score_sums.masses_by_value(table, margins) @ weights).max(), weights[0])
    assert supremum(float(level), starts, np.array([coarse[0], *fine])) == pytest.approx(largest, abs=1e-12)


def test_one_per_cent_more_is_seen_in_the_supremum():
    broken = expectations(inflated(some_table(Fraction(1, 32))))
    assert broken.not_qualifying == pytest.approx(1.00999, abs=1e-4)
    with pytest.raises(BugError, match="does not keep its promise"):
        verified_table(inflated(some_table(Fraction(1, 32))))


def test_lowering_mends_what_was_inflated_and_leaves_what_is_right():
    table = some_table()
    assert (lowered(table).values == table.values).all()
    mended = lowered(inflated(table))
    assert expectations(mended).kept
    assert (mended.values[1:-1] - inflated(table).values[1:-1] > 0).all()
    assert (mended.values[[0, -1]] == table.values[[0, -1]]).all()
    # From the next smaller reduction it would not hold: reductions grow by 1.6.
    assert np.exp((mended.values - table.values)[1] / SCORE) < 1.01


def test_each_bound_is_needed():
    table = some_table()
    for place, value in ((table.on_line + 1, -1), (-1, -1), (table.on_line, table.values[0] - 1), (0, -SCORE)):
        values = table.values.copy()
        values[place] = value
        found = expectations(table.with_values(values))
        assert not found.bounded
        assert not found.kept


def test_the_lucky_and_the_unlucky_score_of_the_line_are_both_charged():
    """At level 2.8125 the line has most of the mass: dropping either charge breaks one promise, (N) or (U)."""
    table = some_table(Fraction(45, 16))
    for place in (table.on_line, table.on_line + 1):
        values = table.values.copy()
        values[place] = 0 if place > table.on_line else table.values[0]
        dropped = table.with_values(values)
        found = expectations(dropped)
        assert found.bounded
        assert not found.kept
        sums = max(score_sums.not_qualifying(dropped, h) for h in range(-1, -40, -1))
        assert max(sums, score_sums.unreported(dropped, 0)) > 1


def test_a_number_that_is_none_is_refused():
    assert not Expectations(math.nan, 0.5, True).kept
    assert not Expectations(0.5, math.nan, True).kept
    assert not Expectations(0.5, 0.5, False).kept
    assert not Expectations(1 - 1e-10, 0.5, True).kept
    assert Expectations(0.5, 0.5, True).kept


def test_where_the_floats_error_is_not_bounded_nothing_is_verified():
    table = some_table()
    many = np.arange(-1200, 1200)
    crowded = ScoreTable(
        table.level, WEIGHT, RATE, table.steps, table.boundary, many, np.full(many.size + 2, 5 * SCORE)
    )
    for strange in (replace(table, level=Fraction(1, 3)), replace(table, weight=Fraction(6)), crowded):
        with pytest.raises(BugError, match="not bounded"):
            expectations(strange)


def test_the_law_of_an_unreported_group_does_not_depend_on_its_margin():
    """p = 1/2, chance 4/5, by exact conditioning: 1/6, 5/12, 5/24, 5/48, ... from 0, 1, 5 and 40 alike."""
    p, chance, steps = Fraction(1, 2), Fraction(4, 5), 3
    for margin in (0, 1, 5, 40):
        masses = [(1 - p) / (1 + p) * p ** (margin + steps + n) for n in range(200)]
        masses[0] *= 1 - chance
        total = sum(masses) + masses[-1] * p / (1 - p)
        assert [mass / total for mass in masses[:4]] == [
            Fraction(1, 6),
            Fraction(5, 12),
            Fraction(5, 24),
            Fraction(5, 48),
        ]


@pytest.mark.parametrize("miss_rate", [Fraction(1, 1000), Fraction(1, 5), Fraction(49, 100)], ids=str)
@pytest.mark.parametrize("rate", [Fraction(1, 1000), Fraction(3, 20), Fraction(1, 2)], ids=str)
def test_tables_for_other_rates_hold_by_summation(miss_rate, rate):
    table = designed(Fraction(1), miss_rate, rate, WEIGHT)
    found = expectations(table)
    assert found.kept
    assert max(score_sums.not_qualifying(table, h) for h in range(-1, -60, -1)) <= found.not_qualifying + 1e-12
    assert score_sums.unreported(table, 3) == pytest.approx(found.unreported, abs=1e-12)
