"""One of many by weight: every path of bits, bits that sit on a boundary, draws at stated odds, and wrong laws."""

import itertools
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from laws import assert_fits, assert_rejected
from scipy import stats

from thresher.errors import ArgumentError, EntropyError
from thresher.noise import SystemEntropy, choices, choose, choose_many, pick, uniform
from thresher.noise.entropy import NotPrivate

DIGITS = 400
# Costs, weights, rate: even and uneven gaps, dear levels beyond the first 64 bits, heavy weights, negative costs.
LAWS = [
    ([0, 1, 2], [1, 1, 1], Fraction(1)),
    ([5, 2, 3, 9], [1, 1, 1, 1], Fraction(1, 10)),
    ([-7, 0, 30], [1, 1, 1], Fraction(3, 2)),
    ([0, 60], [1, 1], Fraction(1)),
    ([0, 50, 100, 150], [1, 1, 1, 1], Fraction(1)),
    ([3, 1, 0], [10**17, 1, 1], Fraction(7, 3)),
    (list(range(40)), [1] * 40, Fraction(1, 3)),
]


class Script:
    """Entropy that serves given bytes in order and then fails."""

    stamp = "NOT PRIVATE"

    def __init__(self, *chunks):
        self._bytes = b"".join(chunks)

    def read(self, count):
        if count > len(self._bytes):
            raise EntropyError("the script is over")
        served, self._bytes = self._bytes[:count], self._bytes[count:]
        return served


def masses(costs, weights, rate):
    """Probabilities by definition, to many digits."""
    weighed = [
        weight * mpmath.exp(-mpmath.mpf(rate.numerator) * cost / rate.denominator)
        for cost, weight in zip(costs, weights, strict=True)
    ]
    total = mpmath.fsum(weighed)
    return [weight / total for weight in weighed]


def boundaries(costs, weights, rate):
    """Indices in the order of the real line, and where it passes from one to the next."""
    law, order = masses(costs, weights, rate), np.argsort(costs, kind="stable")
    return order, np.cumsum([law[i] for i in order])[:-1]


