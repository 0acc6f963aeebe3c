import hashlib
import math
import os
import shutil
import subprocess
import sys
import time
import zlib
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import mpmath
import numpy as np
import pytest
import score_sums
from hypothesis import given, settings
from hypothesis import strategies as st
from laws import DRAWS

from thresher.decisions import score_design
from thresher.decisions.score_design import bins_of, designed
from thresher.decisions.score_files import (
    COARSE,
    FALSE_ALARM_RATES,
    LEVELS,
    MISS_RATE,
    WEIGHTS,
    file_name,
    packed,
    score_table,
    shifted,
    shipped,
    stretched,
    unpacked,
)
from thresher.decisions.score_levels import HIGHEST, LOWEST, grid, is_level, ladder
from thresher.decisions.score_tables import SCORE, ScoreTable, boundary_formula, expectations, line_of, verified_table
from thresher.errors import ArgumentError, BugError
from thresher.noise import chances, conditional_shift, discrete_laplace

RATE, WEIGHT = Fraction(1, 10), Fraction(143, 100)
# The name of the format, then the digest.
HEAD = 24 + 32
DECISIONS = Path(__file__).parents[2] / "src" / "thresher" / "decisions"


def some_table(level=Fraction(1), rate=RATE, weight=WEIGHT, miss_rate=MISS_RATE):
    return score_table(level, miss_rate, rate, weight)


def charge_per_density(table):
    """What groups spread evenly, one to each scale of the noise, are charged in false alarms, credits not counted.

    The smaller, the better the table: it is what the design makes small, and what a certificate needs per density.
    """
    charged = score_design._lengths(table, table.starts, 0.0) * (table.values / SCORE / float(table.weight))
    credited = score_design._lengths(table, np.minimum(table.starts, 0), 0.0) * float(table.false_alarm_rate)
    return float(charged.sum() + credited.sum())


# --- levels


def test_the_ladder_meets_the_reference():
    levels = ladder("0.05", 1000, 5)
    assert (float(levels[0]), float(levels[-1]), len(levels)) == (0.00213623046875, 4.75, 90)
    assert levels[0] == Fraction(35, 1 << 14)
    assert len(ladder("0.05", 28200, 5)) == 128


def test_levels_climb_by_about_a_tenth_and_are_short_dyadic_numbers():
    levels = grid(LOWEST, HIGHEST)
    assert (levels[0], levels[-1]) == (LOWEST, HIGHEST)
    ratios = [float(after / before) for before, after in pairwise(levels)]
    assert 1.0789 < min(ratios) < max(ratios) < 1.1021
    for level in levels:
        assert is_level(level)
        assert level.numerator < 64
        assert level.denominator.bit_count() == 1
    assert not any(
        is_level(level) for level in (Fraction(1, 3), LOWEST / 2, 2 * HIGHEST, Fraction(33, 32), Fraction(0))
    )


@given(st.fractions(Fraction(1, 1000), Fraction(49, 100)), st.integers(1, 10**8), st.fractions(Fraction(1, 1000), 20))
def test_a_ladder_starts_below_the_range_and_ends_below_the_most(miss_rate, widest, most):
    levels, all_levels = ladder(miss_rate, widest, most), grid(LOWEST, HIGHEST)
    first = all_levels.index(levels[0])
    assert levels == all_levels[first : first + len(levels)]
    assert levels[-1] <= most < all_levels[first + len(levels)]
    reach = math.log(1 / (2 * miss_rate)) / widest
    if len(levels) > 1:
        # The logarithm is rounded up to four places.
        assert levels[0] <= max(reach + 1e-4 / widest, LOWEST)
        assert all_levels[first + 1] > reach


def test_ladders_at_the_ends_of_the_grid():
    assert ladder("0.05", 1, "0.5") == (Fraction(1, 2),)
    assert ladder("0.05", 10**30, 1)[0] == LOWEST
    assert ladder("0.05", 100, 10**6)[-1] == HIGHEST


