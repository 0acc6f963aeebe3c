"""The private ROC curve: parts add up, noise has the law it should, neighbours align, and rows decide nothing."""

import importlib
from fractions import Fraction

import numpy as np
import pytest
from laws import assert_fits, assert_rejected, laplace_p
from mechanisms.replayed_noise import Replay

from thresher.amounts import Epsilon
from thresher.codec import decoded, document, encoded
from thresher.diagnostics.curves import exact_curve, mann_whitney
from thresher.diagnostics.releases import MODEL_CAVEAT, Diagnostic
from thresher.diagnostics.roc_curve import FAINT, UNDEFINED, fitting_depth, fixed_thresholds, noisy_counts, roc_curve
from thresher.diagnostics.scored_rows import scored_rows
from thresher.errors import ArgumentError
from thresher.mechanisms.histograms import MECHANISMS, flat
from thresher.noise import SeededEntropy, SystemEntropy

room = importlib.import_module("thresher.diagnostics.roc_curve")

SCORES = np.array([0.9, 0.8, 0.7, 0.6, 0.55, 0.4, 0.3, 0.2])
LABELS = np.array([1, 1, 0, 1, 0, 1, 0, 0])


def drawn_rows(size, seed=1):
    generator = np.random.default_rng(seed)
    labels = generator.random(size) < 0.5
    return labels, generator.beta(2 + 2 * labels, 3)


def assert_is_a_curve(found):
    x, y = found.false_positive_rate, found.true_positive_rate
    assert x.shape == y.shape == (found.thresholds.size + 2,)
    assert (x[0], y[0], x[-1], y[-1]) == (0, 0, 1, 1)
    assert (np.diff(x) >= 0).all()
    assert (np.diff(y) >= 0).all()
    assert (np.diff(found.thresholds) < 0).all()
    assert found.auc is None or 0 <= found.auc <= 1
    # All that is said of the totals is a function of the totals.
    undefined = min(found.positives, found.negatives) <= 0
    assert (found.auc is None) == undefined == (UNDEFINED in found.caveats)
    assert found.caveats[0] == MODEL_CAVEAT


@pytest.mark.parametrize("epsilon", ["0.3", Fraction(1, 3), 0.7])
@pytest.mark.parametrize(
    ("asked", "names"),
    [
        ({}, ["rows", "thresholds", "counts"]),
        ({"rows": 50}, ["thresholds", "counts"]),
        ({"depth": 2}, ["thresholds", "counts"]),
        ({"thresholds": "fixed"}, ["rows", "counts"]),
        ({"thresholds": "fixed", "depth": 2}, ["counts"]),
        ({"thresholds": [0.2, 0.6]}, ["counts"]),
        ({"thresholds": [0.2, 0.6], "rows": 50, "share": "0.5"}, ["counts"]),
    ],
)
def test_parts_add_up_and_only_what_is_used_is_paid_for(epsilon, asked, names, entropy):
    found = roc_curve(*drawn_rows(50), epsilon, **asked, entropy=entropy)
    assert_is_a_curve(found)
    assert found.epsilon == Epsilon.covering(epsilon) == Epsilon.total(found.split.values())
    assert list(found.split) == names
    if "thresholds" in names:
        assert found.split["thresholds"] == Epsilon.covering(Epsilon.covering(epsilon).fraction / 5)
    assert found.rows_public == ("rows" in asked)
    assert found.rows == 50 or not found.rows_public
    assert found.stamp == entropy.stamp


def test_what_is_spent_is_what_was_asked_for(monkeypatch, entropy):
    """The parts drawn with add up to epsilon exactly, and none of them is above what is charged for it."""
    spent = {}
    medians, counting = room.recursive_medians, room.noisy_histogram

    def seen_medians(values, depth, grid, epsilon, **named):
        spent["thresholds"] = epsilon
        return medians(values, depth, grid, epsilon, **named)

    def seen_counting(counts, epsilon, mechanism, source):
        spent.setdefault("counts", []).append(epsilon)
        return counting(counts, epsilon, mechanism, source)

    monkeypatch.setattr(room, "recursive_medians", seen_medians)
    monkeypatch.setattr(room, "noisy_histogram", seen_counting)
    for epsilon in (Fraction(1, 3), Fraction(1), Fraction(10, 7)):
        spent.clear()
        found = roc_curve(*drawn_rows(30), epsilon, rows=30, share="0.3", entropy=entropy)
        positives, negatives = spent["counts"]
        assert positives == negatives
        assert spent["thresholds"] + positives == epsilon
        assert spent["thresholds"] <= found.split["thresholds"].fraction
        assert positives <= found.split["counts"].fraction


