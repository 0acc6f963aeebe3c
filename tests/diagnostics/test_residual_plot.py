"""Residual plots: published numbers of the recipe, exact counts, sums of parts, points, neighbours, bad input."""

import inspect
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from laws import assert_fits, assert_rejected
from scipy import stats

from thresher.amounts import Epsilon
from thresher.audit.mutants import diagnostic_mutants as mutants
from thresher.audit.session import tried
from thresher.audit.shipped import residual_subjects as shipped
from thresher.codec import decoded, document, encoded
from thresher.diagnostics import residual_options as options_room
from thresher.diagnostics import residual_plot as plot_room
from thresher.diagnostics.releases import MODEL_CAVEAT, Diagnostic
from thresher.diagnostics.residual_options import plan_of, rows_share
from thresher.diagnostics.residual_plot import (
    cell_counts,
    drawn_points,
    residual_plot,
    whole_counts,
)
from thresher.errors import ArgumentError
from thresher.mechanisms.histograms import MECHANISMS
from thresher.noise import NOT_PRIVATE, SeededEntropy, SystemEntropy

MUTANTS = [subject for subject in mutants.subjects() if "residual_" in subject.name]
SPANS = (0.0, 4.0), (-1.0, 1.0)


def made(rows=2000, seed=8):
    draws = np.random.default_rng(seed)
    return draws.uniform(1, 50, rows), draws.normal(size=rows)


def test_cells_have_a_cap_and_ranges_a_least_share():
    assert plan_of(5000, "0.2").bins == 11  # sqrt(.9025 * 5000 * .14 / 5) = 11.24
    assert plan_of(10**9, 1).bins == 128
    assert plan_of(2, "0.0001").bins == 2
    assert plan_of(10**6, 1).ranges == Epsilon("0.05")


@pytest.mark.parametrize("rows", [2, 3, 500, 777_777, 10**12])
@pytest.mark.parametrize("epsilon", ["0.0001", "0.123456789", 1, 100, Fraction(1, 3)])
def test_parts_add_up_exactly(rows, epsilon):
    terms = plan_of(rows, epsilon)
    assert terms.ranges + terms.histogram == terms.epsilon == Epsilon.covering(epsilon)
    assert terms.ranges
    assert terms.after(terms.ranges * 2).histogram, "ranges may take twice their share, no more"


@pytest.mark.parametrize("histogram", sorted(MECHANISMS))
@pytest.mark.parametrize("rows", [None, 400])
def test_what_is_released(histogram, rows, entropy):
    fitted, residuals = made(400)
    plot = residual_plot(fitted, residuals, 1, rows=rows, histogram=histogram, entropy=entropy)
    assert Epsilon.total(plot.split.values()) == plot.epsilon == Epsilon(1)
    assert list(plot.split) == (["ranges", "histogram"] if rows else ["rows", "ranges", "histogram"])
    assert plot.rows_public == bool(rows)
    assert plot.counts.dtype == np.int64
    assert plot.counts.min() >= 0
    assert plot.histogram == histogram
    assert plot.stamp == entropy.stamp
    assert MODEL_CAVEAT in plot.caveats
    for column, span in zip(plot.points.T, (plot.fitted_range, plot.residual_range), strict=True):
        assert span[0] <= column.min() <= column.max() <= span[1]
    again = decoded(Diagnostic, encoded(plot))
    assert document(again) == document(plot)
    assert not isinstance(plot.counts, np.ma.MaskedArray)
    assert type(plot.counts) is type(plot.points) is np.ndarray


def test_a_noisy_number_of_rows_is_paid_for_and_near(entropy):
    """At epsilon 0.2 for it, P[off by 100] < 1e-8."""
    fitted, residuals = made(2000)
    plot = residual_plot(fitted, residuals, 10, entropy=entropy)
    assert plot.split["rows"] == rows_share(Epsilon(10)) == Epsilon("0.2")
    assert abs(plot.rows - 2000) < 100
    seen = {residual_plot(fitted[:50], residuals[:50], 1, entropy=entropy).rows for _ in range(20)}
    assert len(seen) > 5, "and it is noisy"


# Exact statistics


def test_counts_are_the_ordinary_histogram():
    fitted, residuals = made(5000)
    for bins in (1, 2, 7, 50):
        cells = cell_counts(fitted, residuals, ((10.0, 40.0), (-1.5, 2.0)), bins)
        ordinary, _, _ = np.histogram2d(residuals, fitted, bins, ((-1.5, 2.0), (10.0, 40.0)))
        assert np.array_equal(cells, ordinary.astype(np.int64))
        inside = (fitted >= 10) & (fitted <= 40) & (residuals >= -1.5) & (residuals <= 2)
        assert cells.sum() == inside.sum()


def test_without_noise_counts_are_given_back():
    fitted, residuals = made(3000)
    exact = cell_counts(fitted, residuals, ((1.0, 50.0), (-3.0, 3.0)), 9)
    assert np.array_equal(whole_counts(exact.astype(np.float64)), exact)