@pytest.mark.parametrize(
    ("field", "arguments"),
    [
        ("miss_rate", ("0.5", 1000, 5)),
        ("miss_rate", (0, 1000, 5)),
        ("miss_rate", ("1e-13", 1000, 5)),
        ("miss_rate", (True, 1000, 5)),
        ("widest", ("0.05", 0, 5)),
        ("widest", ("0.05", -3, 5)),
        ("max_epsilon", ("0.05", 1000, "1e-10")),
        ("max_epsilon", ("0.05", 1000, float("nan"))),
    ],
)
def test_bad_arguments_of_a_ladder_are_named(field, arguments):
    with pytest.raises(ArgumentError, match=rf"^{field} = "):
        ladder(*arguments)


# --- the line and its coin


@pytest.mark.parametrize(
    ("p", "steps", "boundary"),
    [
        (Fraction(1, 2), 3, Fraction(4, 5)),
        (Fraction(1, 3), 2, Fraction(3, 5)),
        (Fraction(1, 4), 1, Fraction(1)),
        (Fraction(1, 100), 0, Fraction(211, 220)),
    ],
)
def test_the_boundary_meets_the_exact_reference(p, steps, boundary):
    assert boundary_formula(p, steps, MISS_RATE) == boundary
    # The steps are the least that are enough with a coin that is always lucky.
    assert p ** (steps + 1) / (1 + p) <= MISS_RATE
    assert steps == 0 or p**steps / (1 + p) > MISS_RATE
    for margin in (0, 1):
        below = p ** (steps + margin + 1) / (1 + p)
        on_line = (1 - p) / (1 + p) * p ** (steps + margin)
        assert below + (1 - boundary) * on_line == MISS_RATE * p**margin


@settings(max_examples=60)
@given(st.sampled_from(grid(Fraction(1, 1 << 20), HIGHEST)), st.fractions(Fraction(1, 10**6), Fraction(49, 100)))
def test_misses_meet_their_rate_to_a_chance_of_the_coin(level, miss_rate):
    steps, boundary = line_of(level, miss_rate)
    assert (boundary * 2**32).denominator == 1
    assert 0 < boundary <= 1
    with mpmath.workdps(60):
        p = mpmath.exp(-mpmath.mpf(level.numerator) / level.denominator)
        exact = mpmath.mpf(miss_rate.numerator) / miss_rate.denominator

        def missed(chance):
            return p**steps * (1 - mpmath.mpf(chance.numerator) / chance.denominator * (1 - p)) / (1 + p)

        assert missed(boundary) <= exact
        assert missed(boundary - Fraction(1, 2**32)) > exact


@pytest.mark.parametrize(
    ("level", "steps", "boundary", "certain", "charge"),
    [
        (Fraction(1, 4), 9, 0.705972, 16, 4.18),
        (Fraction(1), 2, 0.782498, 4, 3.28),
        (Fraction(45, 16), 1, 0.124928, 1, 0.71),
        (Fraction(19, 4), 0, 0.957854, 0, 0.077),
    ],
)
def test_shipped_tables_meet_the_reference(level, steps, boundary, certain, charge):
    table = some_table(level)
    assert table.steps == steps
    assert float(table.boundary) == pytest.approx(boundary, abs=1e-6)
    assert conditional_shift(0, level, "0.01") - 1 == certain
    assert charge_per_density(table) == pytest.approx(charge, rel=0.01)


def test_misses_at_margin_zero_are_those_promised(entropy):
    """Within 4.9 standard errors (1e-6); a coin that is always, or never, lucky fails by far."""
    table = some_table(Fraction(45, 16))
    noisy = discrete_laplace(table.level, DRAWS, entropy=entropy)
    error = math.sqrt(0.05 * 0.95 / DRAWS)

    def missed(lucky):
        return 1 - table.reported(noisy, lucky).mean()

    assert abs(missed(chances(table.boundary, DRAWS, entropy)) - 0.05) < 4.9 * error
    for wrong in (np.ones(DRAWS, bool), np.zeros(DRAWS, bool), chances(1 - table.boundary, DRAWS, entropy)):
        assert abs(missed(wrong) - 0.05) > 20 * error


