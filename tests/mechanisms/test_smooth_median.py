"""The smooth median: published numbers, brute force, all small neighbours, exact noise, and how far it is behind."""

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from laws import assert_fits, assert_rejected, cauchy_loss
from scipy import stats

from thresher.audit.mutants.quantile_mutants import subjects as mutants
from thresher.errors import ArgumentError, EntropyError
from thresher.mechanisms import cauchy
from thresher.mechanisms import smooth_median as module
from thresher.mechanisms.cauchy import point_near
from thresher.mechanisms.public_grid import grid_of
from thresher.mechanisms.quantiles import recursive_medians
from thresher.mechanisms.smooth_median import (
    DEFAULT_SMOOTHING,
    noise_factor,
    placed_median,
    smooth_median,
    smooth_sensitivity,
)
from thresher.noise import SystemEntropy

FIVE = (0.1, 0.2, 0.4, 0.8, 0.9)


def windows(values, low, high):
    """A_k: the widest window around the middle with k ranks inside, by trying all."""
    line = [low, *sorted(values), high]
    middle = (len(line) - 1) // 2
    widest = [0.0] * (len(values) + 1)
    for i in range(middle + 1):
        for j in range(max(middle, i + 1), len(line)):
            widest[j - i - 1] = max(widest[j - i - 1], line[j] - line[i])
    return widest


def by_brute_force(values, low, high, smoothing):
    return max(width * math.exp(-smoothing * k) for k, width in enumerate(windows(values, low, high)))


def worst_loss(factor, smoothing):
    """What noise of so many smooth sensitivities can lose: either the place moves, or place and scale do."""
    place = 1 / (2 * factor * factor)
    both = 2 * math.sinh(smoothing / 2) ** 2 + math.exp(-smoothing) * place
    return 2 * math.asinh(math.sqrt(max(place, both) / 2))


def test_published_sensitivities():
    assert windows(FIVE, 0, 1)[:5] == pytest.approx([0.4, 0.6, 0.7, 0.8, 0.9])
    for values, smoothing, expected in [
        (FIVE, 0.1, 0.606531),
        (FIVE, 0.5, 0.4),
        ((0.5,), 0.2, 0.818731),
        ((), 0.2, 1),
        ((0, 0, 0, 1, 1), 0.3, 1),
        (np.linspace(0.05, 0.95, 19), 0.25, 0.094473),
    ]:
        assert smooth_sensitivity(values, 0, 1, smoothing) == pytest.approx(expected, abs=1e-6)


def test_published_constants_and_losses():
    for epsilon, smoothing, expected in [("1", "0.5", 0.959517), ("0.1", "0.0866", 19.1368), ("0.1", "0.05", 11.2560)]:
        assert float(noise_factor(epsilon, smoothing)) == pytest.approx(expected, rel=5e-6)
    assert cauchy_loss((0, 1), (1, 1)) == pytest.approx(0.962424, abs=1e-6)
    assert cauchy_loss((0, 1), (0, 2)) == pytest.approx(math.log(2))
    assert cauchy_loss((0, 1), (1, 2)) == pytest.approx(0.962424, abs=1e-6)
    # Of the printed constants, of those of the framework's authors, and of a third rule: loss / epsilon.
    rules = {"print": lambda e: (8 / e, e), "authors": lambda e: (6 / e, e / 6), "half": lambda e: (2 / e, e / 2)}
    published = {"print": (1.0077, 1.0070, 1.0024), "authors": (0.236, 0.235, 0.226), "half": (0.706, 0.698, 0.628)}
    for name, rule in rules.items():
        found = [worst_loss(*rule(e)) / e for e in (0.01, 0.1, 1)]
        assert found == pytest.approx(published[name], abs=6e-4)


@pytest.mark.parametrize("smoothing", [1e-4, 0.03, 0.3, 2.0])
def test_halving_equals_brute_force(smoothing, trials):
    generator = np.random.default_rng(7)
    for _ in range(trials(100, 2000)):
        size = int(generator.integers(0, 40))
        values = generator.choice([generator.uniform(size=size), generator.integers(0, 6, size=size) / 5])
        values = values ** generator.choice([1, 4])
        expected = by_brute_force(values, 0, 1, smoothing)
        assert smooth_sensitivity(values, 0, 1, smoothing) == pytest.approx(expected, rel=1e-12)


