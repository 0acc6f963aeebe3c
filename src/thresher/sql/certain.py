"""What can be told without data: atoms and formulas that hold in every group, or in none.

Counts are never negative, and a sum over rows has the sign that all its possible rows share. Beyond that every linear
form is taken to be free, so a formula called constant is constant; one that is not may still be.
Reads: atoms, declarations. Writes: nothing. Never: data.
"""

import itertools
import math
from collections.abc import Mapping, Sequence

from thresher.config import Grid, Table
from thresher.question import Aggregate, Atom, Condition, Every, Formula, atoms_of

_MOST_CELLS = 4096
_Form = tuple[tuple[Aggregate, int], ...]


def settled(atom: Atom, table: Table) -> bool | None:
    """True or False if the atom always or never holds, whatever the data."""
    low, high = _range(atom.weights, table)
    bounds = (atom.at_least,) if isinstance(atom.at_least, int) else atom.at_least
    if bounds and low >= max(bounds):
        return True
    return False if bounds and high < min(bounds) else None


def constant(formula: Formula, table: Table) -> bool | None:
    """True or False if the formula always or never holds, as far as its linear forms can tell."""
    by_form: dict[_Form, list[Atom]] = {}
    for atom in dict.fromkeys(atoms_of(formula)):
        if isinstance(atom.at_least, int):
            by_form.setdefault(_unsigned(atom)[0], []).append(atom)
    shared = {form: atoms for form, atoms in by_form.items() if len(atoms) > 1}
    cells = [_cells(form, atoms, table) for form, atoms in shared.items()]
    if math.prod(len(cell) for cell in cells) > _MOST_CELLS:
        return None
    # The formula grows with its atoms, so the atoms that stand alone are tried all false and all true.
    always = never = True
    for chosen in itertools.product(*cells):
        known = {atom: holds for cell in chosen for atom, holds in cell.items()}
        always = always and _value(formula, known, others=False)
        never = never and not _value(formula, known, others=True)
        if not always and not never:
            return None
    return True if always else False if never else None


def _value(formula: Formula, known: Mapping[Atom, bool], *, others: bool) -> bool:
    if isinstance(formula, Atom):
        return known.get(formula, others)
    values = (_value(part, known, others=others) for part in formula.parts)
    return all(values) if isinstance(formula, Every) else any(values)


def _cells(form: _Form, atoms: Sequence[Atom], table: Table) -> list[dict[Atom, bool]]:
    """Which of the atoms hold, for every stretch of values of their form that no atom divides."""
    low, high = _range(form, table)
    # An atom holds from `bound` upwards, or up to `bound`; values that start a stretch stand for all of it.
    starts = {bound if upwards else bound + 1 for _, upwards, bound in map(_unsigned, atoms)}
    least = min(starts) - 1
    values = {max(least, low), *(start for start in starts if low <= start <= high)}
    return [
        {
            atom: value >= bound if upwards else value <= bound
            for atom in atoms
            for _, upwards, bound in [_unsigned(atom)]
        }
        for value in values
        if low <= value <= high
    ]


def _unsigned(atom: Atom) -> tuple[_Form, bool, int]:
    """The form with its first weight positive, whether the atom looks upwards on it, and the bound there."""
    bound = atom.at_least if isinstance(atom.at_least, int) else 0
    if atom.weights[0][1] > 0:
        return atom.weights, True, bound
    return tuple((aggregate, -weight) for aggregate, weight in atom.weights), False, -bound


def _range(weights: _Form, table: Table) -> tuple[float, float]:
    """From where to where the weighted sum can lie: 0 is an end if every row moves it the other way."""
    rows: dict[Condition, list[tuple[Aggregate, int]]] = {}
    down = up = False
    for aggregate, weight in weights:
        if aggregate.measure == "units":
            down, up = down or weight < 0, up or weight > 0
        else:
            rows.setdefault(aggregate.where, []).append((aggregate, weight))
    for parts in rows.values():
        low, high = _of_a_row(parts, table)
        down, up = down or low < 0, up or high > 0
    return -math.inf if down else 0, math.inf if up else 0


def _of_a_row(parts: Sequence[tuple[Aggregate, int]], table: Table) -> tuple[int, int]:
    """By how much one row can move the weighted sum of aggregates over the same rows."""
    low = high = sum(weight for aggregate, weight in parts if aggregate.measure == "rows")
    for column in dict.fromkeys(aggregate.column for aggregate, _ in parts if aggregate.column is not None):
        kind = table.columns[column].kind
        count = sum(weight for aggregate, weight in parts if aggregate == Aggregate("present", column, aggregate.where))
        total = sum(weight for aggregate, weight in parts if aggregate == Aggregate("total", column, aggregate.where))
        ends = [count]
        if isinstance(kind, Grid):
            extra = [] if kind.missing is None else [int(kind.missing / kind.step)]
            ends = [count + total * code for code in (kind.lowest, kind.highest, *extra)]
            if extra:
                low, high = low + min(ends), high + max(ends)
                continue
        low, high = low + min(0, *ends), high + max(0, *ends)
    return low, high
