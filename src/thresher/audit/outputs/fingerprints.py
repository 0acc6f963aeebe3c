"""Describe what a value contains as text, or as a number of 64 bits.

Reads: values of any kind. Writes: nothing. Never: fails on a value, whatever it is.
"""

import hashlib
import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

_ADDRESS = re.compile(r"0x[0-9a-fA-F]+")
_DEEPEST = 20
# Python refuses to write longer whole numbers in decimal digits.
_LONGEST = 1 << 10_000


def fingerprint(value: Any, depth: int = 0) -> str:
    """Return what a value contains as text: the same text for equal values, floats by their bits."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return "nan" if math.isnan(value) else value.hex()
    if isinstance(value, int) and abs(value) > _LONGEST:
        return hex(value)
    if isinstance(value, bool | int | str | bytes | type(None)):
        return repr(value)
    return "..." if depth >= _DEEPEST else _of_many(value, depth + 1)


def text_mark(text: str) -> int:
    """Return a number of 64 bits for a text."""
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, signed=True)


def described(value: Any) -> str:
    """Return the `repr` of a value without addresses, which differ from run to run; empty if it fails."""
    try:
        return _ADDRESS.sub("", repr(value))
    except Exception:  # noqa: BLE001 - a value whose repr fails is an output too
        return ""


def _of_many(value: Any, depth: int) -> str:
    if isinstance(value, np.ndarray):
        return f"array{value.shape}{value.dtype}{fingerprint(value.ravel().tolist(), depth)}"
    if isinstance(value, Mapping):
        pairs = sorted((fingerprint(key, depth), fingerprint(item, depth)) for key, item in value.items())
        return f"{{{', '.join(f'{key}: {item}' for key, item in pairs)}}}"
    if isinstance(value, set | frozenset):
        return f"set{sorted(fingerprint(item, depth) for item in value)}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(fingerprint(item, depth) for item in value)}]"
    return f"{type(value).__name__} {described(value)}"
