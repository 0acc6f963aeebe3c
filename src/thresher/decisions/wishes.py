"""What the asker can live with: error rates, how near the line a verdict may go either way, and by which mechanism.

Reads: arguments. Writes: nothing. Never: data. Anything unclear is refused, never guessed.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from thresher.amounts import NANO, Amount, Epsilon, exact_fraction
from thresher.decisions.probe import METHODS
from thresher.decisions.rules import (
    LADDERS,
    MECHANISMS,
    REACHING,
    Terms,
    checked_delta,
    checked_first,
    checked_levels,
    checked_rate,
)
from thresher.decisions.uncertain_region import RegionLike, UncertainRegion, region_of
from thresher.decisions.verdicts import MISSES, checked_bound
from thresher.errors import ArgumentError

# Here to be compared with; all others decide on one margin.
PROBE = METHODS
_KNOWN = (*MECHANISMS, *PROBE)
_MOST_DIGITS = 9
_LADDER_OPTIONS = ("levels", "first_epsilon", "best_effort")
VERDICTS, VALUES = "verdicts", "values"


@dataclass(frozen=True, slots=True)
class Wish:
    """Checked options of a question. Rates are probabilities for each group, over the noise."""

    terms: Terms
    region: UncertainRegion
    max_epsilon: Epsilon | None
    mechanism: str
    # Whether the region was asked for, or is what is taken where nothing is said.
    region_said: bool = True
    # Verdicts alone, or the numbers behind them as well.
    show: str = VERDICTS

    @property
    def miss_rate(self) -> Fraction:
        return self.terms.miss_rate

    @property
    def false_alarm_rate(self) -> Fraction:
        return self.terms.false_alarm_rate


def wish(
    *,
    miss_rate: Amount | None = None,
    false_alarm_rate: Amount | None = None,
    uncertain_region: RegionLike | None = None,
    max_epsilon: Amount | None = None,
    confidence: Amount | None = None,
    mechanism: str | None = None,
    bound: str | None = None,
    levels: int | None = None,
    first_epsilon: Amount | None = None,
    best_effort: bool | None = None,
    show: str | None = None,
    written: Mapping[str, str] | None = None,
) -> Wish:
    """Check every option; what is left out has a default: 0.05, 0.10, 30 % of the range, the limit declared, certified.

    `written` are options that stood in the question's own text; one that is passed as well is refused.
    """
    passed = {
        "miss_rate": miss_rate,
        "false_alarm_rate": false_alarm_rate,
        "uncertain_region": uncertain_region,
        "max_epsilon": max_epsilon,
        "confidence": confidence,
        "mechanism": mechanism,
        "bound": bound,
        "levels": levels,
        "first_epsilon": first_epsilon,
        "best_effort": best_effort,
        "show": show,
    }
    said: dict[str, Any] = {name: value for name, value in passed.items() if value is not None}
    for name, value in (written or {}).items():
        if name not in passed:
            continue
        if name in said:
            raise ArgumentError(name, said[name], f"the question's text says {value} already", "Say it in one place")
        said[name] = value
    chosen = _mechanism(said.get("mechanism", MECHANISMS[0]))
    if "confidence" in said and chosen not in REACHING:
        rule = f"{chosen} makes no statement about all groups together"
        raise ArgumentError("confidence", said["confidence"], rule, "Leave it out, or pass mechanism=certified")
    _check_climbing(chosen, said)
    terms = _terms(said)
    if chosen in PROBE and terms.bound != MISSES:
        rule = f"{chosen} bounds misses, and has no mirror image"
        raise ArgumentError("bound", said["bound"], rule, "Leave it out, or pass mechanism=certified")
    return Wish(
        terms,
        region_of(said.get("uncertain_region")),
        _limit(said["max_epsilon"]) if "max_epsilon" in said else None,
        chosen,
        "uncertain_region" in said,
        show=_show(said),
    )


def _terms(said: Mapping[str, Any]) -> Terms:
    bound = checked_bound(said.get("bound", MISSES))
    return Terms(
        checked_rate(said.get("miss_rate", "0.05"), "miss_rate", bound),
        checked_rate(said.get("false_alarm_rate", "0.10"), "false_alarm_rate", bound),
        bound,
        _levels(said.get("levels", 4)),
        checked_first(said["first_epsilon"]) if "first_epsilon" in said else None,
        _truth(said.get("best_effort", False)),
        delta=checked_delta(said.get("confidence", "0.98")),
        insists="confidence" in said,
    )


def _check_climbing(mechanism: str, said: Mapping[str, Any]) -> None:
    """Options of ladders are refused where there is none to climb, and best effort where levels are fixed."""
    for name in _LADDER_OPTIONS:
        fit = ("dppwlm",) if name == "best_effort" else LADDERS
        if name in said and mechanism not in fit:
            rule = f"{mechanism} has no use for it"
            raise ArgumentError(name, said[name], rule, f"Leave it out, or pass mechanism={' or '.join(fit)}")


def _show(said: Mapping[str, Any]) -> str:
    """Numbers are measured once, in a way of their own: options of mechanisms are refused beside them."""
    wanted = said.get("show", VERDICTS)
    if wanted not in (VERDICTS, VALUES):
        raise ArgumentError("show", wanted, "it says what is released", f"Pass {VERDICTS} or {VALUES}")
    for name in ("mechanism", "confidence", *_LADDER_OPTIONS):
        if wanted == VALUES and name in said:
            rule = "numbers are measured in a way of their own, at one look"
            raise ArgumentError(name, said[name], rule, f"Leave it out, or ask for show={VERDICTS}")
    return str(wanted)


def _levels(value: Any) -> int:
    """Text, as written in a question, means the number it spells."""
    spelt = isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= _MOST_DIGITS
    return checked_levels(int(value) if spelt else value)


def _truth(value: object) -> bool:
    if isinstance(value, bool):
        return value
    if value in ("true", "false"):
        return value == "true"
    raise ArgumentError("best_effort", value, "it is true or false", "Pass true, or leave it out")


def _limit(value: Amount) -> Epsilon:
    amount = exact_fraction(value, "max_epsilon")
    if amount <= 0:
        raise ArgumentError("max_epsilon", value, "it must be above zero", "Pass 0.5, say")
    if amount < Fraction(1, NANO):
        raise ArgumentError("max_epsilon", value, "it is below 1e-9, the ledger's unit", "Pass 0.000000001 or more")
    return Epsilon(value)


def _mechanism(name: object) -> str:
    if name in _KNOWN:
        return str(name)
    raise ArgumentError("mechanism", name, "there is no such mechanism", f"Pass one of {', '.join(_KNOWN)}")
