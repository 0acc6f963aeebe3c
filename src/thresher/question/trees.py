"""AND and OR over numbered conditions, for the methods that measure each condition by itself.

    every(0, some(1, 2))        condition 0, and condition 1 or 2

Reads: nothing. Writes: nothing. Never: NOT, which was pushed into the conditions, so that every tree is monotone.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import whole_number
from thresher.errors import ArgumentError
from thresher.question.asked import Atom, Every, Formula, atoms_of

_DEEPEST = 200


@dataclass(frozen=True, slots=True)
class EveryOf:
    """Two or more parts joined by AND."""

    parts: tuple["Tree", ...]


@dataclass(frozen=True, slots=True)
class SomeOf:
    """Two or more parts joined by OR."""

    parts: tuple["Tree", ...]


Tree = int | EveryOf | SomeOf


def every(*parts: Tree) -> Tree:
    """Return the tree that holds where all parts hold."""
    return _one_or(EveryOf, parts)


def some(*parts: Tree) -> Tree:
    """Return the tree that holds where at least one part holds."""
    return _one_or(SomeOf, parts)


def numbered(formula: Formula) -> tuple[Tree, tuple[Atom, ...]]:
    """Return the formula over numbers, and the atom of each number. Equal atoms have one number."""
    atoms = tuple(dict.fromkeys(atoms_of(formula)))
    places = {atom: place for place, atom in enumerate(atoms)}

    def tree_of(part: Formula) -> Tree:
        if isinstance(part, Atom):
            return places[part]
        parts = tuple(tree_of(inner) for inner in part.parts)
        return every(*parts) if isinstance(part, Every) else some(*parts)

    return tree_of(formula), atoms


def leaves(tree: Tree) -> Iterator[int]:
    """Yield every condition as often as it is written, from left to right."""
    if isinstance(tree, int):
        yield tree
    else:
        for part in tree.parts:
            yield from leaves(part)


def occurrences(tree: Tree) -> dict[int, int]:
    """Return how often each condition is written, in order of their numbers."""
    written = list(leaves(tree))
    return {atom: written.count(atom) for atom in sorted(set(written))}


def holds(tree: Tree, atoms: Mapping[int, NDArray[np.bool_]]) -> NDArray[np.bool_]:
    """Return where the tree holds, given where each condition holds."""
    if isinstance(tree, int):
        return atoms[tree]
    joined = np.logical_and if isinstance(tree, EveryOf) else np.logical_or
    result = holds(tree.parts[0], atoms)
    # One part at a time: a formula may have thousands.
    for part in tree.parts[1:]:
        result = joined(result, holds(part, atoms))
    return result


def checked_tree(tree: object, atoms: int) -> Tree:
    """Return the tree; refuse anything but a tree over conditions 0 to atoms - 1."""
    return _checked(tree, atoms, _DEEPEST)


def _checked(tree: object, atoms: int, depth: int) -> Tree:
    if not depth:
        raise ArgumentError("tree", "a deep tree", f"it is at most {_DEEPEST} parts deep", "Flatten it")
    if isinstance(tree, EveryOf | SomeOf):
        if len(tree.parts) < 2:
            rule = "AND and OR have at least two parts"
            raise ArgumentError("tree", type(tree).__name__, rule, "Build it with every() and some()")
        parts = tuple(_checked(part, atoms, depth - 1) for part in tree.parts)
        return EveryOf(parts) if isinstance(tree, EveryOf) else SomeOf(parts)
    number = whole_number(tree, "tree")  # type: ignore[arg-type]  # it refuses everything but an integer
    if not 0 <= number < atoms:
        rule = f"conditions are numbered from 0 to {atoms - 1}"
        raise ArgumentError("tree", number, rule, "Use the numbers of your conditions")
    return number


def _one_or(kind: type[EveryOf] | type[SomeOf], parts: tuple[Tree, ...]) -> Tree:
    if not parts:
        raise ArgumentError("parts", parts, "there must be at least one", "Pass conditions by their numbers")
    return parts[0] if len(parts) == 1 else kind(parts)
