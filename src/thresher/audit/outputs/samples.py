"""Turn outputs of any kind into rows of numbers that testers can compare.

Numbers keep their value and their bits (two floats that print alike may differ in the last bit, and that bit may
leak). Other outputs are taken apart into rows of their numbers and marks of what else they hold.
Reads: outputs. Writes: nothing. Never: fails on an output, whatever it is.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thresher.audit.outputs.output_parts import OutputParts, taken_apart
from thresher.audit.outputs.rows import LARGEST, MOST_COLUMNS
from thresher.audit.subjects import Outputs


@dataclass(frozen=True, slots=True)
class Sample:
    """Hold the outputs for one input, a row for each run.

    `bits` has all columns as int64, by which outputs are told apart; `numbers` has the values of the first columns,
    which can be ordered. `names` are the names of the last columns, if they are not plain numbers. An event holds
    `counted` outputs only.
    """

    bits: NDArray[np.int64]
    numbers: NDArray[np.float64]
    floating: bool
    counted: NDArray[np.bool_] | None = None
    names: tuple[str, ...] = ()

    @property
    def runs(self) -> int:
        return int(self.bits.shape[0])

    def part(self, begin: int, end: int) -> "Sample":
        counted = None if self.counted is None else self.counted[begin:end]
        return Sample(self.bits[begin:end], self.numbers[begin:end], self.floating, counted, self.names)

    def name(self, column: int) -> str:
        """Return the name of a column."""
        named = column - (int(self.bits.shape[1]) - len(self.names))
        if named >= 0:
            return self.names[named]
        beyond = column - MOST_COLUMNS
        return f"column {column + 1}" if beyond < 0 else f"sum {beyond + 1} of what follows column {MOST_COLUMNS}"


def sampled(here: Outputs, there: Outputs) -> tuple[Sample, Sample]:
    """Return the outputs for both inputs in one form."""
    one, other = _matrix(here), _matrix(there)
    if one is not None and other is not None and one.shape[1] == other.shape[1]:
        floating = "f" in (one.dtype.kind, other.dtype.kind)
        here_sample, there_sample = (Sample(*_bits_and_numbers(rows, floating), floating) for rows in (one, other))
        return here_sample, there_sample
    return _of_parts(_apart(here), _apart(there))


def _matrix(outputs: Outputs) -> NDArray[Any] | None:
    """Return rows of numbers if all outputs are numbers or equally long rows of numbers, otherwise None."""
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
    return rows if 1 <= rows.shape[1] <= MOST_COLUMNS else None


def _bits_and_numbers(
    rows: NDArray[Any],
    floating: bool,  # noqa: FBT001 - one of two forms
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    if not floating:
        whole = rows.astype(np.int64)
        return whole, whole.astype(np.float64)
    numbers = rows.astype(np.float64)
    numbers[np.isnan(numbers)] = np.nan
    return numbers.view(np.int64), np.clip(np.nan_to_num(numbers, nan=np.inf), -LARGEST, LARGEST)


def _apart(outputs: Outputs) -> list[OutputParts]:
    return [output if isinstance(output, OutputParts) else taken_apart(output) for output in outputs]


def _of_parts(here: Sequence[OutputParts], there: Sequence[OutputParts]) -> tuple[Sample, Sample]:
    """Return rows as wide as the longest, then columns for the size and the marks where outputs differ in them.

    Shorter rows are filled up with zeros; their structure mark says that they are shorter.
    """
    both = (*here, *there)
    floating = not all(parts.whole for parts in both)
    width = max((len(parts.row) // 8 for parts in both), default=0)
    sizes = len({parts.size for parts in both}) > 1
    marks = {
        "its kind": len({parts.kind for parts in both}) > 1,
        "its structure": len({parts.structure for parts in both}) > 1,
        "all it holds": not width or not all(parts.exact for parts in both),
    }
    names = (*(("how much it holds",) if sizes else ()), *(name for name, telling in marks.items() if telling))
    made = [_of_side(side, width, floating, names) for side in (here, there)]
    return made[0], made[1]


def _of_side(side: Sequence[OutputParts], width: int, floating: bool, names: tuple[str, ...]) -> Sample:  # noqa: FBT001
    rows = np.zeros((len(side), width), dtype=np.float64 if floating else np.int64)
    for row, parts in zip(rows, side, strict=True):
        values = parts.values()
        row[: values.size] = values
    bits, numbers = _bits_and_numbers(rows, floating)
    more = {
        "how much it holds": [parts.size for parts in side],
        "its kind": [parts.kind for parts in side],
        "its structure": [parts.structure for parts in side],
        "all it holds": [parts.contents for parts in side],
    }
    columns = [np.array(more[name], dtype=np.int64).reshape(-1, 1) for name in names]
    sizes = [columns[0].astype(np.float64)] if names[:1] == ("how much it holds",) else []
    return Sample(np.hstack([bits, *columns]), np.hstack([numbers, *sizes]), floating, None, names)
