"""Take one output apart: its numbers in a fixed order, and marks (hashes) of everything else.

A hash of a whole output is useless if it holds a noisy float, because then no two outputs are equal. So numbers are
found wherever they are: in tables, records, objects, arrays, iterators and texts.
Reads: an output. Writes: nothing. Never: fails on an output, whatever it is; keeps more than a few hundred numbers.
"""

import math
import re
import struct
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, is_dataclass
from decimal import Decimal
from fractions import Fraction
from hashlib import blake2b
from itertools import islice
from types import BuiltinFunctionType, CodeType, CoroutineType, FrameType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thresher.audit.outputs.fingerprints import described, fingerprint, text_mark
from thresher.audit.outputs.rows import MOST_COLUMNS, as_float, beyond_float, plain_row, shortened, whole_or_float

_DEEPEST = 20
_MOST_ITEMS = 2_000
_MOST_CONTAINERS = 1_000_000
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?", flags=re.ASCII)
_CLOSED = FunctionType, BuiltinFunctionType, MethodType, CodeType, FrameType, ModuleType, CoroutineType
_KEPT = tuple(np.dtype(name) for name in ("f2", "f4", "f8", "c8", "c16"))
_UNSET = object()


@dataclass(frozen=True, slots=True)
class OutputParts:
    """Hold the parts of an output in a few hundred numbers, which can be sent between processes.

    `row` holds the bytes of its numbers: int64 if all are `whole`, float64 otherwise. After the first 512 come sums
    over blocks of the rest; `numbers` is how many there were. Marks of 64 bits: `kind` is that of its type,
    `structure` that of all but its numbers, `contents` that of everything. `size` is how much it holds. `exact`: row
    and structure determine the output. `unseen` names something that could not be opened, `raised` the error type if
    the mechanism raised.
    """

    row: bytes
    whole: bool
    numbers: int
    kind: int
    structure: int
    contents: int
    size: int
    exact: bool
    unseen: str
    raised: str

    def values(self) -> NDArray[Any]:
        return np.frombuffer(self.row, dtype=np.int64 if self.whole else np.float64)


def taken_apart(output: Any) -> OutputParts:
    """Return the parts of what a mechanism returned."""
    walk = _Walk()
    try:
        walk.look(output, 0)
    except Exception as error:  # noqa: BLE001 - code of the output may raise anything
        walk.pass_by(f"{type(output).__name__} (looking at it raised {type(error).__name__})")
    return walk.parts(type(output).__name__)


def error_apart(error: BaseException) -> OutputParts:
    """Return the parts of an error that a mechanism raised: its type, and its text with the numbers taken out."""
    walk, name = _Walk(), type(error).__name__
    walk.note(f"raised {name}")
    try:
        walk.text(str(error))
    except Exception:  # noqa: BLE001 - an error that cannot be printed is an output too
        walk.note("no text")
    return walk.parts(f"raised {name}", name)


