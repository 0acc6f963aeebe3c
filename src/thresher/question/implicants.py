"""What makes a formula true, and what makes it false, with nothing to spare: prime implicants and implicates.

A prime implicant is a set of conditions that together make the formula hold, none of them superfluous; a prime
implicate is one that together make it fail. Errors of the conditions add up along such sets and no further, so the
methods that measure every condition by itself share out the error rates over them.
Reads: nothing. Writes: nothing. Never: a guess; beyond 16 conditions one set stands for all, which is safe.
Proof: `implicants.md`.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from thresher.question.trees import Tree, every, holds, leaves, some

# All assignments are looked at: 65,536 of them at most.
MOST_ATOMS = 16

Sets = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Primes:
    """Prime implicants and implicates, the smallest first. If not `exact`, one set of all conditions stands for each.

    A condition that is in no set makes no difference (`Q0 OR (Q0 AND Q1)`: condition 1): it need not be measured.
    """

    implicants: Sets
    implicates: Sets
    exact: bool

    @property
    def atoms(self) -> tuple[int, ...]:
        """The conditions that make a difference."""
        return tuple(sorted({atom for implicant in self.implicants for atom in implicant}))


@lru_cache(maxsize=256)
def primes(tree: Tree) -> Primes:
    """Its prime implicants and implicates; up to 16 distinct conditions exactly, by looking at all assignments."""
    atoms = sorted(set(leaves(tree)))
    if len(atoms) > MOST_ATOMS:
        return Primes((tuple(atoms),), (tuple(atoms),), exact=False)
    masks = np.arange(1 << len(atoms))
    truth = holds(tree, {atom: (masks >> place) & 1 == 1 for place, atom in enumerate(atoms)})
    true, false = _edge(truth, len(atoms), 0), _edge(~truth, len(atoms), 1)
    everything = (1 << len(atoms)) - 1
    return Primes(_sets(true, atoms), _sets(everything ^ false, atoms), exact=True)


def equivalent(one: Tree, other: Tree) -> bool:
    """Whether both hold for the same assignments. Beyond 16 conditions only the same tree is known to."""
    mine, yours = primes(one), primes(other)
    return one == other or (mine.exact and yours.exact and mine.implicants == yours.implicants)


def minimal_form(tree: Tree) -> Tree:
    """The minimal OR of ANDs, which for a formula without NOT is unique: the prime implicants (Quine and McCluskey).

    It has the fewest ANDs, not the fewest leaves: `Q0 AND (Q1 OR Q2)` becomes `(Q0 AND Q1) OR (Q0 AND Q2)`. For
    comparison with methods that pay by the leaf. Beyond 16 conditions the tree is left as it is.
    """
    known = primes(tree)
    return some(*(every(*implicant) for implicant in known.implicants)) if known.exact else tree


def read_once(known: Primes) -> Tree | None:
    """An equivalent tree in which every condition is written once, or None if there is none, or none is known.

    Conditions that never meet in an implicant are parts of an OR; those that never meet in an implicate, of an AND.
    """
    return _factored(known.implicants, known.implicates) if known.exact else None


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


def _factored(implicants: Sets, implicates: Sets) -> Tree | None:
    if len(implicants) == len(implicates) == 1:
        # One implicant and one implicate: a single condition.
        return implicants[0][0]
    for sets, others, joined in ((implicants, implicates, some), (implicates, implicants, every)):
        parts = list(_components(sets))
        if len(parts) > 1:
            trees = []
            for part in parts:
                mine = tuple(members for members in sets if part.issuperset(members))
                # The others are one choice from each part, in all combinations.
                theirs = tuple(dict.fromkeys(tuple(atom for atom in members if atom in part) for members in others))
                tree = _factored(mine, theirs) if joined is some else _factored(theirs, mine)
                if tree is None:
                    return None
                trees.append(tree)
            return joined(*trees)
    return None


def _components(sets: Iterable[tuple[int, ...]]) -> Iterator[set[int]]:
    """The conditions, parted so that those that meet in a set are together; by their smallest."""
    parts: list[set[int]] = []
    for members in sets:
        met = [part for part in parts if not part.isdisjoint(members)]
        parts = [part for part in parts if part.isdisjoint(members)]
        parts.append(set(members).union(*met))
    yield from sorted(parts, key=min)