def test_scores_are_those_of_the_bins():
    """By hand: bins that begin at -3, -2 (the line), -1 and 4."""
    starts, values = np.array([-3, -2, -1, 4]), np.array([-5, 1, 2, 3, 4, 0])
    table = ScoreTable(Fraction(1), WEIGHT, RATE, 2, Fraction(1, 2), starts, values)
    noisy = np.array([-(2**60), -4, -3, -2, -2, -1, 3, 4, 2**60])
    lucky = np.array([True, True, True, False, True, False, False, False, False])
    assert table.reported(noisy, lucky).tolist() == [False] * 4 + [True] * 5
    assert table.scores(noisy, lucky).tolist() == [-5, -5, 1, 2, 3, 4, 4, 0, 0]
    assert table.scores(noisy, lucky).dtype == np.int64
    assert table.scores(np.array([], dtype=np.int64), np.array([], dtype=bool)).size == 0


@pytest.mark.parametrize(
    ("starts", "values"),
    [([-3, -2, -1], [0] * 4), ([-3, -2, -2, -1], [0] * 6), ([-3, -2, 0], [0] * 5), ([-3, -1, 0], [0] * 5)],
)
def test_a_table_without_shape_is_a_bug(starts, values):
    with pytest.raises(BugError):
        ScoreTable(Fraction(1), WEIGHT, RATE, 2, Fraction(1, 2), np.array(starts), np.array(values))


def test_tables_are_kept_and_cannot_be_written():
    table = some_table()
    assert some_table() is table
    for array in (table.starts, table.values):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 7


@pytest.mark.parametrize(
    ("field", "changed"),
    [
        ("level", {"level": Fraction(1, 3)}),
        ("level", {"level": Fraction(0)}),
        ("miss_rate", {"miss_rate": Fraction(1, 2)}),
        ("miss_rate", {"miss_rate": Fraction(0)}),
        ("false_alarm_rate", {"rate": Fraction(1)}),
        ("false_alarm_rate", {"rate": Fraction(0)}),
        ("weight", {"weight": Fraction(0)}),
        ("weight", {"weight": Fraction(51, 10)}),
    ],
)
def test_bad_arguments_of_a_table_are_named(field, changed):
    with pytest.raises(ArgumentError, match=rf"^{field} = "):
        some_table(**changed)


# --- where tables come from


@pytest.mark.parametrize(
    ("level", "bins", "charge"),
    [(Fraction(1, 10), 156, 4.336), (Fraction(3, 10), 55, 4.127), (Fraction(27, 10), 10, 0.992)],
)
def test_bins_and_charges_between_the_levels_meet_the_reference(level, bins, charge):
    """The reference levels are no levels of the grid: their neighbours lie around the reference."""
    assert bins_of(level, MISS_RATE).size + 1 == bins
    around = [max(near for near in LEVELS if near < level), min(near for near in LEVELS if near > level)]
    charges = [charge_per_density(some_table(near)) for near in around]
    assert charges[1] < charge < charges[0]


def test_the_file_has_a_table_for_every_rate_level_and_weight():
    assert (len(LEVELS), LEVELS[0], LEVELS[-1], len(WEIGHTS)) == (83, COARSE, Fraction(19, 4), 6)
    assert sum(some_table(level, weight=weight).starts.size + 1 for level in LEVELS for weight in WEIGHTS) == 48_390
    for rate in FALSE_ALARM_RATES:
        assert (DECISIONS / file_name(rate)).stat().st_size < 25_000
    assert shipped(Fraction(1, 512), RATE, WEIGHT) is None
    assert shipped(Fraction(1), RATE, Fraction(1)) is None
    assert shipped(Fraction(1), Fraction(3, 10), WEIGHT) is None


@pytest.mark.parametrize("rate", [Fraction(1, 100), RATE, Fraction(1, 5)], ids=str)
@pytest.mark.parametrize("level", [Fraction(1, 256), Fraction(1, 4), Fraction(19, 4)], ids=str)
def test_a_shipped_table_made_anew_is_as_good(level, rate):
    """The same scores with the same solver; with another one, as good ones."""
    for weight in (WEIGHTS[0], WEIGHTS[-1]):
        anew = designed(level, MISS_RATE, rate, weight)
        assert expectations(anew).kept
        assert charge_per_density(anew) == pytest.approx(charge_per_density(some_table(level, rate, weight)), rel=2e-3)


