"""Half widths: how finely each condition is measured, in its own units or as a share of the declared range.

Reads: arguments. Writes: nothing. Never: data. Anything unclear is refused, never guessed.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from thresher.amounts import Amount, exact_fraction
from thresher.config import Table, decimal_text
from thresher.errors import ArgumentError
from thresher.question import Atom

_DEFAULT_SHARE = Fraction(30, 100)
_WIDEST = 1 << 39
_FORMS = "Pass 20, or 10%, or a number for each aggregate: COUNT(*)=20, AVG(age)=1"

RegionLike = Amount | Mapping[str, Amount]


@dataclass(frozen=True, slots=True)
class UncertainRegion:
    """Half widths, in the units of the aggregates: one for all, or one for each; otherwise a share of the range.

    The range is that of `count_range` rows of which each counts as much as a row can: for COUNT(*) it is `count_range`.
    The half width of an average is meant for a group of `count_range` rows.
    """

    common: Fraction | None = None
    by_aggregate: tuple[tuple[str, Fraction], ...] = ()
    share: Fraction = _DEFAULT_SHARE

    def slack_of(self, atom: Atom, table: Table, spread: int) -> int:
        """Return the half width of an atom in whole steps of its weighted sum, which a unit moves by up to `spread`."""
        own = self._own(atom)
        if own is None:
            row = spread / Fraction(table.rows_per_unit)
            return int(self.share * self._range_of_share(table, atom) * row)
        rows = _range(table, atom, "a half width of an average") if atom.per_row else 1
        return int(own * atom.steps * rows)

    def measured_by_range(self, atoms: Sequence[Atom]) -> bool:
        """Tell whether a half width of one of these conditions depends on the table's `count_range`."""
        return any(self._own(atom) is None or atom.per_row for atom in atoms)

    def normal(self) -> str:
        """Return one text for one region, however it was written."""
        if self.common is not None:
            return decimal_text(self.common)
        if self.by_aggregate:
            return ", ".join(f"{name}={decimal_text(width)}" for name, width in sorted(self.by_aggregate))
        return f"{decimal_text(100 * self.share)}%"

    def _own(self, atom: Atom) -> Fraction | None:
        return dict(self.by_aggregate).get(_plain(atom.aggregate), self.common)

    def _range_of_share(self, table: Table, atom: Atom) -> int:
        """Return the range that a share is of. Without one, a refusal says whether the share was asked for."""
        if table.count_range is None and self == UncertainRegion():
            rule = "the default is a share of the largest group, and the table declares no count_range"
            fix = f"Pass a half width such as 10, or add count_range = 5000, say, to [tables.{table.name}]"
            raise ArgumentError("uncertain_region", None, rule, fix)
        return _range(table, atom, "a share of the declared range")

    def check(self, aggregates: list[str]) -> None:
        """Refuse half widths for aggregates that the question does not have."""
        known = {_plain(aggregate) for aggregate in aggregates}
        for name, _ in self.by_aggregate:
            if name not in known:
                fix = f"Name one of {', '.join(dict.fromkeys(aggregates))}"
                raise ArgumentError("uncertain_region", name, "the question has no such aggregate", fix)

    def scaled(self, times: Fraction) -> "UncertainRegion":
        """Return the region with each half width this many times as wide."""
        by = tuple((name, times * width) for name, width in self.by_aggregate)
        return UncertainRegion(None if self.common is None else times * self.common, by, times * self.share)


def region_of(value: RegionLike | None) -> UncertainRegion:
    """Return the region that 20, 10%, 'COUNT(*)=20, AVG(age)=1' or a mapping means; the default for None."""
    if value is None:
        return UncertainRegion()
    if isinstance(value, Mapping):
        return _by_aggregate([*value.items()], value)
    if isinstance(value, str) and value.strip().endswith("%"):
        return UncertainRegion(share=_width(value.strip()[:-1].strip()) / 100)
    if isinstance(value, str) and "=" in value:
        pairs = [part.rpartition("=") for part in re.split(r",(?![^()]*\))", value)]
        return _by_aggregate([(name, width.strip()) for name, _, width in pairs], value)
    return UncertainRegion(common=_width(value))


def _by_aggregate(pairs: Sequence[tuple[str, Amount]], value: object) -> UncertainRegion:
    by = tuple((_plain(name), _width(width)) for name, width in pairs)
    if len(dict(by)) < len(by):
        raise ArgumentError("uncertain_region", value, "it names an aggregate twice", "Give each one half width")
    return UncertainRegion(by_aggregate=by)


def _width(value: Amount) -> Fraction:
    try:
        width = exact_fraction(value, "uncertain_region")
    except ArgumentError as refused:
        raise ArgumentError("uncertain_region", value, refused.rule, _FORMS) from None
    if width <= 0:
        rule = "a half width must be above zero; 0 would need infinite epsilon"
        raise ArgumentError("uncertain_region", value, rule, "Pass 10, say")
    if width >= _WIDEST:
        raise ArgumentError("uncertain_region", value, "a half width must be below 2**39", "Count in larger units")
    return width


def _range(table: Table, atom: Atom, what: str) -> int:
    if table.count_range is None:
        rule = f"{what} is meant for the largest group, and the table declares no count_range"
        fix = f"Add count_range = 5000, say, to [tables.{table.name}]"
        raise ArgumentError("uncertain_region", atom.aggregate, rule, fix)
    return table.count_range


def _plain(name: str) -> str:
    """Return the name of an aggregate without spaces and capitals; text in quotes stays as it is."""
    parts = re.split(r"('[^']*'|\"[^\"]*\")", str(name))
    return "".join(part if i % 2 else re.sub(r"\s+", "", part).casefold() for i, part in enumerate(parts))
