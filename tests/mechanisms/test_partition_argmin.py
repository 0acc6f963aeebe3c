"""The noisy argmin: noise on every bucket, the cheapest partition by brute force, a law within its budget."""

import inspect
import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from laws import assert_fits, assert_rejected, geometric_p

from thresher.audit.shipped.partition_subjects import ends_of_cheapest
from thresher.errors import ArgumentError
from thresher.mechanisms.histograms import partition_argmin as module
from thresher.mechanisms.histograms.deviations import Deviations, deviations
from thresher.mechanisms.histograms.partition_argmin import cheapest, noisy_prices, partition_by_argmin, shift
from thresher.noise import tail


def _compositions(cells, lengths):
    if not cells:
        yield ()
    for k in range(lengths):
        if 1 << k <= cells:
            for before in _compositions(cells - (1 << k), lengths):
                yield (*before, 1 << k)


def _total(prices, partition):
    starts = np.cumsum((0, *partition[:-1]))
    return sum(int(prices[length.bit_length() - 1, start]) for length, start in zip(partition, starts, strict=True))


def _brute_force(prices):
    """The cheapest; among equals, the least when lengths are read from the right."""
    lengths, cells = prices.shape
    return min(_compositions(cells, lengths), key=lambda partition: (_total(prices, partition), partition[::-1]))


@pytest.mark.parametrize("largest", [1, 3, 100, 1 << 60])
def test_the_cheapest_partition_and_its_ties_are_those_of_brute_force(largest):
    """Small prices make many ties; huge ones leave 64 bits and are added up in Python's integers."""
    rng = np.random.default_rng(largest % 1000)
    for cells in (1, 2, 3, 5, 7):
        for _ in range(20):
            lengths = min(cells.bit_length(), 3)
            prices = rng.integers(-largest, largest + 1, (lengths, cells))
            expected = _brute_force(prices)
            assert tuple(cheapest(prices).tolist()) == expected
            if largest < 1 << 60:
                ends = np.flatnonzero(ends_of_cheapest(prices[:, None, :])[0]) + 1
                assert tuple(np.diff([0, *ends, cells]).tolist()) == expected


def test_compiled_and_plain_agree():
    pytest.importorskip("numba")
    prices = np.random.default_rng(3).integers(-5, 6, (5, 400))
    plain = inspect.unwrap(module._last_buckets)(prices, np.zeros(401, dtype=np.int64))
    assert (plain == module._last_buckets(prices, np.zeros(401, dtype=np.int64))).all()


@pytest.mark.parametrize("unit", [2, 4, 64, 1024])
def test_scales_are_those_of_the_proof(unit):
    for k in range(unit.bit_length()):
        assert Fraction(shift(1 << k, unit), unit) == 2 * (2 - Fraction(1, 1 << k) - Fraction(1, unit))
    assert Fraction(shift(1, unit), unit) == 2 * (1 - Fraction(1, unit))
    assert Fraction(shift(2, unit), unit) == 2 * (Fraction(3, 2) - Fraction(1, unit))


def test_every_bucket_has_noise_of_its_scale(entropy):
    """Single cells too. False failure 1e-6 a length; a scale 10 % off is rejected."""
    seen = Deviations(np.zeros((4, 100_000), dtype=np.int64))
    prices = noisy_prices(seen, Fraction(1, 2), Fraction(0), entropy)
    for k in range(4):
        noise = -prices[k, : 100_000 - (1 << k) + 1]
        scale = shift(1 << k, seen.unit) * 2
        assert_fits(geometric_p(noise, scale))
        assert_rejected(geometric_p(noise, 1.1 * scale))


def test_prices_are_deviation_and_charge_less_noise(entropy):
    seen = deviations(np.array([0, 9, 3, 3]))
    prices = noisy_prices(seen, Fraction(100), Fraction(5, 2), entropy)
    noise = seen.costs + 10 - prices
    assert (noise >= 0).all()
    assert noise.max() < 10


EPSILON, SCALES = 6, 16
MISSING = 5 * math.exp(-SCALES)