def test_the_tool_writes_what_is_read():
    tables = [some_table(level, weight=weight) for level in LEVELS for weight in WEIGHTS]
    content = packed(tables)
    rows = [row for level in unpacked(content) for row in level]
    assert all((np.cumsum(row) == table.values).all() for row, table in zip(rows, tables, strict=True))
    stored = (DECISIONS / file_name(RATE)).read_bytes()
    # Another zlib may deflate otherwise; what is inside is the same.
    assert zlib.decompress(content[HEAD:]) == zlib.decompress(stored[HEAD:])


def test_an_altered_file_is_refused():
    content = (DECISIONS / file_name(RATE)).read_bytes()
    unpacked(content)
    for place in (0, 30, 60, 5000, len(content) - 1):
        altered = bytearray(content)
        altered[place] ^= 1
        with pytest.raises(BugError, match="Install Thresher again"):
            unpacked(bytes(altered))
    for broken in (b"", content[:-1], content[:HEAD]):
        with pytest.raises(BugError, match="Install Thresher again"):
            unpacked(broken)


def test_a_file_with_scores_that_promise_too_much_is_refused_at_first_use(tmp_path):
    """A whole Thresher whose file was made anew, digest and all, with scores lower by 1 %."""
    content = (DECISIONS / file_name(RATE)).read_bytes()
    words = np.frombuffer(zlib.decompress(content[HEAD:]), dtype="<i4").copy()
    # The differences at both ends of one table: all scores between them fall.
    first = len(LEVELS)
    words[first + 1] -= SCORE // 100
    words[first + words[0] - 1] += SCORE // 100
    forged = content[: HEAD - 32] + hashlib.sha256(words.tobytes()).digest() + zlib.compress(words.tobytes())
    shutil.copytree(DECISIONS.parent, tmp_path / "thresher", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "thresher" / "decisions" / file_name(RATE)).write_bytes(forged)
    program = """
from fractions import Fraction
from thresher.decisions.score_files import score_table
from thresher.errors import BugError
rest = Fraction(1, 20), Fraction(1, 10)
score_table(Fraction(1, 256), *rest, Fraction(104, 100))
try:
    score_table(Fraction(1, 256), *rest, Fraction(65, 100))
except BugError as refused:
    print(refused)
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    assert "does not keep its promise" in done.stdout


def test_shipped_and_stretched_tables_need_no_scipy():
    program = """
import sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "scipy":
            raise ImportError(name)
sys.meta_path.insert(0, Refuse())
from fractions import Fraction
import thresher, thresher.decisions
from thresher.decisions.certificate import plan_numbers
from thresher.decisions.score_files import score_table
for level in (Fraction(1), Fraction(1, 4096)):
    score_table(level, Fraction(1, 20), Fraction(1, 10), plan_numbers(574, 90, "0.05", "0.1", "0.02").weight)
print("made")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout == "made\n", done.stderr


# --- low levels


def test_the_noise_is_rounded_laplace_noise_or_zero():
    rate = 0.7
    p, rounded = math.exp(-rate), 1 / math.cosh(rate / 2)
    for x, reference in ((0, 0.3363755), (1, 0.1670392), (3, 0.0411913)):
        direct = (1 - p) / (1 + p) * p**x
        laplace = 1 - math.exp(-rate / 2) if x == 0 else math.sinh(rate / 2) * p**x
        assert direct == pytest.approx(reference, abs=5e-8)
        assert rounded * laplace + (1 - rounded) * (x == 0) == pytest.approx(direct, abs=1e-15)


@pytest.mark.parametrize("weight", WEIGHTS, ids=str)
def test_stretched_tables_hold_and_are_hardly_dearer(weight):
    """All levels below 2**-8, down to the lowest there is."""
    coarse = some_table(COARSE, weight=weight)
    for level in grid(LOWEST, COARSE)[:-1]:
        table = some_table(level, weight=weight)
        assert expectations(table).kept
        raised = table.values - coarse.values
        assert (raised[[0, -1]] == 0).all()
        assert 0 <= raised[1] == raised[-2] <= SCORE * math.log(1.002)
        assert charge_per_density(table) == pytest.approx(charge_per_density(coarse), rel=5e-3)


