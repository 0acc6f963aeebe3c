"""One number for each group that says by how many privacy units its formula holds or fails. Proof: `margin.md`.

Slack of each atom over its sensitivity, min for AND, max for OR. The margin is 0 or more exactly where the formula
holds, and one unit moves it by at most `scale`, however many atoms there are.
Reads: exact aggregates inside a family's `run`. Writes: nothing. Never: rounds towards zero.
"""

from collections.abc import Collection, Mapping

import numpy as np
from numpy.typing import NDArray

from thresher.question import Atom, Every, Formula

Whole = NDArray[np.int64] | NDArray[np.object_]

# Far beyond any threshold that could matter; clamping moves no two margins apart.
_FAR = 1 << 40


def margins(
    formula: Formula,
    slacks: Mapping[Atom, Whole],
    sensitivities: Mapping[Atom, int],
    scale: int = 1,
    apart: Collection[Formula] = (),
) -> NDArray[np.int64]:
    """The margin of each group, in 1/`scale` of a privacy unit.

    `slacks[atom]` is `weights . aggregates - at_least` by group; the atom holds where it is 0 or more. `apart` are ANDs
    and ORs of which one unit moves one part only (`exclusive.py`): what is wanting in several parts adds up there.
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
