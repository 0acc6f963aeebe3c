"""Trees: order, paths, sums; a refusal names two nodes that show why it is not a tree."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.errors import ArgumentError
from thresher.streams.tree import Tree

CAMPUS = {"campus": ["north", "south"], "south": ["gym"], "north": ["hall", "library"]}


def test_nodes_come_level_by_level():
    tree = Tree.of(CAMPUS)
    assert tree.names == ("campus", "north", "south", "hall", "library", "gym")
    assert tree.leaves == ("hall", "library", "gym")
    assert tree.height == 3
    assert [tree.names[tree.level(i)] for i in (1, 2, 3)] == [("campus",), ("north", "south"), tree.leaves]
    assert Tree.of(tree.children) == tree
    assert tree != Tree.of(CAMPUS | {"south": ["pool"]})


def test_the_ancestors_of_each_leaf():
    assert Tree.of(CAMPUS).paths().tolist() == [[0, 1, 3], [0, 1, 4], [0, 2, 5]]


def test_leaves_add_up():
    assert Tree.of(CAMPUS).sums(np.array([[1, 20, 300], [0, 0, 7]])).tolist() == [
        [321, 21, 300, 1, 20, 300],
        [7, 0, 7, 0, 0, 7],
    ]


@st.composite
def trees(draw):
    """Any tree of up to four levels below its root, and its nodes' children."""
    children, row = {}, ["0"]
    for _ in range(draw(st.integers(1, 4))):
        for node in row:
            children[node] = [f"{node}.{i}" for i in range(draw(st.integers(1, 3)))]
        row = [child for node in row for child in children[node]]
    return children


@given(trees(), st.randoms(use_true_random=False), st.integers(0, 2**32))
def test_sums_are_those_by_hand_and_the_order_of_entries_is_of_no_account(children, order, seed):
    shuffled = dict(order.sample(list(children.items()), len(children)))
    tree = Tree.of(shuffled)
    counts = np.random.default_rng(seed).integers(0, 1000, (2, len(tree.leaves)))

    def total(node, step):
        if node in children:
            return sum(total(child, step) for child in children[node])
        return counts[step, tree.leaves.index(node)]

    assert tree.sums(counts).tolist() == [[total(node, step) for node in tree.names] for step in range(2)]
    assert tree == Tree.of(children)
    for row, leaf in zip(tree.paths(), tree.leaves, strict=True):
        assert [tree.names[i] for i in row] == [leaf[: 1 + 2 * depth] for depth in range(tree.height)]


NO_TREES = [
    ({"a": ["a"]}, ("a", "a"), "cycle"),
    ({"a": ["b"], "b": ["a"]}, ("b", "a"), "cycle"),
    ({"root": ["x"], "a": ["b"], "b": ["c"], "c": ["a"]}, ("c", "a"), "cycle"),
    ({"root": ["x", "y", "x"]}, ("root", "x"), "twice"),
    ({"root": ["a", "b"], "a": ["x"], "b": ["x"]}, ("a", "b"), "both have 'x'"),
    ({"root": ["a", "b"], "a": ["x"]}, ("b", "a"), "a level is skipped"),
    ({"root": ["a", "b"], "a": ["x"], "b": ["c"], "c": ["y"]}, ("x", "c"), "a level is skipped"),
    ({"root": ["a"], "other": ["b"]}, ("root", "other"), "one root"),
]


@pytest.mark.parametrize(("children", "two", "rule"), NO_TREES)
def test_what_is_no_tree_is_refused_by_two_names(children, two, rule):
    with pytest.raises(ArgumentError, match=rule) as refusal:
        Tree.of(children)
    assert refusal.value.field == "tree"
    assert refusal.value.value == two


@pytest.mark.parametrize("children", [{}, None, ["a"], {"a": []}, {"a": "bc"}, {"a": [1]}, {"": ["a"]}, {"a": None}])
def test_what_names_no_nodes_is_refused(children):
    with pytest.raises(ArgumentError) as refusal:
        Tree.of(children)
    assert refusal.value.field == "tree"


SECRET = 424_242
NO_COUNTS = [
    np.array([[float(SECRET)] * 3]),
    np.array([SECRET] * 3),
    np.array([[SECRET] * 4]),
    np.array([[True] * 3]),
    np.array([[SECRET, 0.5, None]], dtype=object),
    np.ma.array([[SECRET] * 3], mask=[[True, False, False]]),
    [[SECRET] * 3, [SECRET] * 2],
]


@pytest.mark.parametrize("counts", NO_COUNTS, ids=lambda counts: type(counts).__name__)
def test_counts_are_refused_by_type_and_shape_and_never_quoted(counts):
    with pytest.raises(ArgumentError) as refusal:
        Tree.of(CAMPUS).sums(counts)
    assert refusal.value.field == "counts"
    assert "4242" not in str(refusal.value)


@pytest.mark.parametrize("dtype", [np.int64, np.uint64, np.int32, np.uint8])
def test_huge_counts_do_not_wrap_around_and_small_ones_are_as_they_are(dtype):
    top = np.iinfo(dtype).max
    found = Tree.of(CAMPUS).sums(np.array([[top, top, 5]], dtype=dtype))[0]
    assert found[0] == found[1] + 5
    assert found[1] == 2 * found[3] > 0
    assert found[3] == min(int(top), 1 << 40)
    assert Tree.of(CAMPUS).sums(np.array([[-3, 1, 0]]))[0, 0] == -2