def test_a_stretched_table_by_summation():
    level = Fraction(1, 512)
    table = some_table(level)
    margins = np.arange(int(table.starts[0]) - math.ceil(3 / level), 0, 7)
    sums = score_sums.masses_by_value(table, margins) @ score_sums.weights(table)
    assert sums.max() <= expectations(table).not_qualifying + 1e-12 <= 1
    for margin in (0, 100):
        assert score_sums.unreported(table, margin) == pytest.approx(expectations(table).unreported, abs=1e-12)


def test_stretching_without_verification_would_break_the_promise():
    """The likeness of low levels suggests the table; only raising and verifying make it hold."""
    coarse, level = some_table(COARSE), Fraction(1, 4096)
    plain = stretched(coarse, level, MISS_RATE).with_values(coarse.values)
    assert not expectations(plain).kept
    with pytest.raises(BugError):
        verified_table(plain)


@pytest.mark.parametrize("miss_rate", [Fraction(1, 1000), Fraction(49, 100), Fraction(4999, 10000)], ids=str)
def test_other_miss_rates_are_stretched_too(miss_rate):
    """Down to lines that lie at 0 at one level and far below it at the other."""
    for level in (Fraction(1, 512), Fraction(1, 1 << 20)):
        table = some_table(level, miss_rate=miss_rate)
        assert expectations(table).kept
        assert (table.steps, table.boundary) == line_of(level, miss_rate)


# --- other rates


@pytest.mark.parametrize(
    ("rate", "false", "unreported"), [(Fraction(1, 20), 0.9999996, 0.931), (Fraction(1, 5), 0.867, 1.0)]
)
def test_shifted_tables_meet_the_reference(rate, false, unreported):
    found = expectations(shifted(shipped(Fraction(1), RATE, WEIGHT), rate))
    assert found.kept
    assert found.not_qualifying == pytest.approx(false, abs=5e-4)
    assert found.unreported == pytest.approx(unreported, abs=5e-4)


def test_a_rate_near_a_shipped_one_takes_its_table_and_another_is_made_for():
    table = some_table()
    near = some_table(rate=Fraction(11, 100))
    assert (near.values == table.values).all()
    lower = some_table(rate=Fraction(19, 200))
    assert set((lower.values - table.values).tolist()) == {math.ceil(SCORE * WEIGHT * Fraction(1, 200))}
    made = some_table(rate=Fraction(3, 20))
    assert expectations(made).kept
    # Made for its rate, a clear group earns all of it; shifted, it would earn 0.1.
    assert made.values[0] == math.ceil(-WEIGHT * Fraction(3, 20) * SCORE)
    assert charge_per_density(made) < charge_per_density(shifted(table, Fraction(3, 20)))


@pytest.mark.parametrize(("level", "miss_rate"), [(Fraction(1), Fraction(1, 100)), (Fraction(2), Fraction(3, 10))])
def test_another_miss_rate_has_its_own_line_and_table(level, miss_rate):
    table = some_table(level, miss_rate=miss_rate)
    assert expectations(table).kept
    assert (table.steps, table.boundary) == line_of(level, miss_rate)
    assert score_sums.unreported(table, 2) == pytest.approx(expectations(table).unreported, abs=1e-12)


def test_what_reading_a_table_takes(entropy, measured):
    """No bound: machines are noisy. The figures are printed."""
    tables = [(level, weight) for level in LEVELS[::9] for weight in WEIGHTS]
    start = time.perf_counter()
    for level, weight in tables:
        verified_table(shipped(level, RATE, weight))
    load = (time.perf_counter() - start) / len(tables)
    table, noisy = some_table(COARSE), discrete_laplace(COARSE, 100_000, entropy=entropy)
    lucky = chances(table.boundary, noisy.size, entropy)
    start = time.perf_counter()
    scores = table.scores(noisy, lucky)
    took = time.perf_counter() - start
    assert scores.size == 100_000
    measured(f"score tables: {load * 1e3:.2f} ms to load and verify one, {took * 1e3:.1f} ms to score 100,000 groups")
