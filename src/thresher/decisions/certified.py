"""Certified decisions: measure more finely until the promise about the whole list is good enough.

The noise of each group is refined from level to level. The level at which a verdict is taken depends on the *other*
groups only, so the group's own noise has exactly the law of that level, and all of the miss rate serves that one look.
Measuring ends with a certificate for the share of false alarms among all groups, or when that is hopeless or too dear.
Reads: margins, entropy. Writes: nothing. Never: stops a group by its own noise; denies an answer after measuring.
Proof: `certified.md`.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import Epsilon
from thresher.decisions.certificate import CertificateTerms, Sheet
from thresher.decisions.look import ReachingLook
from thresher.decisions.margin import TrueMargins
from thresher.decisions.score_tables import line_of
from thresher.decisions.shift import judged
from thresher.decisions.verdicts import SEEN_ABOVE, SEEN_BELOW, SEEN_BETWEEN, Level, Verdicts
from thresher.noise import Entropy, chances, conditional_shift, discrete_laplace, refine

# Levels that may follow after all verdicts are taken, if the certificate is not reached.
_EXTRA_LEVELS = 3
# Noise for fewer groups would be drawn by coins, one draw at a time; the levels are always the same, so tables pay.
_LEAST_DRAWN = 128


@dataclass(frozen=True, slots=True)
class Sharpness:
    """One look: a group is reported above -steps, at -steps by a coin of chance `boundary`; above from `certain` on."""

    level: Fraction
    steps: int
    boundary: Fraction
    certain: int

    @property
    def charge(self) -> Epsilon:
        """Return the level as the ledger counts it, rounded up."""
        return Epsilon.covering(self.level)

    def judged(self, noisy: NDArray[np.int64], lucky: NDArray[np.bool_]) -> NDArray[np.int8]:
        """Return the verdicts of this look."""
        verdict = judged(noisy, self.steps - 1, self.certain)
        on_line = np.flatnonzero(np.asarray(noisy == -self.steps) & lucky)
        verdict[on_line] = SEEN_ABOVE if -self.steps >= self.certain else SEEN_BETWEEN
        return verdict


def look_at(level: Fraction, miss_rate: Fraction, sure_rate: Fraction) -> Sharpness:
    """Return the look whose miss rate is exactly the one asked for; a group is above with at most `sure_rate`."""
    return Sharpness(level, *line_of(level, miss_rate), conditional_shift(0, level, sure_rate) - 1)


@dataclass(frozen=True, slots=True)
class Patience:
    """When to look no closer for the sake of the share. All of it is public.

    sharp       the level of the default half width, or of the one that was asked for
    few         the share is given up if at most so many other groups are uncertain, and too few are unreported
    clear, times    it is too dear at `times` the first level at which at most `clear` other groups were uncertain
    """

    sharp: Fraction
    few: int
    clear: int
    times: int = 4


def patience_of(alarms: Fraction, sharp: Fraction) -> Patience:
    """Return the patience of a share that allows so many false alarms."""
    return Patience(sharp, max(1, math.floor(alarms / 4)), math.floor(alarms) - 1)


@dataclass(frozen=True, slots=True)
class CertifiedLadder(ReachingLook):
    """Levels, and a certificate that says when to stop.

    miss_rate         bounds P[below | the group qualifies], for each group by itself
    sure_rate         bounds P[above | the group does not qualify], for each group by itself
    patience          when the share is given up; None if a confidence was asked for: then at the last level only
    follows_limit     whether the limit on the cost ends the levels
    """

    looks: tuple[Sharpness, ...]
    miss_rate: Fraction
    sure_rate: Fraction
    certificate: CertificateTerms
    patience: Patience | None = None
    scale: int = 1
    told: str = ""
    follows_limit: bool = True

    certifies = True
    how = (
        "groups are measured with less and less noise until the promise is reached; whether a group is measured "
        "further depends on the other groups only"
    )

    @property
    def epsilon(self) -> Epsilon:
        """Return the worst case: the last level."""
        return self.looks[-1].charge

    @property
    def needs_failing(self) -> int | None:
        """Return how many groups must fail the condition, so that the share can be reached."""
        needed = self.certificate.need / self.certificate.false_alarm_rate
        return None if self.patience is None else math.floor(needed) + 1

    @property
    def half_width(self) -> Fraction:
        """Return the half width of the last look; measuring may end before it."""
        return Fraction(self.looks[-1].steps)

    @property
    def clear(self) -> int:
        """Return how far short a group must be for the last look to report it with at most `sure_rate`."""
        return self.looks[-1].steps + self.looks[-1].certain + 1

    def ladder(self) -> tuple[Level, ...]:
        return tuple(Level(look.charge, look.steps, look.certain) for look in self.looks)

    def decide(self, truth: TrueMargins, entropy: Entropy | None = None) -> Verdicts:
        """Measure more finely until the promise is reached."""
        return certify(truth.margins(), self, entropy)

    def exact_level(self, charged: Epsilon) -> Fraction:
        """Return the level of which the ledger knows the amount rounded up: levels are dyadic."""
        return next(look.level for look in self.looks if look.charge == charged)


def certify(margins: NDArray[np.int64], ladder: CertifiedLadder, entropy: Entropy | None = None) -> Verdicts:
    """Look at all groups, level by level, until each verdict is taken and the promise is reached.

    Privacy: each group loses the last level that was looked at, which is shown; at worst `ladder.epsilon`.
    Utility: `miss_rate` and `sure_rate` for each group by itself; with the certificate's confidence, at most its share
    of the groups that do not qualify is reported.
    Runtime: linear in groups and in levels.
    Citation: decision specification L.11 and L.12; `certified.md`.
    """
    taking, noise, drawn = _Taking(margins.size, ladder), None, max(margins.size, _LEAST_DRAWN)
    for j, look in enumerate(ladder.looks):
        if noise is None:
            noise = discrete_laplace(look.level, drawn, 1, entropy)
        else:
            noise = refine(noise, ladder.looks[j - 1].level, look.level, 1, entropy)
        taking.see(j, margins + noise[: margins.size], chances(look.boundary, margins.size, entropy))
        if taking.done(j):
            break
    return taking.verdicts()


class _Taking:
    """Verdicts as they are taken, each at the first level where the other groups look good enough."""

    def __init__(self, groups: int, ladder: CertifiedLadder) -> None:
        self._ladder, self._groups = ladder, groups
        self._sheet = Sheet(ladder.certificate, ladder.miss_rate)
        self._verdict = np.zeros(groups, dtype=np.int8)
        self._noisy = np.zeros(groups, dtype=np.int64)
        self._latest = self._noisy
        self._taken_at = np.full(groups, -1, dtype=np.int64)
        # The first level at which the other groups were nearly all clear.
        self._clear_at = np.full(groups, -1, dtype=np.int64)
        self._all_taken_at: int | None = None
        self._reached = 0

    def see(self, j: int, noisy: NDArray[np.int64], lucky: NDArray[np.bool_]) -> None:
        look, self._reached = self._ladder.looks[j], j
        judgement = look.judged(noisy, lucky)
        agreed = self._sheet.others_agree(look.level, noisy, lucky)
        if self._ladder.patience is not None:
            agreed = agreed | self._given_up(self._ladder.patience, look.level, judgement)
        last = j == len(self._ladder.looks) - 1
        now = (self._taken_at < 0) & (agreed | last)
        self._verdict[now], self._noisy[now], self._taken_at[now] = judgement[now], noisy[now], j
        self._latest = noisy

    def done(self, j: int) -> bool:
        """Tell whether all verdicts are taken, and the certificate is reached or three more levels have not helped."""
        if (self._taken_at < 0).any():
            return False
        self._all_taken_at = j if self._all_taken_at is None else self._all_taken_at
        if j >= self._all_taken_at + _EXTRA_LEVELS or self._sheet.certificate(self._listed).reached:
            return True
        return self._ladder.patience is not None and not self._sheet.may_still_reach()

    def _given_up(self, patience: Patience, level: Fraction, judgement: NDArray[np.int8]) -> NDArray[np.bool_]:
        """Tell for each group whether the share is hopeless or too dear, by the verdicts of the other groups."""
        uncertain, unreported = (np.asarray(judgement == seen) for seen in (SEEN_BETWEEN, SEEN_BELOW))
        others, failing = uncertain.sum() - uncertain, unreported.sum() - unreported
        terms = self._ladder.certificate
        # alpha n < need, in whole numbers.
        needed = math.ceil(terms.need / terms.false_alarm_rate)
        hopeless = (others <= patience.few) & (failing < needed)
        if level >= patience.sharp:
            hopeless |= failing + others < needed
        newly_clear = (others <= patience.clear) & (self._clear_at < 0)
        self._clear_at[newly_clear] = self._reached
        # The first level from which on it is too dear; a group whose others were never clear takes the last place.
        dear = np.array([patience.times * look.level <= level for look in self._ladder.looks[: self._reached + 1]])
        too_dear = (self._clear_at >= 0) & dear[np.maximum(self._clear_at, 0)]
        return np.asarray(hopeless | too_dear)

    @property
    def _listed(self) -> NDArray[np.bool_]:
        return np.asarray(self._verdict >= SEEN_BETWEEN)

    def verdicts(self) -> Verdicts:
        looks = self._ladder.looks[: self._reached + 1]
        widths = np.array([look.steps for look in looks])
        return Verdicts(
            verdict=self._verdict,
            noisy=self._noisy,
            # All groups were refined to the last level, so that is what each of them lost.
            stopped=np.full(self._groups, self._reached, dtype=np.int64),
            steps=widths[self._taken_at],
            levels=tuple(look.charge for look in looks),
            scale=1,
            worst=self._ladder.epsilon,
            clear=looks[-1].steps + looks[-1].certain + 1,
            latest=self._latest,
            certificate=self._sheet.certificate(self._listed),
            count_bound=self._sheet.count_bound(self._listed),
        )
