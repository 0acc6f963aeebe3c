"""Outputs of any kind as rows of numbers: what the audit can look at, and what it can tell apart.

Numbers keep their value and their bits (two floats that print alike may differ in the last bit, and that bit may
leak). Anything else is told apart by a fingerprint of what it contains.
Reads: outputs. Writes: nothing. Never: fails on an output, whatever it is.
"""

import hashlib
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thresher.audit.subjects import Outputs

_ADDRESS = re.compile(r"0x[0-9a-fA-F]+")
_DEEPEST = 20
_MOST_COLUMNS = 512


@dataclass(frozen=True, slots=True)
class Sample:
    """Outputs of one side, a row for each run.

    `bits` tell outputs apart column by column; `numbers` are their values, for what can be ordered. Outputs that are
    no numbers have one column of fingerprints, and as numbers their length where they have one. An event holds
    `counted` outputs only.
    """

    bits: NDArray[np.int64]
    numbers: NDArray[np.float64]
    floating: bool
    counted: NDArray[np.bool_] | None = None

    @property
    def runs(self) -> int:
        return int(self.bits.shape[0])

    def part(self, begin: int, end: int) -> "Sample":
        counted = None if self.counted is None else self.counted[begin:end]
        return Sample(self.bits[begin:end], self.numbers[begin:end], self.floating, counted)


def sampled(here: Outputs, there: Outputs) -> tuple[Sample, Sample]:
    """Both sides in one form."""
    one, other = _matrix(here), _matrix(there)
    if one is not None and other is not None and one.shape[1] == other.shape[1]:
        floating = "f" in (one.dtype.kind, other.dtype.kind)
        return _of_numbers(one, floating), _of_numbers(other, floating)
    return _of_objects(here), _of_objects(there)


def fingerprint(output: Any, depth: int = 0) -> str:
    """What an output contains, as text: equal for equal outputs, floats by their bits."""
    if isinstance(output, np.generic):
        output = output.item()
    if isinstance(output, float):
        return "nan" if math.isnan(output) else output.hex()
    if isinstance(output, bool | int | str | bytes | type(None)):
        return repr(output)
    return "..." if depth >= _DEEPEST else _of_many(output, depth + 1)


def _of_many(output: Any, depth: int) -> str:
    if isinstance(output, np.ndarray):
        return f"array{output.shape}{output.dtype}{fingerprint(output.ravel().tolist(), depth)}"
    if isinstance(output, Mapping):
        pairs = sorted((fingerprint(key, depth), fingerprint(value, depth)) for key, value in output.items())
        return f"{{{', '.join(f'{key}: {value}' for key, value in pairs)}}}"
    if isinstance(output, set | frozenset):
        return f"set{sorted(fingerprint(item, depth) for item in output)}"
    if isinstance(output, list | tuple):
        return f"[{', '.join(fingerprint(item, depth) for item in output)}]"
    try:
        return f"{type(output).__name__} {_ADDRESS.sub('', repr(output))}"
    except Exception:  # noqa: BLE001 - an output whose repr fails is an output all the same
        return type(output).__name__


def _matrix(outputs: Outputs) -> NDArray[Any] | None:
    """Rows of numbers, if all outputs are numbers or equally long rows of them."""
    if not isinstance(outputs, np.ndarray):
        first = outputs[0] if len(outputs) else None
        if not isinstance(first, bool | int | float | np.generic | tuple | list | np.ndarray):
            return None
        try:
            outputs = np.array(outputs)
        except (ValueError, TypeError, OverflowError):
            return None
    if outputs.dtype.kind not in "biuf" or not outputs.shape[0]:
        return None
    rows = outputs.reshape(outputs.shape[0], -1)
    return rows if 1 <= rows.shape[1] <= _MOST_COLUMNS else None


def _of_numbers(rows: NDArray[Any], floating: bool) -> Sample:  # noqa: FBT001 - one of two forms
    if floating:
        numbers = rows.astype(np.float64)
        return Sample(numbers.view(np.int64), np.nan_to_num(numbers, nan=np.inf), floating=True)
    whole = rows.astype(np.int64)
    return Sample(whole, whole.astype(np.float64), floating=False)


def _of_objects(outputs: Outputs) -> Sample:
    marks = [_digest(fingerprint(output)) for output in outputs]
    lengths = [_length(output) for output in outputs]
    bits = np.array(marks, dtype=np.int64).reshape(-1, 1)
    return Sample(bits, np.array(lengths, dtype=np.float64).reshape(-1, 1), floating=False)


def _digest(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), signed=True)


def _length(output: Any) -> int:
    return (
        len(output) if isinstance(output, Sequence | Mapping | set | frozenset | np.ndarray) and _sized(output) else -1
    )


def _sized(output: Any) -> bool:
    return not isinstance(output, np.ndarray) or output.ndim > 0
