"""Progressive looks (PPWLM): a coarse look at all groups, finer looks at those that stay undecided.

Levels are fixed before anything is read. Noise is refined, never drawn again, so a group loses the level at which it
stops. Only `Climb` takes a second look, and only by gradual release.
Reads: margins, entropy. Writes: nothing. Never: looks at a decided group again; draws fresh noise for a second look,
which would cost the sum of the levels. Proof: `ladder.md`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import Epsilon
from thresher.decisions.aim import Aim, Asked
from thresher.decisions.look import Look, Mechanism, Price
from thresher.decisions.margin import TrueMargins
from thresher.decisions.outlooks import outlook_lines
from thresher.decisions.shift import FINEST, cuts, judged
from thresher.decisions.verdicts import SEEN_BETWEEN, Level, Verdicts
from thresher.noise import Entropy, conditional_shift, discrete_laplace, refine, smallest_epsilon
from thresher.plan import Statements
from thresher.release import Certificate, CountBound

# If the range of the margins is not declared, each level is this many times the level before.
_RATIO = 8
Priced = TypeVar("Priced", bound=Look)
Steps = int | NDArray[np.int64]


def level_of(seen: Epsilon | None, epsilon: Epsilon, missed: Fraction, alarmed: Fraction, scale: int) -> Level:
    """Return a look that keeps its shares of misses and false alarms, whatever was seen at the level `seen` before."""
    reaches = (conditional_shift(seen or 0, epsilon, share, scale) for share in (missed, alarmed))
    return Level(epsilon, *(reach - 1 for reach in reaches))


class Climb:
    """Noisy margins at rising levels; `undecided` are the places of the groups that are still looked at."""

    def __init__(self, margins: NDArray[np.int64], scale: int, entropy: Entropy | None) -> None:
        self._margins, self._scale, self._entropy = margins, scale, entropy
        self._noise = np.empty(0, dtype=np.int64)
        self._noisy = margins
        self._verdict = np.zeros(margins.size, dtype=np.int8)
        self._stopped = np.zeros(margins.size, dtype=np.int64)
        self._steps = np.zeros(margins.size, dtype=np.int64)
        self.levels: list[Epsilon] = []
        self.undecided = np.arange(margins.size)

    @property
    def seen(self) -> NDArray[np.int64]:
        """Return the noisy margins of the undecided groups."""
        return self._noisy[self.undecided]

    @property
    def losses(self) -> list[tuple[Epsilon, int]]:
        """Return the levels at which groups were decided, and how many groups at each."""
        decided = np.bincount(self._stopped[self._verdict != SEEN_BETWEEN], minlength=len(self.levels))
        return list(zip(self.levels, decided.tolist(), strict=True))

    @property
    def judgement(self) -> NDArray[np.int8]:
        """Return the verdicts so far."""
        return self._verdict

    def look(self, epsilon: Epsilon, steps: Steps, certain: Steps) -> None:
        """Look at the undecided groups at a higher level than before."""
        places, scale = self.undecided, self._scale
        if self.levels:
            self._noise = refine(self._noise, self.levels[-1], epsilon, scale, self._entropy)
            self._noisy[places] = self._margins[places] + self._noise
        else:
            self._noise = discrete_laplace(epsilon, places.size, scale, self._entropy)
            self._noisy = self._margins + self._noise
        self._verdict[places] = judged(self._noisy[places], steps, certain)
        self._stopped[places], self._steps[places] = len(self.levels), steps
        self.levels.append(epsilon)
        left = self._verdict[places] == SEEN_BETWEEN
        self.undecided, self._noise = places[left], self._noise[left]

    def verdicts(
        self,
        worst: Epsilon,
        clear: int,
        certificate: Certificate | None = None,
        count_bound: CountBound | None = None,
    ) -> Verdicts:
        """Return the verdicts, and where each group stopped."""
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
            count_bound=count_bound,
        )


class Climbing(Look):
    """Looks at rising levels, each at the groups that are still undecided."""

    __slots__ = ()
    fixed = False
    how = "each group is measured with less and less noise until it is decided"

    @property
    def shows_levels(self) -> bool:
        return len(self.ladder()) > 1

    @property
    def each_group_stops(self) -> bool:
        return self.shows_levels

    @property
    def top(self) -> Epsilon:
        """Return the last level."""
        return self.epsilon

    def details(self, asked: Asked, price: Price) -> Statements:
        """Return the levels, and what groups lose by their distance from the threshold."""
        return [*super().details(asked, price), *outlook_lines(self, asked), *self._why_one(asked)]

    def _why_one(self, asked: Asked) -> Statements:
        """Return why there is one look only, which is a threshold shift; nothing if there are several."""
        if self.shows_levels:
            return []
        why = "with this half width a first look at groups of up to count_range rows would be no coarser"
        if asked.aim.levels == 1:
            why = "levels = 1"
        elif asked.aim.first_epsilon is not None:
            levels, steps = asked.aim.levels, int(self.half_width * self.scale)
            last = smallest_epsilon(asked.aim.first_rate / levels, steps + 1, self.scale)
            why = f"first_epsilon = {asked.aim.first_epsilon} is not below {last}, the last of {levels} levels"
        return [("note", f"{why}, so there is one look: a threshold shift, as by tslm")]


@dataclass(frozen=True, slots=True)
class Ladder(Climbing):
    """Priced levels, each dearer than the level before. `clear` as for a `Shift`."""

    levels: tuple[Level, ...]
    scale: int
    clear: int
    told: str = ""

    @property
    def epsilon(self) -> Epsilon:
        """Return the worst case: the loss of a group that is looked at to the end."""
        return self.levels[-1].epsilon

    @property
    def half_width(self) -> Fraction:
        """Return the half width of the last look, in privacy units."""
        return Fraction(self.levels[-1].steps, self.scale)

    def ladder(self) -> tuple[Level, ...]:
        """Return its levels."""
        return self.levels

    def decide(self, truth: TrueMargins, entropy: Entropy | None = None) -> Verdicts:
        """Look at each group, and again at undecided ones."""
        return climb(truth.margins(self.scale), self, entropy)


@lru_cache(maxsize=256)
def ladder_of(
    miss_rate: Fraction, false_alarm_rate: Fraction, steps: int, scale: int, looks: int, first: Epsilon
) -> Ladder:
    """Return levels in geometric progression from `first` to the least epsilon that keeps the half width.

    Each look may miss with probability miss_rate / looks. With one look, or a first level that is not below the last,
    the ladder is a threshold shift: one level, with all of the miss rate.
    """
    last = smallest_epsilon(miss_rate / looks, steps + 1, scale)
    one_look = looks == 1 or first >= last
    epsilons = [smallest_epsilon(miss_rate, steps + 1, scale)] if one_look else geometric_levels(first, last, looks)
    shares = miss_rate / len(epsilons), false_alarm_rate / len(epsilons)
    levels = tuple(level_of(None, epsilon, *shares, scale) for epsilon in epsilons)
    return Ladder(levels, scale, clear=levels[-1].steps + levels[-1].certain + 1)


def geometric_levels(first: Epsilon, last: Epsilon, looks: int) -> list[Epsilon]:
    """Return `looks` levels, each the same multiple of the level before, in whole nano; fewer if some coincide."""
    ratio = (last.nano / first.nano) ** (1 / (looks - 1))
    between = {round(first.nano * ratio**j) for j in range(1, looks - 1)}
    nanos = [first.nano, *sorted(nano for nano in between if first.nano < nano < last.nano), last.nano]
    return [Epsilon.from_nano(nano) for nano in nanos]


def climb(margins: NDArray[np.int64], ladder: Ladder, entropy: Entropy | None = None) -> Verdicts:
    """Look at each group, and again at those that are undecided, up to the last level.

    Privacy: a group loses the level at which it stops, which is shown; at worst `ladder.epsilon`.
    Utility: if h >= 0, below with probability at most miss_rate; if h <= -1, above with probability at most
    false_alarm_rate; if h <= -clear, above or uncertain with probability at most that.
    Runtime: linear in the groups, and in the looks for those that stay undecided.
    Citations: Ghayyur et al. (MIDE), Algorithm 2; gradual release, Koufogiannis et al. 2015; `ladder.md`.
    """
    way = Climb(margins, ladder.scale, entropy)
    for level in ladder.levels:
        way.look(level.epsilon, level.steps, level.certain)
        if not way.undecided.size:
            break
    return way.verdicts(ladder.epsilon, ladder.clear)


def rungs_of(aim: Aim, ladder: Callable[[Fraction, Fraction, int, int, int, Epsilon], Priced]) -> Priced:
    """Return the levels of an aim: from a look that tells the largest group from an empty one, to the half width."""
    # Noise of a scale above 1e9 is not drawn, so a tiny first level allows fewer steps to a unit.
    finest = aim.first_epsilon.nano if aim.first_epsilon else FINEST
    scale, steps = cuts(aim.first_rate / aim.levels, aim.tolerances, finest)
    last = smallest_epsilon(aim.first_rate / aim.levels, steps + 1, scale)
    widening = Fraction(_RATIO ** (aim.levels - 1))
    if aim.widest is not None:
        widening = max(Fraction(1), aim.widest * scale / (steps + 1))
    # Half widths go as one over epsilon.
    first = aim.first_epsilon or Epsilon.from_nano(max(scale, int(last.nano / widening)))
    return ladder(aim.first_rate, aim.second_rate, steps, scale, aim.levels, first)


MECHANISMS: Mapping[str, Mechanism] = {
    "ppwlm": Mechanism("ppwlm", lambda asked: rungs_of(asked.aim, ladder_of), frozenset({"levels", "first_epsilon"}))
}