def _law(counts, divisor=1):
    """The probability of every partition of three cells, over all noises of up to 16 scales, by the shipped argmin."""
    seen = deviations(np.array(counts))
    candidates = [(k, start) for k in range(2) for start in range(3 - (1 << k) + 1)]
    rates = [divisor * EPSILON / shift(1 << k, 2) for k, _ in candidates]
    law = {}
    for noises in product(*(range(math.ceil(SCALES / rate)) for rate in rates)):
        prices, chance = seen.costs + 2, 1.0
        for (k, start), rate, noise in zip(candidates, rates, noises, strict=True):
            prices[k, start] -= noise
            chance *= -math.expm1(-rate) * math.exp(-rate * noise)
        partition = tuple(cheapest(prices).tolist())
        law[partition] = law.get(partition, 0.0) + chance
    assert 1 - MISSING <= sum(law.values()) <= 1 + 1e-12
    return law


@pytest.mark.parametrize(("here", "there"), [((0, 0, 0), (0, 1, 0)), ((0, 2, 2), (1, 2, 2)), ((1, 0, 1), (1, 0, 0))])
def test_the_law_of_three_cells_stays_within_epsilon(here, there):
    """Exactly, but for noise beyond 16 scales, which is given to whichever side is the worse."""
    one, other = _law(here), _law(there)
    for partition in one:
        assert one[partition] - MISSING <= math.exp(EPSILON) * other[partition]
        assert other[partition] - MISSING <= math.exp(EPSILON) * one[partition]


def test_at_half_the_scale_the_law_of_three_cells_does_not():
    one, other = _law((0, 0, 0), divisor=2), _law((0, 1, 0), divisor=2)
    single = (1, 1, 1)
    assert other[single] - MISSING > math.exp(EPSILON) * (one[single] + MISSING)


def test_without_noise_on_single_cells_the_law_of_four_cells_loses_more_than_epsilon():
    """The partition into single cells wins if no bucket of more cells is cheaper: 1.3 epsilon at these scales."""
    epsilon, charge = Fraction(1), 40

    def chance_of_single_cells(counts):
        seen, chance = deviations(np.array(counts)), 1.0
        for k in range(1, 3):
            for start in range(4 - (1 << k) + 1):
                wanting = ((1 << k) - 1) * charge - int(seen.costs[k, start])
                chance *= tail(epsilon, wanting, shift(1 << k, seen.unit)).low
        return chance

    lost = math.log(chance_of_single_cells([0, 1, 0, 0]) / chance_of_single_cells([0, 0, 0, 0]))
    assert lost == pytest.approx(1.3, abs=1e-6)


def test_single_cells_win_just_if_no_longer_bucket_is_cheaper():
    """What the calculation above rests on, by the shipped argmin."""
    rng = np.random.default_rng(4)
    for _ in range(300):
        prices = rng.integers(-3, 9, (3, 4))
        prices[0] = 2
        beaten = any(prices[k, start] < 2 << k for k in (1, 2) for start in range(4 - (1 << k) + 1))
        assert (cheapest(prices).size == 4) == (not beaten)


@pytest.mark.parametrize(("charge", "least", "most"), [(0, 400, 1024), (16, 1, 20)])
def test_the_charge_keeps_a_flat_list_from_shattering(charge, least, most, entropy):
    """Seen: 662 buckets on average without a charge, 1.1 with 16 / epsilon."""
    for _ in range(5):
        lengths = partition_by_argmin(np.zeros(1024, dtype=np.int64), 1, charge, entropy=entropy)
        assert least <= lengths.size <= most


@pytest.mark.parametrize("cells", [1, 2, 3, 5, 100])
def test_any_number_of_cells(cells, entropy):
    lengths = partition_by_argmin(np.zeros(cells, dtype=np.int64), 1, entropy=entropy)
    assert lengths.sum() == cells
    assert not (lengths & (lengths - 1)).any()


def test_counts_as_large_as_can_be_are_no_trouble(entropy):
    assert partition_by_argmin([1 << 61, 0] * 4, 1, entropy=entropy).tolist() == [1] * 8


@pytest.mark.parametrize(("field", "arguments"), [
    ("epsilon", {"epsilon": 0}), ("epsilon", {"epsilon": "1e-9"}), ("epsilon", {"epsilon": 101}),
    ("epsilon", {"epsilon": None}), ("charge", {"charge": -1}), ("charge", {"charge": "1e11"}),
    ("longest", {"longest": 6}), ("counts", {"counts": []}), ("counts", {"counts": [-104729]}),
    ("counts", {"counts": [[1]]}), ("entropy", {"entropy": 7}),
])  # fmt: skip
def test_bad_arguments_are_refused(field, arguments):
    with pytest.raises(ArgumentError, match=rf"^{field} = ") as refusal:
        partition_by_argmin(**{"counts": [104729, 3], "epsilon": 1} | arguments)
    assert "104729" not in str(refusal.value)
