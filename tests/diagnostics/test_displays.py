"""Displays: drawn from releases only, in the manner of scikit-learn, and refusing in words."""

import gc
import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from diagnostics.logistic_models import labels_and_scores
from diagnostics.made_releases import MAKERS, STAMPED

mpl.use("Agg")

import matplotlib.pyplot as plt
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from thresher.codec import document
from thresher.diagnostics.displays import MOST_POINTS, BinnedResidualDisplay, ResidualDisplay, RocCurveDisplay
from thresher.diagnostics.predictions import is_positive, predicted_chances
from thresher.errors import ArgumentError
from thresher.noise import SeededEntropy

DISPLAYS = {"roc": RocCurveDisplay, "binned": BinnedResidualDisplay, "residuals": ResidualDisplay}
CLASSIFYING = (RocCurveDisplay, BinnedResidualDisplay)


@pytest.fixture(autouse=True)
def _closed_figures():
    yield
    plt.close("all")


def texts(axes):
    return " ".join(text.get_text() for text in axes.texts).replace("\n", " ")


@pytest.mark.parametrize("kind", DISPLAYS)
def test_a_display_draws_its_release(kind):
    release = MAKERS[kind]()
    display = DISPLAYS[kind](release)
    assert not hasattr(display, "ax_")
    assert display.plot() is display
    assert display.figure_ is display.ax_.figure
    assert release.caption in texts(display.ax_)
    for word in ("epsilon 0.25", "bins 0.05", "counts 0.2", "no diagnostic makes them so"):
        assert word in texts(display.ax_)
    assert STAMPED not in texts(display.ax_)
    assert STAMPED in texts(DISPLAYS[kind](MAKERS[kind](stamp=STAMPED)).plot().ax_)


@pytest.mark.parametrize("kind", DISPLAYS)
def test_it_draws_into_the_axes_it_is_given(kind):
    figure, (left, right) = plt.subplots(1, 2)
    before = left.has_data()
    display = DISPLAYS[kind](MAKERS[kind]()).plot(ax=right)
    assert display.ax_ is right
    assert display.figure_ is figure
    assert right.has_data()
    assert left.has_data() is before is False
    assert plt.get_fignums() == [figure.number]


def line(axes, gid):
    (found,) = [each for each in axes.lines if each.get_gid() == gid]
    return found


def test_what_is_drawn_is_what_was_released():
    release = MAKERS["roc"]()
    axes = RocCurveDisplay(release).plot().ax_
    curve = line(axes, "roc-curve")
    assert np.array_equal(curve.get_xdata(), release.false_positive_rate)
    assert np.array_equal(curve.get_ydata(), release.true_positive_rate)
    assert "AUC = 0.840" in [text.get_text() for text in axes.get_legend().get_texts()]
    undefined = RocCurveDisplay(MAKERS["roc"](auc=None)).plot().ax_
    assert "AUC undefined under noise" in [text.get_text() for text in undefined.get_legend().get_texts()]

    release = MAKERS["binned"]()
    axes = BinnedResidualDisplay(release).plot().ax_
    inside, outside = line(axes, "inside-band"), line(axes, "outside-band")
    assert outside.get_ydata().tolist() == [0.2, 0.2]
    assert sorted([*inside.get_xdata(), *outside.get_xdata()]) == release.predicted.tolist()

    release = MAKERS["residuals"]()
    axes = ResidualDisplay(release).plot().ax_
    assert np.array_equal(np.stack(line(axes, "points").get_data(), axis=1), release.points)
    assert (axes.get_xlim(), axes.get_ylim()) == ((-2, 6), (-1.5, 1.5))


def test_many_points_are_shaded():
    release = MAKERS["residuals"](points=MOST_POINTS + 1)
    axes = ResidualDisplay(release).plot().ax_
    (image,) = axes.images
    assert np.array_equal(image.get_array(), release.counts)
    assert image.get_extent() == [-2, 6, -1.5, 1.5]
    assert image.origin == "lower"
    assert not [each for each in axes.lines if each.get_gid() == "points"]


