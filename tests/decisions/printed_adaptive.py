"""The adaptive algorithm as printed, to compare with; never shipped.

Indices are those that make sense of the print. What is kept: shifts for each level alone, the estimate of equation
(12), which adds fresh noise, and the end when the plan is empty, at whatever half width that is. Continuous noise.
"""

import math
from dataclasses import dataclass

import numpy as np

from papers.mide.cone_min_entropy import cone_min_entropy
from thresher.accounting import box_min_entropy

FINE = 3


@dataclass
class Printed:
    """What a run ended with."""

    reported: np.ndarray
    losses: np.ndarray
    half_width: float
    shares: list[float]

    @property
    def min_entropies(self):
        levels, groups = np.unique(self.losses, return_counts=True)
        return [f(levels.tolist(), groups.tolist()).low for f in (box_min_entropy, cone_min_entropy)]


def two_laplace_tail(t, a, b):
    """P[A + B > t] for independent Laplace noise of rates a and b: the closed form behind equation (12)."""
    far = abs(t)
    if a == b:
        beyond = (2 + a * far) * math.exp(-a * far) / 4
    else:
        beyond = (b * b * math.exp(-a * far) - a * a * math.exp(-b * far)) / (2 * (b * b - a * a))
    return beyond if t >= 0 else 1 - beyond


def printed_undecided(seen, reached, following, half_width):
    """Equation (12): how likely a value seen at one level stays within the half width at the next."""
    return two_laplace_tail(-half_width - seen, reached, following) - two_laplace_tail(
        half_width - seen, reached, following
    )


def relaxed(noise, e1, e2, rng):
    """Continuous gradual release."""
    x, step, total = np.abs(noise), e2 - e1, e1 + e2
    jump_chance = (e2 - e1) / (2 * e2)
    near, jump = rng.exponential(1 / step, x.size), rng.exponential(1 / total, x.size)
    coin = rng.random(x.size)
    finer = np.where(near < x, near, np.where(coin < 2 * jump_chance, x + jump, x))
    finer = np.where(coin < jump_chance, -jump, finer)
    return np.where(noise < 0, -finer, finer)


def printed_adaptive(margins, miss_rate, half_width, first, looks, rng):
    """Margins are above zero where the condition holds."""
    last = math.log(looks / (2 * miss_rate)) / half_width
    ratio = (last / first) ** (1 / (looks - 1))
    plan = [first * ratio**j for j in range(looks)]
    noise = rng.laplace(0, 1 / first, margins.size)
    shares, level = [1], first
    width = math.log(looks / (2 * miss_rate)) / first
    losses, seen = np.full(margins.size, last), margins + noise
    undecided, reported = np.abs(seen) <= width, seen > width
    losses[~undecided] = first
    while len(plan) > 1 and undecided.any():
        following, taken = printed_step(seen[undecided], losses[~undecided], plan, miss_rate, looks)
        noise[undecided] = relaxed(noise[undecided], level, following, rng)
        seen[undecided] = margins[undecided] + noise[undecided]
        shares.append(taken)
        level, width = following, math.log(looks / (2 * miss_rate * taken)) / following
        losses[undecided] = level
        reported |= undecided & (seen > width)
        undecided &= np.abs(seen) <= width
        plan = [level, *plan[taken + 1 :]]
        losses[undecided] = last if len(plan) > 1 else level
    return Printed(reported | undecided, losses, width, [share / looks for share in shares])


def printed_step(seen, settled, plan, miss_rate, looks):
    """The next level and how many coarse levels it takes: the largest min-entropy, of equals the dearest."""
    best, most = None, -1.0
    for taken in range(1, len(plan)):
        for part in range(1, FINE + 1):
            following = plan[taken - 1] + part * (plan[taken] - plan[taken - 1]) / FINE
            width = math.log(looks / (2 * miss_rate * taken)) / following
            stay = sum(printed_undecided(float(v), plan[0], following, width) for v in seen)
            still = min(math.ceil(stay), seen.size)
            expected = [following] * (seen.size - still) + [plan[-1]] * still
            levels, groups = np.unique([*settled, *expected], return_counts=True)
            secret = box_min_entropy(levels.tolist(), groups.tolist()).low
            if secret >= most:
                best, most = (following, taken), secret
    return best


def literal_shares(looks, takes):
    """Shares of the miss rate that the printed loop spends if `takes` are the steps it finds best.

    Its test is <=, so after the last step the body runs once more: with one level left, NextStep gives beta / m again.
    """
    shares, left = [1], looks - 1
    for taken in takes:
        shares.append(taken)
        left -= taken
    if left == 0:
        shares.append(1)
    return [share / looks for share in shares]
