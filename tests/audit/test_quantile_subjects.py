"""Quantiles on trial: those that ship stand on their hardest neighbours."""

from fractions import Fraction

import pytest

from thresher.audit.session import tried
from thresher.audit.shipped import quantile_subjects

SHIPPED = quantile_subjects.subjects()
# Laws and errors within a few per cent of what is claimed; a sampled one has noise to allow for.
NEAR = {"law": 0.95, "loss": 0.25, "errors": 0.3}


@pytest.mark.parametrize("subject", SHIPPED, ids=lambda subject: subject.name)
def test_what_ships_stands_and_was_tried_hard(subject, entropy):
    """A true claim is refuted by accident with probability at most 1e-6."""
    found = tried(subject, entropy, Fraction(999_999, 10**6))
    assert found.measured <= found.claimed
    assert found.measured > NEAR[found.kind] * found.claimed