def test_many_records_are_a_matter_of_sorting():
    values = np.random.default_rng(3).uniform(size=300_000)
    found = smooth_sensitivity(values, 0, 1, "0.0001")
    middle = np.sort(values)[149_999 - 400 : 149_999 + 402]
    assert found >= (middle[-1] - middle[0]) * math.exp(-1e-4 * 801)
    assert found < 0.02


def small_pairs(points=5, most=4):
    for size in range(most + 1):
        for records in itertools.combinations_with_replacement(range(points), size):
            for extra in range(points):
                yield np.array(records, dtype=np.int64), np.sort(np.array([*records, extra], dtype=np.int64))


def place(records):
    return float(records[(records.size + 1) // 2 - 1]) if records.size else 0.0


@pytest.mark.parametrize("smoothing", [0.05, 0.5, 1.5])
def test_sensitivity_bounds_the_move_of_the_median_and_is_smooth(smoothing):
    """All data of up to five records on five points, by brute force; the constant is attained."""
    steepest = 0.0
    for fewer, more in small_pairs():
        one, other = (by_brute_force(records.tolist(), 0, 4, smoothing) for records in (fewer, more))
        assert abs(place(fewer) - place(more)) <= min(one, other) * (1 + 1e-12)
        steepest = max(steepest, abs(math.log(one / other)))
    assert steepest == pytest.approx(smoothing, rel=1e-9)


@pytest.mark.parametrize("epsilon", ["0.1", "1", "3"])
@pytest.mark.parametrize("share", ["0.2", "0.5", "0.866025403", "0.99"])
def test_no_small_neighbours_lose_more_than_epsilon(epsilon, share):
    spend = Fraction(epsilon)
    smooth, worst = spend * Fraction(share), 0.0
    known = {}
    for pair in small_pairs(most=3):
        for records in pair:
            key = records.tobytes()
            known[key] = known.get(key) or placed_median(records, 4, spend, smooth)
        losses = [(centre, float(scale)) for centre, scale in (known[records.tobytes()] for records in pair)]
        worst = max(worst, cauchy_loss(*losses))
    assert worst <= float(spend) * (1 + 1e-9)
    assert worst > 0.6 * float(smooth)
    assert worst_loss(float(noise_factor(spend, smooth)), float(smooth)) == pytest.approx(float(spend), rel=1e-9)


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 0.5, 1.0])
def test_printed_constants_lose_more_on_data(epsilon):
    """So many records at 0, one more than that at a = exp(-epsilon (lot + 1)), and one more at 0.

    The median moves as far as it may, and the scale too but for a factor 1 - a.
    """
    lot = math.ceil(16 / epsilon)
    a = math.exp(-epsilon * (lot + 1))
    data = [0.0] * lot + [a] * (lot + 1)
    one, other = (smooth_sensitivity(records, 0, 1, epsilon) for records in (data, [0.0, *data]))
    assert (one, other) == pytest.approx(((1 - a) * math.exp(-epsilon * lot), a))
    loss = cauchy_loss((a, 8 / epsilon * one), (0, 8 / epsilon * other))
    assert loss == pytest.approx(worst_loss(8 / epsilon, epsilon), rel=1e-4)
    assert 1.002 < loss / epsilon < 1.0078
    factor = float(noise_factor(epsilon, 0.866 * epsilon))
    one, other = (smooth_sensitivity(records, 0, 1, 0.866 * epsilon) for records in (data, [0.0, *data]))
    assert cauchy_loss((a, factor * one), (0, factor * other)) <= epsilon


def test_the_mutant_loses_more_on_what_it_puts_out():
    (mutant,) = (subject for subject in mutants() if "smooth_median" in subject.name)
    loss = 0.0
    for pair in mutant.pairs:
        here, there = mutant.law(pair.here), mutant.law(pair.there)
        assert sum(here.values()) == pytest.approx(1)
        assert here.keys() == there.keys()
        assert abs(len(pair.here) - len(pair.there)) == 1
        loss = max(loss, *(abs(math.log(here[cell] / there[cell])) for cell in here))
    assert 1.006 < loss / float(mutant.charged) < 1.0078