def test_with_noise_as_good_as_off_the_plot_is_the_ordinary_one(entropy):
    """Some 100 cells at epsilon 40 or more each: P[any noise at all] < 1e-10."""
    fitted, residuals = made(2000)
    plot = residual_plot(fitted, residuals, 100, rows=2000, bins=10, entropy=entropy)
    exact = cell_counts(fitted, residuals, (plot.fitted_range, plot.residual_range), 10)
    assert np.array_equal(plot.counts, exact)
    assert exact.sum() > 0.9 * 2000


def test_whole_counts_are_the_nearest_and_keep_the_total():
    draws = np.random.default_rng(9)
    for _ in range(300):
        noisy = draws.normal(1, 4, (draws.integers(1, 5), draws.integers(1, 5))) * draws.choice([1, 30])
        counts = whole_counts(noisy)
        total = max(0, round(float(noisy.sum())))
        assert counts.shape == noisy.shape
        assert counts.min() >= 0
        assert counts.sum() == total
        if total:
            # Optimality of a projection on a simplex: cells above 0 pay the same, cells at 0 would pay no more.
            due = (noisy - counts)[counts > 1]
            assert due.size == 0 or due.max() - due.min() < 2 + 1e-9
            assert (noisy[counts == 0] < (due.min() if due.size else np.inf) + 2).all()
    assert whole_counts(np.array([[-3.0, 1.0]])).tolist() == [[0, 0]]
    assert whole_counts(np.array([[10.0, -2.0, 1.0]])).tolist() == [[9, 0, 0]]


# Points


def test_points_have_the_law_of_the_counts(entropy, trials):
    """Chi-square over cells and their quarters, false failure 1e-6; another cell's count is told from it."""
    counts, number = np.array([[3, 0], [1, 4]]), trials(40_000, 400_000)
    points = drawn_points(counts, SPANS, number, entropy)
    quarters, _, _ = np.histogram2d(points[:, 1], points[:, 0], bins=4, range=(SPANS[1], SPANS[0]))

    def p_value(law):
        expected = np.kron(law, np.ones((2, 2))) * number / law.sum() / 4
        held = expected > 0
        assert not quarters[~held].any()
        return float(stats.chisquare(quarters[held], expected[held]).pvalue)

    assert_fits(p_value(counts))
    assert_rejected(p_value(np.array([[3, 0], [2, 4]])))


def test_no_counts_no_points(entropy):
    assert drawn_points(np.zeros((2, 2), dtype=np.int64), SPANS, 50, entropy).shape == (0, 2)
    assert drawn_points(np.ones((2, 2), dtype=np.int64), SPANS, 0, entropy).shape == (0, 2)
    fitted, residuals = made(300)
    assert len(residual_plot(fitted, residuals, 1, most_points=7, entropy=entropy).points) == 7


# Neighbours on trial


def test_the_law_of_looks_and_a_count_is_within_what_is_charged_and_attains_it(entropy):
    """The whole plot is tried by samples with all that ships."""
    (law,) = (subject for subject in shipped.subjects() if subject.name == "residual ranges, law")
    found = tried(law, entropy)
    assert not found.refuted
    assert found.measured == pytest.approx(float(law.charged), rel=1e-6)


@pytest.mark.parametrize("subject", MUTANTS, ids=lambda subject: subject.name)
def test_the_audit_refutes_its_mutants(subject, entropy):
    assert tried(subject, entropy).refuted


# Odd data


