"""What a release promises, as numbers. The sentence is made from the numbers when it is shown.

The promises of all families are here, with one function for each kind of sentence. A stored release keeps the numbers,
so it shows the promise that was paid for, in today's words.
A sentence says, in this order: which rows it is about, for whom it holds, what is promised, and with what probability.
Reads: numbers. Writes: text. Never: data; a number that is not a field.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from thresher.config import decimal_text
from thresher.list_sentences import NOTHING_CERTIFIED, of_the_list

MISSES, FALSE_ALARMS = "misses", "false_alarms"
ABOVE, UNCERTAIN, BELOW = "above", "uncertain", "below"
_EACH = "For each group by itself, over the noise: "
# Endings of a column's name that say no more than that it names somebody.
_ENDINGS = ("_identifier", "_number", "_code", "_hash", "_key", "_id", "_no")
_PEOPLE = "person"
_MOST_NAMED = 4


@dataclass(frozen=True, slots=True)
class CountedRows:
    """Which rows a promise is about, and how their values are limited.

    unit          the column that names who is protected; None if each row is a different person
    max_groups, max_rows    in how many groups a person counts, and with how many rows in each
    keys          the name of each key, and how many of its values are declared (0: rows with any value count)
    agreeing      columns that are declared the same in all rows of a person; rows that differ are not counted
    limits        the name of each column whose numbers are limited, the least number and the greatest
    """

    unit: str | None = None
    max_groups: int = 1
    max_rows: int = 1
    keys: tuple[tuple[str, int], ...] = ()
    agreeing: tuple[str, ...] = ()
    limits: tuple[tuple[str, str, str], ...] = ()

    @property
    def sentence(self) -> str:
        """Say what counts, what is left out, and what is limited."""
        return " ".join(part for part in (self._counted(), self._left_out(), self._limited()) if part)

    @property
    def noun(self) -> str:
        """Return what one protected unit is called."""
        return noun_of(self.unit)

    def _counted(self) -> str:
        if self.unit is None:
            return "Each row is taken to be a different person."
        groups = "1 group" if self.max_groups == 1 else f"at most {self.max_groups:,} groups"
        rows = "1 row" if self.max_rows == 1 else f"at most {self.max_rows:,} rows"
        each = "" if self.max_groups == 1 else " in each"
        return (
            f"Each {self.noun} counts in {groups}, with {rows}{each}; further rows are left out, before WHERE is "
            "applied."
        )

    def _left_out(self) -> str:
        named = [*(() if self.unit is None else [self.unit]), *(name for name, values in self.keys if not values)]
        declared = [name for name, values in self.keys if values]
        reasons = [f"without {listed(named, 'or')}"] if named else []
        reasons += [f"whose {listed(declared, 'or')} is not declared"] if declared else []
        stop = "," if len(reasons) > 1 else ""
        left_out = [f"Rows {', or '.join(reasons)}{stop} are not counted."] if reasons else []
        if self.agreeing:
            names = listed(self.agreeing, "or")
            left_out.append(f"If rows of one {self.noun} differ in {names}, only those with the least value count.")
        return " ".join(left_out)

    def _limited(self) -> str:
        if not self.limits:
            return ""
        return f"{listed([f'{name} is limited to {low} to {high}' for name, low, high in self.limits])}."


@dataclass(frozen=True, slots=True)
class Guarantee:
    """A promise. `str()` returns the sentence that people are shown.

    kind              which sentence
    miss_rate, false_alarm_rate    the rates for each group by itself, over the noise; None where none is promised
    half_width        in privacy units (of numbers: in the units of what is counted)
    clear_distance    how far short of its condition a group must be to be rarely reported
    bound             which error is bounded first
    rows              which rows it is about
    facts             further numbers and words of this kind of sentence
    """

    kind: str
    miss_rate: Fraction | None = None
    false_alarm_rate: Fraction | None = None
    half_width: Fraction | None = None
    clear_distance: Fraction | None = None
    bound: str = MISSES
    rows: CountedRows | None = None
    facts: Mapping[str, str] = field(default_factory=dict)

    @property
    def sentence(self) -> str:
        """Return the promise in words."""
        return SENTENCES[self.kind](self)

    def document(self) -> dict[str, str]:
        """Return the promise for JSON."""
        return {
            "miss_rate": _decimal(self.miss_rate),
            "false_alarm_rate": _decimal(self.false_alarm_rate),
            "half_width": "" if self.half_width is None else few_digits(self.half_width),
            "clear_distance": "" if self.clear_distance is None else few_digits(self.clear_distance),
            "sentence": self.sentence,
        }

    def __str__(self) -> str:
        return self.sentence


# Words for numbers


def few_digits(number: Fraction) -> str:
    """Return a number for people: at most six places, or three where it does not end."""
    return decimal_text(number) if 10**6 % number.denominator == 0 else f"{float(number):.3f}"


def percent(rate: Fraction) -> str:
    """Return the most that a probability can be, in percent: exact if it ends within six places, else rounded up."""
    return _percent(rate, math.ceil)


def least_percent(share: Fraction) -> str:
    """Return the least that a probability can be, in percent: exact if it ends within six places, else rounded down."""
    return _percent(share, math.floor)


def _percent(share: Fraction, rounded: Callable[[Fraction], int]) -> str:
    hundred = 100 * share
    if 10**6 % hundred.denominator:
        hundred = Fraction(rounded(hundred * 1000), 1000)
    return f"{decimal_text(hundred)} %"


def share_percent(share: Fraction) -> str:
    """Return a share of groups in percent, rounded up to one place."""
    return f"{decimal_text(Fraction(math.ceil(share * 1000), 10))} %"


def noun_of(unit: str | None) -> str:
    """Return what one protected unit is called: a row, or the noun in the name of the column, such as patient."""
    if unit is None:
        return "row"
    for ending in _ENDINGS:
        if unit.lower().endswith(ending) and len(unit) > len(ending):
            return unit[: -len(ending)].replace("_", " ")
    return unit


def units_of(unit: str | None) -> str:
    """Return what several protected units are called."""
    noun = noun_of(unit)
    if noun == _PEOPLE:
        return "people"
    if unit is not None and noun == unit:
        return f"{unit} values"
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}s"


def in_units(number: str, unit: str | None) -> str:
    """Return a number of protected units in words: 1 row, 18 rows."""
    return f"{number} {noun_of(unit) if number == '1' else units_of(unit)}"


def listed(texts: Sequence[str], word: str = "and", most: int = _MOST_NAMED) -> str:
    """Return texts as one list: a, b and c. After `most` of them only the number of the others is given."""
    shown = [*texts] if len(texts) <= most else [*texts[:most], f"{len(texts) - most} more"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} {word} {shown[-1]}"


def _decimal(number: Fraction | None) -> str:
    return "" if number is None else decimal_text(number)


# Sentences


def _rows(promise: Guarantee) -> str:
    """Return which rows a promise is about, and a space; nothing if it does not say so."""
    return "" if promise.rows is None else f"{promise.rows.sentence} "


def _far(promise: Guarantee) -> str:
    return in_units(few_digits(promise.clear_distance or Fraction(0)), _unit(promise))


def _unit(promise: Guarantee) -> str | None:
    return None if promise.rows is None else promise.rows.unit


def _mostly(rate: Fraction | None) -> str:
    """Return in words the probability of all but the errors that have probability at most `rate`."""
    return f"with probability at least {least_percent(1 - (rate or Fraction(0)))}"


def _rarely(rate: Fraction | None) -> str:
    return f"with probability at most {percent(rate or Fraction(0))}"


def _each_group(promise: Guarantee) -> str:
    """Return the two rates that each decision promises, for each group by itself."""
    if promise.bound == MISSES:
        return (
            f"if it qualifies, it is reported (above or uncertain) {_mostly(promise.miss_rate)}; if it does not, it is "
            f"marked above {_rarely(promise.false_alarm_rate)}"
        )
    return (
        f"if it does not qualify, it is reported (above) {_rarely(promise.false_alarm_rate)}; if it does, it is marked "
        f"below {_rarely(promise.miss_rate)}"
    )


def _line(promise: Guarantee) -> str:
    """Return both rates, and the distance from which on the second holds for all reported groups."""
    return f"{_rows(promise)}{_EACH}{_each_group(promise)}. {_from_afar(promise)}"


def _from_afar(promise: Guarantee) -> str:
    one = noun_of(_unit(promise))
    scale = f"(one {one} stands for the most that one {one} can change)"
    if promise.bound == MISSES:
        return (
            f"A group that is {_far(promise)} or more short of its condition {scale} is reported at all "
            f"{_rarely(promise.false_alarm_rate)}. A group that is less short may be reported as uncertain."
        )
    return (
        f"A group that meets its condition with {_far(promise)} or more to spare {scale} is reported "
        f"{_mostly(promise.miss_rate)}. A group with less to spare may be uncertain. Uncertain groups are not reported."
    )


def _labels(promise: Guarantee) -> str:
    """Return what is promised for each verdict by itself, and what is certified about all of them together."""
    more = "" if promise.bound == MISSES else " Uncertain groups are not reported."
    return f"{_rows(promise)}{_EACH}{_each_group(promise)}.{more}{_of_the_list(promise)}"


def _of_the_list(promise: Guarantee) -> str:
    """Return what is certified about all groups together: a share, or a number, or nothing; of a plan, the aim."""
    facts = promise.facts
    if "confidence" not in facts:
        return NOTHING_CERTIFIED
    share, aim = (Fraction(facts[name]) if name in facts else None for name in ("share", "aim"))
    reached = "" if share is None or aim is None or share > aim else share_percent(share)
    aimed, misses = "" if aim is None else percent(aim), promise.bound == MISSES
    return f" {of_the_list(facts, misses=misses, sure=_confidence(facts), aim=aimed, share=reached)}"


def _confidence(facts: Mapping[str, str]) -> str:
    """Return a confidence in percent, never rounded up: 99.9999999 % is not certainty."""
    return least_percent(Fraction(facts["confidence"]))


def _values(promise: Guarantee) -> str:
    """Return the promise of verdicts that follow from several noisy numbers, which are shown."""
    if promise.bound == MISSES:
        clear = (
            f"if it is {_far(promise)} or more short of each condition that it fails, it is reported at all "
            f"{_rarely(promise.false_alarm_rate)}. A group that is less short may be uncertain."
        )
        outside = promise.miss_rate
    else:
        clear = (
            f"if each condition that it meets is met with {_far(promise)} or more to spare, it is reported "
            f"{_mostly(promise.miss_rate)}. Uncertain groups are not reported."
        )
        outside = promise.false_alarm_rate
    numbers = f"Each number that is shown lies within its half width of the truth {_mostly(outside)}."
    return f"{_rows(promise)}{_EACH}{_each_group(promise)}; {clear} {numbers}"


def _refined(promise: Guarantee) -> str:
    """Return the promise of a refinement: over the noise of the whole chain, or given what was seen."""
    if "missed" not in promise.facts:
        given_seen = "These rates hold given everything that was seen before, however this question was chosen."
        return f"{_line(promise)} {given_seen}"
    missed, alarmed = (percent(Fraction(promise.facts[name])) for name in ("missed", "alarmed"))
    first = "the rate of misses" if promise.bound == MISSES else "the rate of false alarms"
    return (
        f"{_line(promise)} These rates are over the noise of all measurements together, for a refinement that was "
        f"decided on before the earlier answer was seen. If you choose it because of what you saw, {first} is at most "
        f"{missed}, and the other rates are at most {alarmed}."
    )


def _read_again(promise: Guarantee) -> str:
    return (
        f"This is the measurement of the answer {promise.facts['of']}, read at another threshold. No row was read "
        "again, and no rate is promised for a threshold that is chosen after the answer was seen. A first measurement "
        f"as fine as this one, with this threshold, would have promised: {_line(promise)}"
    )


def _free(promise: Guarantee) -> str:
    return f"{promise.facts['because']}. Nothing was read or paid."


def _comparison(promise: Guarantee) -> str:
    """Return the promise of a mechanism for comparison: misses only. The false-alarm rate is not kept."""
    if promise.facts.get("denied"):
        return f"Nothing is promised: the question was denied. {promise.facts['alarms']}"
    return (
        f"FOR COMPARISON ONLY. {_rows(promise)}{_EACH}if it qualifies, it is left out{promise.facts['answered']} "
        f"{_rarely(promise.miss_rate)}. {promise.facts['alarms']}."
    )


def _weighted_count(promise: Guarantee) -> str:
    """Return the promise of a number in which each person counts by their own budget."""
    return (
        f"{_weighted(promise.facts)} {_EACH}with probability at least {_confidence(promise.facts)} the number is "
        f"within {_decimal(promise.half_width)} of the exact weighted {promise.facts['aggregate']}."
    )


def _weighted_decision(promise: Guarantee) -> str:
    short = f"A group that is {_decimal(promise.clear_distance)} or more short of it is reported at all"
    return (
        f"{_weighted(promise.facts)} A group qualifies if its weighted {promise.facts['aggregate']} reaches the first "
        f"value on the grid that meets the condition (301 for > 300). {_EACH}{_each_group(promise)}. {short} "
        f"{_rarely(promise.false_alarm_rate)}."
    )


def _weighted(facts: Mapping[str, str]) -> str:
    """Return who is read, what each person loses, and what a weighted number means."""
    return (
        f"By this question each person loses at most {facts['share']} of {facts['budget']}. People without a budget "
        "are not read. The number is weighted: people who allow more count more, up to a cap, and the sum is divided "
        "by the mean weight of the public roster."
    )


def _diagnosis(promise: Guarantee) -> str:
    changed = "With or without any one protected person, the probability of any picture changes by a factor of at most"
    return f"{changed} e^{promise.facts['epsilon']}. {promise.facts['error']}"


def _suggestion(promise: Guarantee) -> str:
    """Return the promise of suggested limits, which is about people. None about rows is possible."""
    people = units_of(promise.facts["unit"])
    both = f"so at most 10 % of the {people} lose a row by both. " if promise.facts.get("both") else ""
    comma = ", " if both else ". "
    return (
        f"Over the noise, with confidence 95 % for each limit: at most 5 % of the {people} exceed it and lose a row by "
        f"it{comma}{both}Nothing is promised about the share of rows: one {noun_of(promise.facts['unit'])} can have "
        "nearly all of them."
    )


SENTENCES: Mapping[str, Callable[[Guarantee], str]] = {
    "line": _line,
    "labels": _labels,
    "values": _values,
    "refined": _refined,
    "read again": _read_again,
    "free": _free,
    "comparison": _comparison,
    "weighted count": _weighted_count,
    "weighted decision": _weighted_decision,
    "diagnosis": _diagnosis,
    "suggestion": _suggestion,
    "text": lambda promise: promise.facts["text"],
}
