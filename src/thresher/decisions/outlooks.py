"""What groups would lose, by their distance from the threshold: on request.

It is simulated on made-up margins with a public seed.
Reads: a priced look, what was asked. Writes: text. Never: data.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from thresher.decisions.aim import Asked
from thresher.decisions.margin import TrueMargins
from thresher.decisions.promise import unit_in
from thresher.guarantee import few_digits, units_of
from thresher.noise import SeededEntropy

if TYPE_CHECKING:
    from thresher.decisions.look import Look

# Levels that depend on all groups hardly depend on how many there are, once there are some hundred.
_LEAST, _TRIALS = 250, 1000
_DISTANCES = (0, 1, 3, 10, 30, 100, 300, 1000, 10**4, 10**5, 10**6)
_MOST = 8
_BAR = 20
_LOOKS = "123456789abcdefghijklmnopqrstuvw"


@dataclass(frozen=True, slots=True)
class Outlook:
    """Hold what groups lose on average at one distance below the threshold, and at the same distance above it.

    The distance is in privacy units. `stops` are the shares of groups, short or over, that stop at the first level, the
    second, and so on; the levels are those of the ladder if they are fixed.
    """

    distance: Fraction
    short: float
    over: float
    stops: tuple[float, ...]

    def document(self) -> dict[str, object]:
        """Return the outlook for JSON."""
        return {
            "distance": few_digits(self.distance),
            "mean_epsilon_if_short": round(self.short, 9),
            "mean_epsilon_if_over": round(self.over, 9),
            "share_stopping_at_look": [round(share, 4) for share in self.stops],
        }


@lru_cache(maxsize=16)
def outlooks(look: "Look", groups: int) -> tuple[Outlook, ...]:
    """Return outlooks at the threshold, and at multiples of the half width up to where the first look decides most.

    Nothing for a single look, which costs each group the same.
    """
    ladder = look.ladder()
    if len(ladder) == 1:
        return ()
    unit = max(look.half_width, Fraction(1))
    reach = Fraction(2 * ladder[0].steps, look.scale)
    distances = [times * unit for times in _DISTANCES if times * unit <= reach or times <= 1]
    return tuple(_outlook(look, distance, min(max(groups, _LEAST), _TRIALS)) for distance in distances[:_MOST])


def _outlook(look: "Look", distance: Fraction, groups: int) -> Outlook:
    steps, entropy = int(distance * look.scale), SeededEntropy(0)
    means, stops = [], np.zeros(len(look.ladder()))
    for margin in (-1 - steps, steps):
        lost = []
        for _ in range(_TRIALS // groups):
            seen = look.decide(TrueMargins.of(np.full(groups, margin, dtype=np.int64)), entropy)
            lost.append(np.array([float(level) for level in seen.levels])[seen.stopped].mean())
            stops[: len(seen.levels)] += np.bincount(seen.stopped, minlength=len(seen.levels))
        means.append(float(np.mean(lost)))
    return Outlook(distance, means[0], means[1], tuple((stops / stops.sum()).tolist()))


def outlook_lines(look: "Look", asked: Asked) -> list[tuple[str, str]]:
    """Return the outlooks in words, with a bar of the looks at which groups stop."""
    found = outlooks(look, asked.aim.groups)
    if not found:
        return []
    heading = (
        f"mean epsilon of a group at this distance from the threshold, in {units_of(unit_in(asked.question.table))}, "
        "if it is short of it / over it, and the looks at which such groups stop: each digit is a look, and 5 % of "
        "such groups (simulated, on no data):"
    )
    rows = [
        f"{few_digits(outlook.distance):>8} away {outlook.short:>10.4g} / {outlook.over:<10.4g} {_bar(outlook.stops)}"
        for outlook in found
    ]
    return [("outlook", heading), *(("", row) for row in rows)]


def _bar(stops: Sequence[float]) -> str:
    """Return twenty digits: each look has as many as its share of the groups."""
    ends = [round(_BAR * sum(stops[: i + 1])) for i in range(len(stops))]
    return "".join(_LOOKS[i] * (end - start) for i, (start, end) in enumerate(zip([0, *ends], ends, strict=False)))
