"""The perturber: independent noise on each count of each step.

    perturb      the counts of a whole block
    NoiseAhead   noise that is drawn ahead, a row for each step: steps that come one at a time get the noise that they
                 would get in one block, and drawing many numbers at once is a hundred times cheaper than drawing few

Reads: true counts, entropy. Writes: nothing. Never: a float; a refusal that depends on a count; the same row of noise
twice, not in two threads, a forked process or a copy. Proof: `perturber.md`.
"""

import threading
from collections.abc import Callable
from fractions import Fraction
from typing import NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thresher.amounts import Amount
from thresher.errors import BugError
from thresher.noise import Entropy, discrete_laplace
from thresher.noise.arguments import checked_rate
from thresher.noise.entropy import this_process
from thresher.noise.laplace import laplace_draws
from thresher.streams.step_blocks import block_of

Draws = Callable[[Fraction, int, Entropy], NDArray[np.int64]]
# How many numbers are drawn at once, or one row if that is more.
_AHEAD = 1 << 15


def perturb(counts: ArrayLike, epsilon: Amount, entropy: Entropy | None = None) -> NDArray[np.int64]:
    """Return the counts (steps by series, or one series), each plus independent discrete Laplace noise at `epsilon`.

    Privacy: epsilon for one privacy unit in one step and series. One that may be counted in k series of a step loses
    k epsilon there, so divide first; one that is present in n steps loses up to n times as much.
    Utility: a count is off by a or more, to one side, with probability p^a / (1+p), p = exp(-epsilon); its mean
    error is close to 1 / epsilon. Counts beyond 2**40 are cut off there.
    Runtime: linear; tens of millions of counts a second.
    Citations: Chen, Machanavajjhala, Hay, Miklau 2017 (PeGaSus); Ghosh, Roughgarden, Sundararajan 2009 (the noise).
    """
    checked_rate(epsilon, 1)
    block = block_of(counts, "counts")
    noise = discrete_laplace(epsilon, block.size, entropy=entropy)
    return (block + noise.reshape(block.shape)).reshape(np.shape(counts))


class NoiseAhead:
    """Rows of `width` independent numbers of one law."""

    def __init__(self, width: int, rate: Fraction, entropy: Entropy, draws: Draws = laplace_draws) -> None:
        self._width, self._rate, self._entropy, self._draws = width, rate, entropy, draws
        # Entropy that starts again with each step must not be read ahead.
        self.ahead = 1 if getattr(entropy, "by_step", False) else max(1, _AHEAD // width)
        self._lock, self._made_in = threading.Lock(), this_process()
        self._rows, self._next = np.empty((0, width), dtype=np.int64), 0

    def take(self, count: int) -> NDArray[np.int64]:
        """Return the next `count` rows."""
        # Checked before the lock, which a fork may have copied while it was locked.
        if this_process() != self._made_in:
            raise BugError("noise is used in the process that drew it: a fork of it would use the same noise again")
        noise = np.empty((count, self._width), dtype=np.int64)
        done = 0
        with self._lock:
            while done < count:
                if self._next == len(self._rows):
                    size = self.ahead * self._width
                    self._rows, self._next = self._draws(self._rate, size, self._entropy).reshape(-1, self._width), 0
                some = min(count - done, len(self._rows) - self._next)
                noise[done : done + some] = self._rows[self._next : self._next + some]
                done, self._next = done + some, self._next + some
        return noise

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise BugError("noise cannot be copied or written: its copy would be used again")
