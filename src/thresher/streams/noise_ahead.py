"""Noise drawn ahead, a row for each step: steps that come one at a time see what they would have seen in one block.

Drawing many at once is a hundred times cheaper than drawing few.
Reads: entropy. Writes: nothing. Never: the same row twice, not in two threads, a forked process or a copy.
"""

import threading
from collections.abc import Callable
from fractions import Fraction
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from thresher.errors import BugError
from thresher.noise import Entropy
from thresher.noise.entropy import this_process
from thresher.noise.laplace import laplace_draws

Draws = Callable[[Fraction, int, Entropy], NDArray[np.int64]]
# Numbers drawn at once, or one row if that is more.
_AHEAD = 1 << 15


class NoiseAhead:
    """Rows of `width` independent numbers of one law."""

    def __init__(self, width: int, rate: Fraction, entropy: Entropy, draws: Draws = laplace_draws) -> None:
        self._width, self._rate, self._entropy, self._draws = width, rate, entropy, draws
        # Entropy that begins anew with every step is not to be read ahead.
        self.ahead = 1 if getattr(entropy, "by_step", False) else max(1, _AHEAD // width)
        self._lock, self._made_in = threading.Lock(), this_process()
        self._rows, self._next = np.empty((0, width), dtype=np.int64), 0

    def take(self, count: int) -> NDArray[np.int64]:
        """The next `count` rows."""
        # Looked at before the lock, which a fork may have copied while it was held.
        if this_process() != self._made_in:
            raise BugError("noise is used in the process that drew it: a fork of it would use the same noise again")
        found = np.empty((count, self._width), dtype=np.int64)
        done = 0
        with self._lock:
            while done < count:
                if self._next == len(self._rows):
                    size = self.ahead * self._width
                    self._rows, self._next = self._draws(self._rate, size, self._entropy).reshape(-1, self._width), 0
                some = min(count - done, len(self._rows) - self._next)
                found[done : done + some] = self._rows[self._next : self._next + some]
                done, self._next = done + some, self._next + some
        return found

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise BugError("noise is neither copied nor written: its copy would be used again")
