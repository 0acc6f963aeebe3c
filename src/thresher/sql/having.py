"""HAVING as a formula of atoms: NOT pushed to the leaves, repetitions merged, parts sorted, constants folded.

Without HAVING, the one aggregate of the select list, COUNT(*) if none is written.

Reads: the parser's tree. Writes: nothing. Never: an equality of aggregates, which noise would always miss; an average
without HAVING, which is not a sum over people.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from sqlglot import exp

from thresher.question import Aggregate, Atom, Every, Formula, Some, atoms_of
from thresher.sql.atoms import Compared, compare
from thresher.sql.certain import constant, settled
from thresher.sql.groups import Group
from thresher.sql.linear import Context, Linear, linear
from thresher.sql.refusals import Refusal
from thresher.sql.row_conditions import OPPOSITE, SIGNS
from thresher.sql.statement import Statement, only, plain_parts, unwrapped
from thresher.sql.tokens import MOST_CONDITIONS
from thresher.sql.writing import Asked, formula_text

_FORM = "HAVING compares aggregates by >, >=, < or <= and joins such conditions by AND, OR and NOT"


@dataclass(frozen=True, slots=True)
class Having:
    """Turns a tree into a formula; `notes` and `guards` gather what is to be said of it."""

    context: Context
    groups: Sequence[Group]
    notes: list[str] = field(default_factory=list)
    guards: list[Atom] = field(default_factory=list)

    @property
    def asked(self) -> Asked:
        return Asked(self.context.scope.table, self.context.keys, self.groups)

    def formula(self, node: exp.Expr) -> Formula | bool:
        """The formula, or True or False if it always or never holds."""
        written = _conditions(node)
        if written > MOST_CONDITIONS:
            raise _too_many(written, node)
        found = self._part(node, negated=False)
        if isinstance(found, bool):
            return self._constant(found)
        distinct = len(set(atoms_of(found)))
        if distinct > MOST_CONDITIONS:
            raise _too_many(distinct, node)
        known = constant(found, self.context.scope.table)
        return found if known is None else self._constant(known)

    def _constant(self, value: bool) -> bool:  # noqa: FBT001
        self.notes.append("Always true; no data needed" if value else "Always false; nothing was run or charged")
        return value

    def _part(self, node: exp.Expr, *, negated: bool) -> Formula | bool:
        node = unwrapped(node)
        while isinstance(node, exp.Not):
            only(node, "this")
            node, negated = unwrapped(node.this), not negated
        for kind in (exp.And, exp.Or):
            if isinstance(node, kind):
                parts = [self._part(part, negated=negated) for part in plain_parts(node, kind)]
                return self._joined(parts, every=(kind is exp.And) != negated)
        if isinstance(node, exp.Between):
            only(node, "this", "low", "high")
            ends = [(">=", node.args["low"]), ("<=", node.args["high"])]
            parts = [self._comparison(sign, node.this, end, node, negated=negated) for sign, end in ends]
            return self._joined(parts, every=not negated)
        if type(node) not in SIGNS:
            raise Refusal("aggregates-in-having", f"{type(node).__name__} is not a condition here; {_FORM}", node)
        only(node, "this", "expression")
        return self._comparison(SIGNS[type(node)], node.this, node.expression, node, negated=negated)

    def _comparison(self, sign: str, left: exp.Expr, right: exp.Expr, at: exp.Expr, *, negated: bool) -> Formula | bool:
        sides = linear(left, self.context), linear(right, self.context)
        if sign in ("=", "<>"):
            raise Refusal("no-equality", "Equality is not a threshold test; use > or < with a margin", at)
        return self._folded(compare(sides, OPPOSITE[sign] if negated else sign, self.context, self.groups, at))

    def _folded(self, compared: Compared) -> Formula | bool:
        if compared.always_false:
            return False
        if compared.guard is not None:
            self.guards.append(compared.guard)
        table = self.context.scope.table
        atoms = [*compared.atoms, *([] if compared.guard is None else [compared.guard])]
        values = [settled(atom, table) for atom in atoms]
        return self._joined([a if v is None else v for a, v in zip(atoms, values, strict=True)], every=True)

    def _joined(self, parts: Sequence[Formula | bool], *, every: bool) -> Formula | bool:
        """AND or OR of the parts, flat and sorted, each part once."""
        kind = Every if every else Some
        found: dict[Formula, None] = {}
        for part in parts:
            if isinstance(part, bool):
                if part is not every:
                    return part
                continue
            for item in part.parts if isinstance(part, kind) else (part,):
                if item in found:
                    self._note_merged(item)
                    if isinstance(item, Atom) and item.written:
                        found.pop(item)  # a guard like it may stand there
                found.setdefault(item)
        if not found:
            return every
        ranked = sorted(found, key=lambda item: formula_text(item, self.asked))
        return ranked[0] if len(ranked) == 1 else kind(tuple(ranked))

    def _note_merged(self, item: Formula) -> None:
        if any(item is guard for guard in self.guards):
            return  # it was not written
        text = item.text if isinstance(item, Atom) else formula_text(item, self.asked)
        note = f"{text} is asked more than once; counted once"
        if note not in self.notes:
            self.notes.append(note)


def _conditions(node: exp.Expr) -> int:
    """How many comparisons are written."""
    found, left = 0, [node]
    while left:
        inner = left.pop()
        if isinstance(inner, exp.And | exp.Or):
            left += [inner.this, inner.expression]
        elif isinstance(inner, exp.Not | exp.Paren):
            left.append(inner.this)
        else:
            found += 2 if isinstance(inner, exp.Between) else 1
    return found


def _too_many(found: int, at: exp.Expr) -> Refusal:
    message = f"Too many conditions ({found} > {MOST_CONDITIONS}); ask several questions"
    return Refusal("too-many-conditions", message, at)


def counted(statement: Statement, context: Context, groups: Sequence[Group]) -> Atom:
    """The aggregate as the weighted sum of an atom, whose threshold of 0 means nothing."""
    written = [node for node in map(unwrapped, statement.selected) if not isinstance(node, exp.Column)]
    if len(written) > 1:
        raise Refusal("select-keys", "One aggregate is asked for at a time; keep one", written[1])
    at = written[0] if written else statement.keys[0]
    form = linear(written[0], context) if written else Linear({Aggregate("rows"): Fraction(1)})
    if form.over is not None or form.public or form.constant:
        raise Refusal("linear-forms", "Counts and sums are asked for without HAVING; compare an average there", at)
    atoms = compare((form, Linear()), ">=", context, groups, at).atoms
    if len(atoms) != 1:
        raise Refusal("linear-forms", "Nothing is left of the aggregates; select COUNT(*)", at)
    return atoms[0]
