"""The margin: by how many privacy units the formula of a group holds or fails, as one number. Proof: `margin.md`.

It is the slack of each atom divided by its sensitivity, with min for AND and max for OR. The margin is 0 or more
exactly where the formula holds, and one unit moves it by at most `scale`, however many atoms there are.
Reads: exact aggregates inside a family's `run`. Writes: nothing. Never: rounds towards zero.
"""

from collections.abc import Collection, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from thresher.question import Atom, Every, Exact, Formula, Need, Question, largest_value
from thresher.question.signatures import exclusive

Whole = NDArray[np.int64] | NDArray[np.object_]

# Far beyond any threshold that matters; clamping increases no distance between margins.
_FAR = 1 << 40
_ROOM = 1 << 62


class TrueMargins:
    """What was read, as slacks of conditions or as margins of groups. For use inside of a `run` only."""

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
        """Return margins that are known already, in steps of the look that decides about them."""
        made = cls.__new__(cls)
        made._margins = margins
        return made

    def margins(self, scale: int = 1) -> NDArray[np.int64]:
        """Return the margin of each group, in 1/`scale` of a privacy unit."""
        if self._margins is not None:
            return self._margins
        return margins(self._formula, self._slacks, self._sensitivities, scale, self._apart)

    @property
    def slacks(self) -> NDArray[np.int64]:
        """Return a row of slacks for each condition, clamped far beyond any threshold that matters."""
        return np.stack([np.clip(slack, -_FAR, _FAR).astype(np.int64) for slack in self._slacks.values()])


def margins(
    formula: Formula,
    slacks: Mapping[Atom, Whole],
    sensitivities: Mapping[Atom, int],
    scale: int = 1,
    apart: Collection[Formula] = (),
) -> NDArray[np.int64]:
    """Return the margin of each group, in 1/`scale` of a privacy unit.

    `slacks[atom]` is `weights . aggregates - at_least` by group; the atom holds where it is 0 or more. `apart` are ANDs
    and ORs in which one unit moves one part only (`parts_apart`): what several parts lack is added up there.
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
    """Return the least part where all hold; elsewhere the sum of what the parts lack."""
    least: NDArray[np.int64] = parts.min(axis=0)
    return np.where(least >= 0, least, np.minimum(parts, 0).sum(axis=0))


def floor_ratio(slack: Whole, scale: int, sensitivity: int) -> Whole:
    """Return floor(scale * slack / sensitivity), towards minus infinity: -1 / 65 gives -1, for the atom fails."""
    return (slack * scale) // sensitivity


def slacks_of(need: Need, atoms: Sequence[Atom], exact: Exact) -> Mapping[Atom, Whole]:
    """Return by how much each atom holds in each group, in wide integers where the declarations allow large sums."""
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
    """Return the ANDs and ORs of counts whose filters exclude each other, so that one unit moves one part only.

    That is proved from the question and the declarations alone. Parts for which it is not proved are left out.
    """
    if question.table.rows_per_unit != 1 or isinstance(question.formula, bool):
        return ()
    return tuple(_apart(question.formula, question))


def _apart(formula: Formula, question: Question) -> list[Formula]:
    if isinstance(formula, Atom):
        return []
    atoms = [part for part in formula.parts if isinstance(part, Atom)]
    if len(atoms) == len(formula.parts) and all(_counts_rows(atom) for atom in atoms):
        filters = [atom.weights[0][0].where for atom in atoms]
        return [formula] if exclusive(filters, question.table, question.where) else []
    return [inner for part in formula.parts for inner in _apart(part, question)]


def _counts_rows(atom: Atom) -> bool:
    """Tell whether the atom is one COUNT(*) over a filter: rows outside the filter do not move it."""
    return len(atom.weights) == 1 and atom.weights[0][0].measure == "rows"
