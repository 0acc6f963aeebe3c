"""Write a plan for values in words: what is measured together, what it costs, and the promise.

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
    """Return the promise: rates for each group, over the noise, about the bounded data; distances are rounded up."""
    options, rows = asked.options, counted_rows(asked.question)
    width, far = (Fraction(math.ceil(1000 * distance), 1000) for distance in (half_width, clear))
    return Guarantee("values", options.miss_rate, options.false_alarm_rate, width, far, options.bound, rows)


def values_details(
    asked: Asked, formula: FormulaNumbers, strategy: Strategy, halved: Epsilon, promise: Guarantee
) -> Statements:
    """Return what is measured together, and what it costs."""
    table, epsilon = asked.question.table, asked.for_one_unit(strategy.epsilon)
    units = units_of(unit_in(table))
    return [
        *[
            ("condition", condition_line(atom, Fraction(formula.literals[i].slack), table))
            for i, atom in enumerate(asked.atoms)
            if atom.written
        ],
        *[
            ("measured" if i == 0 else "", f"{_block(block, asked.atoms, formula)}, at epsilon {rate}")
            for i, (block, rate) in enumerate(zip(strategy.blocks, strategy.epsilons, strict=True))
        ],
        (
            "miss rate" if asked.options.misses_first else "alarm rate",
            f"{percent(asked.options.rates[0])}, divided between conditions that can fail together",
        ),
        (
            "half width",
            f"at most {few_digits(promise.half_width or Fraction(0))} {units}: a condition counts even if its noisy "
            "number falls short by this",
        ),
        ("epsilon", f"{epsilon}{composed(table, epsilon, strategy.epsilon)}{_paid(strategy)}"),
        ("if halved", f"half this width costs {halved}"),
    ]


def _block(block: Block, atoms: Sequence[Atom], formula: FormulaNumbers) -> str:
    pairs = zip(atoms, formula.literals, strict=True)
    listed = ", ".join(dict.fromkeys(atom.aggregate for atom, literal in pairs if literal.measure in block.members))
    if block.kind == "direct":
        return f"{listed} by itself"
    if block.kind == "cells":
        return f"{listed} together, from {len(block.readings)} cells of rows that satisfy the same filters"
    return f"{listed} together, from {len(block.readings)} numbers at the ends of the range"


def _paid(strategy: Strategy) -> str:
    total = Epsilon.total(strategy.epsilons)
    if total == strategy.epsilon:
        return ""
    return f", not {total}: no row is in all of them"
