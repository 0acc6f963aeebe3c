"""The sentence of the promise, and what a person should know beside it.

Reads: a question, a wish, a priced rule. Writes: text. Never: data.
"""

from fractions import Fraction

from thresher.config import Table, decimal_text
from thresher.decisions.certified import CertifiedLadder
from thresher.decisions.rules import Rule
from thresher.decisions.three_way import ThreeWayLadder
from thresher.decisions.verdicts import MISSES, Verdicts, few_digits
from thresher.decisions.wishes import Wish
from thresher.plan import Guarantee
from thresher.question import Atom, Question, sensitivity

_EACH = "For each group by itself, over the noise: "
# A margin counts units so; how many would really have to change may be more.
_AT_MOST = "each counted as the most that one can change"


def promise(question: Question, wish: Wish, rule: Rule, seen: Verdicts | None = None) -> Guarantee:
    """Rates are for each group, over the noise, and about the bounded data; `seen` is what an answer reached."""
    half_width, clear = rule.half_width, Fraction(rule.clear, rule.scale)
    if seen is not None:
        half_width, clear = seen.half_width, Fraction(seen.clear, seen.scale)
    misses, alarms = decimal_text(wish.miss_rate), decimal_text(wish.false_alarm_rate)
    width, far, units = few_digits(half_width), few_digits(clear), unit_word(question.table)
    if isinstance(rule, CertifiedLadder | ThreeWayLadder):
        # What is promised of each group by itself; the other rate is the share aimed at in the whole list.
        sure = decimal_text(rule.sure_rate)
        misses, alarms = (misses, sure) if wish.terms.bound == MISSES else (sure, alarms)
        sentence = _of_labels(wish, rule) + _of_the_list(wish, rule, seen)
    else:
        tell = _misses_first if wish.terms.bound == MISSES else _alarms_first
        sentence = tell(wish, f"{width} {units}", f"{far} {units}") + " Closer than that, either verdict is possible."
    if wish.terms.best_effort:
        told = " The half width is the one that was reached." if half_width else " No group was left uncertain."
        sentence += _AIM if seen is None else told
    return Guarantee(misses, alarms, width, far, f"{sentence} {bounded_data(question.table)}")


def _misses_first(wish: Wish, width: str, far: str) -> str:
    misses, alarms = decimal_text(wish.miss_rate), decimal_text(wish.false_alarm_rate)
    if_true = "if it meets the condition"
    if wish.mechanism == "nlm":
        if_true += f" with {width} or more to spare (closer to the line, nothing is promised)"
    return (
        f"{_EACH}{if_true}, it is reported (above or uncertain) except with probability at most {misses}; if it does "
        f"not, it is marked above with probability at most {alarms}, and if it is short of it by {far} or more, "
        f"{_AT_MOST}, it is reported at all with probability at most {alarms}."
    )


def _alarms_first(wish: Wish, width: str, far: str) -> str:
    misses, alarms = decimal_text(wish.miss_rate), decimal_text(wish.false_alarm_rate)
    if_false = "if it does not meet the condition"
    if wish.mechanism == "nlm":
        if_false = f"if it is short of the condition by more than {width}"
    return (
        f"{_EACH}{if_false}, it is reported (above) with probability at most {alarms}; if it meets it, it is marked "
        f"below with probability at most {misses}, and if it does so with {far} or more to spare, {_AT_MOST}, it is "
        f"reported except with probability at most {misses}. Uncertain groups are not reported."
    )


def _of_labels(wish: Wish, rule: CertifiedLadder | ThreeWayLadder) -> str:
    """What each verdict promises by itself."""
    first, sure = decimal_text(wish.terms.rates[0]), decimal_text(rule.sure_rate)
    if wish.terms.bound == MISSES:
        return (
            f"{_EACH}if it meets the condition, it is reported (above or uncertain) except with probability at most "
            f"{first}; if it does not, it is marked above with probability at most {sure}."
        )
    return (
        f"{_EACH}if it does not meet the condition, it is reported (above) with probability at most {first}; if it "
        f"does, it is marked below with probability at most {sure}. Uncertain groups are not reported."
    )


def _why(rule: CertifiedLadder | ThreeWayLadder, seen: Verdicts) -> str:
    if seen.loss >= rule.epsilon:
        return "the sharpest look that was allowed came first"
    return "once every verdict was taken, looking closer did not help"


def _of_the_list(wish: Wish, rule: CertifiedLadder | ThreeWayLadder, seen: Verdicts | None) -> str:
    """What is promised about all groups together."""
    sure = f"{float(1 - wish.terms.delta):.6g}"
    whom = "of the groups that do not qualify are reported"
    if wish.terms.bound != MISSES:
        whom = "of the groups that qualify are left out"
    aim = decimal_text(wish.terms.rates[1])
    if seen is not None and seen.certificate is not None:
        share = decimal_text(seen.certificate.share)
        short = "" if seen.certificate.reached else f", more than the {aim} aimed at: {_why(rule, seen)}"
        return f" With confidence {sure}, at most {share} {whom}{short}."
    if rule.certifies:
        return f" It looks closer until, with confidence {sure}, at most {aim} {whom}, or says which share it reached."
    return " Nothing is promised about all groups together; uncertain groups lie near the line."


_AIM = " These distances hold if the half width is reached, which is aimed at (best effort): the answer says which was."


def unit_word(table: Table) -> str:
    return "rows" if table.contribution is None else f"units ({table.contribution.unit})"


def counting(table: Table) -> str:
    """What bounding does to counts, for people who expect raw ones; empty where nothing is bounded."""
    bound = table.contribution
    if bound is None:
        return ""
    rows = "one row" if bound.max_rows == 1 else f"at most {bound.max_rows:,} rows"
    groups = "one group" if bound.max_groups == 1 else f"each of at most {bound.max_groups:,} groups"
    return (
        f"each {bound.unit} counts by {rows} in {groups}; its other rows are left out. To count more of them, raise "
        "max_rows_per_group or max_groups_per_unit"
    )


def wide_regions(question: Question, rule: Rule) -> list[str]:
    """Conditions whose band reaches beyond what a group can be: with them every group may come out either way."""
    table, clear = question.table, Fraction(rule.clear, rule.scale)
    notes = []
    if table.count_range is not None and rule.half_width * table.rows_per_unit > table.count_range:
        notes.append("the uncertain region is wider than count_range: it covers every value that is expected")
    for atom in question.atoms:
        counted = atom.written and all(w > 0 and aggregate.measure != "total" for aggregate, w in atom.weights)
        if counted and rule.bound == MISSES and clear * sensitivity(atom, table) > _lowest(atom):
            notes.append(
                f"the band of {atom.text} reaches below zero: an empty group may be reported too; "
                "ask for a smaller region"
            )
    return notes


def _lowest(atom: Atom) -> int:
    return min(atom.at_least) if isinstance(atom.at_least, tuple) else atom.at_least


def bounded_data(table: Table) -> str:
    """What every promise is about."""
    clamped = "Values are taken as clamped to their declared bounds"
    if table.contribution is None:
        return f"{clamped}."
    return f"{clamped}, and rows of each {table.contribution.unit} beyond the declared number as left out."
