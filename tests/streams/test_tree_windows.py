"""Windows by a tree: right without noise, the law and number of noises at every place, cuts, copies, forks."""

import copy
import os
import pickle

import numpy as np
import pytest
from laws import assert_fits, assert_rejected, laplace_p

from thresher.errors import ArgumentError, BugError
from thresher.noise import NOT_PRIVATE, NoiseSum, SeededEntropy
from thresher.streams.tree_windows import TreeWindows, levels_of, stretches

LENGTHS = (1, 2, 4, 8, 32)


def windows(counts, length):
    return np.stack([counts[max(0, t + 1 - length) : t + 1].sum(axis=0) for t in range(len(counts))])


@pytest.mark.parametrize("length", LENGTHS)
def test_without_noise_it_is_the_true_window_at_every_step(length):
    counts = (np.arange(300).reshape(100, 3) * 37) % 101
    assert (TreeWindows(3, length, 1000).steps(counts) == windows(counts, length)).all()


@pytest.mark.parametrize("length", LENGTHS)
def test_every_place_has_as_many_noises_as_it_says(length):
    """Noises of one each: what is summed up is how many there are."""
    begins, ends = stretches(np.ones((2 * length - 1, 1), dtype=np.int64))
    tree = TreeWindows(1, length, 1)
    for place in range(length):
        assert tree.noises(place) == begins[place, 0]
        assert tree.noises(7 * length + place) == begins[place, 0] + ends[place, 0]
        power = ((place + 1) & -(place + 1)).bit_length() - 1
        assert tree.noises(7 * length + place) == levels_of(length) - power
    assert tree.levels == levels_of(length) == int(np.log2(length)) + 1


@pytest.mark.parametrize("length", LENGTHS)
def test_a_window_is_the_sum_of_its_nodes_and_no_step_is_in_more_than_one_of_a_level(length):
    """Each node's noise by a number of its own, so that sums tell which nodes they hold."""
    size = 2 * length - 1
    begins, ends = stretches(np.eye(size, dtype=np.int64))
    held = [(i + 1 - ((i + 1) & -(i + 1)), i + 1) for i in range(length)]
    held += [(i + 1, i + 1 + ((i + 1) & -(i + 1))) for i in range(length - 1)]
    assert len(set(held)) == size, "2 w - 1 different nodes"
    in_nodes = np.zeros(length, dtype=int)
    for first, last in held:
        in_nodes[first:last] += 1
    assert (in_nodes == levels_of(length)).all(), "so many node sums one unit moves"
    for place in range(length):
        for row, wanted in ((begins[place], range(place + 1)), (ends[place], range(place + 1, length))):
            covered = np.zeros(length, dtype=int)
            for node in np.flatnonzero(row):
                covered[slice(*held[node])] += 1
            assert covered.tolist() == [int(step in wanted) for step in range(length)]


def test_noise_has_the_law_of_its_nodes(entropy, trials):
    series, length = trials(60_000, 600_000), 4
    noise = np.asarray(TreeWindows(series, length, "0.3", entropy).steps(np.zeros((2 * length, series), dtype=int)))
    single = noise[2 * length - 1]
    assert_fits(laplace_p(single, 10.0))
    assert_rejected(laplace_p(single, 11.5))
    for place in (length, length + 1):
        terms = TreeWindows(1, length, 1).noises(place)
        for at_least in (5, 20, 45):
            rate = NoiseSum((1,) * terms, sensitivity=3).tail("0.3", at_least).high
            seen = (noise[place] >= at_least).mean()
            assert abs(seen - rate) < 5.1 * np.sqrt(rate / series), "fails by accident once in 10**6"
    few = NoiseSum((1,) * 2, sensitivity=3).tail("0.3", 20).high
    assert abs((noise[length] >= 20).mean() - few) > 5.1 * np.sqrt(few / series), "two noises in place of three"


def test_blocks_may_be_cut_anywhere():
    counts = np.arange(180).reshape(60, 3)
    whole = TreeWindows(3, 8, "1", SeededEntropy(5)).steps(counts)
    tree = TreeWindows(3, 8, "1", SeededEntropy(5))
    parts = [tree.steps(counts[a:b]) for a, b in ((0, 1), (1, 7), (7, 7), (7, 9), (9, 40), (40, 60))]
    assert (np.concatenate(parts) == whole).all()
    assert whole.stamp == tree.stamp == NOT_PRIVATE


def test_noise_is_never_there_for_two_sets_of_counts():
    tree = TreeWindows(1, 8, "1")
    tree.steps([1, 2, 3])
    for again in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(BugError, match="same noise"):
            again(tree)
    reader, writer = os.pipe()
    if not (child := os.fork()):
        try:
            tree.steps([4])
            os.write(writer, b"went on")
        except BugError:
            os.write(writer, b"refused")
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reader, 100) == b"refused"
    os.close(reader)
    os.close(writer)
    assert tree.steps([4]).shape == (1, 1)


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ((1, 12, 1), "length"),
        ((1, 0, 1), "length"),
        ((1, 2**17, 1), "length"),
        ((0, 8, 1), "series"),
        ((1, 8, 0), "epsilon"),
    ],
)
def test_refusals(arguments, field):
    with pytest.raises(ArgumentError, match=f"^{field} = "):
        TreeWindows(*arguments)


def test_counts_of_another_number_of_series_are_refused():
    with pytest.raises(ArgumentError, match="there are 2"):
        TreeWindows(2, 4, 1).steps(np.zeros((1, 3), dtype=int))
