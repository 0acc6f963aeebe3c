"""The exact chance that a group at the line is missed, with the real choice of levels: no draw, only sums.

The group may have a companion at the line too, whose noise has a say in the level. Everything the climb decides
(the step, the shifts) is asked of the code; only the noise is replaced by its law.
"""

import math
from collections import defaultdict
from functools import cache, partial

import numpy as np

from thresher.decisions.adaptive_ladder import Rungs, _shifts, most_secret, steps_ahead
from thresher.decisions.ladder import level_of

# Noise beyond this is left out: too little to show in twelve digits.
REACH = 300
NOISE = np.arange(-REACH, REACH + 1)
DECIDED = None


class Way:
    """What the choice of a step looks at."""

    def __init__(self, losses, seen):
        self.losses, self.seen = losses, np.array(seen, dtype=np.int64)


def chance_of_a_miss(ladder, groups):
    """P[the first of one or two groups at the line is called below]."""
    rungs = Rungs(ladder.coarse[0], ladder.coarse[1:])
    first = level_of(None, rungs.reached, *ladder.shares(1), ladder.scale)
    fates = partial(split, laplace(rungs.reached, ladder.scale), first.steps, first.certain)
    companion = fates() if groups == 2 else (0.0, {DECIDED: 1.0})
    missed, states = spread({}, 1.0, fates(), companion, rungs, (), solitary=groups == 1)
    while states:
        following = defaultdict(float)
        for (here, losses, mine, other), chance in states.items():
            if not here.ahead:
                continue
            seen = [mine] if other is DECIDED else [mine, other]
            decided = [*losses, *([(here.reached, 0)] if not losses or losses[-1][0] != here.reached else [])]
            step = most_secret(Way(decided, seen), here, ladder)
            below, following = spread(
                following,
                chance,
                fate_of(mine, here.reached, step, ladder),
                (0.0, {DECIDED: 1.0}) if other is DECIDED else fate_of(other, here.reached, step, ladder),
                step.then,
                losses,
                solitary=other is DECIDED,
            )
            missed += below
        states = following
    return missed


def spread(states, chance, mine, companion, rungs, losses, *, solitary=False):
    """Adds where both groups may be after a look; gives the chance that the first was missed in it."""
    states = states if isinstance(states, defaultdict) else defaultdict(float, states)
    below, inside = mine
    for value, p in inside.items():
        if value is DECIDED:
            continue
        for other, q in companion[1].items():
            settled = losses if other is not DECIDED or solitary else (*losses, (rungs.reached, 1))
            states[rungs, settled, value, other] += chance * p * q
    return chance * below, states


@cache
def fate_of(value, reached, step, ladder):
    """The chance to be called below, and the law of what is seen of a group that was seen at `value`."""
    steps, certain = (np.asarray(shift).item() for shift in _shifts(np.array([value]), reached, step, ladder))
    return split(refined(value, reached, step.level.epsilon, ladder.scale), steps, certain)


def split(law, steps, certain):
    """A law of noisy values into: below, and inside by value; all that is above is one."""
    inside = {int(v): float(law[v + REACH]) for v in range(-steps, certain)}
    below = float(law[: REACH - steps].sum())
    return below, {**inside, DECIDED: float(law[REACH + certain :].sum()) + below}


@cache
def laplace(epsilon, scale):
    p = math.exp(-float(epsilon) / scale)
    return (1 - p) / (1 + p) * p ** np.abs(NOISE)


@cache
def refined(x, before, after, scale):
    """The law of refined noise, by Bayes' rule from: coarse noise = fine noise + rest."""
    p1, p2 = (math.exp(-float(epsilon) / scale) for epsilon in (before, after))
    same = (1 - p1) ** 2 * p2 / ((1 - p2) ** 2 * p1)
    rest = same * (x == NOISE) + (1 - same) * (1 - p1) / (1 + p1) * p1 ** np.abs(x - NOISE)
    return laplace(after, scale) * rest / laplace(before, scale)[x + REACH]


def worst_chance_of_a_miss(ladder):
    """The same for one group whose levels are chosen, among those on offer, by whoever wants it to be missed."""
    rungs = Rungs(ladder.coarse[0], ladder.coarse[1:])
    first = level_of(None, rungs.reached, *ladder.shares(1), ladder.scale)
    noise = laplace(rungs.reached, ladder.scale)
    inside = slice(REACH - first.steps, REACH + first.certain)
    return noise[: REACH - first.steps].sum() + noise[inside] @ hopes(rungs, ladder)[inside]


@cache
def hopes(rungs, ladder):
    """For each value seen at `rungs`: the largest chance to be called below later on."""
    best = np.zeros(NOISE.size)
    if not rungs.ahead:
        return best
    for step in steps_ahead(rungs, ladder):
        later = hopes(step.then, ladder)
        shifts = (np.broadcast_to(shift, NOISE.shape) for shift in _shifts(NOISE, rungs.reached, step, ladder))
        for place, (steps, certain) in enumerate(zip(*(shift.tolist() for shift in shifts), strict=True)):
            if abs(NOISE[place]) > REACH // 3:  # never undecided
                continue
            law = refined(int(NOISE[place]), rungs.reached, step.level.epsilon, ladder.scale)
            inside = slice(REACH - steps, REACH + certain)
            best[place] = max(best[place], law[: REACH - steps].sum() + law[inside] @ later[inside])
    return best
