"""A plan for values in words: what is measured together, what it costs, and the sentence of the promise.

Reads: a question, a strategy. Writes: text. Never: data.
"""

import math
from collections.abc import Sequence
from fractions import Fraction

from thresher.amounts import Epsilon
from thresher.decisions.aim import Asked
from thresher.decisions.promise import counted_rows, unit_in
from thresher.decisions.values.measures import FormulaNumbers
from thresher.decisions.values.strategies import Block
from thresher.decisions.values.values_planner import Strategy
from thresher.decisions.words import composed, condition_line
from thresher.guarantee import Guarantee, few_digits, percent, units_of
from thresher.plan import Statements
from thresher.question import Atom


def promised(asked: Asked, half_width: Fraction, clear: Fraction) -> Guarantee:
    """Rates are for each group, over the noise, and about the bounded data; distances are rounded up."""
    options, rows = asked.options, counted_rows(asked.question)
    width, far = (Fraction(math.ceil(1000 * one), 1000) for one in (half_width, clear))
    return Guarantee("values", options.miss_rate, options.false_alarm_rate, width, far, options.bound, rows)


def values_details(
    asked: Asked, found: FormulaNumbers, strategy: Strategy, halved: Epsilon, promise: Guarantee
) -> Statements:
    """Return what is measured together, and what it costs."""
    table, epsilon = asked.question.table, asked.for_one_unit(strategy.epsilon)
    units = units_of(unit_in(table))
    return [
        *[
            ("condition", condition_line(atom, Fraction(found.literals[i].slack), table))
            for i, atom in enumerate(asked.atoms)
            if atom.written
        ],
        *[
            ("measured" if i == 0 else "", f"{_block(block, asked.atoms, found)}, at epsilon {rate}")
            for i, (block, rate) in enumerate(zip(strategy.blocks, strategy.epsilons, strict=True))
        ],
        (
            "miss rate" if asked.options.misses_first else "alarm rate",
            f"{percent(asked.options.rates[0])}, shared between the ways in which the conditions can decide",
        ),
        (
            "half width",
            f"{few_digits(promise.half_width or Fraction(0))} {units} at most: a condition may be short by this and "
            "still count",
        ),
        ("epsilon", f"{epsilon}{composed(table, epsilon, strategy.epsilon)}{_paid(strategy)}"),
        ("if halved", f"half the half width would cost {halved}"),
    ]


def _block(block: Block, atoms: Sequence[Atom], found: FormulaNumbers) -> str:
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
