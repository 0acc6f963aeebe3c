"""What the asker can live with: error rates, and how near the line a verdict may go either way.

Reads: arguments. Writes: nothing. Never: data. Anything unclear is refused, never guessed.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from thresher.amounts import NANO, Amount, Epsilon, exact_fraction
from thresher.config import Table
from thresher.decisions.rules import MECHANISMS
from thresher.errors import ArgumentError
from thresher.question import Atom, sensitivity

_DEFAULT_SHARE = Fraction(30, 100)
_LATER = ("certified", "naive", "probe-naive", "probe", "probe-ent")

_FORMS = "Pass 20, or 10%, or a number for each aggregate: COUNT(*)=20, AVG(age)=1"

RegionLike = Amount | Mapping[str, Amount]


@dataclass(frozen=True, slots=True)
class UncertainRegion:
    """Half widths: for all aggregates, or by aggregate, in the aggregate's own units; else a share of the range.

    A share is that of `count_range` rows, each counting as much as a row can: for COUNT(*) simply a share of
    `count_range`. The half width of an average is meant for a group of `count_range` rows.
    """

    common: Fraction | None = None
    by_aggregate: tuple[tuple[str, Fraction], ...] = ()
    share: Fraction = _DEFAULT_SHARE

    def slack_of(self, atom: Atom, table: Table) -> int:
        """The half width of an atom in whole steps of its weighted sum."""
        own = dict(self.by_aggregate).get(_plain(atom.aggregate), self.common)
        if own is None:
            row = sensitivity(atom, table) / Fraction(table.rows_per_unit)
            return int(self.share * _range(table, atom, "a share of the declared range") * row)
        rows = _range(table, atom, "a half width of an average") if atom.per_row else 1
        return int(own * atom.steps * rows)

    def check(self, aggregates: list[str]) -> None:
        """Refuse half widths for aggregates that the question does not have."""
        known = {_plain(aggregate) for aggregate in aggregates}
        for name, _ in self.by_aggregate:
            if name not in known:
                listed = ", ".join(dict.fromkeys(aggregates))
                raise ArgumentError(
                    "uncertain_region", name, "the question has no such aggregate", f"Name one of {listed}"
                )

    def scaled(self, times: Fraction) -> "UncertainRegion":
        by = tuple((name, times * width) for name, width in self.by_aggregate)
        return UncertainRegion(None if self.common is None else times * self.common, by, times * self.share)


@dataclass(frozen=True, slots=True)
class Wish:
    """Checked options of a question. Rates are probabilities for each group, over the noise."""

    miss_rate: Fraction
    false_alarm_rate: Fraction
    region: UncertainRegion
    max_epsilon: Epsilon | None
    mechanism: str


def wish(
    miss_rate: Amount | None = None,
    false_alarm_rate: Amount | None = None,
    uncertain_region: RegionLike | None = None,
    max_epsilon: Amount | None = None,
    confidence: Amount | None = None,
    mechanism: str | None = None,
    *,
    written: Mapping[str, str] | None = None,
) -> Wish:
    """Check every option; what is left out has a default: 0.05, 0.10, 30 % of the range, no limit, tslm.

    `written` are options that stood in the question's own text; one that is passed as well is refused.
    """
    passed = {
        "miss_rate": miss_rate,
        "false_alarm_rate": false_alarm_rate,
        "uncertain_region": uncertain_region,
        "max_epsilon": max_epsilon,
        "confidence": confidence,
        "mechanism": mechanism,
    }
    said: dict[str, Any] = {name: value for name, value in passed.items() if value is not None}
    for name, value in (written or {}).items():
        if name not in passed:
            continue
        if name in said:
            raise ArgumentError(name, said[name], f"the question's text says {value} already", "Say it in one place")
        said[name] = value
    if "confidence" in said:
        rule = "a threshold shift makes no statement about all groups together"
        raise ArgumentError("confidence", said["confidence"], rule, "Leave it out")
    return Wish(
        _miss_rate(said.get("miss_rate", "0.05")),
        _rate(said.get("false_alarm_rate", "0.10"), "false_alarm_rate"),
        _region(said.get("uncertain_region")),
        _limit(said["max_epsilon"]) if "max_epsilon" in said else None,
        _mechanism(said.get("mechanism", MECHANISMS[0])),
    )


def _rate(value: Amount, field: str) -> Fraction:
    rate = exact_fraction(value, field)
    if not 0 < rate < 1:
        raise ArgumentError(
            field, value, "it must be above 0 and below 1; 0 would need infinite epsilon", "Pass 0.1, say"
        )
    return rate


def _miss_rate(value: Amount) -> Fraction:
    rate = exact_fraction(value, "miss_rate")
    if rate <= 0:
        raise ArgumentError(
            "miss_rate", value, "it must be above 0 and below 0.5; 0 would need infinite epsilon", "Pass 0.05, say"
        )
    if rate >= Fraction(1, 2):
        raise ArgumentError("miss_rate", value, "half or more needs no data: report every group", "Pass 0.05, say")
    return rate


def _limit(value: Amount) -> Epsilon:
    amount = exact_fraction(value, "max_epsilon")
    if amount <= 0:
        raise ArgumentError("max_epsilon", value, "it must be above zero", "Pass 0.5, say")
    if amount < Fraction(1, NANO):
        raise ArgumentError("max_epsilon", value, "it is below 1e-9, the ledger's unit", "Pass 0.000000001 or more")
    return Epsilon(value)


def _mechanism(name: object) -> str:
    if name in MECHANISMS:
        return str(name)
    rule = "it is not built yet" if name in _LATER else "there is no such mechanism"
    raise ArgumentError("mechanism", name, rule, f"Pass one of {', '.join(MECHANISMS)}")


def _region(value: RegionLike | None) -> UncertainRegion:
    if value is None:
        return UncertainRegion()
    if isinstance(value, Mapping):
        return _by_aggregate([(name, width) for name, width in value.items()], value)
    if isinstance(value, str) and value.strip().endswith("%"):
        share = _width(value.strip()[:-1].strip()) / 100
        return UncertainRegion(share=share)
    if isinstance(value, str) and "=" in value:
        pairs = [part.rpartition("=") for part in re.split(r",(?![^()]*\))", value)]
        return _by_aggregate([(name, width.strip()) for name, _, width in pairs], value)
    return UncertainRegion(common=_width(value))


def _by_aggregate(pairs: Sequence[tuple[str, Amount]], value: object) -> UncertainRegion:
    by = tuple((_plain(name), _width(width)) for name, width in pairs)
    if len(dict(by)) < len(by):
        raise ArgumentError("uncertain_region", value, "each aggregate has one half width", "Drop the repeated one")
    return UncertainRegion(by_aggregate=by)


def _width(value: Amount) -> Fraction:
    try:
        width = exact_fraction(value, "uncertain_region")
    except ArgumentError as refused:
        raise ArgumentError("uncertain_region", value, refused.rule, _FORMS) from None
    if width <= 0:
        raise ArgumentError(
            "uncertain_region", value, "a half width is above zero; 0 would need infinite epsilon", "Pass 10, say"
        )
    return width


def _range(table: Table, atom: Atom, what: str) -> int:
    if table.count_range is None:
        rule = f"{what} is meant for the largest group, and the table declares no count_range"
        fix = f"Add e.g. count_range = 5000 to [tables.{table.name}]"
        raise ArgumentError("uncertain_region", atom.aggregate, rule, fix)
    return table.count_range


def _plain(name: str) -> str:
    """An aggregate's name however it is spaced; what stands in quotes is left alone."""
    parts = re.split(r"('[^']*'|\"[^\"]*\")", str(name))
    return "".join(part if i % 2 else re.sub(r"\s+", "", part).casefold() for i, part in enumerate(parts))
