"""Models that are looked at in the docs: ordinary fits of made-up and public-looking tables."""

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

from papers.residuals.chance_models import BENDS, FITS, LOG_ODDS, labels_and_chances
from papers.residuals.public_fits import ADULT, EARNINGS, adult_scores, earnings_fits
from thresher.errors import SourceError
from thresher.noise import SeededEntropy


@pytest.mark.parametrize("name", [FITS, BENDS])
def test_a_logistic_regression_on_x_is_fitted(name):
    """At the optimum residuals add up to nothing, alone and weighted by x; those of the wrong model bend even so."""
    labels, chances = labels_and_chances(LOG_ODDS[name], 40_000, SeededEntropy(3))
    x = np.log(chances / (1 - chances))
    residuals = labels - chances
    assert abs(residuals.sum()) < 1e-6
    assert abs(residuals @ x) < 1e-5
    middle = np.abs(x - np.median(x)) < np.ptp(x) / 6
    bend = residuals[~middle].mean() - residuals[middle].mean()
    # A standard error is 0.005: six of them either way.
    assert (abs(bend) < 0.03) if name == FITS else (bend > 0.04)


def test_earnings_are_fitted_by_least_squares(tmp_path):
    generator = np.random.default_rng(1)
    age, education = generator.integers(21, 65, 500), generator.integers(8, 20, 500)
    female = generator.integers(0, 2, 500)
    logarithm = 0.5 + 0.1 * education + 0.02 * age - 0.2 * female
    (tmp_path / EARNINGS[0]).mkdir()
    columns = {
        "earnings": [*np.exp(logarithm), None, 0.0],
        "gender": [*np.where(female, "female", "male"), "male", "male"],
        "age": [*age, 30, 30],
        "region": ["South"] * 502,
        "education": [*education, 12, 12],
    }
    csv.write_csv(pa.table(columns), tmp_path / EARNINGS[0] / EARNINGS[1])
    fits = earnings_fits(tmp_path)
    assert list(fits) == ["earnings", "log earnings"]
    fitted, residuals = fits["log earnings"]
    assert fitted == pytest.approx(logarithm, abs=1e-5)
    assert np.abs(residuals).max() < 1e-5
    assert np.ptp(fits["earnings"][1]) > 0.1


def test_incomes_are_scored_by_models_that_saw_the_other_part(tmp_path):
    generator = np.random.default_rng(2)
    size = 2000
    sex, age = generator.integers(0, 2, size), generator.integers(17, 80, size)
    rich = generator.random(size) < np.where(sex, 0.9, 0.1)
    (tmp_path / ADULT[0]).mkdir()
    columns = {
        **dict.fromkeys(("workclass", "marital_status", "occupation", "relationship", "race"), [None] * size),
        "age": age,
        "education_num": generator.integers(1, 17, size),
        "hours_per_week": generator.integers(1, 99, size),
        "sex": np.where(sex, "Male", "Female"),
        "split": np.where(np.arange(size) % 4 == 0, "test", "train"),
        "income_over_50k": rich.astype(np.int8),
    }
    parquet.write_table(pa.table(columns), tmp_path / ADULT[0] / ADULT[1])
    scores = adult_scores(tmp_path)
    for labels, chances in scores.values():
        assert labels.tolist() == rich[::4].tolist()
        assert ((chances > 0) & (chances < 1)).all()
    # Only the full model knows what decides.
    assert np.abs(scores["full"][1] - np.where(sex[::4], 0.9, 0.1)).max() < 0.15
    assert np.abs(scores["small"][1] - 0.5).max() < 0.2


def test_a_file_without_its_columns_is_named(tmp_path):
    (tmp_path / ADULT[0]).mkdir()
    parquet.write_table(pa.table({"age": [1]}), tmp_path / ADULT[0] / ADULT[1])
    with pytest.raises(SourceError, match=r"adult/adult.parquet cannot be read.*hours_per_week"):
        adult_scores(tmp_path)
