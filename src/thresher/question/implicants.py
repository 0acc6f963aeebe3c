"""Smallest sets of conditions that make a formula true, or false: its prime implicants and implicates.

The conditions of a prime implicant together make the formula hold, and none of them is superfluous; the conditions of
a prime implicate, if they fail together, make it fail. Errors of the conditions add up along such sets only, so methods
that measure each condition by itself divide the error rates among the members of each set.
Reads: nothing. Writes: nothing. Never: a guess; beyond 16 conditions one set of all conditions is used, which is safe.
Proof: `implicants.md`.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from thresher.question.trees import Tree, holds, leaves

# All assignments are tried: at most 65,536.
MOST_ATOMS = 16

Sets = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Primes:
    """Prime implicants and implicates, the smallest first. Beyond 16 conditions each is one set of all conditions.

    A condition in none of the sets makes no difference, as Q1 in `Q0 OR (Q0 AND Q1)`, and need not be measured.
    """

    implicants: Sets
    implicates: Sets


@lru_cache(maxsize=256)
def primes(tree: Tree) -> Primes:
    """Return the prime implicants and implicates of a tree, exact for up to 16 distinct conditions."""
    atoms = sorted(set(leaves(tree)))
    if len(atoms) > MOST_ATOMS:
        return Primes((tuple(atoms),), (tuple(atoms),))
    masks = np.arange(1 << len(atoms))
    truth = holds(tree, {atom: (masks >> place) & 1 == 1 for place, atom in enumerate(atoms)})
    true, false = _edge(truth, len(atoms), 0), _edge(~truth, len(atoms), 1)
    everything = (1 << len(atoms)) - 1
    return Primes(_sets(true, atoms), _sets(everything ^ false, atoms))


def _edge(inside: NDArray[np.bool_], atoms: int, bit: int) -> NDArray[np.int64]:
    """Return the points inside that flipping any bit unlike `bit` leads out: the minimal (0) or maximal (1) points."""
    masks, edge = np.arange(inside.size), inside.copy()
    for place in range(atoms):
        flips = (masks >> place) & 1 != bit
        edge &= ~(flips & inside[masks ^ (1 << place)])
    return np.flatnonzero(edge)


def _sets(masks: NDArray[np.int64], atoms: list[int]) -> Sets:
    sets = (tuple(atom for place, atom in enumerate(atoms) if mask >> place & 1) for mask in masks.tolist())
    return tuple(sorted(sets, key=lambda members: (len(members), members)))
