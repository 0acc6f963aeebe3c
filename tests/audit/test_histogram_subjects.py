"""What the audit is told about histograms: laws within the charge, and a charge below the law refuted."""

from dataclasses import replace

import pytest

from thresher.amounts import Epsilon
from thresher.audit.shipped.histogram_subjects import subjects
from thresher.audit.subjects import Enumerated, Sampled
from thresher.audit.testers.black_box import tried_by_sampling
from thresher.audit.testers.exact import tried_by_law

LAWS = [subject for subject in subjects() if isinstance(subject, Enumerated)]
RUNS = [subject for subject in subjects() if isinstance(subject, Sampled)]


@pytest.mark.parametrize("subject", LAWS, ids=lambda subject: subject.name)
def test_enumerated_laws_reach_the_charge_and_not_beyond(subject):
    assert not tried_by_law(subject).refuted
    assert tried_by_law(replace(subject, charged=Epsilon("7.9"))).refuted


@pytest.mark.parametrize("subject", RUNS, ids=lambda subject: subject.name)
def test_every_run_is_a_row_whatever_the_side(subject, entropy):
    for pair in subject.pairs:
        shapes = [subject.run(side, 7, entropy).shape for side in (pair.here, pair.there)]
        assert shapes[0] == shapes[1]
        assert shapes[0][0] == 7


def test_a_charge_of_half_is_refuted_by_runs(entropy):
    """Told that they cost 1, not 2, `laplace` and `uniform` are refuted; told what they cost, they stand."""
    for subject, samples in zip(RUNS[:2], (20_000, 5_000), strict=True):
        told = replace(subject, charged=Epsilon(1), samples=samples)
        assert tried_by_sampling(told, entropy).refuted
        assert not tried_by_sampling(replace(subject, samples=samples), entropy).refuted
