"""The law over partitions: the one that is written down, exactly the one that is drawn, and within its budget."""

import inspect
import math
from collections import Counter
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy import stats

from thresher.errors import ArgumentError
from thresher.mechanisms.histograms import partition_law
from thresher.mechanisms.histograms.deviations import deviations
from thresher.mechanisms.histograms.partition_law import (
    _SCALES,
    _forward,
    _index,
    index_of_draw,
    partition_by_law,
    partition_chances,
    powers_of,
    terms_at,
)
from thresher.mechanisms.histograms.wide_powers import wide_powers
from thresher.noise import SeededEntropy, SystemEntropy

FALSE_FAILURE = 1e-6
EIGHT = [
    (0,) * 8,
    (0, 5, 4, 12, 9, 5, 4, 4),
    (0, 1, 0, 5, 3, 0, 0, 0),
    (0, 0, 0, 0, 18, 15, 0, 13),
    (3, 1, 4, 1, 5, 9, 2, 6),
]


def _written(counts, epsilon, penalty):
    """The law as it is written down, to forty digits."""
    seen = deviations(np.array(counts))
    with mpmath.workdps(60):
        rate = mpmath.mpf(epsilon) / (4 * (seen.unit - 1))
        weights = {(): mpmath.mpf(1)}
        laws = [weights]
        for end in range(1, seen.cells + 1):
            laws.append(
                {
                    (*before, 1 << k): weight * mpmath.exp(-rate * int(seen.costs[k, end - (1 << k)]) - penalty)
                    for k in range(seen.lengths)
                    if 1 << k <= end
                    for before, weight in laws[end - (1 << k)].items()
                }
            )
        total = mpmath.fsum(laws[-1].values())
        return {partition: weight / total for partition, weight in laws[-1].items()}


def test_known_chances():
    chances = partition_chances([0, 0, 5, 5], 1, 1)
    known = {
        (2, 2): 0.490786,
        (1, 1, 2): 0.180550,
        (2, 1, 1): 0.180550,
        (1, 1, 1, 1): 0.066421,
        (4,): 0.047592,
        (1, 2, 1): 0.034101,
    }
    assert chances.keys() == known.keys()
    assert sum(chances.values()) == 1
    for partition, chance in known.items():
        assert float(chances[partition]) == pytest.approx(chance, abs=1e-6)


@pytest.mark.parametrize("counts", [*EIGHT, (1000, 0, 0, 7, 0), (2, 2)])
@pytest.mark.parametrize(("epsilon", "penalty"), [(1, 3), (Fraction(1, 100), 0), (20, 7)])
def test_what_is_drawn_is_what_is_written_down(counts, epsilon, penalty):
    """But for the reserve, which takes less than 10^-12 off the rate of a deviation."""
    drawn, written = partition_chances(counts, epsilon, penalty), _written(counts, epsilon, penalty)
    assert drawn.keys() == written.keys()
    for partition, chance in drawn.items():
        ratio = mpmath.mpf(chance.numerator) / chance.denominator / written[partition]
        assert abs(mpmath.log(ratio)) < 1e-11 * max(1, 2 * sum(counts))


def _loss(here, there):
    return max(
        abs(math.log(here[p].numerator * there[p].denominator / (here[p].denominator * there[p].numerator)))
        for p in here
    )


@pytest.mark.parametrize("counts", EIGHT)
@pytest.mark.parametrize("penalty", [0, 3, 10])
def test_no_neighbour_tells_more_than_epsilon(counts, penalty):
    """Exactly, over all partitions of eight cells; weights that are twice as steep break it."""
    here, steep, worst = partition_chances(counts, 1, penalty), partition_chances(counts, 2, penalty), 0.0
    for j in range(8):
        more = [count + (i == j) for i, count in enumerate(counts)]
        assert _loss(here, partition_chances(more, 1, penalty)) <= 0.72
        worst = max(worst, _loss(steep, partition_chances(more, 2, penalty)))
    if penalty == 10 and any(counts):
        assert worst > 1


def test_rounding_is_taken_off_the_budget():
    """The law is flatter than that of the whole epsilon, by what the reserve takes off and no more."""
    counts, reserve = (0, 9, 9, 9), 5 / 2**46
    drawn, whole = partition_chances(counts, 1), _written(counts, 1, 3)
    single, joined = (1, 1, 1, 1), (4,)
    odds = drawn[single] / drawn[joined]
    flatter = mpmath.log(whole[single] / whole[joined]) - mpmath.log(mpmath.mpf(odds.numerator) / odds.denominator)
    deviation = 13.5
    assert 0 < flatter < 1.1 * reserve * deviation / 3


