"""What groups would lose, by their distance from the line: shown before anything is spent.

Reads: a priced rule. Writes: nothing. Never: data. It simulates made-up margins with a public seed.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from thresher.decisions.rules import Rule, decided
from thresher.decisions.verdicts import few_digits
from thresher.noise import SeededEntropy

# Levels that depend on all groups hardly depend on how many there are, once there are some hundred.
_LEAST, _TRIALS = 250, 1000
_DISTANCES = (0, 1, 3, 10, 30, 100, 300, 1000, 10**4, 10**5, 10**6)
_MOST = 8


@dataclass(frozen=True, slots=True)
class Outlook:
    """Groups so far from the line, in privacy units: what they lose on average if they are short of it, or over it.

    `stops` are the shares of groups, short or over, that stop at the first level, the second, and so on; levels are
    those of the ladder where they are fixed.
    """

    distance: Fraction
    short: float
    over: float
    stops: tuple[float, ...]

    def document(self) -> dict[str, object]:
        """For JSON."""
        return {
            "distance": few_digits(self.distance),
            "mean_epsilon_if_short": round(self.short, 9),
            "mean_epsilon_if_over": round(self.over, 9),
            "share_stopping_at_look": [round(share, 4) for share in self.stops],
        }


def outlooks(rule: Rule, groups: int) -> tuple[Outlook, ...]:
    """At the line, and at multiples of the half width up to where the first look tells most groups apart.

    Nothing for a single look, which costs every group the same.
    """
    ladder = rule.ladder()
    if len(ladder) == 1:
        return ()
    unit = max(rule.half_width, Fraction(1))
    reach = Fraction(2 * ladder[0].steps, rule.scale)
    distances = [times * unit for times in _DISTANCES if times * unit <= reach or times <= 1]
    return tuple(_outlook(rule, distance, min(max(groups, _LEAST), _TRIALS)) for distance in distances[:_MOST])


def _outlook(rule: Rule, distance: Fraction, groups: int) -> Outlook:
    steps, entropy = int(distance * rule.scale), SeededEntropy(0)
    means, stops = [], np.zeros(len(rule.ladder()))
    for margin in (-1 - steps, steps):
        lost = []
        for _ in range(_TRIALS // groups):
            seen = decided(np.full(groups, margin, dtype=np.int64), rule, entropy)
            lost.append(np.array([float(level) for level in seen.levels])[seen.stopped].mean())
            stops[: len(seen.levels)] += np.bincount(seen.stopped, minlength=len(seen.levels))
        means.append(float(np.mean(lost)))
    return Outlook(distance, means[0], means[1], tuple((stops / stops.sum()).tolist()))
