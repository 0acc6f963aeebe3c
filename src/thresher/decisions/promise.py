"""The sentence of the promise, and what a person should know beside it.

Reads: a question, a wish, a priced rule. Writes: text. Never: data.
"""

from fractions import Fraction

from thresher.config import Table, decimal_text
from thresher.decisions.rules import Rule
from thresher.decisions.verdicts import MISSES, few_digits
from thresher.decisions.wishes import Wish
from thresher.plan import Guarantee
from thresher.question import Atom, Question, sensitivity

_EACH = "For each group by itself, over the noise: "


def promise(
    question: Question, wish: Wish, half_width: Fraction, clear: Fraction, *, reached: bool = False
) -> Guarantee:
    """The certificate: rates are for each group, over the noise, and about the bounded data.

    `reached`: the half width is that of an answer given with best effort, not the one aimed at.
    """
    misses, alarms = decimal_text(wish.miss_rate), decimal_text(wish.false_alarm_rate)
    width, far, units = few_digits(half_width), few_digits(clear), unit_word(question.table)
    if wish.terms.bound == MISSES:
        if_true = "if it meets the condition"
        if wish.mechanism == "nlm":
            if_true += f" by {width} {units} or more (closer to the line, nothing is promised)"
        sentence = (
            f"{_EACH}{if_true}, it is reported (above or uncertain) except with probability at most {misses}; if it "
            f"does not, it is marked above with probability at most {alarms}, and if {far} {units} or more would have "
            f"to change for it to qualify, it is reported at all with probability at most {alarms}."
        )
    else:
        if_false = "if it does not meet the condition"
        if wish.mechanism == "nlm":
            if_false += f", and {width} {units} or more are wanting"
        sentence = (
            f"{_EACH}{if_false}, it is reported (above) with probability at most {alarms}; if it meets it, it is "
            f"marked below with probability at most {misses}, and if {far} {units} or more would have to change for "
            f"it not to qualify, it is reported except with probability at most {misses}. Uncertain groups are not "
            "reported."
        )
    closer = " Closer than that, either verdict is possible."
    aim = ""
    if wish.terms.best_effort:
        aim = " The half width is the one that was reached." if reached else _AIM
    return Guarantee(misses, alarms, width, far, f"{sentence}{closer}{aim} {bounded_data(question.table)}")


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