def test_powers_are_right_to_a_part_in_2_to_the_49_and_never_vanish():
    rate, penalty = Fraction(1, 3000), Fraction(3)
    powers, rng = wide_powers(rate, penalty), np.random.default_rng(2)
    with mpmath.workdps(60):
        for cost in [0, 1, 255, 256, 10**6, (1 << 60) - 1, *rng.integers(0, 1 << 60, 50).tolist()]:
            mantissa, exponent = powers.weight(cost)
            assert 1 <= mantissa <= 256
            error = mpmath.log(mantissa) + exponent * mpmath.log(2) + mpmath.mpf(cost) / 3000 + 3
            assert abs(error) < mpmath.mpf(2) ** -48
    assert powers.weight(1 << 60)[1] < -(10**14)


def _kernels():
    return [inspect.unwrap(_forward), _forward]


def _inputs(cells, words, largest=50, epsilon=1):
    counts = np.random.default_rng(cells).integers(0, largest + 1, cells)
    seen = deviations(counts, 16)
    powers = powers_of(seen, epsilon, 3)
    return seen, powers, (seen.costs, powers.mantissas, powers.exponents, _SCALES, words)


@pytest.mark.parametrize("largest", [3, 10**3, 1 << 40])
def test_compiled_and_plain_agree_to_the_last_bit(largest):
    pytest.importorskip("numba")
    words = np.frombuffer(SeededEntropy(1).read(8 * 301), dtype=np.uint64)
    _, _, inputs = _inputs(300, words, largest)
    plain, fast = (kernel(*inputs) for kernel in _kernels())
    for one, other in zip(plain, fast, strict=True):
        assert (one == other).all()
    assert np.isfinite(plain[0]).all()
    assert (plain[0] > 0).all()


def _exact(terms, number):
    """In which term a fraction of the whole falls."""
    weights = [Fraction(mantissa) * Fraction(2) ** exponent for mantissa, exponent in terms]
    upto, aim = Fraction(0), number * sum(weights)
    for k, weight in enumerate(weights):
        upto += weight
        if aim < upto:
            return k
    raise AssertionError


