"""A budget of one's own: releases in which every person loses at most what that person allows.

    roster (public budgets) ─► plan (weights, parts or rates: a function of the roster alone) ─► one or more releases

Reads: a public roster, private values in its order, entropy. Writes: nothing. Never: a plan made by looking at who is
present; a person whose budget is 0.
"""

from thresher.personal.baselines import minimum_plan, threshold_plan
from thresher.personal.count_choice import exponential_frequency, exponential_plan
from thresher.personal.part_releases import partition_frequency, partition_mean, partition_sum
from thresher.personal.partition import partition
from thresher.personal.parts import Parts
from thresher.personal.precision_partition import precision_partition
from thresher.personal.roster import Roster
from thresher.personal.rounds import in_rounds
from thresher.personal.sampling import sampled_frequency, sampled_sum, sampling_plan
from thresher.personal.weighted import (
    weighted_frequency,
    weighted_histogram,
    weighted_mean,
    weighted_plan,
    weighted_sum,
)

__all__ = [
    "Parts",
    "Roster",
    "exponential_frequency",
    "exponential_plan",
    "in_rounds",
    "minimum_plan",
    "partition",
    "partition_frequency",
    "partition_mean",
    "partition_sum",
    "precision_partition",
    "sampled_frequency",
    "sampled_sum",
    "sampling_plan",
    "threshold_plan",
    "weighted_frequency",
    "weighted_histogram",
    "weighted_mean",
    "weighted_plan",
    "weighted_sum",
]