# The draw


def cell_law(centre, scale, steps):
    """P of every point, by arctangents in forty digits."""
    with mpmath.workdps(40):
        edges = [mpmath.atan((k + mpmath.mpf(1) / 2 - centre) / scale) / mpmath.pi for k in range(steps)]
        ends = [-mpmath.mpf(1) / 2, *edges, mpmath.mpf(1) / 2]
        return [high - low for low, high in itertools.pairwise(ends)]


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


@pytest.mark.parametrize("sign", [0, 1])
def test_all_first_bits_bracket_the_law(sign, monkeypatch):
    """With words of 8 bits, all 65,536 first pairs: what they settle, and what they leave open, bracket the law."""
    monkeypatch.setattr(cauchy, "_WORD", 8)
    centre, scale, steps = 2, Fraction(4, 3), 5
    settled, left_open, area = np.zeros(steps + 1), 0, math.pi / 4 * 65_536
    for x in range(256):
        for y in range(256):
            try:
                settled[point_near(centre, scale, steps, Script(bytes([sign, x, y])))] += 1
            except EntropyError:
                left_open += (x * x + y * y) < 65_536  # or it was outside, and thrown away
    assert left_open < 0.05 * area
    with mpmath.workdps(40):
        law = cell_law(mpmath.mpf(2), mpmath.mpf(4) / 3, steps)
        for point in range(steps + 1):
            # One sign reaches one side of the centre, and half of its cell.
            share = law[point] / 2 if point == centre else law[point] * ((point > centre) == (sign == 0))
            assert settled[point] <= 2 * share * area <= settled[point] + left_open


def test_noise_on_an_edge_is_written_further():
    """X / Y = 1/2 up to 64 bits, with scale 1 around 3: the next bits say whether it is 3 or 4, or, mirrored, 2."""
    x, y = (1 << 62).to_bytes(8, "little"), (1 << 63).to_bytes(8, "little")
    less, more = (0).to_bytes(8, "little"), (9).to_bytes(8, "little")
    for sign, below, above in ((b"\0", 3, 4), (b"\1", 3, 2)):
        assert point_near(3, Fraction(1), 9, Script(sign, x, y, less, more)) == below
        assert point_near(3, Fraction(1), 9, Script(sign, x, y, more, less)) == above
        with pytest.raises(EntropyError, match="over"):
            point_near(3, Fraction(1), 9, Script(sign, x, y))


def test_points_outside_the_disc_are_thrown_away():
    far = b"\xff" * 8
    inside = [(1 << 61).to_bytes(8, "little"), (1 << 63).to_bytes(8, "little")]
    assert point_near(3, Fraction(4), 9, Script(b"\0", far, far, far, far, *inside)) == 4


def chi_square(draws, law):
    expected = np.array([float(mass) for mass in law]) * len(draws)
    observed = np.bincount(draws, minlength=len(expected))
    assert expected.min() > 10
    return float(stats.chi2.sf(((observed - expected) ** 2 / expected).sum(), len(expected) - 1))


def test_draws_fit_the_arctangent_law(entropy, trials):
    """Through the public function; false failure at most 1e-6, and a scale a half off is rejected."""
    data, steps, spend = [0.2, 0.3, 0.45, 0.5, 0.9], 10, Fraction(2)
    draws = [smooth_median(data, grid_of(0, 1, steps), 2, entropy=entropy) for _ in range(trials(4_000, 60_000))]
    points = np.array([draw.point for draw in draws])
    centre, scale = placed_median(np.array([2, 3, 4, 5, 9]), steps, spend, spend * DEFAULT_SMOOTHING)
    assert centre == 4
    assert_fits(chi_square(points, cell_law(centre, mpmath.mpf(float(scale)), steps)))
    for wrong in (1.5, 1 / 1.5):
        assert_rejected(chi_square(points, cell_law(centre, mpmath.mpf(float(scale) * wrong), steps)))
    assert {draw.value for draw in draws} <= {point / 10 for point in range(11)}
    assert (str(draws[0].epsilon), draws[0].stamp) == ("2", entropy.stamp)


