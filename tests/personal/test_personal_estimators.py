"""The learners as scikit-learn's estimators: its conventions, what is refused, what is left out, what is learnt."""

import inspect
import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from thresher.errors import ArgumentError
from thresher.noise import SeededEntropy
from thresher.personal.learners import estimators
from thresher.personal.learners.classifiers import REAL_NUMBERS, WHOLE_NUMBERS
from thresher.personal.learners.clipped_rows import shape_of
from thresher.personal.learners.estimators import (
    PersonalLinearRegression,
    PersonalLinearSVC,
    PersonalLogisticRegression,
)
from thresher.personal.parts import Parts
from thresher.personal.roster import Roster

CLASSIFIERS = [PersonalLogisticRegression, PersonalLinearSVC]
METHODS = ["minimum", "threshold", "sampling", "weighted", "partition"]


def made_up(people=3000, seed=2):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(people, 3)) / 3
    return rows, (rows @ [4, -3, 0] + rng.logistic(size=people) / 3 > 0).astype(int)


ROWS, LABELS = made_up()
ROSTER = Roster.of(np.repeat(["0.5", "1", "3"], 1000))


@pytest.mark.parametrize("kind", [*CLASSIFIERS, PersonalLinearRegression])
def test_parameters_are_kept_cloned_and_named(kind):
    estimator = kind(method="sampling", threshold="0.5", regularisation=0.25)
    copy = clone(estimator)
    assert copy.get_params() == estimator.get_params()
    assert estimator.set_params(norm=3).norm == 3
    assert set(estimator.get_params()) == set(inspect.signature(kind).parameters)
    assert (is_classifier(copy), is_regressor(copy)) == (kind in CLASSIFIERS, kind not in CLASSIFIERS)
    with pytest.raises(NotFittedError):
        copy.predict(ROWS)
    with pytest.raises(TypeError):
        copy.fit(ROWS, LABELS)
    with pytest.raises(TypeError):
        kind(epsilon=1)


@pytest.mark.parametrize("kind", CLASSIFIERS)
@pytest.mark.parametrize("perturbation", ["output", "objective"])
@pytest.mark.parametrize("method", METHODS)
def test_every_method_learns_and_says_what_it_cost(kind, perturbation, method):
    model = kind(method=method, perturbation=perturbation, regularisation="0.05", parts=Parts.of(ROSTER, (1,)))
    assert model.fit(ROWS, LABELS, budgets=ROSTER, entropy=SeededEntropy(3)) is model
    assert model.score(ROWS, LABELS) > 0.8
    assert model.coef_.shape == (1, 3)
    assert model.n_features_in_ == 3
    assert model.stamp_ == "NOT PRIVATE"
    assert all(spent <= level for spent, level in zip(model.release_.spent, ROSTER.levels, strict=True))
    assert model.release_.proof == (WHOLE_NUMBERS if perturbation == "output" else REAL_NUMBERS)
    assert ((model.decision_function(ROWS) >= 0) == (model.predict(ROWS) == 1)).all()


def test_with_much_budget_it_is_logistic_regression(entropy):
    recipe = PersonalLogisticRegression(method="minimum", regularisation="0.01", fit_intercept=False, norm=4)
    model = recipe.fit(ROWS, LABELS, budgets=[10_000] * 3000, entropy=entropy)
    expected = LogisticRegression(C=1 / (0.01 * 3000), fit_intercept=False, tol=1e-8).fit(ROWS / 4, LABELS)
    assert model.coef_ * 4 == pytest.approx(expected.coef_, abs=0.01)
    chances = model.predict_proba(ROWS)
    assert chances.sum(axis=1) == pytest.approx(1)
    assert ((chances[:, 1] >= 0.5) == (model.predict(ROWS) == 1)).all()


def test_votes_are_counted():
    model = PersonalLogisticRegression(method="partition", parts=3, combine="vote", regularisation="0.05")
    model.fit(ROWS, LABELS, budgets=ROSTER, entropy=SeededEntropy(3))
    planes = ROWS @ model.release_.coefficients.T + model.release_.intercepts
    assert set(np.round(model.predict_proba(ROWS)[:, 1] * 3, 6)) <= {0, 1, 2, 3}
    assert (model.predict(ROWS) == ((planes >= 0).sum(axis=1) >= 2)).all()


def test_changed_records_cost_twice_as_much():
    once, twice = (
        PersonalLogisticRegression(method="minimum", replace=flag).fit(ROWS, LABELS, ROSTER, SeededEntropy(1)).release_
        for flag in (False, True)
    )
    assert twice.noise_length[0] == pytest.approx(2 * once.noise_length[0], rel=1e-3)
    assert once.spent == twice.spent


def test_equal_budgets_are_one_method_and_nothing_is_drawn_for_sampling():
    planes = [
        PersonalLogisticRegression(method=method).fit(ROWS, LABELS, [0.5] * 3000, SeededEntropy(1)).coef_.tolist()
        for method in METHODS[:4]
    ]
    assert planes[0] == planes[1] == planes[2] == planes[3]


def test_a_pipeline_passes_budgets_on():
    pipeline = make_pipeline(FunctionTransformer(lambda x: x * 2), PersonalLinearSVC(norm=2, regularisation="0.05"))
    pipeline.fit(ROWS, LABELS, personallinearsvc__budgets=ROSTER, personallinearsvc__entropy=SeededEntropy(5))
    assert pipeline.score(ROWS, LABELS) > 0.8


