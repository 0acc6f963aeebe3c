"""One number for each group that says by how many privacy units its formula holds or fails. Proof: `margin.md`.

Slack of each atom over its sensitivity, min for AND, max for OR. The margin is 0 or more exactly where the formula
holds, and one unit moves it by at most `scale`, however many atoms there are.
Reads: exact aggregates inside a family's `run`. Writes: nothing. Never: rounds towards zero.
"""

from collections.abc import Collection, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from thresher.question import Atom, Every, Exact, Formula, Need, Question, largest_value
from thresher.question.signatures import exclusive

Whole = NDArray[np.int64] | NDArray[np.object_]

# Far beyond any threshold that could matter; clamping moves no two margins apart.
_FAR = 1 << 40
_ROOM = 1 << 62


class TrueMargins:
    """What was read, as slacks of conditions or as margins of groups: for the inside of a `run` only."""

    __slots__ = ("_apart", "_formula", "_margins", "_sensitivities", "_slacks")

    def __init__(
        self,
        formula: Formula,
        slacks: Mapping[Atom, Whole],
        sensitivities: Mapping[Atom, int],
        apart: Collection[Formula] = (),
    ) -> None:
        self._formula, self._slacks, self._sensitivities, self._apart = formula, slacks, sensitivities, apart
        self._margins: NDArray[np.int64] | None = None

    @classmethod
    def of(cls, margins: NDArray[np.int64]) -> "TrueMargins":
        """Margins that are known already, in whole privacy units."""
        made = cls.__new__(cls)
        made._margins = margins
        return made

    def margins(self, scale: int = 1) -> NDArray[np.int64]:
        """The margin of each group, in 1/`scale` of a privacy unit."""
        if self._margins is not None:
            return self._margins
        return margins(self._formula, self._slacks, self._sensitivities, scale, self._apart)

    @property
    def slacks(self) -> NDArray[np.int64]:
        """A row for each condition, in order, clamped where a slack is as good as infinite."""
        return np.stack([np.clip(slack, -_FAR, _FAR).astype(np.int64) for slack in self._slacks.values()])


def margins(
    formula: Formula,
    slacks: Mapping[Atom, Whole],
    sensitivities: Mapping[Atom, int],
    scale: int = 1,
    apart: Collection[Formula] = (),
) -> NDArray[np.int64]:
    """The margin of each group, in 1/`scale` of a privacy unit.

    `slacks[atom]` is `weights . aggregates - at_least` by group; the atom holds where it is 0 or more. `apart` are ANDs
    and ORs of which one unit moves one part only (`parts_apart`): what is wanting in several parts adds up there.
    """
    if isinstance(formula, Atom):
        near = np.clip(floor_ratio(slacks[formula], scale, sensitivities[formula]), -_FAR, _FAR)
        return near.astype(np.int64)
    parts = np.stack([margins(part, slacks, sensitivities, scale, apart) for part in formula.parts])
    if formula in apart:
        return _added_up(parts) if isinstance(formula, Every) else -1 - _added_up(-1 - parts)
    best: NDArray[np.int64] = np.min(parts, axis=0) if isinstance(formula, Every) else np.max(parts, axis=0)
    return best


def _added_up(parts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The least part where all hold; elsewhere all that is wanting, added up."""
    least: NDArray[np.int64] = parts.min(axis=0)
    return np.where(least >= 0, least, np.minimum(parts, 0).sum(axis=0))


def floor_ratio(slack: Whole, scale: int, sensitivity: int) -> Whole:
    """floor(scale * slack / sensitivity), towards minus infinity: -1 over 65 is -1, for the atom does not hold."""
    return (slack * scale) // sensitivity


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


def parts_apart(question: Question) -> tuple[Formula, ...]:
    """The ANDs and ORs of counts over filters that no row satisfies two of: one unit then moves one part only.

    Proved from the question and the declarations alone; where it is not proved, nothing is claimed.
    """
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
