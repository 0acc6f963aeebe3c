"""Reading JSON documents strictly: exactly the fields that were written, each of the kind that was written.

A ledger line that is read with a field missing, added or of another kind is not the line that was hashed.
Reads: values that `json.loads` returned. Writes: nothing. Never: guesses a missing field.
"""

from collections.abc import Mapping, Sequence

from thresher.errors import ArgumentError


def fields_of(document: object, field: str, names: Sequence[str]) -> Mapping[str, object]:
    """`document` if it is an object with exactly these fields."""
    if not isinstance(document, dict) or set(document) != set(names):
        raise ArgumentError(field, document, f"it must be an object with the fields {', '.join(names)}", _WRITTEN)
    return document


def list_of(document: object, field: str) -> Sequence[object]:
    if not isinstance(document, list):
        raise ArgumentError(field, document, "it must be a list", _WRITTEN)
    return document


def text_of(document: object, field: str) -> str:
    if not isinstance(document, str):
        raise ArgumentError(field, document, "it must be a string", _WRITTEN)
    return document


def truth_of(document: object, field: str) -> bool:
    if not isinstance(document, bool):
        raise ArgumentError(field, document, "it must be true or false", _WRITTEN)
    return document


def whole_of(document: object, field: str) -> int:
    if isinstance(document, bool) or not isinstance(document, int):
        raise ArgumentError(field, document, "it must be a whole number", _WRITTEN)
    return document


_WRITTEN = "Pass what to_json wrote, unchanged"