def test_noise_without_width_finds_the_atom(entropy):
    assert smooth_median([0.25] * 4000, grid_of(0, 1), 1, entropy=entropy).value == 0.25
    assert placed_median(np.full(10**5, 7), 10, Fraction(1), Fraction(1, 2))[1] > 0
    assert smooth_median([], grid_of(0, 1), 1).stamp == ""


# How far it is behind the exponential mechanism


def recursive_smooth(records, depth, epsilon, printed, generator):
    """Algorithm 12 in floats, for the error alone: out of range goes to the middle. Printed or corrected constants."""
    share = epsilon / depth
    if printed:
        factor, smoothing = 16 / share, share / 2
    else:
        smoothing = share * math.sqrt(0.75)
        factor = float(noise_factor(share, smoothing))

    def find(part, levels, low, high):
        if not levels:
            return []
        scale = factor * module._largest_window(part, low, high, smoothing)
        centre = part[(part.size + 1) // 2 - 1] if part.size else low
        point = centre + scale * generator.standard_cauchy()
        if not low < point < high:
            point = (low + high) / 2
        below, above = part[part < point], part[part > point]
        return [*find(below, levels - 1, low, point), point, *find(above, levels - 1, point, high)]

    return find(np.sort(records), depth, 0.0, 1.0)


# Data, n, depth, epsilon, and the published mean rank errors: printed, corrected, exponential mechanism.
TABLE = [
    ("beta(.3, 3)", 600, 5, 0.2, (0.422, 0.383, 0.057)),
    ("beta(.3, 3)", 5000, 6, 1.0, (0.188, 0.027, 0.0021)),
    ("uniform", 5000, 6, 1.0, (0.057, 0.028, 0.0019)),
]


@pytest.mark.parametrize("row", TABLE, ids=lambda row: f"{row[0]}-{row[1]}")
def test_published_rank_errors(row, entropy, trials, measured):
    """Means over runs within generous bounds of the published ones, and the same order by far."""
    name, size, depth, epsilon, published = row
    generator, runs = np.random.default_rng(11), trials(4, 40)
    targets = np.arange(1, 1 << depth) / (1 << depth)
    errors = np.zeros(3)
    for _ in range(runs):
        data = generator.beta(0.3, 3, size) if name.startswith("beta") else generator.uniform(size=size)
        ways = [recursive_smooth(data, depth, epsilon, printed, generator) for printed in (True, False)]
        ways.append(recursive_medians(data, depth, grid_of(0, 1), epsilon, entropy=entropy).values)
        for way, cuts in enumerate(ways):
            errors[way] += np.abs(np.searchsorted(np.sort(data), cuts) / size - targets).mean() / runs
    for found, expected in zip(errors, published, strict=True):
        assert expected / 2.5 < found < expected * 2.5
    assert errors[2] * 3 < errors[1] < errors[0] * 1.2
    measured(f"rank errors, {name}, n = {size}: " + ", ".join(f"{error:.4f}" for error in errors))


# Bad input


def never(count):
    raise AssertionError("entropy was read")


BAD = [
    ("values", np.array([[0.5]])),
    ("values", np.array(["a"])),
    ("values", None),
    ("epsilon", 0),
    ("epsilon", "0.00001"),
    ("epsilon", float("nan")),
    ("smoothing", 0),
    ("smoothing", 1),
    ("smoothing", "0.9999"),
    ("smoothing", "0.0001"),
    ("smoothing", float("nan")),
    ("entropy", 3),
]


@pytest.mark.parametrize(("field", "value"), BAD, ids=str)
def test_bad_input_is_refused_before_anything_is_drawn(field, value):
    asked = {"values": [0.5], "grid": grid_of(0, 1), "epsilon": 1, "entropy": SystemEntropy(never)} | {field: value}
    with pytest.raises(ArgumentError, match=rf"^{field} = "):
        smooth_median(**asked)


def test_bad_smoothing_of_a_sensitivity():
    for smoothing in (0, -1, 10**4, float("inf")):
        with pytest.raises(ArgumentError, match=r"^smoothing = "):
            smooth_sensitivity([1], 0, 1, smoothing)
    assert smooth_sensitivity([np.nan, 0.5], 0, 1, "0.2") == smooth_sensitivity([0.5], 0, 1, "0.2")
