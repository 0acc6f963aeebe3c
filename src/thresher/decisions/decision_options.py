"""The options of a decision, listed once and checked once.

`DecisionOptions` is the list: the engine's keyword arguments, `OPTIONS(...)` in SQL and the flags of the command line
are these names. What a mechanism needs of them is derived once, in `aim.py`.
Reads: arguments. Writes: nothing. Never: data. Anything unclear is refused, never guessed.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, TypedDict

from thresher.amounts import NANO, Amount, Epsilon, exact_fraction, whole_number
from thresher.config import decimal_text
from thresher.decisions.uncertain_region import RegionLike, UncertainRegion, region_of
from thresher.errors import ArgumentError
from thresher.guarantee import FALSE_ALARMS, MISSES
from thresher.noise.arguments import checked_confidence

VERDICTS, VALUES = "verdicts", "values"
# The option of half widths, and its older name, under which it is kept.
WITHIN, REGION = "within", "uncertain_region"
USUAL_MECHANISM = "certified"
MOST_LEVELS = 32
_MOST_DIGITS = 9
_HALF = Fraction(1, 2)


class DecisionOptions(TypedDict, total=False):
    """Every option of a decision; what is left out has a default. The table of the reference is made of this list.

    miss_rate           the probability, for each group, that a group that qualifies is not reported; half or more needs
                        no data and is free
    false_alarm_rate    the probability, for each group, that a group that does not qualify is marked `above`; for
                        `three-way`, and for `certified` with many groups, the share aimed at for the whole list
    within              the half width: a number in each aggregate's own units, a number for each aggregate
                        (`COUNT(*)=20, AVG(age)=1`), or a share of the declared range (`10%`)
    uncertain_region    the older name of `within`; only one of the two may be given
    max_epsilon         the question is refused if it would cost more. `certified` and `three-way` measure until it is
                        used up; left out, until the table's `max_epsilon_per_question` or a tenth of its budget is
    confidence          the confidence of the statement about the whole list; to name it is to insist on the statement
    mechanism           how the groups are measured
    bound               which error is kept for each group, however near the threshold: `misses` or `false_alarms`; with
                        `false_alarms`, uncertain groups are not reported
    levels              the most measurements of a group
    first_epsilon       what the first measurement costs
    show                `verdicts`, or `values`: the noisy numbers behind them as well, in `answer.values` and in
                        columns of `answer.table`
    """

    miss_rate: Amount | None
    false_alarm_rate: Amount | None
    within: RegionLike | None
    uncertain_region: RegionLike | None
    max_epsilon: Amount | None
    confidence: Amount | None
    mechanism: str | None
    bound: str | None
    levels: int | None
    first_epsilon: Amount | None
    show: str | None


NAMES = tuple(DecisionOptions.__annotations__)


@dataclass(frozen=True, slots=True)
class Options:
    """Checked options. Rates are probabilities for each group, over the noise.

    region         None if no half width was asked for
    confidence     None if no statement about all groups together was asked for
    first_epsilon  None if it follows from the range
    given          the options that were given, by name, each in one normal form
    """

    miss_rate: Fraction = Fraction(1, 20)
    false_alarm_rate: Fraction = Fraction(1, 10)
    bound: str = MISSES
    region: UncertainRegion | None = None
    max_epsilon: Epsilon | None = None
    confidence: Fraction | None = None
    mechanism: str = USUAL_MECHANISM
    levels: int = 4
    first_epsilon: Epsilon | None = None
    show: str = VERDICTS
    given: Mapping[str, str] = field(default_factory=dict)

    @property
    def misses_first(self) -> bool:
        return self.bound == MISSES

    @property
    def rates(self) -> tuple[Fraction, Fraction]:
        """Return the rate that is bounded first, and the other one."""
        rates = self.miss_rate, self.false_alarm_rate
        return rates if self.misses_first else rates[::-1]

    @property
    def first_rate_name(self) -> str:
        return "miss_rate" if self.misses_first else "false_alarm_rate"

    @property
    def free(self) -> bool:
        """Tell whether no data are needed: with a first rate of half or more, each group may be called uncertain."""
        return self.rates[0] >= _HALF


def one_spelling(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options under one name each, so that the spelling of a half width never makes another question."""
    if WITHIN in given and REGION in given:
        rule = "a half width is given under its older name too"
        raise ArgumentError(WITHIN, given[WITHIN], rule, "Give one of the two")
    return {REGION if name == WITHIN else name: value for name, value in given.items()}


@contextmanager
def as_spelt(*given: Mapping[str, Any]) -> Iterator[None]:
    """Let refusals of a half width name the option as it was spelt, and `within` if it was not given."""
    try:
        yield
    except ArgumentError as refused:
        if refused.field != REGION or any(options.get(REGION) is not None for options in given):
            raise
        raise ArgumentError(WITHIN, refused.value, refused.rule, refused.fix) from None


