"""Noise drawn ahead: the same rows whatever the blocks, each of them once."""

import copy
import os
import pickle
import threading
import warnings
from fractions import Fraction

import numpy as np
import pytest
from laws import assert_fits, assert_rejected, geometric_p, laplace_p

from thresher.errors import BugError
from thresher.noise import SeededEntropy
from thresher.noise.laplace import geometric_draws
from thresher.streams.perturber import NoiseAhead

RATE = Fraction(1, 20)


def test_blocks_are_of_no_account():
    """Also where a block is longer than what is drawn at once."""
    for width in (1, 7, 40_000):
        one, other = (NoiseAhead(width, RATE, SeededEntropy(3)) for _ in range(2))
        steps = 12 if width > 10_000 else 9_000
        whole = one.take(steps)
        parts = np.concatenate([other.take(count) for count in (1, 0, 2, 5, steps - 8)])
        assert whole.shape == (steps, width)
        assert np.array_equal(whole, parts)


@pytest.mark.parametrize(("draws", "p_value"), [(None, laplace_p), (geometric_draws, geometric_p)])
def test_rows_have_the_law(draws, p_value, entropy):
    source = NoiseAhead(5, RATE, entropy, *([draws] if draws else []))
    found = np.concatenate([source.take(count) for count in (1, 3, 40_000)]).ravel()
    assert_fits(p_value(found, 20))
    assert_rejected(p_value(found, 22))


def test_threads_are_given_rows_of_their_own(entropy):
    """At this scale two rows of four numbers are alike with probability below 1e-25."""
    source, taken = NoiseAhead(4, Fraction(1, 10**7), entropy), []

    def take():
        taken.extend(tuple(row) for _ in range(200) for row in source.take(3).tolist())

    threads = [threading.Thread(target=take) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(taken)) == len(taken) == 3_600


@pytest.mark.parametrize("write", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_copy_would_be_the_same_noise(write, entropy):
    with pytest.raises(BugError):
        write(NoiseAhead(2, RATE, entropy))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks are made by Unix")
def test_a_fork_gets_none(entropy):
    source = NoiseAhead(2, RATE, entropy)
    source.take(1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # newer Pythons warn of forks among threads
        child = os.fork()
    if not child:
        try:
            source.take(1)
        except BugError:
            os._exit(7)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
