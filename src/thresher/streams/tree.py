"""A tree of states: leaves that are counted, and above them sums of leaves, level by level up to one root.

    Tree.of({"campus": ["north", "south"], "north": ["hall", "library"], "south": ["gym", "pool"]})

All leaves lie equally deep, so that a unit counted at a leaf is counted at exactly one node of each level. These nodes
are a path of the tree. The privacy of a hierarchy is about the cost of a path.
Reads: declared names, whole counts of leaves. Writes: nothing. Never: a count in an error text.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thresher.errors import ArgumentError
from thresher.streams.step_blocks import block_of

_MOST_NODES = 1 << 20
_SHAPE = 'Pass e.g. {"campus": ["north", "south"], "north": ["hall", "library"], "south": ["gym", "pool"]}'
_ONE = "Give every node one parent, and all of them one root"


@dataclass(frozen=True, slots=True)
class Tree:
    """Nodes level by level from the root, children in the order in which their parent lists them. Made by `Tree.of`.

    `parents`: the place of each node's parent; the root has -1. `starts`: the place where each level begins, and last
    the number of nodes.
    """

    names: tuple[str, ...]
    parents: tuple[int, ...]
    starts: tuple[int, ...]

    @classmethod
    def of(cls, children: Mapping[str, Sequence[str]]) -> "Tree":
        """Make the tree in which each named node has these children; nodes without an entry are its leaves.

        If it is not a tree, the refusal names two nodes that show it.
        """
        _check_shape(children)
        above = _parents(children)
        root = _root(children, above)
        rows = [[root]]
        while row := [child for node in rows[-1] for child in children.get(node, ())]:
            _check_depth(rows[-1], children)
            rows.append(row)
        names = tuple(node for row in rows for node in row)
        _check_reached(names, above)
        place = {node: i for i, node in enumerate(names)}
        starts = np.cumsum([0, *map(len, rows)]).tolist()
        return cls(names, (-1, *(place[above[node]] for node in names[1:])), tuple(starts))

    @property
    def height(self) -> int:
        """Return the number of levels, including those of the root and of the leaves."""
        return len(self.starts) - 1

    @property
    def leaves(self) -> tuple[str, ...]:
        return self.names[self.starts[-2] :]

    @property
    def children(self) -> dict[str, list[str]]:
        """Return the children of each node, as `Tree.of` takes them."""
        children: dict[str, list[str]] = {}
        for name, parent in zip(self.names[1:], self.parents[1:], strict=True):
            children.setdefault(self.names[parent], []).append(name)
        return children

    def level(self, number: int) -> slice:
        """Return the places of the nodes of a level; the root is level 1."""
        return slice(self.starts[number - 1], self.starts[number])

    def paths(self) -> NDArray[np.intp]:
        """Return a row for each leaf: the places of the nodes from the root down to it."""
        paths = np.empty((len(self.leaves), self.height), dtype=np.intp)
        paths[:, -1] = np.arange(self.starts[-2], self.starts[-1])
        above = np.array(self.parents)
        for level in range(self.height - 1, 0, -1):
            paths[:, level - 1] = above[paths[:, level]]
        return paths

    def sums(self, counts: ArrayLike) -> NDArray[np.int64]:
        """Add up whole counts of leaves, (steps, leaves), to counts of all nodes, (steps, nodes)."""
        known = block_of(counts, "counts", len(self.leaves))
        sums = np.empty((len(known), len(self.names)), dtype=np.int64)
        # Leaves below one node stand side by side.
        for level, column in enumerate(self.paths().T, start=1):
            first = np.flatnonzero(np.diff(column, prepend=-1))
            np.add.reduceat(known, first, axis=1, out=sums[:, self.level(level)])
        return sums


def _check_shape(children: object) -> None:
    if not isinstance(children, Mapping) or not children:
        raise ArgumentError("tree", children, "it must map nodes to their children", _SHAPE)
    for node, below in children.items():
        if isinstance(below, str) or not isinstance(below, Sequence) or not below:
            raise ArgumentError("tree", (node, below), "the children of a node are a list of one name or more", _SHAPE)
        for name in (node, *below):
            if not isinstance(name, str) or not name:
                raise ArgumentError("tree", (node, name), "a node is named by a text that is not empty", _SHAPE)
    if sum(map(len, children.values())) >= _MOST_NODES:
        raise ArgumentError("tree", "its nodes", f"a tree has at most {_MOST_NODES} nodes", "Leave out a level")


def _parents(children: Mapping[str, Sequence[str]]) -> dict[str, str]:
    above: dict[str, str] = {}
    for node, below in children.items():
        for child in below:
            if above.get(child) == node:
                raise ArgumentError("tree", (node, child), "the first names the second twice as its child", _ONE)
            if child in above:
                rule = f"both have {child!r} as a child, and a node has one parent"
                raise ArgumentError("tree", (above[child], node), rule, _ONE)
            above[child] = node
    return above


def _root(children: Mapping[str, Sequence[str]], above: Mapping[str, str]) -> str:
    roots = [node for node in children if node not in above]
    if not roots:
        raise _cycle(next(iter(children)), above)
    if len(roots) > 1:
        raise ArgumentError("tree", tuple(roots[:2]), "neither has a parent, and a tree has one root", _ONE)
    return roots[0]


def _check_depth(row: Sequence[str], children: Mapping[str, Sequence[str]]) -> None:
    """Refuse a level on which some nodes have children and some have none."""
    ended = next((node for node in row if node not in children), None)
    if ended is not None:
        going_on = next(node for node in row if node in children)
        rule = "they lie on one level, the first is a leaf and the second is not: a level is skipped"
        raise ArgumentError("tree", (ended, going_on), rule, "Put a node with one child where a level is missing")


def _check_reached(names: Sequence[str], above: Mapping[str, str]) -> None:
    missed = above.keys() - set(names)
    if missed:
        raise _cycle(min(missed), above)


def _cycle(node: str, above: Mapping[str, str]) -> ArgumentError:
    """Go up until a node comes again: it and its parent lie on the cycle."""
    seen: set[str] = set()
    while node not in seen:
        seen.add(node)
        node = above[node]
    return ArgumentError("tree", (above[node], node), "they lie on a cycle: each is above the other", _ONE)