def served(draw, bits):
    """The words that `choose` reads for such a draw: 64 bits, 64 more, 128 more, ..."""
    words, have = [], 64
    while have <= bits:
        width = 64 if have == 64 else have // 2
        words.append((draw >> (bits - have) & ((1 << width) - 1)).to_bytes(width // 8, "little"))
        have *= 2
    return b"".join(words)


def one(costs, rate, weights, entropy):
    return choose(costs, rate, weights, entropy)


def one_of_many(costs, rate, weights, entropy):
    return int(choose_many(costs, rate, weights, 1, entropy)[0])


def sits_on_boundaries(draw_one, law):
    """Just before and just after the first 64, 128 and 256 bits of every boundary, the index is the true one."""
    costs, weights, rate = law
    tried = 0
    with mpmath.workdps(DIGITS):
        order, edges = boundaries(costs, weights, rate)
        for edge, bits in itertools.product(edges, (64, 128, 256)):
            prefix = int(mpmath.floor(edge * mpmath.mpf(2) ** bits))
            # The number ends in nothing but ones, and so lies just below prefix; or in nothing but zeros.
            for word, filler, number in ((prefix - 1, b"\xff", prefix), (prefix + 1, b"\0", prefix + 1)):
                if not 0 <= word < (1 << bits) - 1:
                    continue
                passed = sum(edge < mpmath.mpf(number) / mpmath.mpf(2) ** bits for edge in edges)
                if draw_one(costs, rate, weights, Script(served(word, bits), filler * 4096)) != order[passed]:
                    return False
                tried += 1
    assert tried >= 2 * (len(costs) - 1)
    return True


@pytest.mark.parametrize("law", LAWS, ids=str)
@pytest.mark.parametrize("draw_one", [one, one_of_many])
def test_the_index_flips_exactly_at_the_boundary(draw_one, law):
    assert sits_on_boundaries(draw_one, law)


WRONG_LAWS = {
    "rate off in the 15th place": lambda costs, rate, weights, entropy: choose(
        costs, rate * (1 + Fraction(1, 10**15)), weights, entropy
    ),
    "one more unit of weight": lambda costs, rate, weights, entropy: choose(
        costs, rate, [weights[0] + 1, *weights[1:]], entropy
    ),
    "costs counted double": lambda costs, rate, weights, entropy: choose(
        [2 * cost for cost in costs], rate, weights, entropy
    ),
    "weights forgotten": lambda costs, rate, weights, entropy: choose(costs, rate, None, entropy),
}


@pytest.mark.parametrize("name", WRONG_LAWS)
def test_the_boundary_check_sees_wrong_laws(name):
    assert not sits_on_boundaries(WRONG_LAWS[name], LAWS[5])


def float_powers(gaps, rate, precision):
    for gap in gaps:
        value = int(float(np.exp(-float(rate) * gap)) * 2**60) << (precision - 60)
        yield value, value


def test_the_boundary_check_sees_powers_made_of_floats(monkeypatch):
    monkeypatch.setattr(choices, "_powers", float_powers)
    assert not sits_on_boundaries(one, LAWS[0])
    assert not sits_on_boundaries(one_of_many, LAWS[0])


def test_the_boundary_check_sees_open_draws_that_are_not_continued(monkeypatch):
    def nearest(self, rate, entropy, begun=(0, 0)):
        return 0

    monkeypatch.setattr(choices._Levels, "drawn", nearest)
    assert not sits_on_boundaries(one_of_many, LAWS[0])


@pytest.mark.parametrize("law", [law for law in LAWS if len(law[0]) < 5 and max(law[1]) == 1], ids=str)
def test_every_path_of_sixteen_bits(law, monkeypatch):
    """With a first word of 8 bits: what 16 bits settle, and what they leave open, bracket the true law."""
    monkeypatch.setattr(choices, "_FIRST_BITS", 8)
    costs, weights, rate = law
    settled, open_paths = np.zeros(len(costs)), 0
    for first in range(256):
        try:
            settled[choose(costs, rate, weights, Script(bytes([first])))] += 256
            continue
        except EntropyError:
            pass
        for second in range(256):
            try:
                settled[choose(costs, rate, weights, Script(bytes([first, second])))] += 1
            except EntropyError:
                open_paths += 1
    assert settled.sum() + open_paths == 65_536
    assert 1 <= open_paths <= 2 * len(costs)
    with mpmath.workdps(40):
        for index, mass in enumerate(masses(costs, weights, rate)):
            assert settled[index] <= mass * 65_536 <= settled[index] + open_paths


@pytest.mark.parametrize("weights", [[2, 1, 1], [3, 0, 2], [0, 5], [1] * 200, [7]])
@pytest.mark.parametrize("made", [list, np.array])
def test_picks_are_exactly_proportional(weights, made):
    counts = np.zeros(len(weights), dtype=int)
    for byte in range(256):
        try:
            counts[pick(made(weights), Script(bytes([byte])))] += 1
        except EntropyError:
            continue  # out of range: drawn again
    unit = 256 >> (sum(weights) - 1).bit_length()
    assert (counts == unit * np.array(weights)).all()


def test_weights_of_any_size_can_be_picked():
    assert pick([0, 0, 10**40], SystemEntropy()) == 2
    halves = [pick([10**40, 10**40], SystemEntropy()) for _ in range(200)]
    assert 0 < sum(halves) < 200  # fails by accident with probability 2**-199


@pytest.mark.parametrize("draw_one", [one, one_of_many])
def test_equal_costs_share_by_weight(draw_one):
    """The level is settled by the first word; the next bits run over all of its units."""
    counts = np.zeros(4, dtype=int)
    for units in range(8):
        word = (units << 61).to_bytes(8, "little") if draw_one is one_of_many else bytes([units << 5])
        try:
            counts[draw_one([4, 4, 0, 4], Fraction(1, 10), [1, 2, 1, 3], Script(b"\xf0" * 8, word))] += 1
        except EntropyError:
            continue
    assert counts.tolist() == [1, 2, 0, 3]


@pytest.mark.parametrize("bound", [1, 2, 3, 5, 8, 200, 256])
def test_uniform_draws_are_exactly_uniform(bound):
    """All leading bytes of one word; those out of range are drawn again."""
    counts = np.zeros(bound, dtype=int)
    for byte in range(256):
        try:
            counts[uniform([bound], Script(bytes(7) + bytes([byte])))[0]] += 1
        except EntropyError:
            continue
    assert set(counts.tolist()) == {256 if bound == 1 else 256 >> (bound - 1).bit_length()}


@pytest.mark.parametrize("bound", [(1 << 53) + 1, (1 << 54) - 1, (1 << 54), (1 << 54) + 1, (1 << 62) - 1])
def test_uniform_draws_below_large_bounds(bound, entropy):
    """The largest draw is reachable, one more is not, and the half is where it should be (false failure 1e-6)."""
    spare = 64 - int(np.frexp(bound - 1)[1])
    top = ((bound - 1) << spare).to_bytes(8, "little")
    assert uniform([bound], Script(top)).tolist() == [bound - 1]
    if (bound << spare) < 1 << 64:
        assert uniform([bound], Script((bound << spare).to_bytes(8, "little"), bytes(8))).tolist() == [0]
    draws = uniform([bound] * 40_000, entropy)
    assert 0 <= draws.min() <= draws.max() < bound
    assert abs(int((draws < bound // 2).sum()) - 20_000) < 4.9 * 100


@pytest.mark.parametrize("bounds", [[0], [-1], [[1]], [0.5], [True], None, [1 << 62]], ids=str)
def test_bad_bounds_are_refused(bounds):
    with pytest.raises(ArgumentError, match=r"^bounds = "):
        uniform(bounds)


def chi_square(draws, law):
    expected = np.array([float(mass) for mass in law]) * len(draws)
    observed = np.bincount(draws, minlength=len(expected))
    likely = expected >= 20
    observed = np.append(observed[likely], observed[~likely].sum())
    expected = np.append(expected[likely], expected[~likely].sum())
    statistic = ((observed - expected) ** 2 / np.maximum(expected, 1e-9))[expected > 20].sum()
    return float(stats.chi2.sf(statistic, (expected > 20).sum() - 1))


MANY = [
    (np.abs(np.arange(-30, 31)), np.ones(61, dtype=np.int64), Fraction(1, 5)),
    (np.arange(50) // 5, np.arange(50) * 10**12 + 1, Fraction(1, 3)),
    (np.arange(300)[::-1] - 100, np.arange(300) % 7, Fraction(1, 40)),
]


@pytest.mark.parametrize("law", MANY, ids=["tent", "stairs", "slope"])
def test_draws_fit_the_law_and_a_rate_five_percent_off_is_rejected(law, entropy, trials):
    """Chi-square; false failure at most 1e-6 a check."""
    costs, weights, rate = law
    draws = choose_many(costs, rate, weights, trials(400_000, 4_000_000), entropy)
    right = [masses(costs.tolist(), weights.tolist(), rate * factor) for factor in (1, Fraction(21, 20))]
    assert_fits(chi_square(draws, right[0]))
    assert_rejected(chi_square(draws, right[1]))


def test_one_at_a_time_fits_too(entropy, trials):
    costs, weights, rate = MANY[0][0][20:40], None, Fraction(1, 5)
    draws = np.array([choose(costs, rate, weights, entropy) for _ in range(trials(4_000, 100_000))])
    assert_fits(chi_square(draws, masses(costs.tolist(), [1] * 20, rate)))
    assert_rejected(chi_square(draws, masses(costs.tolist(), [1] * 20, 2 * rate)))


def test_many_draws_are_independent_of_each_other(entropy):
    draws = np.asarray(choose_many([0, 0, 1], 1, None, 400_000, entropy), dtype=float)
    for lag in (1, 2, 1000):
        assert abs(np.corrcoef(draws[lag:], draws[:-lag])[0, 1]) < 4.9 / np.sqrt(draws.size - lag)  # 1e-6


def test_draws_carry_the_stamp_of_their_entropy(entropy):
    assert isinstance(choose_many([0, 1], 1, None, 3, entropy), NotPrivate) == bool(entropy.stamp)
    assert not isinstance(choose_many([0, 1], 1, None, 3), NotPrivate)
    assert choose_many([0, 1], 1, None, 0).shape == (0,)


def test_an_index_without_weight_is_never_drawn(entropy):
    assert set(choose_many([0, 5, 6], 1, [0, 1, 1], 10_000, entropy).tolist()) == {1, 2}
    assert {choose([0, 5, 6], 1, [0, 1, 0], entropy) for _ in range(20)} == {1}


def test_costs_at_the_ends_of_the_range(entropy):
    far = (1 << 62) - 1
    assert choose([far, -far], 1000, entropy=entropy) == 1
    assert choose([far, -far, far], Fraction(1, 10**12), entropy=entropy) == 1
    assert set(choose_many([far, far], 1, None, 100, entropy).tolist()) == {0, 1}


BAD = [
    ("costs", {"costs": []}),
    ("costs", {"costs": [[1, 2]]}),
    ("costs", {"costs": [0.5, 1.0]}),
    ("costs", {"costs": [True, False]}),
    ("costs", {"costs": ["a"]}),
    ("costs", {"costs": [1 << 62]}),
    ("costs", {"costs": None}),
    ("rate", {"rate": 0}),
    ("rate", {"rate": -1}),
    ("rate", {"rate": float("nan")}),
    ("rate", {"rate": "1e-25"}),
    ("rate", {"rate": 10**7}),
    ("rate", {"rate": True}),
    ("weights", {"weights": [1]}),
    ("weights", {"weights": [1, -1]}),
    ("weights", {"weights": [0, 0]}),
    ("weights", {"weights": [1 << 61, 1 << 61]}),
    ("weights", {"weights": [1.5, 2]}),
    ("entropy", {"entropy": 7}),
]


@pytest.mark.parametrize(("field", "given"), BAD, ids=str)
@pytest.mark.parametrize("draw", [choose, choose_many])
def test_bad_arguments_are_refused_before_anything_is_drawn(draw, field, given):
    def never(count):
        raise AssertionError("entropy was read")

    asked = {"costs": [0, 1], "rate": 1, "entropy": SystemEntropy(never)} | given
    with pytest.raises(ArgumentError, match=rf"^{field} = ") as refusal:
        draw(**asked)
    assert refusal.value.field == field


@pytest.mark.parametrize("size", [-1, 1.5, True, 1 << 40])
def test_a_size_is_a_count(size):
    with pytest.raises(ArgumentError, match=r"^size = "):
        choose_many([0, 1], 1, None, size)


BAD_WEIGHTS = [[], [0, 0], [1, -1], [0.5], [True], ["a"], np.array([0]), np.array([-1, 2]), np.array([0.5])]


@pytest.mark.parametrize("weights", BAD_WEIGHTS, ids=str)
def test_bad_weights_are_not_picked_from(weights):
    with pytest.raises(ArgumentError, match=r"^weights = "):
        pick(weights)


def test_messages_show_no_elements():
    secret = 104_729_104_729
    for call in (
        lambda: choose([float(secret)], 1),
        lambda: choose([0, 1], 1, [secret, -secret]),
        lambda: pick([secret, -secret]),
    ):
        with pytest.raises(ArgumentError) as refusal:
            call()
        assert "104729" not in str(refusal.value).replace("_", "")


def test_a_stuck_generator_is_noticed():
    with pytest.raises(EntropyError, match="stuck"):
        choose_many([0, 0, 0], 1, None, 1, Script(b"\0" * 8, b"\xff" * 8 * 300))
