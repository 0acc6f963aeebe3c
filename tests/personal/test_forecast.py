"""Forecasts say which methods assume that budgets are independent of the values: the same as the releases say."""

import numpy as np
import pytest

from thresher.noise import SeededEntropy
from thresher.personal.baselines import minimum_plan, threshold_plan
from thresher.personal.count_choice import exponential_frequency, exponential_plan
from thresher.personal.forecast import forecast
from thresher.personal.part_releases import partition_frequency
from thresher.personal.precision_partition import precision_partition
from thresher.personal.roster import Roster
from thresher.personal.sampling import sampled_frequency, sampling_plan
from thresher.personal.weighted import weighted_frequency, weighted_plan


@pytest.mark.parametrize("budgets", [["0.1"] * 40, ["0", *["0.1"] * 39], ["0.1", *["0.5"] * 39]])
def test_a_method_assumes_what_its_release_assumes(budgets):
    roster, flags, entropy = Roster.of(budgets), np.ones(40, dtype=np.bool_), SeededEntropy(1)
    releases = {
        "weighted": weighted_frequency(weighted_plan(roster), flags, entropy=entropy),
        "minimum": weighted_frequency(minimum_plan(roster), flags, entropy=entropy),
        "threshold": weighted_frequency(threshold_plan(roster), flags, entropy=entropy),
        "sampling": sampled_frequency(sampling_plan(roster), flags, entropy=entropy),
        "choice": exponential_frequency(exponential_plan(roster), flags, entropy=entropy),
        "utility parts": partition_frequency(precision_partition(roster), flags, entropy=entropy),
    }
    outlooks = {one.method: one.assumes for one in forecast(roster).outlooks}
    assert {name: outlooks[name] for name in releases} == {name: bool(one.assumption) for name, one in releases.items()}
    # Where somebody allows nothing, no method reads them, so every method assumes something of them.
    if budgets[0] == "0":
        assert all(outlooks.values())
