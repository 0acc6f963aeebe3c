"""Noise that a test or a demo can repeat step by step, also after a restart. NOT PRIVATE, and stamped so.

Reads: a seed. Writes: nothing. Never: used without a seed.
"""

from thresher.amounts import whole_number
from thresher.noise import NOT_PRIVATE, SeededEntropy


class RecordedEntropy:
    """Seeded entropy that starts again with each step: step t draws the same whether or not t - 1 was drawn here."""

    stamp = NOT_PRIVATE
    # Nothing may be drawn ahead, because the noise of a step must depend on the seed and the step alone.
    by_step = True

    def __init__(self, seed: int) -> None:
        self._seed = whole_number(seed, "seed")
        self.begin(0)

    def begin(self, step: int) -> None:
        """Go on with the bytes of this step."""
        # Steps are below 2**64, so no two pairs of seed and step share a stream of bytes.
        self._bytes = SeededEntropy((self._seed << 64) + step)

    def read(self, count: int) -> bytes:
        return self._bytes.read(count)