def test_the_depth_follows_from_public_or_paid_numbers(entropy):
    for rows, epsilon, depth in [(0, 1, 3), (511, 1, 3), (512, 1, 4), (1023, 1, 4), (1024, 1, 5), (10**6, 1, 5)]:
        assert fitting_depth(rows, epsilon) == depth
    assert fitting_depth(5120, "0.1") == 4
    labels, scores = drawn_rows(40)
    # Declared: taken at its word, whatever the arrays are.
    assert roc_curve(labels, scores, 1, rows=600, entropy=entropy).thresholds.size == 15
    assert roc_curve(labels, scores, 1, rows=40, entropy=entropy).thresholds.size == 7
    for size in (40, 480, 540, 3000):
        found = roc_curve(*drawn_rows(size), 1, entropy=entropy)
        assert found.thresholds.size == 2 ** fitting_depth(found.rows, 1) - 1
        assert abs(found.rows - size) < 20 * 18  # false failure: 4 exp(-18) over the four sizes
    assert fixed_thresholds(2).tolist() == [0.75, 0.5, 0.25]
    assert roc_curve(labels, scores, 1, thresholds="fixed", depth=10, entropy=entropy).thresholds.size == 1023
    given = roc_curve(labels, scores, 1, thresholds=(0.1, 0.9, 0.3), entropy=entropy)
    assert given.thresholds.tolist() == [0.9, 0.3, 0.1]


def test_with_next_to_no_noise_it_is_the_ordinary_curve(entropy):
    """At epsilon 100, with no noise but with probability 1e-40: the published areas, and Mann-Whitney."""
    for thresholds, area in (([0.5], 0.625), ([0.65, 0.35], 0.75), ([0.75, 0.5, 0.25], 0.78125), (SCORES, 0.8125)):
        found = roc_curve(LABELS, SCORES, 100, thresholds=thresholds, entropy=entropy)
        assert found.auc == area
        assert (found.positives, found.negatives, found.rows) == (4, 4, 8)
    labels, scores = drawn_rows(500)
    rows = scored_rows(labels, scores)
    found = roc_curve(labels, scores, 100, thresholds=np.unique(scores), entropy=entropy)
    assert found.auc == pytest.approx(float(mann_whitney(rows)), abs=1e-12)
    truth = exact_curve(rows).curve
    assert found.false_positive_rate[:-1] == pytest.approx(truth.false_positive_rate[:-1])
    assert found.true_positive_rate[:-1] == pytest.approx(truth.true_positive_rate[:-1])


def test_medians_part_the_scores_evenly(entropy):
    labels, scores = drawn_rows(4000)
    found = roc_curve(labels, scores, 20, depth=3, entropy=entropy)
    assert np.searchsorted(np.sort(scores), found.thresholds[::-1]) == pytest.approx(np.arange(1, 8) * 500, abs=40)
    assert found.auc == pytest.approx(float(mann_whitney(scored_rows(labels, scores))), abs=0.01)


@pytest.mark.parametrize("name", [name for name in MECHANISMS if name != "ag"])
def test_every_histogram_serves(name, entropy):
    found = roc_curve(*drawn_rows(300), 2, histogram=name, rows=300, entropy=entropy)
    assert_is_a_curve(found)


def test_a_stored_curve_comes_back(entropy):
    found = roc_curve(*drawn_rows(60), "0.5", entropy=entropy)
    again = decoded(Diagnostic, encoded(found))
    assert document(again) == document(found)
    assert again.caption.startswith(f"{entropy.stamp}." if entropy.stamp else "epsilon 0.5")


