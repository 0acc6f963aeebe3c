"""Binned residuals: ordinary means where there is hardly noise, right models told from wrong ones, and bad input."""

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from diagnostics.logistic_models import labels_and_scores, printed_plot, true_plot
from scipy import stats

from papers.residuals.residual_shape import shape_difference, shape_of
from thresher.amounts import Epsilon, exact_fraction
from thresher.codec import decoded, encoded
from thresher.diagnostics.binned_residuals import binned_residual_plot, binned_terms
from thresher.diagnostics.releases import MODEL_CAVEAT, Diagnostic
from thresher.errors import ArgumentError
from thresher.noise import NOT_PRIVATE, SeededEntropy

ARRAYS = ("edges", "counts", "predicted", "residual", "band")
ROWS = 20_000


def same(one, other):
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in ARRAYS)


def test_with_hardly_any_noise_it_is_the_ordinary_statistic():
    """At epsilon 100 label counts are exact; predictions are off by a small part of a bin's width."""
    labels, scores = labels_and_scores(2, 4000, np.random.default_rng(1))
    found = binned_residual_plot(labels, scores, 100, rows=4000)
    place = np.searchsorted(found.edges[1:-1], scores, side="right")
    assert found.counts.tolist() == np.bincount(place).tolist()
    assert 25 < found.counts.size <= 32
    for k in range(found.counts.size):
        assert found.predicted[k] == pytest.approx(scores[place == k].mean(), abs=2e-3)
        assert found.residual[k] == pytest.approx((labels - scores)[place == k].mean(), abs=2e-3)


def test_right_and_wrong_models_are_told_apart_at_a_tenth_of_the_prints_rows(trials, measured):
    """The Kolmogorov-Smirnov distance of shape differences at rows * epsilon = 2,000; seeds were fixed beforehand.

    In 80 other plots of each model they were 0.09 +- 0.05 for the right and 0.82 +- 0.11 for the wrong one, none above
    0.35 and none below 0.57; one plot in twenty on the wrong side would fail here, as the print does below.
    """
    generator, entropy, runs = np.random.default_rng(300), SeededEntropy(300), trials(12, 100)
    data = [labels_and_scores(model, ROWS, generator) for model in (1, 2)]
    truth = shape_of(*true_plot(*data[0]))
    private = [
        [
            shape_difference(shape_of(plot.predicted, plot.residual), truth)
            for plot in (binned_residual_plot(*each, 0.1, rows=ROWS, entropy=entropy) for _ in range(runs))
        ]
        for each in data
    ]
    distance = stats.ks_2samp(*private).statistic
    means = " and ".join(f"{np.mean(each):.3f}" for each in private)
    measured(f"binned residuals, rows * epsilon = 2,000: shape differences {means}, KS {distance:.2f}")
    assert distance >= 0.95


@pytest.mark.parametrize(("epsilon", "least", "most"), [(0.1, 0.0, 0.6), (1.0, 0.95, 1.0)])
def test_the_print_tells_them_apart_at_20_000_and_not_at_2_000(epsilon, least, most):
    """50 plots of each. The distance at 2,000 is near 0.35, its standard error below 0.1; medians are exact."""
    generator = np.random.default_rng(300)
    data = [labels_and_scores(model, ROWS, generator) for model in (1, 2)]
    truth = shape_of(*true_plot(*data[0]))
    printed = [
        [shape_difference(shape_of(*printed_plot(*each, epsilon, generator)), truth) for _ in range(50)]
        for each in data
    ]
    assert least <= stats.ks_2samp(*printed).statistic <= most


@pytest.mark.parametrize("epsilon", [1, "0.1", 0.001, 100, Fraction(1, 3), "0.123456789", Fraction(10**15 + 1, 10**16)])
@pytest.mark.parametrize("public", [True, False])
def test_parts_add_up_exactly(epsilon, public):
    terms = binned_terms(epsilon, rows_public=public)
    assert terms.total == exact_fraction(epsilon, "epsilon")
    assert Epsilon.total(terms.split.values()) == Epsilon.covering(exact_fraction(epsilon, "epsilon"))
    assert ("rows" in terms.split) is not public
    assert terms.predictions * 10 <= terms.labels + terms.predictions


def test_what_is_released(entropy):
    labels, scores = labels_and_scores(1, 3000, np.random.default_rng(2))
    found = binned_residual_plot(labels, scores, "0.5", entropy=entropy)
    assert found.epsilon == Epsilon("0.5")
    assert {name: str(part) for name, part in found.split.items()} == {
        "rows": "0.025",
        "bins": "0.075",
        "merging": "0.075",
        "label counts": "0.2925",
        "predictions": "0.0325",
    }
    assert not found.rows_public
    # Noise of scale 40: 600 away comes with probability 3e-7.
    assert abs(found.rows - 3000) < 600
    assert found.stamp == entropy.stamp
    assert MODEL_CAVEAT in found.caveats
    assert found.edges[0] == 0
    assert found.edges[-1] == 1
    assert (np.diff(found.edges) > 0).all()
    assert (found.predicted >= found.edges[:-1]).all()
    assert (found.predicted <= found.edges[1:]).all()
    assert (found.counts >= 1).all()
    assert (found.band > 0).all()
    assert len({getattr(found, name).size for name in ARRAYS[1:]}) == 1
    again = decoded(Diagnostic, encoded(found))
    assert same(found, again)


