"""Try personal releases: the charge of a pair is the budget of the person who joins.

Reads: made-up rosters, entropy. Writes: nothing. Never: sets a charge.
"""

import itertools
import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import Epsilon
from thresher.audit.laws.noise_laws import laplace_law
from thresher.audit.subjects import Enumerated, Pair, Sampled, Subject
from thresher.noise import Entropy
from thresher.noise.chances import CHANCES
from thresher.personal.count_choice import RATE, exponential_plan
from thresher.personal.part_releases import partition_frequency
from thresher.personal.parts import Parts
from thresher.personal.personal_release import PersonalRelease
from thresher.personal.roster import Roster
from thresher.personal.sampling import sampled_frequency, sampling_plan
from thresher.personal.weighted import weighted_frequency, weighted_plan

Flags = tuple[int, ...]
_BUDGETS = ("0.5", 1, 2, 2)
_SAMPLES, REACH = 5_000, 60


def subjects() -> tuple[Subject, ...]:
    roster = Roster.of(_BUDGETS)
    weighted, sampling, exponential = weighted_plan(roster), sampling_plan(roster, 2), exponential_plan(roster)
    parts = Parts.of(roster, (1,))
    one, least = roster.levels[1], roster.levels[0]

    def weighted_law(flags: Flags) -> Mapping[Hashable, float]:
        return laplace_law(int(weighted.weights[roster.classes] @ np.array(flags)), float(weighted.rate), REACH)

    def coins_law(flags: Flags) -> Mapping[Hashable, float]:
        return sampling_law((sampling.chances[roster.classes] / CHANCES).tolist(), flags, float(sampling.rate))

    def choice_law(flags: Flags) -> Mapping[Hashable, float]:
        there = np.bincount(roster.classes[np.array(flags) > 0], minlength=3)
        return count_law(exponential.costs(there), float(RATE))

    pairs, somebody = _least_pairs(), "somebody of the least budget"
    return (
        _run("weighted release", one, partial(weighted_frequency, weighted)),
        _run("sampling by budget", one, partial(sampled_frequency, sampling)),
        _run("releases of parts", one, partial(partition_frequency, parts)),
        Enumerated("weighted release, law", somebody, least, pairs, weighted_law, missing=1e-6),
        Enumerated("sampling by budget, law", f"{somebody}, all coins", least, pairs, coins_law, missing=1e-6),
        Enumerated("counts by personal choice, law", somebody, least, pairs, choice_law),
    )


def sampling_law(chances: Sequence[float], flags: Flags, rate: float) -> Mapping[Hashable, float]:
    """Return the law of the noisy count of a sample, summed over all sets of people."""
    law: dict[Hashable, float] = dict.fromkeys(range(-REACH, REACH + 1), 0.0)
    for coins in itertools.product((0, 1), repeat=len(flags)):
        weight = math.prod(odds if coin else 1 - odds for coin, odds in zip(coins, chances, strict=True))
        centre = sum(coin * flag for coin, flag in zip(coins, flags, strict=True))
        for y, mass in laplace_law(centre, rate, REACH).items():
            law[y] += weight * mass
    return law


def count_law(costs: NDArray[np.int64], rate: float) -> Mapping[Hashable, float]:
    weights = np.exp(-rate * costs)
    return dict(enumerate((weights / weights.sum()).tolist()))


def _run(name: str, charged: Epsilon, release: Callable[..., PersonalRelease]) -> Sampled:
    pairs = (Pair("somebody of budget 1 joins", (1, 0, 1, 0), (1, 1, 1, 0)),)
    return Sampled(name, "somebody of budget 1 among others", charged, pairs, partial(_drawn, release), _SAMPLES)


def _drawn(release: Callable[..., PersonalRelease], flags: Flags, runs: int, entropy: Entropy) -> NDArray[Any]:
    values = np.array(flags)
    return np.stack([np.asarray(release(values, entropy=entropy).noisy) for _ in range(runs)])


def _least_pairs() -> tuple[Pair, ...]:
    others = itertools.product((0, 1), repeat=len(_BUDGETS) - 1)
    return tuple(Pair(f"beside {flags}", (0, *flags), (1, *flags)) for flags in others)
