"""What makes a formula true, and what makes it false, with nothing to spare: prime implicants and implicates.

A prime implicant is a set of conditions that together make the formula hold, none of them superfluous; a prime
implicate is one that together make it fail. Errors of the conditions add up along such sets and no further, so the
methods that measure every condition by itself share out the error rates over them.
Reads: nothing. Writes: nothing. Never: a guess; beyond 16 conditions one set stands for all, which is safe.
Proof: `implicants.md`.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from thresher.question.trees import Tree, holds, leaves

# All assignments are looked at: 65,536 of them at most.
MOST_ATOMS = 16

Sets = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Primes:
    """Prime implicants and implicates, the smallest first. Beyond 16 conditions, one set of all stands for each.

    A condition that is in no set makes no difference (`Q0 OR (Q0 AND Q1)`: condition 1): it need not be measured.
    """

    implicants: Sets
    implicates: Sets


@lru_cache(maxsize=256)
def primes(tree: Tree) -> Primes:
    """Its prime implicants and implicates; up to 16 distinct conditions exactly, by looking at all assignments."""
    atoms = sorted(set(leaves(tree)))
    if len(atoms) > MOST_ATOMS:
        return Primes((tuple(atoms),), (tuple(atoms),))
    masks = np.arange(1 << len(atoms))
    truth = holds(tree, {atom: (masks >> place) & 1 == 1 for place, atom in enumerate(atoms)})
    true, false = _edge(truth, len(atoms), 0), _edge(~truth, len(atoms), 1)
    everything = (1 << len(atoms)) - 1
    return Primes(_sets(true, atoms), _sets(everything ^ false, atoms))


def _edge(inside: NDArray[np.bool_], atoms: int, bit: int) -> NDArray[np.int64]:
    """The points inside that are left by flipping any bit that is not `bit`: minimal (0) or maximal (1) ones."""
    masks, edge = np.arange(inside.size), inside.copy()
    for place in range(atoms):
        flips = (masks >> place) & 1 != bit
        edge &= ~(flips & inside[masks ^ (1 << place)])
    return np.flatnonzero(edge)


def _sets(masks: NDArray[np.int64], atoms: list[int]) -> Sets:
    sets = (tuple(atom for place, atom in enumerate(atoms) if mask >> place & 1) for mask in masks.tolist())
    return tuple(sorted(sets, key=lambda members: (len(members), members)))
