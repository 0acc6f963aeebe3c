"""HAVING as a formula of atoms: NOT pushed to the leaves, repetitions merged, parts sorted, constants folded.

An atom or a formula that holds in every group, or in none, is recognised without data: counts are never negative, and a
sum over rows has the sign that all its possible rows share. Otherwise a linear form is taken to have any value. So a
formula that is called constant is constant; a formula that is not called constant may be constant too.
Without HAVING, the question asks for the one aggregate of the select list, or for COUNT(*) if there is none.
Reads: the parser's tree. Writes: nothing. Never: an equality of aggregates, which noise would always miss; an average
without HAVING, which is not a sum over people.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from sqlglot import exp

from thresher.config import Grid, Table
from thresher.question import Aggregate, Atom, Condition, Every, Formula, Some, atoms_of
from thresher.sql.atoms import Compared, compare
from thresher.sql.linear import Context, Linear, linear
from thresher.sql.names import Group
from thresher.sql.refusals import Refusal
from thresher.sql.row_conditions import OPPOSITE, SIGNS
from thresher.sql.statement import Statement, in_order
from thresher.sql.tokens import MOST_CONDITIONS
from thresher.sql.writing import AskedGroups, formula_text

_MOST_CELLS = 4096
_Form = tuple[tuple[Aggregate, int], ...]
_FORMULA = "HAVING compares aggregates by >, >=, < or <= and joins such conditions by AND, OR and NOT"


@dataclass(frozen=True, slots=True)
class Having:
    """Turns a tree into a formula. `notes` collects remarks for the user, `guards` the atoms that were not written."""

    context: Context
    groups: Sequence[Group]
    notes: list[str] = field(default_factory=list)
    guards: list[Atom] = field(default_factory=list)

    @property
    def asked(self) -> AskedGroups:
        return AskedGroups(self.context.scope.table, self.context.keys, self.groups)

    def formula(self, node: exp.Expr) -> Formula | bool:
        """Return the formula, or True or False if it always or never holds."""
        written = _conditions(node)
        if written > MOST_CONDITIONS:
            raise _too_many(written, node)
        formula = self._part(node, negated=False)
        if isinstance(formula, bool):
            return self._constant(formula)
        distinct = len(set(atoms_of(formula)))
        if distinct > MOST_CONDITIONS:
            raise _too_many(distinct, node)
        known = _constant(formula, self.context.scope.table)
        return formula if known is None else self._constant(known)

    def _constant(self, value: bool) -> bool:  # noqa: FBT001
        self.notes.append("Always true; no data needed" if value else "Always false; nothing was run or charged")
        return value

    def _part(self, node: exp.Expr, *, negated: bool) -> Formula | bool:
        while isinstance(node, exp.Not):
            node, negated = node.this, not negated
        for kind in (exp.And, exp.Or):
            if isinstance(node, kind):
                parts = [self._part(part, negated=negated) for part in in_order(node, kind)]
                return self._joined(parts, every=(kind is exp.And) != negated)
        if isinstance(node, exp.Between):
            ends = [(">=", node.args["low"]), ("<=", node.args["high"])]
            parts = [self._comparison(sign, node.this, end, node, negated=negated) for sign, end in ends]
            return self._joined(parts, every=not negated)
        if type(node) not in SIGNS:
            raise Refusal("aggregates-in-having", f"{type(node).__name__} is not a condition here; {_FORMULA}", node)
        return self._comparison(SIGNS[type(node)], node.this, node.expression, node, negated=negated)

    def _comparison(self, sign: str, left: exp.Expr, right: exp.Expr, at: exp.Expr, *, negated: bool) -> Formula | bool:
        sides = linear(left, self.context), linear(right, self.context)
        if sign in ("=", "<>"):
            raise Refusal("no-equality", "Noise would always miss an equality of aggregates; compare with > or <", at)
        return self._folded(compare(sides, OPPOSITE[sign] if negated else sign, self.context, self.groups, at))

    def _folded(self, compared: Compared) -> Formula | bool:
        if compared.always_false:
            return False
        if compared.guard is not None:
            self.guards.append(compared.guard)
        table = self.context.scope.table
        atoms = [*compared.atoms, *([] if compared.guard is None else [compared.guard])]
        values = [_settled(atom, table) for atom in atoms]
        return self._joined([a if v is None else v for a, v in zip(atoms, values, strict=True)], every=True)

    def _joined(self, parts: Sequence[Formula | bool], *, every: bool) -> Formula | bool:
        """Return the AND or OR of the parts, flat and sorted, with each part once."""
        kind = Every if every else Some
        joined: dict[Formula, None] = {}
        for part in parts:
            if isinstance(part, bool):
                if part is not every:
                    return part
                continue
            for item in part.parts if isinstance(part, kind) else (part,):
                if item in joined:
                    self._note_merged(item)
                    if isinstance(item, Atom) and item.written:
                        joined.pop(item)  # an equal guard may stand there
                joined.setdefault(item)
        if not joined:
            return every
        ranked = sorted(joined, key=lambda item: formula_text(item, self.asked))
        return ranked[0] if len(ranked) == 1 else kind(tuple(ranked))

    def _note_merged(self, item: Formula) -> None:
        if any(item is guard for guard in self.guards):
            return  # the user did not write it
        text = item.text if isinstance(item, Atom) else formula_text(item, self.asked)
        note = f"{text} is asked more than once; counted once"
        if note not in self.notes:
            self.notes.append(note)


def _conditions(node: exp.Expr) -> int:
    """Return how many comparisons are written."""
    count, left = 0, [node]
    while left:
        inner = left.pop()
        if isinstance(inner, exp.And | exp.Or):
            left += [inner.this, inner.expression]
        elif isinstance(inner, exp.Not | exp.Paren):
            left.append(inner.this)
        else:
            count += 2 if isinstance(inner, exp.Between) else 1
    return count


def _too_many(count: int, at: exp.Expr) -> Refusal:
    message = f"Too many conditions ({count} > {MOST_CONDITIONS}); ask several questions"
    return Refusal("too-many-conditions", message, at)


def counted(statement: Statement, context: Context, groups: Sequence[Group]) -> Atom:
    """Return the selected aggregate as an atom. Only its weighted sum is used, not its threshold of 0."""
    written = [node for node in statement.selected if not isinstance(node, exp.Column)]
    if len(written) > 1:
        raise Refusal("select-keys", "Without HAVING a question asks for one aggregate; keep one", written[1])
    at = written[0] if written else statement.keys[0]
    form = linear(written[0], context) if written else Linear({Aggregate("rows"): Fraction(1)})
    if form.over is not None or form.public or form.constant:
        message = "Without HAVING a question asks for a count or a sum; compare an average in HAVING"
        raise Refusal("linear-forms", message, at)
    atoms = compare((form, Linear()), ">=", context, groups, at).atoms
    if len(atoms) != 1:
        raise Refusal("linear-forms", "The aggregates cancel out; select COUNT(*)", at)
    return atoms[0]


def _settled(atom: Atom, table: Table) -> bool | None:
    """Return True or False if the atom always or never holds, whatever the data; else None."""
    low, high = _range(atom.weights, table)
    bounds = (atom.at_least,) if isinstance(atom.at_least, int) else atom.at_least
    if bounds and low >= max(bounds):
        return True
    return False if bounds and high < min(bounds) else None


def _constant(formula: Formula, table: Table) -> bool | None:
    """Return True or False if the bounds of its linear forms make the formula hold always or never; else None."""
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
    """Return which atoms hold, for each stretch of values of their form that no threshold divides."""
    low, high = _range(form, table)
    # An atom holds from `bound` upwards, or up to `bound`. The first value of a stretch stands for all of it.
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
    """Return the form with its first weight positive, whether the atom holds upwards on that form, and from where."""
    bound = atom.at_least if isinstance(atom.at_least, int) else 0
    if atom.weights[0][1] > 0:
        return atom.weights, True, bound
    return tuple((aggregate, -weight) for aggregate, weight in atom.weights), False, -bound


def _range(weights: _Form, table: Table) -> tuple[float, float]:
    """Return the least and the largest possible weighted sum. An end is 0 if no row moves the sum beyond 0 there."""
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
    """Return the least and the most that one row adds to the weighted sum of aggregates over the same rows."""
    low = high = sum(weight for aggregate, weight in parts if aggregate.measure == "rows")
    for column in dict.fromkeys(aggregate.column for aggregate, _ in parts if aggregate.column is not None):
        kind = table.columns[column].kind
        count = sum(weight for aggregate, weight in parts if aggregate == Aggregate("present", column, aggregate.where))
        total = sum(weight for aggregate, weight in parts if aggregate == Aggregate("total", column, aggregate.where))
        ends = [count + total * code for code in (kind.lowest, kind.highest)] if isinstance(kind, Grid) else [count]
        if kind.missing is None:
            ends.append(0)
        low, high = low + min(ends), high + max(ends)
    return low, high
