"""Private bounds: the exact loss over all removals of a record, the law, the cap, and refusals."""

from fractions import Fraction

import numpy as np
import pytest
from laws import assert_fits, assert_rejected, largest_loss
from scipy import stats

from thresher.amounts import Epsilon
from thresher.audit.laws.comparison_laws import one_sided, transcript_law
from thresher.errors import ArgumentError
from thresher.mechanisms.bounds import bound_runs, bound_terms, counts_within, private_bound
from thresher.noise import NOT_PRIVATE, SeededEntropy

# So large that noise is never seen.
NO_NOISE = 1000


def noises(terms):
    return one_sided(float(terms.sparse.threshold_rate)), one_sided(float(terms.sparse.query_rate))


def removals(values):
    for value in sorted(set(values)):
        rest = list(values)
        rest.remove(value)
        yield rest


def worst_loss(terms, sets, margins=None):
    margins, worst = margins or (lambda values: terms.margins(np.array(values))), 0.0
    for values in sets:
        for rest in removals(values):
            here, there = (margins(side).tolist() for side in (values, rest))
            worst = max(worst, largest_loss(here, there, 1, *noises(terms)))
    return worst


def spread(*counts):
    return [2**i for i, count in enumerate(counts) for _ in range(count)]


SETS = [spread(18, 0, 1), spread(19, 0, 0, 1), spread(17, 1, 1, 1), spread(1), spread(0, 0, 3), spread(34, 2, 2)]


@pytest.mark.parametrize("fraction", ["0.95", "0.5", "0.1", Fraction(1, 3)])
@pytest.mark.parametrize("size", [None, 20, 40])
def test_the_loss_over_all_removals_is_at_most_what_is_charged(fraction, size):
    terms = bound_terms(1, fraction=fraction, size=size, doublings=3)
    assert worst_loss(terms, SETS) <= float(terms.epsilon.fraction) + 1e-9


def test_both_charges_are_reached():
    private, public = bound_terms(1, doublings=7), bound_terms(1, size=40, doublings=3)
    assert private.epsilon == Epsilon("0.975")
    assert worst_loss(private, [spread(18, 0, 0, 0, 0, 0, 0, 1)]) > 0.974
    assert public.epsilon == Epsilon(1)
    assert worst_loss(public, [spread(34, 2, 2)]) == pytest.approx(1, abs=1e-9)


