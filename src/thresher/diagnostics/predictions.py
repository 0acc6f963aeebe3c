"""What an estimator predicts, record by record, and what came true beside it: on the way to a diagnostic.

A record that the estimator cannot take has no prediction, and is left out; to refuse would tell that it is there.
Reads: an estimator, arrays. Writes: nothing. Never: an element in an error text; what an estimator said of its rows.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thresher.errors import ArgumentError

Reals = NDArray[np.float64]


def chances_of(estimator: Any, rows: Any) -> Reals:
    """The chance of the second of two classes."""
    _two_classes(estimator)
    return _asked(estimator, "predict_proba", rows, lambda found: np.asarray(found, dtype=np.float64)[:, 1])


def predictions_of(estimator: Any, rows: Any) -> Reals:
    """One number for each row."""
    return _asked(estimator, "predict", rows, lambda found: np.asarray(found, dtype=np.float64).reshape(len(found)))


def is_positive(estimator: Any, labels: ArrayLike) -> Reals:
    """1 where the label is the estimator's second class, NaN where it is missing, 0 otherwise."""
    marks, classes = np.asarray(labels), _two_classes(estimator)
    if marks.ndim != 1:
        rule = "it must be one list of labels"
        raise ArgumentError("y", f"{marks.ndim} dimensions", rule, "Pass one label for each row")
    positive = np.array(marks == classes[1], dtype=np.float64)
    missing = marks != marks if marks.dtype.kind in "fO" else np.zeros(marks.shape, dtype=bool)  # noqa: PLR0124 - NaN
    if marks.dtype == object:
        missing |= np.array([mark is None for mark in marks], dtype=bool)
    positive[np.asarray(missing, dtype=bool)] = np.nan
    return positive


def residuals_of(true: ArrayLike, predicted: ArrayLike) -> tuple[Reals, Reals]:
    """What was fitted, and what came true less that."""
    actual, fitted = _numbers(true, "y_true"), _numbers(predicted, "y_pred")
    if actual.shape != fitted.shape:
        rule = "there must be one prediction for each true value"
        raise ArgumentError("y_pred", "another length than y_true", rule, "Pass arrays of the same length")
    with np.errstate(all="ignore"):
        return fitted, actual - fitted


def _numbers(values: ArrayLike, field: str) -> Reals:
    try:
        array = np.asarray(values)
    except (ValueError, TypeError, OverflowError, RecursionError):
        array = np.empty((), dtype=object)
    if array.ndim != 1 or array.dtype.kind not in "iuf":
        kind = array.dtype.name if array.ndim == 1 else f"{array.ndim} dimensions"
        raise ArgumentError(field, kind, "it must be one list of plain numbers", "Pass a float64 array")
    return array.astype(np.float64)


def _two_classes(estimator: Any) -> Any:
    classes = getattr(estimator, "classes_", None)
    if classes is None or len(classes) != 2 or not hasattr(estimator, "predict_proba"):
        rule = "it must be fitted, tell two classes apart and have predict_proba"
        raise ArgumentError("estimator", type(estimator).__name__, rule, "Or call from_predictions with scores")
    return classes


def _asked(estimator: Any, method: str, rows: Any, read: Callable[[Any], Reals]) -> Reals:
    predict = getattr(estimator, method, None)
    if predict is None:
        rule = f"it must have a method {method}"
        raise ArgumentError("estimator", type(estimator).__name__, rule, "Or call from_predictions")
    found = _attempted(lambda: read(predict(rows)))
    if found is None:
        found = _attempted(lambda: _predictions_of_whole_rows(predict, rows, read))
    if found is None:
        rule = "it could not predict from X, even without the rows that hold a NaN"
        raise ArgumentError("estimator", type(estimator).__name__, rule, "Try it on made-up rows first")
    return found


def _attempted(attempt: Callable[[], Reals]) -> Reals | None:
    """What came of it, or None. Its words may quote rows, so that no error of ours may hang on to them."""
    try:
        return attempt()
    except Exception:  # noqa: BLE001 - whatever an estimator raises
        return None


def _predictions_of_whole_rows(predict: Callable[[Any], Any], rows: Any, read: Callable[[Any], Reals]) -> Reals:
    """For rows without a NaN or infinity, which many estimators refuse; NaN for the others."""
    whole = np.isfinite(np.asarray(rows, dtype=np.float64)).all(axis=1)
    found = np.full(whole.size, np.nan)
    if whole.any():
        found[whole] = read(predict(rows[whole] if hasattr(rows, "shape") else np.asarray(rows)[whole]))
    return found