class _Walk:
    """Walk through an output and collect its parts."""

    def __init__(self) -> None:
        self._structure, self._contents = blake2b(digest_size=8), blake2b(digest_size=8)
        self._rows: list[NDArray[Any]] = []
        self._loose: list[int | float] = []
        self._path: set[int] = set()
        self._containers = 0
        self._size = 0
        self._exact = True
        self._unseen = ""

    def look(self, output: Any, depth: int) -> None:
        if isinstance(output, np.generic):
            output = float(output) if isinstance(output, np.floating) else output.item()
        self.note(type(output).__name__)
        self._size += 1
        if isinstance(output, int | float | complex | Decimal | Fraction):
            self._number(output)
        elif isinstance(output, str):
            self.text(output)
        elif isinstance(output, bytes | bytearray | memoryview):
            self._array(np.frombuffer(output, dtype=np.uint8), depth)
        elif isinstance(output, type):
            self.note(output.__qualname__)
        elif output is not None and output is not Ellipsis:
            self._inside(output, depth)

    def note(self, text: str) -> None:
        """Add a text to the structure."""
        written = text.encode("utf-8", "surrogatepass")
        for mark in (self._structure, self._contents):
            mark.update(b"%d:" % len(written))
            mark.update(written)

    def pass_by(self, what: str) -> None:
        """Note something that cannot be opened."""
        self._unseen = self._unseen or what
        self._exact = False

    def text(self, text: str) -> None:
        """Add a text: its numbers to the row, the rest to the structure."""
        self._size += len(text)
        self._contents.update(text.encode("utf-8", "surrogatepass"))
        # Look for digits first, because the search for numbers is slow in a long text without any.
        if any(digit in text for digit in "0123456789"):
            self._exact = False
            text = _NUMBER.sub(self._taken_out, text)
        self.note(text)

    def parts(self, kind: str, raised: str = "") -> OutputParts:
        row, numbers = self._row(), sum(row.size for row in self._rows)
        structure, contents = (int.from_bytes(mark.digest(), signed=True) for mark in (self._structure, self._contents))
        exact = self._exact and numbers <= MOST_COLUMNS
        marks = text_mark(kind), structure, contents
        return OutputParts(
            row.tobytes(), row.dtype.kind == "i", numbers, *marks, self._size, exact, self._unseen, raised
        )

    def _inside(self, output: Any, depth: int) -> None:
        """Open something that holds other things. What holds itself is opened once."""
        self._containers += 1
        if id(output) in self._path:
            self.note("itself")
        elif depth >= _DEEPEST or self._containers > _MOST_CONTAINERS:
            self.pass_by(f"{type(output).__name__} (too much of it)")
        else:
            self._path.add(id(output))
            self._items(output, depth + 1)
            self._path.discard(id(output))

    def _items(self, output: Any, depth: int) -> None:
        if isinstance(output, np.ndarray):
            self._array(output, depth)
        elif isinstance(output, Mapping):
            for key in sorted(output, key=_order):
                self.look(key, depth)
                self.look(output[key], depth)
        elif isinstance(output, set | frozenset):
            self._each(sorted(output, key=_order), depth)
        elif isinstance(output, list | tuple):
            self._each(output, depth)
        else:
            self._object(output, depth)

    def _each(self, items: list[Any] | tuple[Any, ...], depth: int) -> None:
        row = plain_row(items)
        if row is not None:
            self._array(row, depth)
            return
        for item in items:
            self.look(item, depth)
        self.note("end")

    def _object(self, output: Any, depth: int) -> None:
        kind = type(output)
        if isinstance(output, _CLOSED) or hasattr(kind, "__await__") or hasattr(kind, "__anext__"):
            self.pass_by(kind.__name__)
        elif isinstance(output, Iterator):
            self._some(output, depth)
        elif isinstance(output, BaseException):
            self.text(str(output))
        else:
            self._opened(output, kind, depth)

    def _opened(self, output: Any, kind: type, depth: int) -> None:
        """Add the attributes, the items and the `repr` of an object. With none of them it counts as not opened."""
        says = "" if _says_nothing(kind) or is_dataclass(output) else described(output)
        if says:
            self.text(says)
        if hasattr(kind, "__array__"):
            self._array(np.asarray(output), depth)
            return
        attributes = _attributes(output)
        for name, value in sorted(attributes.items()):
            self.note(name)
            self.look(value, depth)
        if isinstance(output, Iterable):
            self._some(output, depth)
        elif not attributes and (not says or " at >" in says):
            self.pass_by(kind.__name__)

    def _some(self, output: Iterable[Any], depth: int) -> None:
        items = list(islice(output, _MOST_ITEMS + 1))
        if len(items) > _MOST_ITEMS:
            self.pass_by(f"{type(output).__name__} of more than {_MOST_ITEMS:,} items")
        self._each(items[:_MOST_ITEMS], depth)

    def _array(self, array: NDArray[Any], depth: int) -> None:
        self.note(f"{array.dtype.str}{array.shape}")
        self._size += array.size
        if array.dtype.kind not in "biufcmM" or isinstance(array, np.ma.MaskedArray):
            self.look(array.tolist(), depth + 1) if depth < _DEEPEST else self.pass_by("array (too much of it)")
            return
        row = whole_or_float(array.ravel())
        self._contents.update(np.ascontiguousarray(array).tobytes() if row.dtype.kind == "i" else row.tobytes())
        self._exact = self._exact and (row.dtype.kind == "i" or array.dtype in _KEPT)
        self._flush()
        self._rows.append(row)

    def _number(self, number: Any) -> None:
        if isinstance(number, int):
            self._contents.update(hex(number).encode())
            if -(1 << 63) <= number < 1 << 63:
                self._loose.append(int(number))
            else:
                self.note("long")
                self._exact = False
                self._loose += [as_float(number), number & 0xFFFFFFFF]
        elif isinstance(number, complex):
            self._floats(number.real, number.imag)
        elif isinstance(number, Decimal | Fraction):
            self._exact = False
            self._contents.update(fingerprint(number).encode())
            self._floats(as_float(number))
        else:
            self._floats(number)

    def _floats(self, *numbers: float) -> None:
        self._contents.update(struct.pack(f"{len(numbers)}d", *(math.nan if math.isnan(x) else x for x in numbers)))
        self._loose += numbers

    def _taken_out(self, match: re.Match[str]) -> str:
        token = match[0]
        plain = len(token) <= 18 and token.lstrip("+-").isdigit()
        self._loose.append(int(token) if plain else float(token))
        return "#"

    def _flush(self) -> None:
        if self._loose:
            whole = all(isinstance(number, int) for number in self._loose)
            self._rows.append(np.array(self._loose, dtype=np.int64 if whole else np.float64))
            self._exact = self._exact and (whole or all(abs(x) <= 1 << 53 for x in self._loose if isinstance(x, int)))
            self._loose = []

    def _row(self) -> NDArray[Any]:
        self._flush()
        row = np.concatenate(self._rows) if self._rows else np.empty(0, dtype=np.int64)
        if row.dtype.kind == "f":
            self._exact = self._exact and not any(part.dtype.kind == "i" and beyond_float(part) for part in self._rows)
            row = np.where(np.isnan(row), np.nan, row)
        return shortened(row)


def _order(key: Any) -> tuple[int, float, str]:
    """Order numbers by size, and anything else by what it contains."""
    if isinstance(key, int | float | np.integer | np.floating) and not np.isnan(as_float(key)):
        return 0, as_float(key), ""
    return 1, 0.0, fingerprint(key)


def _says_nothing(kind: type) -> bool:
    plain: Any = object.__repr__
    return kind.__repr__ is plain


def _attributes(output: Any) -> dict[str, Any]:
    attributes = dict(getattr(output, "__dict__", {}))
    for kind in type(output).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            hidden = name.startswith("__") and not name.endswith("__")
            value = getattr(output, f"_{kind.__name__.lstrip('_')}{name}" if hidden else name, _UNSET)
            if value is not _UNSET and name not in ("__dict__", "__weakref__"):
                attributes[name] = value
    return attributes
