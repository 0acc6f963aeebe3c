"""ROC curves on trial: those that ship stand on their hardest neighbours, those that are broken do not."""

from dataclasses import replace
from fractions import Fraction

import pytest

from thresher.audit.mutants import diagnostic_mutants
from thresher.audit.session import tried
from thresher.audit.shipped import roc_subjects
from thresher.audit.subjects import Enumerated

BROKEN = "broken_roc_true_totals", "broken_smooth_area_of_these_rows"
MUTANTS = [subject for subject in diagnostic_mutants.subjects() if subject.name in BROKEN]
# Laws near what is claimed; sampled ones have noise to allow for, and whole releases few samples.
NEAR = {
    "ROC curve, label counts": 0.8,
    "ROC curve, fixed thresholds": 0.0,
    "ROC curve": 0.0,
    "smooth area, law": 0.6,
}


@pytest.mark.parametrize("subject", roc_subjects.subjects(), ids=lambda subject: subject.name)
def test_what_ships_stands_and_was_tried_hard(subject, entropy, soak):
    """A true claim is refuted by accident with probability at most 1e-6."""
    if not isinstance(subject, Enumerated) and subject.samples < 5_000 and not soak:
        subject = replace(subject, samples=subject.samples // 3)
    found = tried(subject, entropy, Fraction(999_999, 10**6))
    assert found.measured <= found.claimed
    assert found.measured >= NEAR[subject.name] * found.claimed


@pytest.mark.parametrize("subject", MUTANTS, ids=lambda subject: subject.name)
def test_what_is_broken_is_refuted(subject, entropy):
    found = tried(subject, entropy)
    assert found.measured > 1.2 * found.claimed
