"""Draw exactly from a finite law, by a certified cumulative table that is refined only as far as a draw needs.

A draw is a uniform real number U written bit by bit, and its outcome is the number of thresholds at or below U. The
first 16 bits settle almost every draw by one look-up; 32 bits settle the rest by search, except when they equal the
first 32 bits of a threshold: then more bits of both are made until they differ. So the law is exact, although no
threshold is ever known exactly.
Reads: entropy. Writes: nothing. Never: a float, or a guess about a bit that the enclosure leaves open.
Proof: `draw_tables.md`.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from thresher.noise.enclosure import certified, exp_minus
from thresher.noise.entropy import Entropy, read_words

_WORD = 32
_CELL = 16
_UNSETTLED = np.int16(-(1 << 15))
# Below this many draws a search in 32-bit words beats building and using the look-up.
_LOOKUP_FROM = 4096
# A table holds at most 514 thresholds and one look-up of 128 KiB, so the cache stays below 132 MiB.
_CACHED_TABLES = 1024


class Law(Protocol):
    """A finite law, hashable, whose thresholds are formulas over values of exp(-rate)."""

    def outcomes(self) -> Sequence[int]:
        """Return the possible outcomes in the order of the thresholds."""

    def cumulative(self, exponential: Callable[[Fraction], Any]) -> Sequence[Any]:
        """Return the thresholds, which increase, lie inside (0, 1) and are irrational.

        Threshold i is the probability of the first i outcomes together.
        """


@lru_cache(maxsize=_CACHED_TABLES)
def draw_table(law: Law) -> "DrawTable":
    """Return the table of a law; the most recently used tables are kept."""
    return DrawTable(law)


class DrawTable:
    """Thresholds of a law, cut after 32 bits; further bits are made on demand."""

    def __init__(self, law: Law) -> None:
        self._law = law
        self._outcomes = np.array(law.outcomes(), dtype=np.int16)
        self.thresholds = np.array(self.first_bits(_WORD), dtype=np.uint32)

    def first_bits(self, bits: int) -> list[int]:
        """Return floor(threshold * 2**bits) for every threshold, proved by outward rounding."""

        def ask(precision: int) -> list[int]:
            thresholds = self._law.cumulative(lambda rate: exp_minus(rate, precision))
            return [threshold.floor(bits) for threshold in thresholds]

        return certified(ask, 2 * bits)

    def draw(self, size: int, entropy: Entropy) -> NDArray[np.int16]:
        """Draw `size` independent outcomes."""
        if size < _LOOKUP_FROM:
            return self._search(read_words(size, np.uint32, entropy), entropy)
        cells = read_words(size, np.uint16, entropy)
        draws = self._lookup.take(cells)
        open_ones = np.flatnonzero(draws == _UNSETTLED)
        more = read_words(open_ones.size, np.uint16, entropy)
        words = (cells[open_ones].astype(np.uint32) << np.uint32(_WORD - _CELL)) | more
        draws[open_ones] = self._search(words, entropy)
        return draws

    @cached_property
    def _lookup(self) -> NDArray[np.int16]:
        """Return the outcome for each value of the first 16 bits, or `_UNSETTLED` where they do not settle it."""
        first = np.arange(1 << _CELL, dtype=np.uint32) << np.uint32(_WORD - _CELL)
        last = first | np.uint32((1 << (_WORD - _CELL)) - 1)
        below = np.searchsorted(self.thresholds, first, side="left")
        upto = np.searchsorted(self.thresholds, last, side="right")
        return np.where(below == upto, self._outcomes[below], _UNSETTLED)

    def _search(self, words: NDArray[np.uint32], entropy: Entropy) -> NDArray[np.int16]:
        below = np.searchsorted(self.thresholds, words, side="left")
        # A word above all thresholds is compared with the last one (by clipping), from which it differs.
        for i in np.flatnonzero(self.thresholds.take(below, mode="clip") == words):
            below[i] = self._continue(int(words[i]), entropy)
        return self._outcomes[below]

    def _continue(self, word: int, entropy: Entropy) -> int:
        """Return how many thresholds lie at or below a draw whose first 32 bits equal those of a threshold."""
        bits, below, upto = _WORD, 0, 1
        while below != upto:
            bits += _WORD
            word = word << _WORD | int.from_bytes(entropy.read(_WORD // 8), "little")
            thresholds = self.first_bits(bits)
            below, upto = bisect_left(thresholds, word), bisect_right(thresholds, word)
        return below
