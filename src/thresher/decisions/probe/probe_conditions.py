"""Check what goes into the ProBE family, conditions on plain arrays, before anything is drawn.

Reads: arguments. Writes: nothing. Never: a slack in a message, nor a message that depends on one.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thresher.amounts import Amount, Epsilon, exact_fraction, whole_number
from thresher.decisions.decision_options import checked_error_rate, named_epsilon
from thresher.errors import ArgumentError
from thresher.noise import smallest_epsilon
from thresher.noise.arguments import is_masked
from thresher.question.trees import Tree, checked_tree, occurrences

# The widest noise that is drawn.
COARSEST = 10**9
_FAR = 1 << 40


@dataclass(frozen=True, slots=True)
class Conditions:
    """Checked arguments. Condition i is true where `slacks[i]` is 0 or more; a unit moves it by `sensitivities[i]`.

    `widths` are the half widths to start with, a share of each condition's public range, in steps of its slack.
    """

    slacks: NDArray[np.int64]
    tree: Tree
    sensitivities: tuple[int, ...]
    widths: tuple[Fraction, ...]
    miss_rate: Fraction
    false_alarm_rate: Fraction
    limit: Epsilon
    written: Mapping[int, int] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "written", occurrences(self.tree))

    @property
    def groups(self) -> int:
        return int(self.slacks.shape[1])

    @property
    def weights(self) -> list[Fraction]:
        """Sensitivity over half width of each condition, by which the miss rate is divided."""
        return [spread / width for spread, width in zip(self.sensitivities, self.widths, strict=True)]

    def allowed_rate(self, atom: int) -> Fraction:
        """Return a condition's part of the false-alarm rate: an equal part, over the times that it is written."""
        return self.false_alarm_rate / (len(self.written) * self.written[atom])


def checked_conditions(
    slacks: ArrayLike,
    tree: Tree,
    sensitivities: Sequence[int],
    ranges: Sequence[Amount],
    rates: tuple[Amount, Amount],
    region: Amount,
    max_epsilon: Amount,
) -> Conditions:
    """Return the arguments after checks; refusals name the argument."""
    rows = _rows(slacks)
    atoms = len(rows)
    spreads = tuple(whole_number(spread, f"sensitivities[{i}]") for i, spread in enumerate(sensitivities))
    reaches = tuple(exact_fraction(reach, f"ranges[{i}]") for i, reach in enumerate(ranges))
    _check_each("sensitivities", [Fraction(spread) for spread in spreads], atoms)
    _check_each("ranges", reaches, atoms)
    share = exact_fraction(region, "region")
    if not 0 < share <= 1:
        raise ArgumentError("region", region, "it is a share of the range: above 0, at most 1", "Pass e.g. 0.3")
    asked = Conditions(
        slacks=rows,
        tree=checked_tree(tree, atoms),
        sensitivities=spreads,
        widths=tuple(share * reach for reach in reaches),
        miss_rate=checked_error_rate(rates[0], "miss_rate"),
        false_alarm_rate=checked_error_rate(rates[1], "false_alarm_rate"),
        limit=_limit(max_epsilon),
    )
    _check_scales(asked)
    return asked


def _check_scales(asked: Conditions) -> None:
    """Refuse regions whose noise is too wide to be drawn: a refusal half way would cost the looks before it."""
    if asked.miss_rate >= Fraction(1, 2):
        return
    for atom in asked.written:
        spread = asked.sensitivities[atom]
        # No share is larger than all of the rate, and no look wider than the first.
        epsilon = smallest_epsilon(asked.miss_rate, math.floor(asked.widths[atom]) + 1, spread)
        if spread > COARSEST * epsilon.fraction:
            rule = "the noise of so wide a region has a scale above 1e9, which is not drawn"
            raise ArgumentError(f"ranges[{atom}]", asked.widths[atom], rule, "Count in larger units")


def _check_each(field: str, numbers: Sequence[Fraction], atoms: int) -> None:
    if len(numbers) != atoms:
        rule = f"there must be one for each of the {atoms} conditions"
        raise ArgumentError(field, f"{len(numbers)} numbers", rule, "Pass as many as there are rows of slacks")
    for i, number in enumerate(numbers):
        if not 1 <= number < _FAR:
            raise ArgumentError(f"{field}[{i}]", number, "it must be 1 or more, and below 2**40", "Pass e.g. 1")


def _limit(max_epsilon: Amount) -> Epsilon:
    if exact_fraction(max_epsilon, "max_epsilon") <= 0:
        raise ArgumentError("max_epsilon", max_epsilon, "it must be above zero", "Pass e.g. 5")
    return named_epsilon(max_epsilon, "max_epsilon")


def _rows(slacks: ArrayLike) -> NDArray[np.int64]:
    """Return one row of whole numbers for each condition. They never appear in a message."""
    try:
        array = np.asarray(slacks)
    except (ValueError, TypeError, OverflowError):
        array = np.empty(0, dtype=object)
    sized = array.ndim == 2 and len(array)
    if not sized or array.dtype.kind not in "iu" or array.dtype == np.uint64 or is_masked(slacks):
        kind = array.dtype.name if array.ndim == 2 else f"{array.ndim} dimensions"
        rule = "it must hold whole numbers, a row for each condition and a column for each group"
        raise ArgumentError("slacks", kind, rule, "Pass a two-dimensional int64 array")
    # Far beyond any threshold that matters; limiting values moves no two of them apart.
    return np.clip(array.astype(np.int64), -_FAR, _FAR)
