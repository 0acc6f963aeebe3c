"""A plan for values in words: what is measured together, what it costs, and the sentence of the promise.

Reads: a question, a strategy. Writes: text. Never: data.
"""

import math
from collections.abc import Sequence
from fractions import Fraction

from thresher.amounts import Epsilon
from thresher.config import decimal_text
from thresher.decisions.aim import Asked
from thresher.decisions.promise import unit_of
from thresher.decisions.values.measures import FormulaNumbers
from thresher.decisions.values.strategies import Block
from thresher.decisions.values.values_planner import Strategy
from thresher.decisions.words import Lines, composed, condition_line, opening
from thresher.guarantee import Guarantee, few_digits, units_of
from thresher.question import Atom


def promised(asked: Asked, half_width: Fraction, clear: Fraction) -> Guarantee:
    """Rates are for each group, over the noise, and about the bounded data; distances are rounded up."""
    options = asked.options
    width, far = (Fraction(math.ceil(1000 * one), 1000) for one in (half_width, clear))
    return Guarantee("values", options.miss_rate, options.false_alarm_rate, width, far, options.bound, unit_of(asked))


def values_lines(asked: Asked, found: FormulaNumbers, strategy: Strategy, halved: Epsilon, promise: Guarantee) -> Lines:
    """What will be read, what it costs and what it promises, before anything is read."""
    question, table, epsilon = asked.question, asked.question.table, asked.for_one_unit(strategy.epsilon)
    units = units_of(promise.unit)
    return [
        *opening(question),
        ("shown", "the numbers behind the verdicts, with noise; the verdicts alone would be cheaper"),
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
            f"{decimal_text(asked.options.rates[0])}, shared out along the ways in which the conditions can decide",
        ),
        (
            "half width",
            f"{few_digits(promise.half_width or Fraction(0))} {units} at most: by so much a condition may be short and "
            "still count",
        ),
        ("epsilon", f"{epsilon}{composed(table, epsilon, strategy.epsilon)}{_paid(strategy)}"),
        ("if halved", f"half the uncertain region would cost {halved}"),
        ("promise", promise.sentence),
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