# Privacy


def test_both_label_counts_have_noise_for_the_full_epsilon(entropy, trials):
    """The law of the noise of either label: false failure 1e-6 each; half of epsilon, or twice, would be seen."""
    rows, epsilon = scored_rows(LABELS, SCORES), Fraction(1, 2)
    cuts = fixed_thresholds(8)
    exact = rows.counts(cuts)
    runs = trials(400, 4000)
    draws = [noisy_counts(rows, cuts, epsilon, "laplace", entropy) for _ in range(runs)]
    for label in (0, 1):
        noise = np.concatenate([counts[label] - exact[label] for counts in draws]).astype(np.int64)
        assert_fits(laplace_p(noise, 2.0))
        assert_rejected(laplace_p(noise, 4.0))
        assert_rejected(laplace_p(noise, 1.0))


def replayed(monkeypatch, data, replays, **asked):
    """The release on noise that is given; `replays` stand in for the count of rows and for the label counts."""
    with monkeypatch.context() as patch:
        patch.setattr(room, "discrete_laplace", replays[0])
        patch.setattr(flat, "discrete_laplace", replays[1])
        found = roc_curve(*data, 1, thresholds="fixed", **asked, entropy=SeededEntropy(1))
    return {name: value for name, value in document(found).items() if name != "stamp"}


@pytest.mark.parametrize("seed", range(6))
def test_neighbours_align_at_exactly_epsilon(seed, monkeypatch):
    """One step of noise in one cell of one histogram, and one in the count of rows, undo a row: epsilon in all."""
    generator = np.random.default_rng(seed)
    labels, scores = drawn_rows(60, seed)
    extra = bool(generator.integers(2)), float(generator.uniform())
    more = np.append(labels, extra[0]), np.append(scores, extra[1])
    first = Replay(seed), Replay(seed)
    released = replayed(monkeypatch, (labels, scores), first)
    bins, (call, still) = 8, (0, 1) if extra[0] else (1, 0)
    fits = []
    for place in range(bins):
        moves = {call: (place, -1), still: (bins, 0)}
        again = Replay(seed, ((0, -1),)), Replay(seed, (moves[0], moves[1]))
        if replayed(monkeypatch, more, again) == released:
            fits.append(place)
            assert again[0].rates[0] + again[1].rates[call] == 1
    assert len(fits) >= 1


CONSTANT = np.full(50, 0.5)
ODD_ROWS = {
    "none": ([], []),
    "one": ([1], [0.5]),
    "one class": (np.ones(50), np.linspace(0, 1, 50)),
    "the other class": (np.zeros(50), np.linspace(0, 1, 50)),
    "constant scores": (np.arange(50) % 2, CONSTANT),
    "all at the ends": (np.arange(50) % 2, np.arange(50) % 2),
    "not a number": (np.arange(50) % 2, np.full(50, np.nan)),
    "infinite": (np.arange(50) % 2, np.where(np.arange(50) % 2, np.inf, -np.inf)),
    "odd labels": (np.array([-1, 7, 0, 3] * 10), np.linspace(-3, 3, 40)),
}


@pytest.mark.parametrize("rows", ODD_ROWS.values(), ids=ODD_ROWS)
@pytest.mark.parametrize("thresholds", ["medians", "fixed", (0.5,)], ids=str)
def test_no_rows_are_refused_and_no_outcome_is_certain(rows, thresholds, trials):
    """Bad rows give releases like good ones; with noise this large the area is undefined sometimes and not always."""
    labels, scores = (np.asarray(part, dtype=float) for part in rows)
    found = [roc_curve(labels, scores, "0.05", thresholds=thresholds, entropy=SeededEntropy(k)) for k in range(40)]
    for each in found:
        assert_is_a_curve(each)
    assert {each.auc is None for each in found} == {True, False}