def holds(thing, exact, seen):
    """Whether an array that shares memory with `exact`, or has its numbers, can be reached from a thing."""
    if id(thing) in seen or isinstance(thing, type):
        return False
    seen.add(id(thing))
    if isinstance(thing, np.ndarray):
        return np.shares_memory(thing, exact) or (thing.shape == exact.shape and np.array_equal(thing, exact))
    return any(holds(each, exact, seen) for each in gc.get_referents(thing) if not isinstance(each, str | bytes))


@pytest.mark.parametrize("kind", DISPLAYS)
def test_no_exact_array_is_kept(kind):
    labels, scores = labels_and_scores(1, 731, np.random.default_rng(4))
    actual = labels + scores if kind == "residuals" else labels.astype(float)
    display = DISPLAYS[kind].from_predictions(actual, scores, epsilon=1, entropy=SeededEntropy(2))
    assert set(vars(display)) == {"release", "ax_", "figure_"}
    for exact in (actual, scores, actual - scores, np.sort(scores)):
        assert not holds(vars(display)["release"], exact, set())
        drawn = [np.asarray(each.get_data()) for each in display.ax_.lines]
        assert not any(exact.size == each.size for each in drawn)
    assert holds((display, [scores]), scores, set()), "the search must find what is there"


@pytest.fixture(scope="module")
def people():
    generator = np.random.default_rng(8)
    features = generator.normal(size=(800, 2))
    chance = 1 / (1 + np.exp(-2 * features[:, 0]))
    return features, generator.random(800) < chance


@pytest.mark.parametrize("display", CLASSIFYING)
def test_from_an_estimator_as_from_its_predictions(display, people):
    features, labels = people
    model = LogisticRegression().fit(features, labels)
    one = display.from_estimator(model, features, labels, epsilon=1, entropy=SeededEntropy(3))
    other = display.from_predictions(labels, model.predict_proba(features)[:, 1], epsilon=1, entropy=SeededEntropy(3))
    assert one.release.to_bytes() == other.release.to_bytes()
    named = np.where(labels, "spam", "ham")
    words = display.from_estimator(
        LogisticRegression().fit(features, named), features, named, epsilon=1, entropy=SeededEntropy(3)
    )
    assert words.release.to_bytes() == one.release.to_bytes()


def test_residuals_from_a_regressor(people):
    features, _ = people
    target = features[:, 0] ** 2
    model = LinearRegression().fit(features, target)
    found = ResidualDisplay.from_estimator(model, features, target, epsilon=2, rows=800, entropy=SeededEntropy(3))
    same = ResidualDisplay.from_predictions(
        target, model.predict(features), epsilon=2, rows=800, entropy=SeededEntropy(3)
    )
    assert found.release.to_bytes() == same.release.to_bytes()


def test_rows_that_an_estimator_refuses_are_left_out(people):
    """A NaN in a row concerns that row; that it is there is not told by an error."""
    features, labels = people
    model = LogisticRegression().fit(features, labels)
    holed, marks = np.vstack([features, [[np.nan, 0.0], [np.inf, 1.0]]]), np.append(labels, [True, False])
    for display in CLASSIFYING:
        clean = display.from_estimator(model, features, labels, epsilon=1, rows=800, entropy=SeededEntropy(3))
        found = display.from_estimator(model, holed, marks, epsilon=1, rows=800, entropy=SeededEntropy(3))
        assert found.release.to_bytes() == clean.release.to_bytes()
    nothing = np.full((5, 2), np.nan)
    assert RocCurveDisplay.from_estimator(model, nothing, [True] * 5, epsilon=1).release.rows >= 0
    missing = np.append(labels.astype(float), np.nan)
    rows = np.vstack([features, features[:1]])
    lacking = BinnedResidualDisplay.from_estimator(model, rows, missing, epsilon=1, rows=800, entropy=SeededEntropy(3))
    assert lacking.release.to_bytes() == clean.release.to_bytes()


class Quoting:
    """An estimator whose errors quote what it was given."""

    classes_ = (0, 1)

    def predict_proba(self, rows):
        raise ValueError(f"cannot take {rows}")

    predict = predict_proba


