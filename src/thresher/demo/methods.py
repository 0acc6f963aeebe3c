"""Run every method many times on the same made-up people, and compare its error with its forecast.

Reads: made-up people, entropy. Writes: nothing. Never: a ledger. It reads the truth, which only made-up data allows.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from thresher.demo.eight_people import People
from thresher.noise import Entropy
from thresher.personal.baselines import minimum_plan, threshold_plan
from thresher.personal.count_choice import exponential_frequency, exponential_plan
from thresher.personal.part_releases import partition_frequency
from thresher.personal.partition import in_rounds, most_parts, partition
from thresher.personal.parts import Parts, Rounds
from thresher.personal.personal_release import PersonalRelease
from thresher.personal.precision_partition import precision_partition
from thresher.personal.sampling import sampled_frequency, sampling_plan
from thresher.personal.weighted import weighted_frequency, weighted_plan

RUNS = 30
_PARTS, _ROUNDS = 5, 4
_Draw = Callable[[NDArray[np.bool_]], PersonalRelease]


@dataclass(frozen=True, slots=True)
class Measured:
    """Hold a method's error: the forecast standard deviation, and the root mean square over all runs."""

    method: str
    forecast: float
    seen: float


def measured(people: People, entropy: Entropy, runs: int = RUNS) -> list[Measured]:
    """Return the error of every method, the best forecast first. Each run counts other people, as a forecast does."""
    found = []
    for name, release in _methods(people, entropy).items():
        drawn = [release(people.others(run)) for run in range(runs)]
        seen = math.sqrt(sum((one.estimate - people.truth) ** 2 for one in drawn) / runs)
        found.append(Measured(name, drawn[0].predicted_sd, seen))
    return sorted(found, key=lambda one: one.forecast)


def _methods(people: People, entropy: Entropy) -> dict[str, _Draw]:
    roster, here = people.roster, people.truth
    few = min(_PARTS, most_parts(roster))
    weighted = {
        "weighted": weighted_plan(roster, frequency=here),
        "threshold": threshold_plan(roster, frequency=here),
        "minimum": minimum_plan(roster, frequency=here),
    }
    parts: dict[str, Parts | Rounds] = {
        "utility parts": precision_partition(roster),
        "least waste": partition(roster, few),
        "rounds": in_rounds(roster, few, _ROUNDS),
    }
    drawn: dict[str, _Draw] = {
        name: partial(weighted_frequency, plan, entropy=entropy) for name, plan in weighted.items()
    }
    drawn["sampling"] = partial(sampled_frequency, sampling_plan(roster, frequency=here), entropy=entropy)
    drawn["choice"] = partial(exponential_frequency, exponential_plan(roster, frequency=here), entropy=entropy)
    for name, cut in parts.items():
        drawn[name] = partial(partition_frequency, cut, frequency=here, entropy=entropy)
    return drawn
