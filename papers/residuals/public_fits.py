"""Fit ordinary models to public tables, for pictures: earnings by least squares, incomes by logistic regression.

None of the models is private; the data are public.
Reads: files of public data. Writes: nothing. Never: an error for a missing file.
"""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thresher.audit.attacks.public_files import columns

Column = NDArray[np.float64]
EARNINGS = ("cps_earnings", "cps_march_earnings_61k.csv")
ADULT = ("adult", "adult.parquet")

_NUMBERS = ("age", "education_num", "hours_per_week")
_NAMES = ("workclass", "marital_status", "occupation", "relationship", "race", "sex")


def earnings_fits(folder: Path) -> dict[str, tuple[Column, Column]]:
    """Return fitted values and residuals of earnings, and of their logarithm, for the rows that they are fitted to.

    The regressors are education, age, its square, and gender.
    """
    kinds = {"earnings": "double", "gender": "string", "age": "double", "education": "double"}
    table = columns(folder / EARNINGS[0], EARNINGS[1], kinds)
    earnings, age, education = (np.asarray(table[name]) for name in ("earnings", "age", "education"))
    woman = np.array(table["gender"].to_pylist()) == "female"
    kept = np.isfinite(earnings + age + education) & (earnings > 0)
    design = np.stack([np.ones(age.size), education, age, age**2, woman], axis=1)[kept]
    return {name: _least_squares(design, y) for name, y in _targets(earnings[kept]).items()}


def _targets(earnings: Column) -> dict[str, Column]:
    return {"earnings": earnings, "log earnings": np.log(earnings)}


def _least_squares(design: Column, y: Column) -> tuple[Column, Column]:
    weights, *_ = np.linalg.lstsq(design, y, rcond=None)
    fitted = np.asarray(design @ weights)
    return fitted, y - fitted


def adult_scores(folder: Path) -> dict[str, tuple[NDArray[np.bool_], Column]]:
    """Return labels (income above 50,000) and chances on the test part, by two regressions on the other part.

    "small" sees age, years of education and hours a week; "full" also work, family and sex, one column for each value.
    """
    kinds = dict.fromkeys(_NUMBERS, "double") | dict.fromkeys(_NAMES, "string")
    table = columns(folder / ADULT[0], ADULT[1], {**kinds, "split": "string", "income_over_50k": "int64"})
    test = np.array(table["split"].to_pylist()) == "test"
    labels = np.asarray(table["income_over_50k"]) > 0
    numbers = np.stack([np.asarray(table[name]) for name in _NUMBERS], axis=1)
    numbers = (numbers - numbers[~test].mean(axis=0)) / numbers[~test].std(axis=0)
    marks = [_marks(table[name].to_pylist()) for name in _NAMES]
    designs = {"small": numbers, "full": np.concatenate([numbers, *marks], axis=1)}
    return {name: (labels[test], _chances(design, labels, test)) for name, design in designs.items()}


def _marks(values: list[Any]) -> Column:
    """Return one column of 0 and 1 for each value; a missing value counts as one."""
    _, codes = np.unique(np.array([value or "" for value in values]), return_inverse=True)
    return np.eye(int(codes.max()) + 1)[codes]


def _chances(design: Column, labels: NDArray[np.bool_], test: NDArray[np.bool_]) -> Column:
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 - an extra

    model = LogisticRegression(max_iter=2000).fit(design[~test], labels[~test])
    return np.asarray(model.predict_proba(design[test])[:, 1], dtype=np.float64)