def test_refusals_name_no_element(people):
    features, labels = people
    secret = [[104729.0, 1.0]]
    # Rows that it cannot take are left out, all of them if need be: a refusal would tell of them.
    for display in (RocCurveDisplay, ResidualDisplay):
        drawn = display.from_estimator(Quoting(), secret, [1], epsilon=1)
        assert "104729" not in str(document(drawn.release))
    three = LogisticRegression().fit(features, labels.astype(int) + (features[:, 1] > 0))
    for estimator in (three, LogisticRegression(), LinearRegression().fit(features, labels), object()):
        with pytest.raises(ArgumentError, match="two classes"):
            BinnedResidualDisplay.from_estimator(estimator, features, labels, epsilon=1)
    with pytest.raises(ArgumentError, match="predict"):
        ResidualDisplay.from_estimator(object(), features, labels, epsilon=1)
    with pytest.raises(ArgumentError, match="3 columns"):
        ResidualDisplay.from_estimator(LinearRegression().fit(features, labels), np.ones((5, 3)), labels[:5], epsilon=1)
    for true, predicted in (([1.0], [1.0, 2.0]), (np.array([["x"]]), [1.0]), (np.array(["104729"]), [1.0])):
        with pytest.raises(ArgumentError) as refusal:
            ResidualDisplay.from_predictions(true, predicted, epsilon=1)
        assert "104729" not in str(refusal.value)


@pytest.mark.parametrize("kind", DISPLAYS)
def test_a_display_takes_its_own_release_only(kind):
    for other in [*(make() for name, make in MAKERS.items() if name != kind), None, [0.5]]:
        with pytest.raises(ArgumentError, match="release"):
            DISPLAYS[kind](other)


def test_epsilon_has_no_default():
    for display in DISPLAYS.values():
        with pytest.raises(TypeError):
            display.from_predictions([0, 1], [0.1, 0.9])


def test_without_matplotlib_the_refusal_says_what_to_install():
    """In an interpreter that cannot load it: everything up to the drawing works."""
    program = """
import sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {"matplotlib", "sklearn"}:
            raise ImportError(name)
sys.meta_path.insert(0, Refuse())
from thresher.diagnostics.displays import BinnedResidualDisplay
from thresher.diagnostics.binned_residuals import binned_residual_plot
from thresher.diagnostics.pictures import save_picture, sparkline
from thresher.errors import CuratorError
release = binned_residual_plot([0, 1], [0.2, 0.9], 1)
assert "residual" in sparkline(release)
for draw in (BinnedResidualDisplay(release).plot, lambda: save_picture(release, "plot.svg")):
    try:
        draw()
    except CuratorError as error:
        print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout.count("pip install 'thresher[diagnostics]'") == 2, done.stderr


def test_one_odd_label_changes_no_other(people):
    """Of a list with one text in it, numpy would make texts of all labels."""
    features, labels = people
    estimator = LogisticRegression().fit(features, labels.astype(int))
    whole = [int(label) for label in labels]
    plain, odd = (is_positive(estimator, given) for given in (whole, [*whole, "?"]))
    assert (odd[:-1] == plain).all()
    assert odd[-1] != 1
    assert np.isnan(is_positive(estimator, [None, np.nan, np.zeros(2)])).all()
    assert (is_positive(estimator, np.array([*whole, None], dtype=object))[:-1] == plain).all()


def test_one_row_that_an_estimator_refuses_moves_no_other():
    """An unknown word in one row: the others are predicted as if it were not there."""
    words = pd.DataFrame({"ward": ["eye", "heart"] * 20})
    told = np.array([0, 1] * 20)
    estimator = make_pipeline(OneHotEncoder(), LogisticRegression()).fit(words, told)
    with_odd = pd.concat([words, pd.DataFrame({"ward": ["unheard of"]})])
    found = predicted_chances(estimator, with_odd)
    assert np.isnan(found[-1])
    assert found[:-1] == pytest.approx(predicted_chances(estimator, words))
