"""What a release promises, as numbers; the sentence is made from them when it is shown.

Every family's promises are here, one function for each kind of sentence. A stored release keeps the numbers, so that
it shows what was promised when it was paid for, in today's words.
A sentence says, in this order: which rows it is about, for whom it holds, what is promised, and with what probability.
Reads: numbers. Writes: text. Never: data; a number that is not a field.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from thresher.config import decimal_text

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
    keys          for each column that is grouped by: its name, and how many values are declared (0: any value counts)
    agreeing      columns that are declared the same in all rows of a person; rows that differ are not counted
    limits        for each column whose numbers are limited: its name, the least and the greatest
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
        """What one protected unit is called."""
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


ALL_ROWS = CountedRows()


@dataclass(frozen=True, slots=True)
class Guarantee:
    """What is promised. `str()` of it is the sentence that people are shown.

    kind              which sentence
    miss_rate, false_alarm_rate    of each group by itself, over the noise; None where nothing is promised
    half_width        in privacy units (of numbers: in the units of what is counted)
    clear_distance    groups this far short of their condition are rarely reported
    bound             which error is bounded first
    rows              which rows it is about
    facts             further numbers and words of this kind
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
        """The promise in words."""
        return SENTENCES[self.kind](self)

    def document(self) -> dict[str, str]:
        """For JSON."""
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
    """Return a probability in percent, exact if it ends within six places and rounded up otherwise."""
    hundred = 100 * rate
    if 10**6 % hundred.denominator == 0:
        return f"{decimal_text(hundred)} %"
    return f"{decimal_text(Fraction(math.ceil(hundred * 1000), 1000))} %"


def least_percent(rate: Fraction) -> str:
    """Return the probability that is left of 1, in percent: rounded down where `rate` is rounded up."""
    hundred = 100 * (1 - rate)
    if 10**6 % hundred.denominator == 0:
        return f"{decimal_text(hundred)} %"
    return f"{decimal_text(Fraction(math.floor(hundred * 1000), 1000))} %"


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


def listed(texts: Sequence[str], word: str = "and", most: int = _MOST_NAMED) -> str:
    """Return texts as one list: a, b and c; of more than `most`, how many there are besides."""
    shown = [*texts] if len(texts) <= most else [*texts[:most], f"{len(texts) - most} more"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} {word} {shown[-1]}"


def _decimal(number: Fraction | None) -> str:
    return "" if number is None else decimal_text(number)


# Sentences


def _rows(said: Guarantee) -> str:
    """Which rows it is about, and a space; nothing where that is said elsewhere."""
    return "" if said.rows is None else f"{said.rows.sentence} "


def _far(said: Guarantee) -> str:
    unit = None if said.rows is None else said.rows.unit
    return f"{few_digits(said.clear_distance or Fraction(0))} {units_of(unit)}"


def _reported(rate: Fraction | None) -> str:
    """Words for: missed with probability at most `rate`."""
    return f"with probability at least {least_percent(rate or Fraction(0))}"


def _rarely(rate: Fraction | None) -> str:
    return f"with probability at most {percent(rate or Fraction(0))}"


def _each_group(said: Guarantee) -> str:
    """The two rates that every decision promises, for each group by itself."""
    if said.bound == MISSES:
        return (
            f"if it qualifies, it is reported (above or uncertain) {_reported(said.miss_rate)}; if it does not, it is "
            f"marked above {_rarely(said.false_alarm_rate)}"
        )
    return (
        f"if it does not qualify, it is reported (above) {_rarely(said.false_alarm_rate)}; if it does, it is marked "
        f"below {_rarely(said.miss_rate)}"
    )


def _line(said: Guarantee) -> str:
    """Both rates, and from which distance on the second holds for all that is reported."""
    return f"{_rows(said)}{_EACH}{_each_group(said)}. {_from_afar(said)}"


def _from_afar(said: Guarantee) -> str:
    each = "each counted with the most that it can change"
    if said.bound == MISSES:
        return (
            f"A group that is {_far(said)} or more short of its condition, {each}, is reported at all "
            f"{_rarely(said.false_alarm_rate)}. One that is less short may be reported as uncertain."
        )
    return (
        f"A group that meets its condition with {_far(said)} or more to spare, {each}, is reported "
        f"{_reported(said.miss_rate)}. One with less to spare may be uncertain. Uncertain groups are not reported."
    )


def _labels(said: Guarantee) -> str:
    """Each verdict by itself, and what is certified about all of them together."""
    more = "" if said.bound == MISSES else " Uncertain groups are not reported."
    return f"{_rows(said)}{_EACH}{_each_group(said)}.{more}{_of_the_list(said)}"


