"""What a release promises, as numbers; the sentence is made from them when it is shown.

Every family's promises are here, one function for each kind of sentence, so that a stored release shows what was
promised then and can be read in today's words.
Reads: numbers. Writes: text. Never: data; a number that is not a field.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from thresher.config import decimal_text

MISSES, FALSE_ALARMS = "misses", "false_alarms"
ABOVE, UNCERTAIN, BELOW = "above", "uncertain", "below"
_EACH = "For each group by itself, over the noise: "
# A margin counts units so; how many would really have to change may be more.
_AT_MOST = "each counted as the most that one can change"


@dataclass(frozen=True, slots=True)
class Guarantee:
    """What is promised. `str()` of it is the sentence that people are shown.

    kind              which sentence
    miss_rate, false_alarm_rate    of each group by itself, over the noise; None where nothing is promised
    half_width        in privacy units (of numbers: in the units of what is counted)
    clear_distance    groups this far short of their condition are rarely reported
    bound             which error is bounded first
    unit              the column that names who is protected; None if each row is a different person
    facts             further numbers and words of this kind
    """

    kind: str
    miss_rate: Fraction | None = None
    false_alarm_rate: Fraction | None = None
    half_width: Fraction | None = None
    clear_distance: Fraction | None = None
    bound: str = MISSES
    unit: str | None = None
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


def few_digits(number: Fraction) -> str:
    """For people."""
    return decimal_text(number) if 10**6 % number.denominator == 0 else f"{float(number):.3f}"


def units_of(unit: str | None) -> str:
    """What is counted where privacy units are."""
    return "rows" if unit is None else f"units ({unit})"


def _decimal(number: Fraction | None) -> str:
    return "" if number is None else decimal_text(number)


def _rates(said: Guarantee) -> tuple[str, str]:
    return _decimal(said.miss_rate), _decimal(said.false_alarm_rate)


def _far(said: Guarantee) -> str:
    return f"{few_digits(said.clear_distance or Fraction(0))} {units_of(said.unit)}"


def _bounded(said: Guarantee) -> str:
    """What every promise is about."""
    clamped = "Values are taken as clamped to their declared bounds"
    if said.unit is None:
        return f"{clamped}."
    return f"{clamped}, and rows of each {said.unit} beyond the declared number as left out."


def _line(said: Guarantee) -> str:
    """One margin, the line moved by the half width."""
    misses, alarms = _rates(said)
    if said.bound == MISSES:
        told = (
            f"if it meets the condition, it is reported (above or uncertain) except with probability at most {misses}; "
            f"if it does not, it is marked above with probability at most {alarms}, and if it is short of it by "
            f"{_far(said)} or more, {_AT_MOST}, it is reported at all with probability at most {alarms}."
        )
    else:
        told = (
            f"if it does not meet the condition, it is reported (above) with probability at most {alarms}; if it meets "
            f"it, it is marked below with probability at most {misses}, and if it does so with {_far(said)} or more to "
            f"spare, {_AT_MOST}, it is reported except with probability at most {misses}. Uncertain groups are not "
            "reported."
        )
    return f"{_EACH}{told} Closer than that, either verdict is possible. {_bounded(said)}"


def _labels(said: Guarantee) -> str:
    """Each verdict by itself, and what is certified about all of them together."""
    misses, alarms = _rates(said)
    if said.bound == MISSES:
        told = (
            f"if it meets the condition, it is reported (above or uncertain) except with probability at most {misses}; "
            f"if it does not, it is marked above with probability at most {alarms}."
        )
        whom = "of the groups that do not qualify are reported"
    else:
        told = (
            f"if it does not meet the condition, it is reported (above) with probability at most {alarms}; if it does, "
            f"it is marked below with probability at most {misses}. Uncertain groups are not reported."
        )
        whom = "of the groups that qualify are left out"
    return f"{_EACH}{told}{_of_the_list(said.facts, whom)} {_bounded(said)}"


def _of_the_list(facts: Mapping[str, str], whom: str) -> str:
    if "share" in facts:
        short = f", more than the {facts['aim']} aimed at: {facts['short']}" if "short" in facts else ""
        return f" With confidence {facts['confidence']}, at most {facts['share']} {whom}{short}."
    if "aim" in facts:
        return (
            f" It looks closer until, with confidence {facts['confidence']}, at most {facts['aim']} {whom}, or says "
            "which share it reached."
        )
    return " Nothing is promised about all groups together; uncertain groups lie near the line."


def _values(said: Guarantee) -> str:
    """Verdicts from several noisy numbers, which are shown."""
    misses, alarms = _rates(said)
    if said.bound == MISSES:
        told = (
            f"if it meets the condition, it is reported (above or uncertain) except with probability at most {misses}; "
            f"if it does not, it is marked above with probability at most {alarms}, and if everything that it fails is "
            f"short by {_far(said)} or more, it is reported at all with probability at most {alarms}."
        )
    else:
        told = (
            f"if it does not meet the condition, it is reported (above) with probability at most {alarms}; if it meets "
            f"it, it is marked below with probability at most {misses}, and if everything that it meets is met by "
            f"{_far(said)} or more, it is reported except with probability at most {misses}. Uncertain groups are not "
            "reported."
        )
    numbers = (
        "Closer than that, either verdict is possible. Each number that is shown lies within its half width of the "
        f"truth except with probability at most {misses if said.bound == MISSES else alarms}."
    )
    return f"{_EACH}{told} {numbers} {_bounded(said)}"


def _refined(said: Guarantee) -> str:
    """Rates over the noise of the whole chain, or given what was seen."""
    if "missed" not in said.facts:
        return f"{_line(said)} These rates hold given everything that was seen before, however this was picked."
    return (
        f"{_line(said)} This is over the noise of all looks together, for a refinement that was settled on before they "
        "were seen, whether it is then asked for or not. For one that is picked by what was seen, the first of these "
        f"rates is at most {said.facts['missed']} and the others at most {said.facts['alarmed']}."
    )


def _read_again(said: Guarantee) -> str:
    return (
        f"The measurement of key {said.facts['of']}, read with another line: nothing was read anew. No rate is "
        "promised for a line that is picked after the answer was seen. A first look at this level, with this line, "
        f"would have promised: {_line(said)}"
    )


def _free(said: Guarantee) -> str:
    return f"{said.facts['because']}: nothing was read and nothing is charged."


def _comparison(said: Guarantee) -> str:
    """Misses only; whatever was asked of false alarms is not kept."""
    if said.facts.get("denied"):
        return f"Nothing is promised: the question was denied. {said.facts['alarms']}"
    return (
        f"FOR COMPARISON ONLY. {_EACH}if it meets the condition, it is left out{said.facts['answered']} with "
        f"probability at most {_decimal(said.miss_rate)}. {said.facts['alarms']}. {_bounded(said)}"
    )


def _weighted_count(said: Guarantee) -> str:
    """A number in which everybody counts by their own budget."""
    told = f"{_EACH}with probability {said.facts['confidence']} or more, the number is within"
    return f"{told} {_decimal(said.half_width)} of the weighted {said.facts['aggregate']}. {_weighted(said.facts)}"


def _weighted_decision(said: Guarantee) -> str:
    misses, alarms = _rates(said)
    return (
        f"For each group by itself, over the noise, and about the weighted {said.facts['aggregate']}, with the line at "
        "the first value on its grid that meets the condition (301 for > 300): if it reaches the line, the group is "
        f"reported (above or uncertain) except with probability at most {misses}; if it does not, it is marked above "
        f"with probability at most {alarms}, and if it is short of it by {_decimal(said.clear_distance)} or more, "
        f"it is reported at all with probability at most {alarms}. {_weighted(said.facts)}"
    )


def _weighted(facts: Mapping[str, str]) -> str:
    """How a weighted number is meant, and what everybody is promised."""
    return (
        f"Everybody counts by {facts['budget']}, up to a cap, and loses at most {facts['share']} of it; whoever has "
        "none is not read. The weighted number is divided by the mean weight of the public roster."
    )


def _diagnosis(said: Guarantee) -> str:
    changed = "One privacy unit more or less changes the chance of any picture by a factor of at most"
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