def test_a_line_rounded_down_would_lose_more():
    """Noise a record wide and the line at floor(0.95 n): more than 0.975 of epsilon."""
    terms = bound_terms(1, fraction="0.95", size=20, doublings=3)  # in whole records
    half = one_sided(0.5)

    def loss(values, rest):
        sides = (counts_within(np.array(v), [1, 2, 4, 8]) - len(v) * 19 // 20 for v in (values, rest))
        here, there = (side.tolist() for side in sides)
        return largest_loss(here, there, 1, half, half)

    values = spread(19, 0, 0, 1)
    assert terms.parts == 1
    assert max(loss(values, rest) for rest in removals(values)) == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize(
    ("fraction", "charge"), [("0.95", "0.975"), ("0.5", "0.75"), ("0.1", "0.95"), ("0.999999", "0.9999995")]
)
def test_what_is_charged(fraction, charge):
    assert bound_terms(1, fraction=fraction).epsilon == Epsilon(charge)
    assert bound_terms(1, fraction=fraction, size=100).epsilon == Epsilon(1)


def test_default_rates():
    terms = bound_terms("0.4")
    assert terms.sparse.threshold_rate * terms.parts == terms.sparse.query_rate * terms.parts == Fraction(1, 5)
    assert terms.doublings == 60
    public = bound_terms("0.4", size=9)
    assert public.sparse.threshold_rate == public.sparse.query_rate == Fraction(2, 5)


@pytest.mark.parametrize("size", [None, 20])
def test_the_search_has_the_law(size, entropy, trials):
    """Chi-square over where it stops; false failure 1e-6. With one record more the law is rejected."""
    values, runs = np.array(spread(17, 1, 1, 1)), trials(200_000, 2_000_000)
    terms = bound_terms(1, size=size, doublings=4)
    steps = bound_runs(values, terms, runs, entropy)
    assert_fits(steps_p(steps, terms, values))
    assert_rejected(steps_p(steps, terms, np.append(values, 16)))


def steps_p(steps, terms, values):
    law = transcript_law(terms.margins(values).tolist(), 1, *noises(terms))
    by_step = [law[(False,) * i + (True,)] for i in range(terms.doublings + 1)]
    expected = np.array([*by_step, law[(False,) * (terms.doublings + 1)]]) * len(steps)
    observed = np.bincount(steps, minlength=len(expected))
    return float(stats.chi2.sf(((observed - expected) ** 2 / expected).sum(), len(expected) - 1))


@pytest.mark.parametrize("size", [None, 4])
def test_without_noise(size):
    """0.5, 3, 5 and 9 in half units; three quarters of them lie within 8, not within 4."""
    found = private_bound([1, 6, 10, 18], NO_NOISE, unit=2, fraction="0.75", size=size)
    assert (found.bound, found.doublings, found.capped) == (16, 3, False)
    for fraction, bound in (("0.25", 2), ("0.5", 8), ("0.76", 32)):
        assert private_bound([1, -6, 10, -18], NO_NOISE, unit=2, fraction=fraction, size=size).bound == bound


def test_the_cap_is_flagged_and_only_the_cap():
    values = [2**40] * 50
    found = private_bound(values, NO_NOISE, doublings=5)
    assert (found.bound, found.doublings, found.capped) == (32, 5, True)
    found = private_bound(values, NO_NOISE, doublings=40)
    assert (found.bound, found.doublings, found.capped) == (2**40, 40, False)
    found = private_bound([7] * 50, NO_NOISE, doublings=0)
    assert (found.bound, found.capped) == (1, True)


@pytest.mark.parametrize("values", [[], np.empty(0, dtype=np.int64), np.empty(0)])
def test_no_data_is_no_error(values, entropy):
    """Whether there are any is as private as what they are."""
    assert private_bound(values, 1, entropy=entropy).bound >= 1
    assert private_bound(values, 1, size=1000, entropy=entropy).capped


def test_constant_data():
    assert private_bound([5] * 1000, 1).bound == 8
    assert private_bound([0] * 1000, 1).bound == 1
    assert private_bound([-8] * 1000, 1).bound == 8


def test_counts_are_those_of_plain_arithmetic():
    values = np.array([0, 1, -1, 2, -3, 8, 9, -(1 << 63), (1 << 63) - 1])
    bounds = [3 * 2**i for i in range(70)]
    plain = [sum(abs(int(value)) <= bound for value in values) for bound in bounds]
    assert counts_within(values, bounds).tolist() == plain


def test_values_beyond_the_machines_are_no_error():
    for values in ([2**90] * 99, np.full(99, 2**64 - 1, dtype=np.uint64), [-(2**70)] * 99):
        found = private_bound(values, 10)
        assert found.bound >= 2**60
    assert private_bound(np.full(99, 2**63, dtype=np.uint64), 10, doublings=70).bound >= 2**62


def test_the_promise_is_kept(entropy, trials):
    """Counts just beyond what is promised, too low; at the promised rate 5 deviations more has chance < 1e-6."""
    runs, terms = trials(40_000, 400_000), bound_terms(1, doublings=6)
    found = private_bound([1] * 10, 1, doublings=6, entropy=entropy)
    lacking = found.within("0.05")
    assert 0 < lacking < 40
    size = 2000
    inside = int(Fraction(95, 100) * size - lacking) - 1
    steps = bound_runs(np.repeat([1, 1 << 40], [inside, size - inside]), terms, runs, entropy)
    assert (steps <= terms.doublings).sum() < 0.05 * runs + 5 * (0.05 * 0.95 * runs) ** 0.5
    nearer = int(Fraction(95, 100) * size - lacking / 2)
    steps = bound_runs(np.repeat([1, 1 << 40], [nearer, size - nearer]), terms, runs, entropy)
    assert (steps <= terms.doublings).sum() > 0.05 * runs + 5 * (0.05 * 0.95 * runs) ** 0.5


def test_the_stamp_is_carried():
    assert private_bound([1], 1, entropy=SeededEntropy(5)).stamp == NOT_PRIVATE
    assert private_bound([1], 1).stamp == ""


SECRET = 424_242
BAD = [
    ("values", lambda: private_bound([float(SECRET)], 1)),
    ("values", lambda: private_bound([float("nan")], 1)),
    ("values", lambda: private_bound([[SECRET]], 1)),
    ("values", lambda: private_bound([SECRET, "x"], 1)),
    ("values", lambda: private_bound([SECRET, [1]], 1)),
    ("values", lambda: private_bound(SECRET, 1)),
    ("values", lambda: private_bound([True], 1)),
    ("values", lambda: private_bound(np.ma.array([SECRET], mask=[True]), 1)),
    ("epsilon", lambda: private_bound([SECRET], 0)),
    ("epsilon", lambda: private_bound([SECRET], "1e-9")),
    ("epsilon", lambda: private_bound([SECRET], 10**5, size=3)),
    ("unit", lambda: private_bound([SECRET], 1, unit=0)),
    ("unit", lambda: private_bound([SECRET], 1, unit=0.5)),
    ("fraction", lambda: private_bound([SECRET], 1, fraction=0)),
    ("fraction", lambda: private_bound([SECRET], 1, fraction=1)),
    ("fraction", lambda: private_bound([SECRET], 1, fraction=float("nan"))),
    ("fraction", lambda: private_bound([SECRET], 1, fraction=Fraction(1, 10**7))),
    ("size", lambda: private_bound([SECRET], 1, size=-1)),
    ("size", lambda: private_bound([SECRET], 1, size=10.0)),
    ("doublings", lambda: private_bound([SECRET], 1, doublings=-1)),
    ("doublings", lambda: private_bound([SECRET], 1, doublings=10**6)),
]


@pytest.mark.parametrize(("field", "ask"), BAD)
def test_a_refusal_names_the_field_and_no_value(field, ask):
    with pytest.raises(ArgumentError) as refusal:
        ask()
    assert refusal.value.field == field
    assert "4242" not in str(refusal.value)


@pytest.mark.parametrize("values", [[2**63, -1], [np.int64(5), 2**70], [2**63], [-(2**64), 2**64]])
def test_a_record_far_out_is_no_reason_to_refuse(values):
    """Lists get their type from their records: an error for some of them would tell of one."""
    assert private_bound(values, "1").bound >= 1
