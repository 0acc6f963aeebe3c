"""What a question reads, and by how much each of its conditions holds once it is read.

Reads: a question; sealed aggregates inside a family's `run`. Writes: nothing. Never: noise, a ledger.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from thresher.config import Table
from thresher.decisions.margin import Whole
from thresher.question import Aggregate, Atom, Exact, Need, Question, largest_value, sensitivity

_ROOM = 1 << 62


def need_of(question: Question) -> Need:
    """Every aggregate of the formula, once."""
    aggregates: dict[Aggregate, None] = dict.fromkeys(
        aggregate for atom in question.atoms for aggregate, _ in atom.weights
    )
    return Need(question.table, question.keys, question.groups, question.where, tuple(aggregates))


def sensitivities(question: Question) -> dict[Atom, int]:
    """By how much one unit moves each condition at most."""
    return {atom: sensitivity(atom, question.table) for atom in question.atoms}


def slacks_of(need: Need, atoms: Sequence[Atom], exact: Exact) -> Mapping[Atom, Whole]:
    """By how much each atom holds, group by group. Wide integers where the declarations allow large sums."""
    values = exact.unseal()
    place = {aggregate: i for i, aggregate in enumerate(need.aggregates)}
    slacks: dict[Atom, Whole] = {}
    for atom in atoms:
        wide = 16 * largest_value(atom, need.table) >= _ROOM
        kind = object if wide else np.int64
        # Only the columns of this atom: another's sums may be wider than 64 bits.
        weighted = sum(weight * values[:, place[aggregate]].astype(kind) for aggregate, weight in atom.weights)
        slacks[atom] = weighted - np.array(atom.at_least, dtype=kind)
    return slacks


def protected(table: Table) -> str | None:
    """The column that names who is protected; None if every row is a unit of its own."""
    return None if table.contribution is None else table.contribution.unit
