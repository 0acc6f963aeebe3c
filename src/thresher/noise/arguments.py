"""Check the arguments of the noise functions before anything is drawn.

Reads: arguments. Writes: nothing. Never: an element of a noise array, which is secret, in an error text.
"""

import sys
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import Amount, exact_fraction, whole_number
from thresher.errors import ArgumentError

MAX_SIZE = 1 << 28
_FINEST, _COARSEST = Fraction(1, 1000), Fraction(10**9)
_NARROWEST_STEP = Fraction(1, 10**12)
_ROOM = 1 << 62
_ARRAY = "Pass an int64 array"
_NEAR = "its elements must lie within 2**62 of zero"


def checked_rate(epsilon: Amount, sensitivity: int, field: str = "epsilon") -> Fraction:
    """Return epsilon / sensitivity exactly: the rate at which the noise decays."""
    amount, spread = exact_fraction(epsilon, field), whole_number(sensitivity, "sensitivity")
    if amount <= 0:
        raise ArgumentError(field, epsilon, "it must be above zero", "Pass a positive amount")
    if spread <= 0:
        raise ArgumentError("sensitivity", sensitivity, "it must be a positive integer", "Pass 1 or more")
    if not _FINEST <= spread / amount <= _COARSEST:
        raise ArgumentError(
            field, epsilon, f"the scale sensitivity / {field} must lie between 0.001 and 1e9", "Check the units"
        )
    return amount / spread


def checked_step(from_epsilon: Amount, to_epsilon: Amount, sensitivity: int) -> tuple[Fraction, Fraction]:
    """Return the two rates, the second of which is larger."""
    first = checked_rate(from_epsilon, sensitivity, "from_epsilon")
    second = checked_rate(to_epsilon, sensitivity, "to_epsilon")
    _check_order(first, second, "to_epsilon", to_epsilon)
    return first, second


def checked_levels(levels: Sequence[Amount], sensitivity: int) -> list[Fraction]:
    """Return the rates of one level or more, which increase."""
    if isinstance(levels, str | bytes) or not isinstance(levels, Sequence) or not levels:
        raise ArgumentError("levels", levels, "it must be a list of one amount or more", 'Pass e.g. ["0.1", "0.5"]')
    rates = [checked_rate(level, sensitivity, f"levels[{i}]") for i, level in enumerate(levels)]
    for i in range(1, len(rates)):
        _check_order(rates[i - 1], rates[i], f"levels[{i}]", levels[i])
    return rates


def checked_whole(number: SupportsIndex, field: str, least: int, most: int, fix: str) -> int:
    """Return a number as Python's integer if it is whole and lies from `least` to `most`.

    Numpy's integers wrap around, so a caller goes on with what is returned here.
    """
    whole = whole_number(number, field)
    if not least <= whole <= most:
        raise ArgumentError(field, number, f"it must be from {least:,} to {most:,}", fix)
    return whole


def checked_size(size: int) -> int:
    count = whole_number(size, "size")
    if count < 0:
        raise ArgumentError("size", size, "it must be 0 or more", "Pass the number of draws")
    if count > MAX_SIZE:
        raise ArgumentError("size", size, f"it must be at most {MAX_SIZE}", "Draw in several calls")
    return count


def checked_probability(probability: Amount, field: str) -> Fraction:
    value = exact_fraction(probability, field)
    if not 0 < value < 1:
        raise ArgumentError(field, probability, "it must be above 0 and below 1", "Pass a rate such as 0.05")
    return value


def checked_confidence(confidence: Amount, say: str = "0.95") -> Fraction:
    """Return the confidence that an answer is to have: 0.5 or more, and below 1."""
    share = exact_fraction(confidence, "confidence")
    if not Fraction(1, 2) <= share < 1:
        rule = "it must be 0.5 or more and below 1: with noise, no answer is certain"
        raise ArgumentError("confidence", confidence, rule, f"Pass {say}, say")
    return share


def checked_integers(values: Any, field: str) -> NDArray[np.int64]:
    """Return an array of integers as plain int64. Its elements never appear in a message."""
    try:
        array = np.asarray(values)
    except (ValueError, TypeError, OverflowError, RecursionError):
        raise ArgumentError(field, type(values).__name__, "it must be one array of integers", _ARRAY) from None
    if not array.size and not isinstance(values, np.ndarray):
        # numpy takes an empty list for floats.
        array = np.zeros(array.shape, dtype=np.int64)
    if array.dtype.kind not in "iu" or array.dtype == np.uint64 or is_masked(values):
        if _too_wide(values):
            raise ArgumentError(field, type(values).__name__, _NEAR, _ARRAY)
        raise ArgumentError(field, array.dtype.name, "its elements must be plain integers", _ARRAY)
    plain = array.astype(np.int64, copy=False)
    # This leaves room for sums and signs; noise of an allowed scale comes nowhere near the limit.
    if plain.size and not -_ROOM < plain.min() <= plain.max() < _ROOM:
        raise ArgumentError(field, array.dtype.name, _NEAR, _ARRAY)
    return plain


def whole_numbers(values: Any, field: str) -> NDArray[Any]:
    """Return an array of whole numbers: int64, or Python's own integers if some do not fit in 64 bits.

    Its elements never appear in a message, and no refusal depends on how large they are.
    """
    try:
        array = np.asarray(values)
    except (ValueError, TypeError, OverflowError, RecursionError):
        raise ArgumentError(field, type(values).__name__, "it must be whole numbers", _ARRAY) from None
    if not array.size:
        return np.zeros(array.shape, dtype=np.int64)
    name = array.dtype.name
    if array.dtype == np.uint64 or (array.dtype.kind == "f" and not isinstance(values, np.ndarray)):
        # numpy takes a list for floats if its whole numbers need both a sign and 64 bits.
        array = np.array(values, dtype=object)
    wide = array.dtype == object
    kinds = set(map(type, array.flat)) if wide else {array.dtype.type}
    if bool in kinds or not all(issubclass(kind, int | np.integer) for kind in kinds) or is_masked(values):
        raise ArgumentError(field, name, "its elements must be whole numbers", _ARRAY)
    if not wide:
        return array.astype(np.int64)
    return np.array([int(value) for value in array.flat], dtype=object).reshape(array.shape)


def is_masked(values: object) -> bool:
    """Tell whether these are numpy's masked values. Their module loads slowly, so it is not imported here."""
    masked = sys.modules.get("numpy.ma")
    return masked is not None and isinstance(values, masked.MaskedArray)


def _too_wide(values: Any) -> bool:
    """Tell whether these are Python's integers. numpy makes another type of them if one does not fit in 64 bits."""
    if isinstance(values, np.ndarray):
        return False
    return all(type(value) is int for value in np.array(values, dtype=object).flat)


def _check_order(first: Fraction, second: Fraction, field: str, value: Amount) -> None:
    if second <= first:
        raise ArgumentError(field, value, "a release is refined towards a larger epsilon only", "Pass a larger amount")
    if second - first < _NARROWEST_STEP:
        rule = "levels divided by the sensitivity must differ by 1e-12 at least"
        raise ArgumentError(field, value, rule, "Pass a larger amount")
