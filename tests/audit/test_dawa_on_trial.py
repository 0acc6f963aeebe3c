"""The published first stage of DAWA is refuted, the shipped ones stand; the leaking one is as accurate as it looks."""

import numpy as np
import pytest

from thresher.audit.mutants import histogram_mutants as mutants
from thresher.audit.session import tried
from thresher.audit.shipped import partition_subjects as shipped
from thresher.audit.subjects import Enumerated
from thresher.noise import NOT_PRIVATE, SeededEntropy

BROKEN = {subject.name: subject for subject in mutants.subjects() if "dawa" in subject.name}


@pytest.mark.parametrize("name", BROKEN)
def test_every_fault_is_refuted(name):
    found = tried(BROKEN[name], SeededEntropy(1))
    assert found.refuted
    assert found.measured > 1.2 * found.claimed


def test_the_laws_that_ship_stand_and_are_not_far_from_what_they_claim():
    for subject in shipped.subjects():
        if isinstance(subject, Enumerated):
            found = tried(subject, SeededEntropy(1))
            assert not found.refuted
            assert found.measured > 0.6 * found.claimed


def test_the_shipped_argmin_stands_where_the_broken_one_falls():
    (subject,) = (one for one in shipped.subjects() if one.name == "dawa-argmin, partition")
    assert {pair.here for pair in subject.pairs} >= {pair.here for pair in BROKEN["broken_dawa_as_published"].pairs}
    assert not tried(subject, SeededEntropy(1)).refuted


def test_the_leaking_histogram_is_a_histogram():
    counts = np.arange(24).reshape(4, 6)
    seen = mutants.broken_dawa(counts, 100, entropy=SeededEntropy(1))
    assert seen.counts.shape == counts.shape
    assert seen.stamp == NOT_PRIVATE
    assert np.abs(seen.counts - counts).max() < 12
