"""Looking again at undecided groups: the one place where a second look is taken, and only by gradual release.

Reads: margins, entropy. Writes: nothing. Never: fresh noise for a second look, which would cost the sum of the levels;
a look at a group that is decided.
"""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import Epsilon
from thresher.decisions.shift import judged
from thresher.decisions.verdicts import SEEN_BETWEEN, Level, Verdicts
from thresher.noise import Entropy, conditional_shift, discrete_laplace, refine
from thresher.release import Certificate

Steps = int | NDArray[np.int64]


def level_of(seen: Epsilon | None, epsilon: Epsilon, missed: Fraction, alarmed: Fraction, scale: int) -> Level:
    """A look whose misses and false alarms keep to their shares, whatever was `seen` before."""
    reaches = (conditional_shift(seen or 0, epsilon, share, scale) for share in (missed, alarmed))
    return Level(epsilon, *(reach - 1 for reach in reaches))


class Climb:
    """Noisy margins on their way up; `undecided` are the places of the groups that are still looked at."""

    def __init__(self, margins: NDArray[np.int64], scale: int, entropy: Entropy | None) -> None:
        self._held, self._scale, self._entropy = margins, scale, entropy
        self._noise = np.empty(0, dtype=np.int64)
        self._noisy = self._held
        self._verdict = np.zeros(self._held.size, dtype=np.int8)
        self._stopped = np.zeros(self._held.size, dtype=np.int64)
        self._steps = np.zeros(self._held.size, dtype=np.int64)
        self.levels: list[Epsilon] = []
        self.undecided = np.arange(self._held.size)

    @property
    def seen(self) -> NDArray[np.int64]:
        """The noisy margins of the undecided groups."""
        return self._noisy[self.undecided]

    @property
    def losses(self) -> list[tuple[Epsilon, int]]:
        """Levels at which groups were decided, and how many at each."""
        decided = np.bincount(self._stopped[self._verdict != SEEN_BETWEEN], minlength=len(self.levels))
        return list(zip(self.levels, decided.tolist(), strict=True))

    @property
    def judgement(self) -> NDArray[np.int8]:
        """The verdicts so far."""
        return self._verdict

    def look(self, epsilon: Epsilon, steps: Steps, certain: Steps) -> None:
        """Look at the undecided groups at a higher level than before."""
        places, scale = self.undecided, self._scale
        if self.levels:
            self._noise = refine(self._noise, self.levels[-1], epsilon, scale, self._entropy)
            self._noisy[places] = self._held[places] + self._noise
        else:
            self._noise = discrete_laplace(epsilon, places.size, scale, self._entropy)
            self._noisy = self._held + self._noise
        self._verdict[places] = judged(self._noisy[places], steps, certain)
        self._stopped[places], self._steps[places] = len(self.levels), steps
        self.levels.append(epsilon)
        left = self._verdict[places] == SEEN_BETWEEN
        self.undecided, self._noise = places[left], self._noise[left]

    def verdicts(self, worst: Epsilon, clear: int, certificate: Certificate | None = None) -> Verdicts:
        """Where every group stopped."""
        return Verdicts(
            verdict=self._verdict,
            noisy=self._noisy,
            stopped=self._stopped,
            steps=self._steps,
            levels=tuple(self.levels),
            scale=self._scale,
            worst=worst,
            clear=clear,
            certificate=certificate,
        )
