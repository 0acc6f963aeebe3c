"""Sliding windows by a binary tree of noisy sums: SW_w, for windows so long that the noise of single counts adds up.

Time is cut into blocks of `length` steps, and each block is halved again and again. Each of the log2(length) + 1
levels of halves has independent noise. A window is the end of one block and the beginning of the next: two stretches
that consist of few halves, however long they are.

    ┌───────────────┐┌───────────────┐
    ├───────┬───────┤├───────┬───────┤
    ├───┬───┼───┬───┤├───┬───┼───┬───┤
    ├─┬─┼─┬─┼─┬─┼─┬─┤├─┬─┼─┬─┼─┬─┼─┬─┤
                  └─┘└───────┴───┴─┘          the window of 8 after 15 steps

Reads: true counts, entropy. Writes: nothing. Never: a float; noise that is used for two sets of counts; a refusal that
depends on a count. Proof: `tree_windows.md`.
"""

import threading
from typing import NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thresher.amounts import Amount
from thresher.errors import ArgumentError, BugError
from thresher.noise import Entropy, discrete_laplace
from thresher.noise.arguments import checked_rate
from thresher.noise.entropy import chosen, marked, this_process
from thresher.streams.step_blocks import block_of, checked_between, checked_series
from thresher.streams.window_sums import RunningSums

MOST_LENGTH = 1 << 16


class TreeWindows:
    """Sum the last `length` steps (a power of 2) of many series with noise, as steps come.

    Privacy: `epsilon` for one privacy unit in one step and series, for all windows together and for ever. It is not
    post-processing: it costs this in addition to a perturber. A unit that may be counted in k series of a step loses
    k epsilon there.
    Utility: `noises(step)` noises at epsilon / (log2(length) + 1), at most log2(length) + 1 of them.
    Runtime: constant for each number, on average. Memory: 3 length numbers for each series, true counts among them.
    Citations: Dwork, Naor, Pitassi, Rothblum 2010; Chan, Shi, Song 2011 (the tree).
    """

    def __init__(self, series: int, length: int, epsilon: Amount, entropy: Entropy | None = None) -> None:
        self._series, self.length = checked_series(series), checked_length(length)
        self.levels = levels_of(self.length)
        checked_rate(epsilon, self.levels)
        self._epsilon, self._entropy, self._lock = epsilon, chosen(entropy), threading.Lock()
        self.stamp, self._made_in, self._seen = self._entropy.stamp, this_process(), 0
        self._true = RunningSums(self._series, self.length)
        # Noise of the last block from each place on, of this block up to each place, and from each place on.
        self._ends = self._begins = self._own_ends = np.zeros((self.length, self._series), dtype=np.int64)

    def steps(self, counts: ArrayLike) -> NDArray[np.int64]:
        """Return for each step the noisy sum of the last `length` steps, or of all steps while there are fewer."""
        block = block_of(counts, "counts", self._series)
        if this_process() != self._made_in:
            raise BugError("a tree of windows works in the process that made it: a fork would use its noise again")
        sums = np.empty_like(block)
        with self._lock:
            for rows in self._true.batches(block):
                sums[rows] = self._true.last(self.length)
            self._blur(sums)
        return marked(sums, self._entropy)

    def noises(self, step: int) -> int:
        """Return how many noises the sum of this step has; steps count from 0."""
        place = checked_between(step, "step", 0, 1 << 62) % self.length + 1
        if step < self.length:
            return place.bit_count()
        return place.bit_count() + (self.length - place).bit_count()

    def _blur(self, sums: NDArray[np.int64]) -> None:
        """Add the noise, at most one block of steps at a time."""
        while len(sums):
            place = self._seen % self.length
            if not place:
                self._begin()
            here = slice(place, min(place + len(sums), self.length))
            done = here.stop - place
            sums[:done] += self._ends[here] + self._begins[here]
            self._seen, sums = self._seen + done, sums[done:]

    def _begin(self) -> None:
        """Draw the noise of a new block at once, so that it does not depend on how its steps come."""
        nodes = 2 * self.length - 1
        noise = discrete_laplace(self._epsilon, nodes * self._series, self.levels, self._entropy)
        self._ends = self._own_ends
        self._begins, self._own_ends = stretches(noise.reshape(nodes, self._series))

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise BugError("a tree of windows cannot be copied or written: its copy would use the same noise again")


def stretches(noise: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Add up the noise of the nodes of one block: up to each place 1, ..., length, and from each place on.

    The first `length` nodes are the largest that end at each place, the others the largest that begin there (none
    begins at the last). A stretch is another stretch with one node less, and that node.
    """
    length = (len(noise) + 1) // 2
    begins, ends = noise[:length].copy(), np.concatenate([noise[length:], np.zeros_like(noise[:1])])
    half = length // 2
    while half:
        begins[3 * half - 1 :: 2 * half] += begins[2 * half - 1 : -1 : 2 * half]
        ends[half - 1 :: 2 * half] += ends[2 * half - 1 :: 2 * half]
        half //= 2
    return begins, ends


def checked_length(length: int) -> int:
    """Return the length of a window, or refuse it."""
    steps = checked_between(length, "length", 1, MOST_LENGTH)
    if steps & (steps - 1):
        raise ArgumentError("length", length, "a window of a tree is a power of 2", f"Pass {1 << steps.bit_length()}")
    return steps


def levels_of(length: int) -> int:
    """Return in how many nodes a step is counted, which is also the most nodes of a window."""
    return length.bit_length()
