"""A plan for values in words: what is measured together, what it costs, and the sentence of the promise.

Reads: a question, a strategy. Writes: text. Never: data.
"""

import math
from collections.abc import Sequence
from fractions import Fraction

from thresher.amounts import Epsilon
from thresher.config import Table, decimal_text
from thresher.decisions.measures import Measured
from thresher.decisions.promise import bounded_data, unit_word
from thresher.decisions.strategies import Block
from thresher.decisions.values_planner import Strategy
from thresher.decisions.verdicts import MISSES, few_digits
from thresher.decisions.wishes import Wish
from thresher.plan import Guarantee
from thresher.question import Atom, Question

_LABEL = 12


def promised(question: Question, wish: Wish, half_width: Fraction, clear: Fraction) -> Guarantee:
    """The certificate: rates are for each group, over the noise, and about the bounded data."""
    misses, alarms = decimal_text(wish.miss_rate), decimal_text(wish.false_alarm_rate)
    # Rounded up, so that what is said of groups beyond it stays true.
    far, width = (few_digits(Fraction(math.ceil(1000 * one), 1000)) for one in (clear, half_width))
    units = unit_word(question.table)
    if wish.terms.bound == MISSES:
        sentence = (
            f"if it meets the condition, it is reported (above or uncertain) except with probability at most {misses}; "
            f"if it does not, it is marked above with probability at most {alarms}, and if everything that it fails is "
            f"short by {far} {units} or more, it is reported at all with probability at most {alarms}."
        )
    else:
        sentence = (
            f"if it does not meet the condition, it is reported (above) with probability at most {alarms}; if it meets "
            f"it, it is marked below with probability at most {misses}, and if everything that it meets is met by "
            f"{far} {units} or more, it is reported except with probability at most {misses}. Uncertain groups are not "
            "reported."
        )
    numbers = (
        "Closer than that, either verdict is possible. Each number that is shown lies within its half width of the "
        f"truth except with probability at most {misses if wish.terms.bound == MISSES else alarms}."
    )
    told = f"For each group by itself, over the noise: {sentence} {numbers} {bounded_data(question.table)}"
    return Guarantee(misses, alarms, width, far, told)


def explained(
    question: Question,
    found: Measured,
    strategy: Strategy,
    epsilon: Epsilon,
    halved: Epsilon,
    guarantee: Guarantee,
    notes: Sequence[str],
) -> str:
    """What will be read, what it costs and what it promises, before anything is read."""
    table, units, atoms = question.table, unit_word(question.table), question.atoms
    lines = [
        ("question", question.text),
        ("table", f"{table.name}; protected: {_unit(table)}"),
        ("groups", f"{len(question.groups):,} declared; each gets a verdict and its numbers, empty or not"),
        ("shown", "the numbers behind the verdicts, with noise; the verdicts alone would be cheaper"),
        *[
            ("condition", _condition(atom, found.literals[i].slack, table))
            for i, atom in enumerate(atoms)
            if atom.written
        ],
        *[
            ("measured" if i == 0 else "", f"{_block(block, atoms, found)}, at epsilon {rate}")
            for i, (block, rate) in enumerate(zip(strategy.blocks, strategy.epsilons, strict=True))
        ],
        ("miss rate", f"{guarantee.miss_rate}, shared out along the ways in which the conditions can decide"),
        ("half width", f"{guarantee.half_width} {units} at most: by so much a condition may be short and still count"),
        ("epsilon", f"{epsilon}{_composed(epsilon, strategy.epsilon, table)}{_paid(strategy)}"),
        ("if halved", f"half the uncertain region would cost {halved}"),
        ("promise", guarantee.sentence),
        *[("note", note) for note in notes],
    ]
    return "\n".join(f"{label:<{_LABEL}}{text}" for label, text in lines) + "\n"


def _condition(atom: Atom, slack: int, table: Table) -> str:
    width = Fraction(slack) / atom.steps
    if atom.per_row:
        size = f" ({few_digits(width / table.count_range)} at {table.count_range:,})" if table.count_range else ""
        return f"{atom.text}: half width {few_digits(width)}/n in a group of n rows{size}"
    return f"{atom.text}: half width {few_digits(width)}"


def _block(block: Block, atoms: Sequence[Atom], found: Measured) -> str:
    named = dict.fromkeys(
        atom.aggregate for atom, literal in zip(atoms, found.literals, strict=True) if literal.measure in block.members
    )
    listed = ", ".join(named)
    if block.kind == "direct":
        return f"{listed} by itself"
    if block.kind == "cells":
        return f"{listed} together, from {len(block.readings)} cells of rows that satisfy the same filters"
    return f"{listed} together, from {len(block.readings)} numbers at the ends of the range"


def _paid(strategy: Strategy) -> str:
    total = Epsilon.total(strategy.epsilons)
    if total == strategy.epsilon:
        return ""
    return f", not {total}: no row touches all of them"


def _composed(epsilon: Epsilon, once: Epsilon, table: Table) -> str:
    if epsilon == once or table.contribution is None:
        return ""
    return f" = {table.contribution.max_groups} groups at {once}"


def _unit(table: Table) -> str:
    return "a row" if table.contribution is None else f"all rows of one {table.contribution.unit}"
