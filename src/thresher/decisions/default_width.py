"""The half width of a question that asks for none: a twentieth of each threshold, in privacy units.

It follows from the question's text and the declarations of its columns. `count_range` has no part in it: a guess at the
largest group says nothing about how finely a threshold must be told.
Reads: a question, how far one unit moves its conditions. Writes: nothing. Never: data. Proof: `few_groups.md`.
"""

import math
from collections.abc import Iterable, Mapping
from statistics import median_low
from typing import Literal

from thresher.question import Atom, Every, Formula, Question, atoms_of
from thresher.question.asked import Aggregate
from thresher.question.conditions import ALWAYS, Condition
from thresher.question.sensitivity import row_reach

# A half width is this part of a threshold.
_PART = 20
# A sum is compared with 0 as if with this many rows of the largest size.
_ROWS_OF_ZERO = 100
# The rows of a group whose average is asked for, where no condition sets a least number.
ASSUMED_ROWS = 100
_COUNTS = frozenset({"rows", "present", "units"})


def default_width(question: Question, spreads: Mapping[Atom, int]) -> int:
    """Return the half width in units, at least 1: the least of those of the conditions in `spreads`.

    `spreads`: by how much one unit moves each condition. A condition and its opposite have the same width.
    """
    return max(1, min(_line(question, atom) // (_PART * spread) for atom, spread in spreads.items()))


def rows_beside(formula: Formula | Literal[True, False], atom: Atom) -> tuple[int, str]:
    """Return the fewest rows with which a group meets all that is joined to an average by AND, and which count says so.

    0 if that is not known. A condition that stands in several places has the fewest rows of all of them. Counts of rows
    that the average does not count say nothing about it.
    """
    if isinstance(formula, bool | Atom):
        return 0, ""
    inner = [rows_beside(part, atom) for part in formula.parts if atom in atoms_of(part)]
    if not inner:
        return 0, ""
    counted = _rows_counted(atom)
    beside = [_fewest_rows(part, counted) for part in formula.parts if atom not in atoms_of(part)]
    return max(min(inner), *beside) if isinstance(formula, Every) and beside else min(inner)


def _line(question: Question, atom: Atom) -> int:
    """Return the threshold that a half width is a part of, in steps of the condition."""
    row = row_reach(atom, question.table)
    if atom.per_row:
        return (rows_beside(question.formula, _as_asked(question, atom))[0] or ASSUMED_ROWS) * row
    line = median_low(_nearest(bound) for bound in _bounds(atom))
    ((aggregate, _), *others) = atom.weights
    sum_or_difference = others or aggregate.measure not in _COUNTS
    return _ROWS_OF_ZERO * row if line == 0 and sum_or_difference else line


def _nearest(at_least: int) -> int:
    """Return the threshold of `>= at_least`, which is also `> at_least - 1`: the one nearer to 0.

    So a condition and its opposite have the same line, and it does not matter how they are written.
    """
    return min(abs(at_least), abs(at_least - 1))


def _bounds(atom: Atom) -> tuple[int, ...]:
    return atom.at_least if isinstance(atom.at_least, tuple) else (atom.at_least,)


def _as_asked(question: Question, atom: Atom) -> Atom:
    """Return the condition as it stands in the question; of the complement, its opposite."""
    if atom in question.atoms:
        return atom
    weights = tuple((aggregate, -weight) for aggregate, weight in atom.weights)
    opposite = [other for other in question.atoms if other.weights == weights and _opposed(other, atom)]
    return opposite[0] if opposite else atom


def _opposed(one: Atom, other: Atom) -> bool:
    return tuple(1 - bound for bound in _bounds(one)) == _bounds(other)


def _rows_counted(atom: Atom) -> Condition | None:
    """Return which rows an average counts; None if that is not one condition."""
    filters = dict.fromkeys(aggregate.where for aggregate, _ in atom.weights)
    return ALWAYS if ALWAYS in filters else next(iter(filters)) if len(filters) == 1 else None


def _fewest_rows(formula: Formula, counted: Condition | None) -> tuple[int, str]:
    """Return the fewest rows with which a group meets a formula, as far as counts of `counted` rows say."""
    if isinstance(formula, Atom):
        ((aggregate, weight), *others) = formula.weights
        if not formula.written or others or weight <= 0 or not _is_among(aggregate, counted):
            return 0, ""
        return max(0, math.ceil(min(_bounds(formula)) / weight)), formula.aggregate
    fewest: Iterable[tuple[int, str]] = (_fewest_rows(part, counted) for part in formula.parts)
    return max(fewest) if isinstance(formula, Every) else min(fewest)


def _is_among(aggregate: Aggregate, counted: Condition | None) -> bool:
    return aggregate.measure in _COUNTS and counted in (ALWAYS, aggregate.where)