def options_of(passed: Mapping[str, Any]) -> Options:
    """Check each option that was given; None means that it was left out."""
    given = one_spelling({name: value for name, value in passed.items() if value is not None})
    bound = _checked_bound(given.get("bound", MISSES))
    with as_spelt(passed):
        checked = {_FIELDS.get(name, name): _CHECKS[name](value, bound) for name, value in given.items()}
    options = Options(**checked)
    _check_show(options, given)
    return replace(options, given={name: _normal(name, options) for name in given})


def checked_error_rate(value: Amount, name: str, bound: str = MISSES) -> Fraction:
    """Return a rate above 0. The rate that is bounded first may be half or more, up to 1, which is free."""
    rate = exact_fraction(value, name)
    bounded = name == ("miss_rate" if bound == MISSES else "false_alarm_rate")
    if not 0 < rate <= 1 or (rate == 1 and not bounded):
        most = "at most 1" if bounded else "below 1"
        rule = f"it must be above 0 and {most}; 0 would need infinite epsilon"
        raise ArgumentError(name, value, rule, f"Pass {'0.05' if name == 'miss_rate' else '0.1'}, say")
    return rate


def _checked_bound(bound: object) -> str:
    """Return which error is bounded first; its name may be written with a hyphen."""
    name = bound.replace("-", "_") if isinstance(bound, str) else ""
    if name not in (MISSES, FALSE_ALARMS):
        rule = "it must be the error that is bounded first"
        raise ArgumentError("bound", bound, rule, f"Pass {MISSES} or {FALSE_ALARMS}")
    return name


def checked_looks(levels: Any) -> int:
    """Return how many measurements there may be. A text in a question means the number that it spells."""
    spelt = isinstance(levels, str) and levels.isascii() and levels.isdigit() and len(levels) <= _MOST_DIGITS
    number = whole_number(int(levels) if spelt else levels, "levels")
    if not 1 <= number <= MOST_LEVELS:
        rule = f"it must be from 1 to {MOST_LEVELS}; 1 is a threshold shift"
        raise ArgumentError("levels", levels, rule, "Pass 4, say")
    return number


def ledger_epsilon(value: Amount, name: str, say: str = "0.5") -> Epsilon:
    """Return an amount above zero that the ledger can write; the refusal names the argument."""
    amount = exact_fraction(value, name)
    if amount <= 0:
        raise ArgumentError(name, value, "it must be above zero", f"Pass {say}, say")
    if amount < Fraction(1, NANO):
        raise ArgumentError(name, value, "it is below 1e-9, the ledger's unit", "Pass 0.000000001 or more")
    return named_epsilon(value, name)


def named_epsilon(value: Amount, name: str) -> Epsilon:
    """Return an amount; the refusal names the argument."""
    try:
        return Epsilon(value)
    except ArgumentError as refused:
        raise ArgumentError(name, value, refused.rule, refused.fix) from None


def _mechanism(name: object, bound: str) -> str:  # noqa: ARG001 - the form of all checks
    if not isinstance(name, str):
        raise ArgumentError("mechanism", name, "it must be the name of a mechanism", f"Pass {USUAL_MECHANISM}, say")
    return name


def _show(value: object, bound: str) -> str:  # noqa: ARG001 - the form of all checks
    if value not in (VERDICTS, VALUES):
        rule = "it must say what is released beside the groups"
        raise ArgumentError("show", value, rule, f"Pass {VERDICTS} or {VALUES}")
    return str(value)


# The field of an option, where it has another name.
_FIELDS = {"uncertain_region": "region"}
_CHECKS: Mapping[str, Any] = {
    "miss_rate": lambda value, bound: checked_error_rate(value, "miss_rate", bound),
    "false_alarm_rate": lambda value, bound: checked_error_rate(value, "false_alarm_rate", bound),
    "uncertain_region": lambda value, _: region_of(value),
    "max_epsilon": lambda value, _: ledger_epsilon(value, "max_epsilon"),
    "confidence": lambda value, _: checked_confidence(value, "0.98"),
    "mechanism": _mechanism,
    "bound": lambda value, _: _checked_bound(value),
    "levels": lambda value, _: checked_looks(value),
    "first_epsilon": lambda value, _: ledger_epsilon(value, "first_epsilon", "0.001"),
    "show": _show,
}


def _check_show(options: Options, given: Mapping[str, Any]) -> None:
    """Refuse options of mechanisms beside show=values: numbers are measured once, without a mechanism."""
    for name in ("mechanism", "confidence", "levels", "first_epsilon"):
        if options.show == VALUES and name in given:
            rule = f"it does not apply to show={VALUES}, which measures each number once"
            raise ArgumentError(name, given[name], rule, f"Leave it out, or ask for show={VERDICTS}")


def _normal(name: str, options: Options) -> str:
    """Return an option in one form, however it was written: it is part of what makes two questions the same."""
    value = getattr(options, _FIELDS.get(name, name))
    if isinstance(value, UncertainRegion):
        return value.normal()
    return decimal_text(value) if isinstance(value, Fraction) else str(value)