ODD = {
    "no rows": ([], []),
    "one row": ([3.0], [1.0]),
    "constant": (np.full(300, 7.0), np.zeros(300)),
    "all zero": (np.zeros(300), np.zeros(300)),
    "NaN": (np.full(300, np.nan), np.full(300, np.nan)),
    "infinite": (np.full(300, np.inf), np.full(300, -np.inf)),
    "huge": (np.full(300, 1e308), np.full(300, -1e308)),
    "tiny": (np.full(300, 5e-324), np.full(300, -5e-324)),
    "integers": (np.arange(300), np.arange(300) - 150),
    "unsigned": (np.arange(300, dtype=np.uint8), np.arange(300, dtype=np.float32)),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_data_are_drawn_like_others(name, entropy):
    for epsilon, rows in (("0.01", None), (5, None), (1, 300)):
        plot = residual_plot(*ODD[name], epsilon, rows=rows, entropy=entropy)
        assert np.isfinite([*plot.fitted_range, *plot.residual_range]).all()
        assert plot.fitted_range[0] < plot.fitted_range[1]
        assert plot.residual_range[0] < plot.residual_range[1]
        assert np.isfinite(plot.points).all()
        assert plot.counts.min() >= 0


def test_one_nan_concerns_its_record_alone():
    """A record with a NaN in either column is none; the plot is that of the others, draw by draw."""
    fitted, residuals = made(500)
    holed = np.append(fitted, [np.nan, 3.0]), np.append(residuals, [3.0, np.nan])
    first, second = (residual_plot(*each, 1, entropy=SeededEntropy(5)) for each in ((fitted, residuals), holed))
    assert document(first) == document(second)


def test_a_constant_column_ends_in_a_narrow_range(entropy):
    """1,000 n epsilon: P[noise hides all rows] < 1e-9. A range around 7, and no division by zero."""
    plot = residual_plot(np.full(5000, 7.0), np.zeros(5000), 2, entropy=entropy)
    assert plot.fitted_range[0] <= 7 <= plot.fitted_range[1]
    assert plot.fitted_range[1] - plot.fitted_range[0] < 1
    assert plot.counts.sum() > 4000


def test_caveats_follow_from_noisy_and_public_numbers(entropy):
    fitted, residuals = made(5000)
    few = residual_plot(fitted[:100], residuals[:100], 1, rows=100, entropy=entropy)
    many = residual_plot(fitted, residuals, 1, rows=5000, entropy=entropy)
    assert any("may show noise" in caveat for caveat in few.caveats)
    assert not any("may show noise" in caveat for caveat in many.caveats)
    lost = residual_plot(np.full(5000, np.inf), residuals, 5, rows=5000, entropy=entropy)
    assert any("pass another unit" in caveat for caveat in lost.caveats), "P[a bound seems to hold] < 1e-9"


def test_more_bins_than_rows_are_capped_by_the_declared_number(entropy):
    fitted, residuals = made(300)
    assert residual_plot(fitted, residuals, 1, rows=5, bins=2000, entropy=entropy).counts.shape == (5, 5)
    assert residual_plot(fitted, residuals, 1, rows=300, bins=40, entropy=entropy).counts.shape == (40, 40)
    assert residual_plot(fitted, residuals, 1, rows=300, bins=1, entropy=entropy).counts.shape == (1, 1)


# Bad input


def never(count):
    raise AssertionError(f"{count} bytes were drawn")


GOOD = {"fitted": [1.0, 2.0], "residuals": [0.5, -0.5], "epsilon": 1}
BAD = [
    *(("epsilon", bad) for bad in (0, -1, "0.00009", 101, float("nan"), float("inf"), "x", None, True)),
    *(("rows", bad) for bad in (0, 1, -5, 10**12 + 1, 2.5, True, "2")),
    *(("unit", bad) for bad in (0, -1, "1e-13", 10**13, float("nan"), None)),
    *(("histogram", bad) for bad in ("", "Laplace", "none", None, 3, ["laplace"])),
    *(("coverage", bad) for bad in (0, 1, -1, "x", float("nan"))),
    *(("bins", bad) for bad in (0, -1, 2049, 2.5, True)),
    *(("most_points", bad) for bad in (-1, 10**6 + 1, 2.5, None)),
    *(("fitted", bad) for bad in (None, 3.0, "a")),
    # Lists are read record by record; arrays are refused by what they show without being read.
    *(("fitted", np.array(bad)) for bad in (["a", "b"], [[1.0, 2.0]], [True, False], [1j, 2j])),
    *(("residuals", bad) for bad in (None, np.array(["a", "b"]), [1.0], [1.0, 2.0, 3.0], np.ones((2, 1)), [])),
    ("residuals", np.ma.masked_array([1.0, 2.0], mask=[True, False])),
    ("entropy", 3),
]


@pytest.mark.parametrize(("field", "value"), BAD, ids=str)
def test_bad_input_is_refused_before_anything_is_drawn(field, value):
    asked = GOOD | {"entropy": SystemEntropy(never)} | {field: value}
    with pytest.raises(ArgumentError, match=rf"^{field} = "):
        residual_plot(**asked)


def test_no_message_shows_a_record_or_their_number():
    odd = np.array([["104729"]]), np.array([104_729j])
    for fitted, residuals in (([104_729.5] * 7919, [1.0]), (odd[0], [1.0]), ([1.0], odd[1])):
        with pytest.raises(ArgumentError) as refusal:
            residual_plot(fitted, residuals, 1)
        assert "104729" not in str(refusal.value)
        assert "7919" not in str(refusal.value)


def test_seeded_plots_say_so():
    fitted, residuals = made(50)
    assert residual_plot(fitted, residuals, 1).stamp == ""
    seeded = residual_plot(fitted, residuals, 1, entropy=SeededEntropy(1))
    assert seeded.stamp == NOT_PRIVATE
    assert seeded.caption.startswith(NOT_PRIVATE)


def test_the_reference_lists_true_signatures():
    page = (Path(__file__).parents[2] / "docs" / "reference" / "residual_plot.md").read_text()
    for function in (plot_room.residual_plot, options_room.residual_options, options_room.plan_of):
        shown = inspect.signature(function).parameters.values()
        stars = {inspect.Parameter.VAR_KEYWORD: "**"}
        written = [
            stars.get(p.kind, "") + (p.name if p.default is p.empty else f"{p.name}={p.default!r}") for p in shown
        ]
        keyword = next((i for i, p in enumerate(shown) if p.kind is p.KEYWORD_ONLY), None)
        if keyword is not None:
            written.insert(keyword, "*")
        assert f"`{function.__name__}({', '.join(written)})`" in page
