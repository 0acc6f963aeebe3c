"""How far ROC curves are apart: by hand, and by fine sums."""

import numpy as np
import pytest

from papers.roc.curve_distance import symmetric_difference
from thresher.diagnostics.curves import Curve, auc_error

DIAGONAL = Curve(np.array([0.0, 1.0]), np.array([0.0, 1.0]))
PERFECT = Curve(np.array([0.0, 0.0, 1.0]), np.array([0.0, 1.0, 1.0]))


def test_areas_between_curves_by_hand():
    worst = Curve(np.array([0.0, 1.0, 1.0]), np.array([0.0, 0.0, 1.0]))
    assert symmetric_difference(DIAGONAL, DIAGONAL) == 0
    assert symmetric_difference(PERFECT, DIAGONAL) == 0.5
    assert symmetric_difference(PERFECT, worst) == 1
    # A step that crosses the diagonal: four triangles of 1/8 in pairs, with areas that cancel in the AUC.
    step = Curve(np.array([0.0, 0.5, 0.5, 1.0]), np.array([0.0, 0.0, 1.0, 1.0]))
    assert symmetric_difference(step, DIAGONAL) == pytest.approx(0.25)
    assert step.area == DIAGONAL.area == 0.5
    # Straight lines that cross in the middle of a piece.
    bent = Curve(np.array([0.0, 0.25, 0.75, 1.0]), np.array([0.0, 0.5, 0.5, 1.0]))
    assert symmetric_difference(bent, DIAGONAL) == pytest.approx(4 * 0.25 * 0.25 / 2)
    assert auc_error(None, 0.75) == auc_error(0.5, 0.75) == 0.25


def random_curve(generator):
    inner = np.sort(np.round(generator.uniform(size=(2, 6)), 1), axis=1)
    return Curve(*np.concatenate([np.zeros((2, 1)), inner, np.ones((2, 1))], axis=1))


def test_areas_between_curves_by_fine_sums():
    generator = np.random.default_rng(4)
    middles = (np.arange(200_000) + 0.5) / 200_000
    for _ in range(30):
        one, other = random_curve(generator), random_curve(generator)
        heights = [np.interp(middles, c.false_positive_rate, c.true_positive_rate) for c in (one, other)]
        found = symmetric_difference(one, other)
        assert found == pytest.approx(np.abs(heights[0] - heights[1]).mean(), abs=2e-5)
        assert found == symmetric_difference(other, one)
        assert found >= abs(one.area - other.area) - 1e-12
