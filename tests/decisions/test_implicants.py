"""Prime implicants and implicates against brute force and reference counts; bad trees."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from formula_shapes import DISTRIBUTED, MAJORITY, mask_of, trees, true_of
from hypothesis import given
from hypothesis import strategies as st
from sql.declared_clinic import DECLARATIONS, PUBLIC

from thresher.errors import ArgumentError
from thresher.question import Aggregate, Atom, Every, Some
from thresher.question.implicants import primes
from thresher.question.trees import EveryOf, checked_tree, every, holds, numbered, occurrences, some
from thresher.sql.read_question import ask


def threshold(least, atoms):
    """At least so many of them."""
    return some(*(every(*chosen) for chosen in itertools.combinations(range(atoms), least)))


def test_the_reference_sets():
    known = primes(DISTRIBUTED)
    assert known.implicants == ((0,), (1, 2))
    assert known.implicates == ((0, 1), (0, 2))
    two_of_sixteen = primes(threshold(2, 16))
    assert (len(two_of_sixteen.implicants), len(two_of_sixteen.implicates)) == (120, 16)
    assert {len(implicate) for implicate in two_of_sixteen.implicates} == {15}


def test_sixteen_conditions_are_within_reach_whatever_joins_them():
    assert len(primes(threshold(8, 16)).implicants) == math.comb(16, 8)


@pytest.mark.parametrize("tree", [some(*range(17)), some(*range(16), every(0, 16))])
def test_beyond_sixteen_one_set_stands_for_all(tree):
    known = primes(tree)
    assert known.implicants == known.implicates == (tuple(range(17)),)


def brute_force(tree, atoms, wanted):
    """The minimal sets that make the tree hold (True) or fail (False), by the definition."""
    everything = (1 << atoms) - 1
    enough = [mask for mask in range(1 << atoms) if true_of(tree, mask if wanted else everything ^ mask) == wanted]
    return {mask for mask in enough if not any(other != mask and other & mask == other for other in enough)}


@given(trees(5))
def test_sets_are_the_minimal_ones(tree):
    known = primes(tree)
    assert {mask_of(implicant) for implicant in known.implicants} == brute_force(tree, 5, True)
    assert {mask_of(implicate) for implicate in known.implicates} == brute_force(tree, 5, False)


def test_a_condition_that_makes_no_difference_is_in_no_set():
    assert primes(some(0, every(0, 1))).implicants == primes(0).implicants == ((0,),)


def test_occurrences_are_counted_by_leaf():
    assert occurrences(DISTRIBUTED) == {0: 2, 1: 1, 2: 1}
    assert occurrences(MAJORITY) == {0: 2, 1: 2, 2: 2}


@given(trees(4), st.lists(st.integers(0, 15), min_size=1, max_size=9))
def test_a_tree_holds_group_by_group(tree, groups):
    masks = np.array(groups)
    found = holds(tree, {atom: masks >> atom & 1 == 1 for atom in range(4)})
    assert found.tolist() == [true_of(tree, mask) for mask in groups]


def test_formulas_are_numbered_and_equal_atoms_once():
    rows, more = (Atom(((Aggregate("rows"), 1),), n, "COUNT(*)", f"COUNT(*) >= {n}", Fraction(1)) for n in (5, 9))
    tree, atoms = numbered(Some((Every((rows, more)), rows)))
    assert tree == some(every(0, 1), 0)
    assert atoms == (rows, more)


def test_a_negated_comparison_is_a_condition_of_its_own():
    """NOT (g > c) is g <= c, another condition than g > c, with another side to miss; not its answer turned round."""
    form = "SELECT disease FROM patients GROUP BY disease HAVING {}"
    tree, atoms = numbered(ask(form.format("NOT (COUNT(*) > 20) OR COUNT(*) > 50"), DECLARATIONS, PUBLIC).formula)
    assert primes(tree).implicants == ((0,), (1,))
    weights = sorted(weight for atom in atoms for _, weight in atom.weights)
    assert weights == [-1, 1]
    plain, (same,) = numbered(ask(form.format("COUNT(*) <= 20"), DECLARATIONS, PUBLIC).formula)
    assert plain == 0
    assert same in atoms


@pytest.mark.parametrize(
    "tree", [2, -1, True, 0.0, "0", None, (0, 1), EveryOf((0,)), EveryOf((0, 2)), EveryOf((0, (1, 0)))]
)
def test_bad_trees_are_refused(tree):
    with pytest.raises(ArgumentError) as refused:
        checked_tree(tree, 2)
    assert refused.value.field == "tree"


def test_a_tree_without_end_is_refused():
    deep = 0
    for _ in range(500):
        deep = EveryOf((deep, 1))
    with pytest.raises(ArgumentError, match="deep"):
        checked_tree(deep, 2)
    with pytest.raises(ArgumentError, match="at least one"):
        every()


@given(trees(4))
def test_good_trees_are_left_as_they_are(tree):
    assert checked_tree(tree, 4) == tree
