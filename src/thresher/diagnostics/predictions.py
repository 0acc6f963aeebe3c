"""Collect what an estimator predicts, record by record, and the true values, for a diagnostic.

A record that the estimator cannot take has no prediction, and is left out: a refusal would reveal that it is there.
Reads: an estimator, arrays. Writes: nothing. Never: an element in an error text; an error message of the estimator.
"""

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thresher.diagnostics.scored_rows import listed_numbers
from thresher.errors import ArgumentError

Reals = NDArray[np.float64]


def predicted_chances(estimator: Any, rows: Any) -> Reals:
    """Return the predicted chance of the second of two classes."""
    _two_classes(estimator)
    return _asked(estimator, "predict_proba", rows, lambda predicted: np.asarray(predicted, dtype=np.float64)[:, 1])


def predictions_of(estimator: Any, rows: Any) -> Reals:
    """Return one predicted number for each row."""
    return _asked(
        estimator, "predict", rows, lambda predicted: np.asarray(predicted, dtype=np.float64).reshape(len(predicted))
    )


def is_positive(estimator: Any, labels: ArrayLike) -> Reals:
    """Return 1 where the label is the estimator's second class, NaN where it is missing, 0 otherwise."""
    classes = _two_classes(estimator)
    # numpy gives a list one type, which depends on single records: with one text, all labels become texts.
    if isinstance(labels, Sequence) and not isinstance(labels, str | bytes):
        return np.array([_mark(label, classes[1]) for label in labels], dtype=np.float64)
    marks = np.asarray(labels)
    if marks.ndim != 1:
        rule = "it must be one list of labels"
        raise ArgumentError("y", f"{marks.ndim} dimensions", rule, "Pass one label for each row")
    if marks.dtype == object:
        return np.array([_mark(label, classes[1]) for label in marks], dtype=np.float64)
    positive = np.array(marks == classes[1], dtype=np.float64)
    positive[np.isnan(marks) if marks.dtype.kind == "f" else np.zeros(marks.shape, dtype=bool)] = np.nan
    return positive


def _mark(label: object, second: object) -> float:
    """Compare one label by itself; a label that cannot be compared is missing."""
    try:
        return np.nan if label is None or label != label else float(bool(label == second))  # noqa: PLR0124 - NaN
    except (TypeError, ValueError):
        return np.nan


def residuals_of(true: ArrayLike, predicted: ArrayLike) -> tuple[Reals, Reals]:
    """Return fitted values, and true values less these."""
    actual, fitted = listed_numbers(true, "y_true"), listed_numbers(predicted, "y_pred")
    if actual.shape != fitted.shape:
        rule = "there must be one prediction for each true value"
        raise ArgumentError("y_pred", "another length than y_true", rule, "Pass arrays of the same length")
    with np.errstate(all="ignore"):
        return fitted, actual - fitted


def _two_classes(estimator: Any) -> Any:
    classes = getattr(estimator, "classes_", None)
    if classes is None or len(classes) != 2 or not hasattr(estimator, "predict_proba"):
        rule = "it must be fitted, have two classes and have predict_proba"
        raise ArgumentError(
            "estimator", type(estimator).__name__, rule, "Pass such an estimator, or call from_predictions with scores"
        )
    return classes


def _asked(estimator: Any, method: str, rows: Any, read: Callable[[Any], Reals]) -> Reals:
    predict = getattr(estimator, method, None)
    if predict is None:
        rule = f"it must have a method {method}"
        raise ArgumentError(
            "estimator", type(estimator).__name__, rule, "Pass such an estimator, or call from_predictions"
        )
    _check_width(estimator, rows)
    # A refusal because the estimator cannot take a row would reveal that row.
    ways = (
        lambda: read(predict(rows)),
        lambda: _predictions_of_whole_rows(predict, rows, read),
        lambda: _predictions_one_by_one(predict, rows, read),
    )
    for way in ways:
        predicted = _attempted(way)
        if predicted is not None:
            return predicted
    rule = "it must be rows that can be counted and taken one by one"
    raise ArgumentError("X", type(rows).__name__, rule, "Pass an array or a data frame")


def _check_width(estimator: Any, rows: Any) -> None:
    """Refuse another number of columns than the estimator was fitted on; that number is public."""
    wanted, shape = getattr(estimator, "n_features_in_", None), getattr(rows, "shape", None)
    if wanted is not None and shape is not None and (len(shape) != 2 or shape[1] != wanted):
        shown = f"{shape[1]} columns" if len(shape) == 2 else f"{len(shape)} dimensions"
        raise ArgumentError("X", shown, f"the estimator was fitted on {wanted} columns", "Pass the same columns")


def _attempted(attempt: Callable[[], Reals]) -> Reals | None:
    """Return the result, or None after any error: its message may quote rows, so it is never repeated."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return attempt()
    except Exception:  # noqa: BLE001 - whatever an estimator raises
        return None


def _predictions_of_whole_rows(predict: Callable[[Any], Any], rows: Any, read: Callable[[Any], Reals]) -> Reals:
    """Predict rows without NaN or infinity, which many estimators refuse; return NaN for the others."""
    whole = np.isfinite(np.asarray(rows, dtype=np.float64)).all(axis=1)
    predicted = np.full(whole.size, np.nan)
    if whole.any():
        predicted[whole] = read(predict(rows[whole] if hasattr(rows, "shape") else np.asarray(rows)[whole]))
    return predicted


def _predictions_one_by_one(predict: Callable[[Any], Any], rows: Any, read: Callable[[Any], Reals]) -> Reals:
    """Predict row by row, with NaN for each row that the estimator cannot take. Slow: the last resort."""
    picked = rows.iloc if hasattr(rows, "iloc") else rows
    predicted = np.full(len(rows), np.nan)
    for n in range(predicted.size):
        alone = _attempted(partial(_of_one, predict, picked, n, read))
        if alone is not None and alone.size == 1:
            predicted[n] = alone[0]
    return predicted


def _of_one(predict: Callable[[Any], Any], rows: Any, n: int, read: Callable[[Any], Reals]) -> Reals:
    return read(predict(rows[n : n + 1]))