def _of_the_list(said: Guarantee) -> str:
    facts = said.facts
    whom = "do not qualify are reported" if said.bound == MISSES else "qualify are left out"
    if "share" in facts and Fraction(facts["share"]) < 1:
        share = share_percent(Fraction(facts["share"]))
        told = f" With confidence {_sure(facts)}, at most {share} of the groups that {whom}"
        short = (
            f", more than the {percent(Fraction(facts['aim']))} aimed at: {facts['short']}" if "short" in facts else ""
        )
        return f"{told}{short}."
    if "share" in facts or "aim" not in facts:
        return " Nothing is certified about the list as a whole: each verdict stands for itself."
    return (
        f" Aim for the whole list: with confidence {_sure(facts)}, at most {percent(Fraction(facts['aim']))} of the "
        f"groups that {whom}; the answer says what was reached."
    )


def _sure(facts: Mapping[str, str]) -> str:
    return percent(Fraction(facts["confidence"]))


def _values(said: Guarantee) -> str:
    """Verdicts from several noisy numbers, which are shown."""
    every = "everything that it fails is short" if said.bound == MISSES else "everything that it meets is met"
    far = f"if {every} by {_far(said)} or more, it is reported"
    if said.bound == MISSES:
        told = f"{far} at all {_rarely(said.false_alarm_rate)}. One that is less short may be uncertain."
        outside = said.miss_rate
    else:
        told = f"{far} {_reported(said.miss_rate)}. Uncertain groups are not reported."
        outside = said.false_alarm_rate
    numbers = f"Each number that is shown lies within its half width of the truth {_reported(outside)}."
    return f"{_rows(said)}{_EACH}{_each_group(said)}; {told} {numbers}"


def _refined(said: Guarantee) -> str:
    """Rates over the noise of the whole chain, or given what was seen."""
    if "missed" not in said.facts:
        return (
            f"{_line(said)} These rates hold given everything that was seen before, however this question was chosen."
        )
    missed, alarmed = (percent(Fraction(said.facts[name])) for name in ("missed", "alarmed"))
    first = "the rate of misses" if said.bound == MISSES else "the rate of false alarms"
    return (
        f"{_line(said)} These rates are over the noise of all measurements together, for a refinement that was decided "
        f"on before the earlier answer was seen. If you choose it because of what you saw, {first} is at most "
        f"{missed}, and the other rates are at most {alarmed}."
    )


def _read_again(said: Guarantee) -> str:
    return (
        f"This is the measurement of the answer {said.facts['of']}, read at another threshold. Nothing was read anew, "
        "and no rate is promised for a threshold that is chosen after the answer was seen. A first measurement as fine "
        f"as this one, with this threshold, would have promised: {_line(said)}"
    )


def _free(said: Guarantee) -> str:
    return f"{said.facts['because']}. Nothing was read or paid."


def _comparison(said: Guarantee) -> str:
    """Misses only; whatever was asked of false alarms is not kept."""
    if said.facts.get("denied"):
        return f"Nothing is promised: the question was denied. {said.facts['alarms']}"
    return (
        f"FOR COMPARISON ONLY. {_rows(said)}{_EACH}if it qualifies, it is left out{said.facts['answered']} "
        f"{_rarely(said.miss_rate)}. {said.facts['alarms']}."
    )


def _weighted_count(said: Guarantee) -> str:
    """A number in which everybody counts by their own budget."""
    return (
        f"{_weighted(said.facts)} {_EACH}with probability at least {percent(Fraction(said.facts['confidence']))} the "
        f"number is within {_decimal(said.half_width)} of the exact weighted {said.facts['aggregate']}."
    )


def _weighted_decision(said: Guarantee) -> str:
    return (
        f"{_weighted(said.facts)} A group qualifies if its weighted {said.facts['aggregate']} reaches the first value "
        f"on the grid that meets the condition (301 for > 300). {_EACH}{_each_group(said)}. A group that is "
        f"{_decimal(said.clear_distance)} or more short of it is reported at all {_rarely(said.false_alarm_rate)}."
    )


def _weighted(facts: Mapping[str, str]) -> str:
    """Who is read, what everybody loses, and how a weighted number is meant."""
    return (
        f"By this question each person loses at most {facts['share']} of {facts['budget']}. People without a budget "
        "are not read. The number is weighted: people who allow more count more, up to a cap, and the sum is divided "
        "by the mean weight of the public roster."
    )


def _diagnosis(said: Guarantee) -> str:
    changed = "With or without any one protected person, the probability of any picture changes by a factor of at most"
    return f"{changed} e^{said.facts['epsilon']}. {said.facts['error']}"


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
    "text": lambda said: said.facts["text"],
}
