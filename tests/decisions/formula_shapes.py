"""Trees over numbered conditions for tests: the shapes of the reference tables, and random ones."""

from hypothesis import strategies as st

from thresher.question.trees import EveryOf, SomeOf, Tree, every, some

GROUPED = some(0, every(1, 2))
DISTRIBUTED = every(some(0, 1), some(0, 2))
MAJORITY = some(every(0, 1), every(0, 2), every(1, 2))
SHAPES = {
    **{f"AND{n}": every(*range(n)) for n in range(1, 7)},
    **{f"OR{n}": some(*range(n)) for n in range(2, 7)},
    "Q0|(Q1&Q2)": GROUPED,
    "(Q0|Q1)&(Q0|Q2)": DISTRIBUTED,
    "(Q0&Q1)|(Q0&Q2)": some(every(0, 1), every(0, 2)),
    "(Q0&Q1)|(Q2&Q3)": some(every(0, 1), every(2, 3)),
    "maj3": MAJORITY,
}


def trees(atoms: int) -> st.SearchStrategy[Tree]:
    """Trees over so many conditions at most, in which conditions may be written several times."""

    def joined(inner: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
        parts = st.lists(inner, min_size=2, max_size=3).map(tuple)
        return st.one_of(parts.map(EveryOf), parts.map(SomeOf))

    return st.recursive(st.integers(0, atoms - 1), joined, max_leaves=12)


def true_of(tree: Tree, held: int) -> bool:
    """Whether the tree holds where exactly the conditions in the mask do."""
    if isinstance(tree, int):
        return bool(held >> tree & 1)
    truths = [true_of(part, held) for part in tree.parts]
    return all(truths) if isinstance(tree, EveryOf) else any(truths)


def mask_of(members: tuple[int, ...]) -> int:
    return sum(1 << atom for atom in members)