def test_choices_of_the_loop_are_those_of_exact_numbers(trials):
    """Words at random, and words at the very edges, where the loop has to leave the choice to exact arithmetic."""
    cells = 40
    words = np.frombuffer(SeededEntropy(1).read(8 * (cells + 1)), dtype=np.uint64)
    seen, powers, inputs = _inputs(cells, words)
    sums, exponents, choices = _forward(*inputs)
    left, edges = 0, np.zeros(cells + 1, dtype=np.uint64)
    for end in range(1, cells + 1):
        terms = terms_at(end, seen, powers, (sums, exponents))
        left += choices[end] < 0
        assert choices[end] in (-1, _exact(terms, Fraction(int(words[end]), 1 << 64)))
        weights = [Fraction(mantissa) * Fraction(2) ** exponent for mantissa, exponent in terms]
        edges[end] = min((1 << 64) * sum(weights[: len(weights) // 2]) // sum(weights), (1 << 64) - 1)
    assert left <= 1  # one in 2**40 is expected
    at_edges = _forward(*inputs[:-1], edges)[2]
    assert (at_edges[1:] == -1).all()


def test_edges_are_settled_as_exact_numbers_say():
    terms = [(1.5, 0), (1.25, -3), (1.75, 1), (1.0, -70)]
    weights = [Fraction(mantissa) * Fraction(2) ** exponent for mantissa, exponent in terms]
    for cut in range(1, 4):
        edge = (1 << 64) * sum(weights[:cut]) // sum(weights)
        for word in range(max(edge - 3, 0), min(edge + 4, 1 << 64)):
            found = index_of_draw(terms, word, SystemEntropy(lambda count: b"\x5a" * count))
            low, high = Fraction(word, 1 << 64), Fraction(word + 1, 1 << 64)
            assert found in {_exact(terms, low), _exact(terms, high - Fraction(1, 1 << 300))}
            if _exact(terms, low) == _exact(terms, high - Fraction(1, 1 << 300)):
                assert _index(terms, word, 64) in {None, found}


def test_an_outcome_far_below_any_float_keeps_its_probability():
    """A term of 2**-1500 of the whole is drawn when, and only when, the first 1500 bits say so."""
    terms = [(1.0, 0), (1.0, -1500)]
    ones = (1 << 64) - 1
    assert index_of_draw(terms, ones, SystemEntropy(lambda count: b"\xff" * count)) == 1
    for bits in (1000, 1490):

        class Bits:
            stamp, given = "", 64

            def read(self, count, bits=bits):
                block = [(255 if self.given + 8 * i < bits else 0) for i in range(count)]
                self.given += 8 * count
                return bytes(block)

        class Backwards(Bits):  # the first bits that are read are the lowest of a block
            def read(self, count):
                return super().read(count)[::-1]

        assert index_of_draw(terms, ones, Backwards()) == 0


def test_draws_follow_the_law(entropy, trials):
    """Chi-square over six partitions, false failure 1e-6; the law of another penalty is rejected."""
    runs = trials(4000, 100_000)
    drawn = Counter(tuple(partition_by_law([0, 0, 5, 5], 1, 1, entropy=entropy).tolist()) for _ in range(runs))
    for penalty, fits in ((1, True), (2, False)):
        chances = partition_chances([0, 0, 5, 5], 1, penalty)
        expected = np.array([float(chance) * runs for chance in chances.values()])
        observed = np.array([drawn[partition] for partition in chances])
        assert observed.sum() == runs
        p_value = stats.chi2.sf(((observed - expected) ** 2 / expected).sum(), len(expected) - 1)
        assert (p_value > FALSE_FAILURE) if fits else (p_value < 1e-20)


def test_draws_follow_the_law_when_every_choice_is_left_to_exact_arithmetic(entropy, trials, monkeypatch):
    """The slow path has the same law: with the loop's choices thrown away, all are made by `index_of_draw`."""

    def undecided(*inputs):
        sums, exponents, choices = _forward(*inputs)
        return sums, exponents, np.full_like(choices, -1)

    monkeypatch.setattr(partition_law, "_forward", undecided)
    test_draws_follow_the_law(entropy, trials)


@pytest.mark.parametrize(("penalty", "most"), [(4, 1), (0, None)])
def test_a_flat_list_becomes_one_bucket_if_buckets_cost_enough(penalty, most, entropy):
    """One bucket has probability 0.98 at penalty 4: over 10 others in 30 draws come with probability below 1e-10."""
    sizes = [partition_by_law(np.zeros(1024, dtype=np.int64), 1, penalty, entropy=entropy).size for _ in range(30)]
    if most:
        assert sum(size > most for size in sizes) <= 10
    else:
        assert min(sizes) > 200


def test_a_step_is_found_and_lengths_are_powers_of_two(entropy):
    counts = np.repeat([0, 10_000, 300], [40, 88, 100])
    lengths = partition_by_law(counts, 1, entropy=entropy)
    assert lengths.sum() == counts.size
    assert not (lengths & (lengths - 1)).any()
    ends = set(np.cumsum(lengths).tolist())
    assert {40, 128} <= ends  # a bucket across a step of 300 or more has odds below exp(-70)


@pytest.mark.parametrize("cells", [1, 2, 3, 5, 1023, 1025])
def test_any_number_of_cells(cells, entropy):
    assert partition_by_law(np.zeros(cells, dtype=np.int64), 1, entropy=entropy).sum() == cells


def test_single_cells_only_if_no_longer_bucket_is_allowed():
    assert partition_by_law([5, 5, 5], 1, longest=1).tolist() == [1, 1, 1]
    assert partition_chances([5, 5, 5], 1, longest=1) == {(1, 1, 1): 1}


def test_counts_as_large_as_can_be_are_no_trouble(entropy):
    counts = [1 << 61, 0, 1 << 61, 0, 0, 0, 0, 0]
    lengths = partition_by_law(counts, 100, entropy=entropy)
    assert lengths[:3].tolist() == [1, 1, 1]


@pytest.mark.parametrize(("field", "arguments"), [
    ("epsilon", {"epsilon": 0}), ("epsilon", {"epsilon": -1}), ("epsilon", {"epsilon": "1e-14"}),
    ("epsilon", {"epsilon": 101}), ("epsilon", {"epsilon": float("nan")}), ("epsilon", {"epsilon": True}),
    ("penalty", {"penalty": -1}), ("penalty", {"penalty": 51}), ("penalty", {"penalty": float("inf")}),
    ("longest", {"longest": 3}), ("counts", {"counts": []}), ("counts", {"counts": [-1]}),
    ("counts", {"counts": [0.5]}), ("counts", {"counts": [[1]]}), ("entropy", {"entropy": 7}),
])  # fmt: skip
def test_bad_arguments_are_refused(field, arguments):
    with pytest.raises(ArgumentError, match=rf"^{field} = ") as refusal:
        partition_by_law(**{"counts": [104729, 3], "epsilon": 1} | arguments)
    assert "104729" not in str(refusal.value)


def test_all_partitions_are_listed_for_few_cells_only():
    assert sum(partition_chances(range(16), 1).values()) == 1
    with pytest.raises(ArgumentError, match=r"^counts = '17 cells'"):
        partition_chances(range(17), 1)