def seeded(rows, labels, **options):
    model = PersonalLogisticRegression(**options).fit(rows, labels, [1] * 20 + [0] * 5, SeededEntropy(6))
    return model.coef_.tolist()


def changed(place, value, label=0):
    rows, labels = ROWS[:25].tolist(), LABELS[:25].tolist()
    rows[place] = value
    labels[place] = label
    return rows, labels


ABSENT = changed(3, [np.nan] * 3)


@pytest.mark.parametrize(
    "value", [[np.inf, 0, 0], [0, -np.inf, 0], [None, 0, 0], ["x", 0, 0], [0, 0, 1j], [10**400, 0, 0]]
)
def test_what_is_no_row_is_no_record(value):
    assert seeded(*changed(3, value)) == seeded(*ABSENT)


@pytest.mark.parametrize("label", [2, -1, np.nan, "1", None, [1], 10**400])
def test_what_is_no_declared_label_is_no_record(label):
    assert seeded(*changed(3, ROWS[3].tolist(), label)) == seeded(*ABSENT)
    assert seeded(ROWS[:25].tolist(), LABELS[:25].tolist()) != seeded(*ABSENT)


def test_labels_may_be_texts_or_booleans_or_objects():
    expected = seeded(ROWS[:25], LABELS[:25])
    words = np.array(["no", "yes"])[LABELS[:25]]
    assert seeded(ROWS[:25], words, classes=("no", "yes")) == expected
    assert seeded(ROWS[:25], words.astype(object), classes=("no", "yes")) == expected
    assert seeded(ROWS[:25], LABELS[:25].astype(bool), classes=(False, True)) == expected
    assert seeded(ROWS[:25].tolist(), LABELS[:25].tolist()) == expected
    assert seeded(ROWS[:25].astype(object), LABELS[:25].astype(float)) == expected


def test_those_of_budget_0_are_not_read():
    rows, labels = ROWS[:25].copy(), LABELS[:25].copy()
    expected = seeded(rows, labels)
    rows[20:], labels[20:] = 9.0, 1
    assert seeded(rows, labels) == expected


LONG = [[3e3, 4e3, 0], [3e307, 4e307, 0], [1.7e308, 1.7e308, 1.7e308], [-1e9, 0, 0]]
SHORT = [[0, 0, 0], [1e-320, 0, 0], [3e-4, -4e-4, 0]]


@pytest.mark.parametrize("norm", [1, "0.001", 1000])
@pytest.mark.parametrize("row", [*LONG, *SHORT])
def test_rows_are_shortened_to_the_norm_and_no_longer(row, norm):
    clipped, there = shape_of(norm, intercept=False).clipped(np.array([row]))
    beside, _ = shape_of(norm, intercept=True).clipped(np.array([row]))
    assert there.all()
    assert np.linalg.norm(clipped) <= 1 + 2**-40
    assert np.linalg.norm(beside) <= 1 + 2**-40
    assert beside[0] == pytest.approx(np.append(clipped[0], 1) / 2**0.5)
    if row in SHORT:
        assert clipped[0] == pytest.approx(np.array(row) / float(norm), rel=1e-9)
    else:
        assert np.linalg.norm(clipped) == pytest.approx(1)
        assert clipped[0] / np.abs(clipped).max() == pytest.approx(np.array(row) / np.abs(row).max())


@pytest.mark.parametrize(
    ("rows", "labels", "options", "word"),
    [
        (ROWS[:, 0], LABELS, {}, "X"),
        (ROWS[:, :0], LABELS, {}, "X"),
        (ROWS.astype(complex), LABELS, {}, "X"),
        (ROWS.astype(str), LABELS, {}, "X"),
        (ROWS, LABELS[:-1], {}, "y"),
        (ROWS, LABELS[:, None], {}, "y"),
        (ROWS, LABELS.astype(str), {}, "y"),
        (ROWS[:-1], LABELS[:-1], {}, "budgets"),
        (ROWS, LABELS, {"classes": (0, 1, 2)}, "classes"),
        (ROWS, LABELS, {"classes": (1, 1)}, "classes"),
        (ROWS, LABELS, {"classes": None}, "classes"),
        (ROWS, LABELS, {"classes": ("a", 1)}, "classes"),
        (ROWS, LABELS, {"norm": 0}, "norm"),
        (ROWS, LABELS, {"norm": float("nan")}, "norm"),
        (ROWS, LABELS, {"regularisation": 0}, "regularisation"),
        (ROWS, LABELS, {"method": "best"}, "method"),
        (ROWS, LABELS, {"perturbation": "input"}, "perturbation"),
        (ROWS, LABELS, {"combine": "mean"}, "combine"),
        (ROWS, LABELS, {"method": "partition", "parts": 4}, "parts"),
        (ROWS, LABELS, {"method": "partition", "parts": 0}, "parts"),
        (ROWS, LABELS, {"method": "threshold", "threshold": 4}, "threshold"),
    ],
)
def test_shapes_types_and_settings_are_refused_by_name(rows, labels, options, word):
    with pytest.raises(ArgumentError) as refused:
        PersonalLogisticRegression(**options).fit(rows, labels, ROSTER)
    assert refused.value.field == word
    assert str(ROWS[0, 0])[:6] not in str(refused.value)


def test_only_this_file_needs_scikit_learn():
    folder = Path(inspect.getfile(estimators)).parent
    users = [
        path.name for path in folder.glob("*.py") if re.search(r"^\s*(import|from) sklearn", path.read_text(), re.M)
    ]
    assert users == ["estimators.py"]
