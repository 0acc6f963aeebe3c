"""ANDs and ORs of counts over filters that no row satisfies two of: one unit then moves one part only.

Proved from the question's text and the declarations alone. Where it is not proved, nothing is claimed.
Reads: a question. Writes: nothing. Never: data. Proof: `margin.md`, claim 3.
"""

from thresher.decisions.signatures import exclusive
from thresher.question import Atom, Formula, Question


def parts_apart(question: Question) -> tuple[Formula, ...]:
    """The parts of the formula that are such ANDs and ORs; none if a unit may have several rows in a group."""
    if question.table.rows_per_unit != 1 or isinstance(question.formula, bool):
        return ()
    return tuple(_found(question.formula, question))


def _found(formula: Formula, question: Question) -> list[Formula]:
    if isinstance(formula, Atom):
        return []
    atoms = [part for part in formula.parts if isinstance(part, Atom)]
    if len(atoms) == len(formula.parts) and all(_counts_rows(atom) for atom in atoms):
        filters = [atom.weights[0][0].where for atom in atoms]
        return [formula] if exclusive(filters, question.table, question.where) else []
    return [found for part in formula.parts for found in _found(part, question)]


def _counts_rows(atom: Atom) -> bool:
    """One COUNT(*) over a filter: rows outside the filter do not move it."""
    return len(atom.weights) == 1 and atom.weights[0][0].measure == "rows"