def test_a_faint_class_is_said_to_be_faint(entropy):
    """An empty class looks like more than three deviations once in 150 times: six of 20 so, once in ten millions."""
    labels, scores = np.ones(5000), np.linspace(0, 1, 5000)
    found = [roc_curve(labels, scores, 1, depth=3, entropy=entropy) for _ in range(20)]
    assert sum(not {FAINT, UNDEFINED} & set(each.caveats) for each in found) < 6
    labels[:2500] = 0
    assert roc_curve(labels, scores, 1, depth=3, entropy=entropy).caveats == (MODEL_CAVEAT,)


def test_records_are_read_one_by_one():
    labels = np.array([-2.0, 0, 1, 5, np.nan, 1])
    scores = np.array([0.1, -4, 7, 0.25, 0.5, np.nan])
    rows = scored_rows(labels, scores)
    assert rows.positive.tolist() == [False, False, True, True]
    assert rows.scores.tolist() == [0.1, 0, 1, 0.25]
    assert scored_rows([True, False], [1, 0]).scores.tolist() == [1, 0]


def never(count):
    raise AssertionError("entropy was read")


BAD = [
    ("labels", np.array(["a", "b"])),
    ("labels", [0, 1, 1]),
    ("labels", [[0, 1]]),
    ("labels", None),
    ("labels", np.array([0, 1], dtype=complex)),
    ("scores", np.array(["a", "b"])),
    ("scores", np.array([True, False])),
    ("scores", np.ones((2, 1))),
    ("scores", np.array(["2020", "2021"], dtype="datetime64[Y]")),
    ("epsilon", 0),
    ("epsilon", -1),
    ("epsilon", 101),
    ("epsilon", "1e-7"),
    ("epsilon", "1e-6"),
    ("epsilon", float("nan")),
    ("epsilon", True),
    ("thresholds", "means"),
    ("thresholds", []),
    ("thresholds", [0.5, 0.5]),
    ("thresholds", [0.5, 1.5]),
    ("thresholds", [float("nan")]),
    ("thresholds", [[0.5]]),
    ("thresholds", ["a"]),
    ("thresholds", None),
    ("depth", 0),
    ("depth", 11),
    ("depth", 2.5),
    ("depth", True),
    ("rows", 0),
    ("rows", 1),
    ("rows", -5),
    ("rows", 10.5),
    ("histogram", "ag"),
    ("histogram", "none"),
    ("share", 0),
    ("share", 1),
    ("share", "0.001"),
    ("share", float("inf")),
    ("entropy", 3),
]


@pytest.mark.parametrize(("field", "value"), BAD, ids=str)
def test_bad_input_is_refused_before_anything_is_drawn(field, value):
    asked = {"labels": [0, 1], "scores": [0.5, 0.25], "epsilon": 1, "entropy": SystemEntropy(never)} | {field: value}
    with pytest.raises(ArgumentError, match=rf"^{field} = ") as refused:
        roc_curve(**asked)
    if field in ("labels", "scores"):
        assert not {"0.5", "0.25", "'a'"} & set(str(refused.value).replace("]", " ").split())


@pytest.mark.parametrize("thresholds", ["fixed", "medians"])
def test_a_small_integer_type_makes_as_many_thresholds(thresholds, entropy):
    """1 << 9 does not fit in int8."""
    cuts = [
        roc_curve([0, 1], [0.5, 0.25], 1, thresholds=thresholds, depth=depth, entropy=entropy).thresholds.size
        for depth in (np.int8(9), 9)
    ]
    assert cuts == [511, 511]


def test_a_list_of_thresholds_has_no_depth():
    with pytest.raises(ArgumentError, match=r"^depth = "):
        roc_curve([0, 1], [0.5, 0.25], 1, thresholds=[0.5], depth=3)


@pytest.mark.parametrize(
    "labels", [[None, 1, 0], np.ma.array([1, 1, 0], mask=[1, 0, 0]), np.array([None, True, False])]
)
def test_a_column_with_a_hole_is_read_without_that_row(labels):
    """Columns with missing values come as objects or masked: to refuse them would tell of the hole."""
    rows = scored_rows(labels, [0.9, 0.5, 0.2])
    assert rows.positive.tolist() == [True, False]
    assert rows.scores.tolist() == [0.5, 0.2]
