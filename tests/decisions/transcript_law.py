"""The law of all that a climb shows, by walking every script of noise through the real code.

Draws are replaced by scripted ones. Each is weighed by the law that the code asked for, so a mutant that asks for
another one is weighed by that. Weights have forty digits.
"""

from collections import defaultdict
from functools import cache
from itertools import product

import mpmath
import numpy as np

from thresher.decisions import ladder

EXACT = mpmath.mp.clone()
EXACT.dps = 40
# Forty digits, less what sums and logarithms lose.
ROUNDING = EXACT.mpf(10) ** -35


class MoreNeededError(Exception):
    """The script is over and noise for `size` groups was asked for."""

    def __init__(self, size):
        super().__init__(size)
        self.size = size


class Script:
    """Noise as written, and how likely it was."""

    def __init__(self, lines):
        self._lines, self.weight = list(lines), EXACT.mpf(1)

    def draw(self, epsilon, size, scale, _):
        noise = self._next(size)
        for x in noise:
            self.weight *= mass(epsilon, scale, x)
        return np.array(noise, dtype=np.int64)

    def refine(self, noise, before, after, scale, _):
        finer = self._next(noise.size)
        for x, y in zip(noise.tolist(), finer, strict=True):
            self.weight *= kernel(before, after, scale, x, y)
        return np.array(finer, dtype=np.int64)

    def redraw(self, noise, _, after, scale, source):
        """What no climb may do: noise that does not depend on what there was."""
        return self.draw(after, noise.size, scale, source)

    def _next(self, size):
        if not self._lines:
            raise MoreNeededError(size)
        return self._lines.pop(0)


def everything(seen):
    """All that a `Verdicts` shows."""
    arrays = (seen.verdict, seen.noisy, seen.stopped, seen.steps)
    return (*(tuple(array.tolist()) for array in arrays), seen.levels)


def law(mechanism, reaches, monkeypatch, shown=everything, *, fresh=False):
    """Probabilities of what is `shown` of `mechanism()`; look j is walked over noise within reaches[j] of zero."""
    found, scripts = defaultdict(EXACT.mpf), [()]
    while scripts:
        lines = scripts.pop()
        script = Script(lines)
        monkeypatch.setattr(ladder, "discrete_laplace", script.draw)
        monkeypatch.setattr(ladder, "refine", script.redraw if fresh else script.refine)
        try:
            found[shown(mechanism())] += script.weight
        except MoreNeededError as more:
            reach = reaches[min(len(lines), len(reaches) - 1)]
            scripts.extend((*lines, noise) for noise in product(range(-reach, reach + 1), repeat=more.size))
    return found


def only_the_bit(seen):
    return tuple(seen.reported.tolist())


def loss_of(outcome, group):
    """What the outcome says that the group lost."""
    _, _, stopped, _, levels = outcome
    return levels[stopped[group]]


def largest_losses(here, there, group):
    """For each loss that is claimed, the largest log ratio of outcomes that claim it."""
    largest = defaultdict(EXACT.mpf)
    for outcome in here.keys() & there.keys():
        claimed = loss_of(outcome, group)
        largest[claimed] = max(largest[claimed], abs(EXACT.log(here[outcome] / there[outcome])))
    return dict(largest)


def claims_hold(here, there, group):
    return all(loss <= exactly(claimed) + ROUNDING for claimed, loss in largest_losses(here, there, group).items())


def exactly(epsilon):
    return EXACT.mpf(epsilon.nano) / 10**9


@cache
def mass(epsilon, scale, x):
    p = EXACT.exp(-exactly(epsilon) / scale)
    return (1 - p) / (1 + p) * p ** abs(x)


@cache
def kernel(before, after, scale, x, y):
    """P[refined noise is y, given x], by Bayes' rule from: coarse noise = fine noise + rest."""
    p1, p2 = (EXACT.exp(-exactly(epsilon) / scale) for epsilon in (before, after))
    same = (1 - p1) ** 2 * p2 / ((1 - p2) ** 2 * p1)
    rest = (same if x == y else 0) + (1 - same) * mass(before, scale, x - y)
    return mass(after, scale, y) * rest / mass(before, scale, x)
