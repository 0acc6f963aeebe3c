"""A plan in words: EXPLAIN PRIVACY, and the sentence of the promise.

Reads: a question, a wish, a priced shift. Writes: text. Never: data.
"""

from fractions import Fraction

from thresher.amounts import Epsilon
from thresher.config import Table, decimal_text
from thresher.decisions.threshold_shift import Shift
from thresher.decisions.wishes import Wish
from thresher.noise import smallest_epsilon
from thresher.plan import Guarantee
from thresher.question import Atom, Question, sensitivity

_LABEL = 12


def promise(question: Question, wish: Wish, shift: Shift) -> Guarantee:
    """The certificate: rates are for each group, over the noise, and about the bounded data."""
    misses, alarms = decimal_text(wish.miss_rate), decimal_text(wish.false_alarm_rate)
    width, clear = plain(shift.half_width), plain(shift.clear_distance)
    units = _units(question.table)
    sentence = (
        "For each group by itself, over the noise: if it meets the condition, it is reported (above or uncertain) "
        f"except with probability at most {misses}; if it does not, it is marked above with probability at most "
        f"{alarms}, and if {clear} {units} or more would have to change for it to qualify, it is reported "
        f"at all with probability at most {alarms}. Closer than that, either verdict is possible. "
        f"{_bounded(question.table)}"
    )
    return Guarantee(misses, alarms, width, clear, sentence)


def explained(
    question: Question, wish: Wish, shift: Shift, epsilon: Epsilon, halved: Epsilon, guarantee: Guarantee
) -> str:
    """What will be read, what it costs and what it promises, before anything is read."""
    table, units = question.table, _units(question.table)
    atoms = [atom for atom in question.atoms if atom.written]
    lines = [
        ("question", question.text),
        ("table", f"{table.name}; protected: {_unit(table)}"),
        *_counting(table),
        ("groups", f"{len(question.groups):,} declared; each gets a verdict, empty or not"),
        ("mechanism", f"{wish.mechanism}: one noisy look at one margin for each group"),
        *[("condition", _condition(atom, shift, table)) for atom in atoms],
        ("miss rate", f"{guarantee.miss_rate}, all of it for the one margin: nothing is shared out"),
        ("half width", f"{guarantee.half_width} {units}: by so much the line is moved, so that misses stay rare"),
        ("epsilon", f"{epsilon}{_composed(epsilon, shift, table)}"),
        *_one_by_one(wish, shift, len(atoms)),
        ("if halved", f"half the uncertain region would cost {halved}"),
        ("band", f"a group less than {guarantee.clear_distance} {units} short of its condition may be reported too"),
        *[("note", note) for note in wide_regions(question, shift)],
        ("promise", guarantee.sentence),
        *[("note", note) for note in question.notes],
    ]
    return "\n".join(f"{label:<{_LABEL}}{text}" for label, text in lines) + "\n"


def _one_by_one(wish: Wish, shift: Shift, atoms: int) -> list[tuple[str, str]]:
    """What the usual way would cost: a noisy number for each condition, and the miss rate shared between them."""
    if atoms < 2:
        return []
    apart = atoms * smallest_epsilon(wish.miss_rate / atoms, shift.steps + 1, shift.scale)
    times = f"{apart.nano / shift.epsilon.nano:.1f}"
    return [("", f"the {atoms} conditions measured one by one would cost {times} times as much")]


def plain(number: Fraction) -> str:
    """Few digits, for people."""
    return decimal_text(number) if 10**6 % number.denominator == 0 else f"{float(number):.3f}"


def _condition(atom: Atom, shift: Shift, table: Table) -> str:
    spread = sensitivity(atom, table)
    slack = shift.half_width * spread / atom.steps
    if atom.per_row:
        size = f" ({plain(slack / table.count_range)} at {table.count_range:,})" if table.count_range else ""
        return f"{atom.text}: half width {plain(slack)}/n in a group of n rows{size}"
    moved = "" if spread == atom.steps else f"; one unit moves it by up to {plain(spread / atom.steps)}"
    return f"{atom.text}: half width {plain(slack)}{moved}"


def _composed(epsilon: Epsilon, shift: Shift, table: Table) -> str:
    if epsilon == shift.epsilon or table.contribution is None:
        return ""
    return f" = {table.contribution.max_groups} groups at {shift.epsilon}"


def _units(table: Table) -> str:
    return "rows" if table.contribution is None else f"units ({table.contribution.unit})"


def _unit(table: Table) -> str:
    return "a row" if table.contribution is None else f"all rows of one {table.contribution.unit}"


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


def _counting(table: Table) -> list[tuple[str, str]]:
    return [("counted", told)] if (told := counting(table)) else []


def wide_regions(question: Question, shift: Shift) -> list[str]:
    """Conditions whose band reaches below zero: with them every group may be reported, even an empty one."""
    return [
        f"the band of {atom.text} reaches below zero: an empty group may be reported too; ask for a smaller region"
        for atom in question.atoms
        if atom.written
        and all(weight > 0 and aggregate.measure != "total" for aggregate, weight in atom.weights)
        and shift.clear_distance * sensitivity(atom, question.table) > _lowest(atom)
    ]


def _lowest(atom: Atom) -> int:
    return min(atom.at_least) if isinstance(atom.at_least, tuple) else atom.at_least


def _bounded(table: Table) -> str:
    clamped = "Values are taken as clamped to their declared bounds"
    if table.contribution is None:
        return f"{clamped}."
    return f"{clamped}, and rows of each {table.contribution.unit} beyond the declared number as left out."