@pytest.mark.parametrize(
    ("labels", "scores"),
    [
        ([], []),
        ([1], [0.5]),
        ([1] * 500, np.linspace(0, 1, 500)),
        ([0] * 500, np.linspace(0, 1, 500)),
        ([0, 1] * 250, [0.5] * 500),
        ([0, 1] * 250, [0.0] * 500),
        ([0, 1] * 250, [1.0] * 500),
        ([np.nan] * 500, [0.2] * 500),
        ([0, 1] * 250, [np.nan, np.inf] * 250),
        ([0, 1] * 250, [-np.inf, 1e300] * 250),
        ([7, -3] * 250, [0.1, 0.9] * 250),
    ],
)
@pytest.mark.parametrize("rows", [None, 500])
def test_no_data_are_an_error_or_a_division_by_zero(labels, scores, rows, entropy):
    """Nothing, one row, one class, one score, no numbers: always a plot, and all of it finite."""
    for epsilon in (0.01, 1):
        found = binned_residual_plot(labels, scores, epsilon, rows=rows, entropy=entropy)
        assert all(np.isfinite(getattr(found, name)).all() for name in ARRAYS)
        assert np.abs(found.residual).max() <= 1


def test_each_record_is_clamped_or_left_out_by_itself():
    labels, scores = [0, 1, 1, 0] * 50, [0.0, 1.0, 0.7, 0.2] * 50

    def plot(labels, scores):
        return binned_residual_plot(labels, scores, 1, rows=200, entropy=SeededEntropy(5))

    clean = plot(labels, scores)
    assert same(clean, plot([0, 9, 1, -2] * 50, [-3.0, np.inf, 0.7, 0.2] * 50))
    assert same(clean, plot([*labels, 1, np.nan, None], [*scores, np.nan, 0.5, 0.5]))
    assert same(clean, plot(np.array(labels, dtype=bool), np.array(scores, dtype=np.float32).astype(float).round(6)))
    order = np.random.default_rng(1).permutation(200)
    assert same(clean, plot(np.array(labels)[order], np.array(scores)[order]))
    holes = pa.array([*[bool(label) for label in labels], None]), pa.array([*scores, 0.5])
    assert same(clean, plot(*holes))
    assert not same(clean, plot([*labels, 1], [*scores, 0.5]))


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": -1}, "epsilon"),
        ({"epsilon": "much"}, "epsilon"),
        ({"epsilon": 1e-9}, "epsilon"),
        ({"epsilon": 1e9}, "epsilon"),
        ({"epsilon": float("nan")}, "epsilon"),
        ({"rows": 0}, "rows"),
        ({"rows": 1}, "rows"),
        ({"rows": 2.0}, "rows"),
        ({"depth": 0}, "depth"),
        ({"depth": 13}, "depth"),
        ({"depth": True}, "depth"),
        ({"labels": np.array([[104729, 1]])}, "labels"),
        ({"labels": np.array(["a104729", "b"])}, "labels"),
        ({"scores": np.array(["104729.5", "0.2"])}, "scores"),
        ({"scores": [0.104729]}, "labels"),
        ({"scores": 0.104729}, "scores"),
    ],
)
def test_refusals_name_the_field_and_no_element(options, field):
    arguments = {"labels": [0, 1], "scores": [0.25, 0.75], "epsilon": 1, **options}
    with pytest.raises(ArgumentError) as refusal:
        binned_residual_plot(**arguments)
    assert refusal.value.field == field
    assert "104729" not in str(refusal.value)


def test_bins_are_capped_by_the_number_of_rows_declared_not_by_the_rows_there_are():
    labels, scores = labels_and_scores(1, 5000, np.random.default_rng(3))
    sizes = {}
    for rows, depth in ((2, 12), (4, 12), (5000, 3), (5000, None)):
        sizes[rows, depth] = binned_residual_plot(labels, scores, 100, rows=rows, depth=depth).counts.size
    assert sizes[2, 12] <= 2
    assert sizes[4, 12] <= 4
    assert sizes[5000, 3] <= 8 < sizes[5000, None] <= 64


def test_the_stamp_is_on_what_a_seed_made():
    assert binned_residual_plot([0], [0.5], 1, entropy=SeededEntropy(1)).stamp == NOT_PRIVATE
    assert binned_residual_plot([0], [0.5], 1).stamp == ""


def test_what_a_noisy_count_of_hardly_any_rows_means_is_said():
    found = [binned_residual_plot([], [], 10, entropy=SeededEntropy(seed)) for seed in range(5)]
    assert any("fewer than 2 rows" in plot.caption for plot in found)
    assert "fewer than 2 rows" not in binned_residual_plot([], [], 10, rows=50).caption
