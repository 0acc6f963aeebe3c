"""Quantiles on a grid: all neighbours of all small data, published probabilities, draws against laws, bad input."""

import inspect
import itertools
from fractions import Fraction
from pathlib import Path

import mpmath
import numpy as np
import pytest
from laws import assert_fits, assert_rejected
from scipy import stats

from thresher.errors import ArgumentError
from thresher.mechanisms import quantiles as quantile_room
from thresher.mechanisms import smooth_median as smooth_room
from thresher.mechanisms.public_grid import grid_of
from thresher.mechanisms.quantiles import (
    HALF,
    Node,
    inner_range,
    median,
    quantile,
    quantiles,
    rank_error,
    recursive_medians,
)
from thresher.mechanisms.rank_costs import Cells, cells_of
from thresher.noise import NOT_PRIVATE, SystemEntropy

FRACTIONS = [HALF, Fraction(1, 4), Fraction(9, 10), Fraction(1, 3), Fraction(0), Fraction(1), Fraction(39, 40)]


def law_of(cells, epsilon):
    """The probability of every point, as the costs of the code say, in forty digits."""
    rate = mpmath.mpf(epsilon.numerator) / epsilon.denominator / cells.spread
    weights = {}
    for start, width, cost in zip(*(x.tolist() for x in (cells.starts, cells.widths, cells.costs)), strict=True):
        for point in range(start, start + width):
            weights[point] = mpmath.exp(-rate * cost)
    total = mpmath.fsum(weights.values())
    return {point: weight / total for point, weight in weights.items()}


def run_masses(cells, epsilon):
    """The probability of every run, in floats."""
    masses = cells.widths * np.exp(-float(epsilon) / cells.spread * cells.costs)
    return masses / masses.sum()


def loss_between(one, other):
    assert one.keys() == other.keys()
    return max(abs(mpmath.log(one[point] / other[point])) for point in one)


def neighbours(points, most):
    """All data of at most so many records on the points, each with one record more at every point."""
    for size in range(most + 1):
        for records in itertools.combinations_with_replacement(range(points), size):
            for extra in range(points):
                yield np.array(records, dtype=np.int64), np.sort(np.array([*records, extra], dtype=np.int64))


def worst_loss(part, epsilon, spread=None, points=5, most=4):
    known = {}

    def law(records):
        if records.tobytes() not in known:
            cells = cells_of(records, part, 0, points - 1)
            cells = cells if spread is None else Cells(cells.starts, cells.widths, cells.costs, spread)
            known[records.tobytes()] = law_of(cells, epsilon)
        return known[records.tobytes()]

    return max(loss_between(law(fewer), law(more)) for fewer, more in neighbours(points, most))


@pytest.mark.parametrize("part", FRACTIONS, ids=str)
def test_no_neighbours_of_small_data_lose_more_than_epsilon(part):
    with mpmath.workdps(40):
        worst = worst_loss(part, Fraction(1))
        assert worst <= 1
        assert worst > 0.35


def test_a_rate_without_the_factor_two_is_caught_inside_and_right_at_the_ends():
    with mpmath.workdps(40):
        assert worst_loss(HALF, Fraction(1), spread=1) > 1
        for end in (Fraction(0), Fraction(1)):
            assert worst_loss(end, Fraction(1), spread=1) <= 1


@pytest.mark.parametrize("part", FRACTIONS, ids=str)
def test_the_factor_is_attained_and_a_rate_fit_for_the_median_alone_is_caught(part):
    """Nearly all points where one record more makes them cheaper, and one where it makes them dearer."""
    steps, near = 10**9, min(part, 1 - part)
    heap = np.full(int(np.ceil((1 - near) / near)) if near else 0, steps - 1, dtype=np.int64)
    pair = [heap, np.append(0, heap)]
    if part > HALF:
        pair = [steps - records[::-1] for records in pair]
    cells = [cells_of(records, part, 0, steps) for records in pair]
    loss = loss_at_a_few_points(cells, steps)
    assert 0.99 < loss <= 1 + 1e-12
    if near not in (0, HALF):
        mutants = [Cells(c.starts, c.widths, c.costs, part.denominator) for c in cells]
        assert loss_at_a_few_points(mutants, steps) > 1.3


def loss_at_a_few_points(pair, steps):
    one, other = (run_log_density(cells, Fraction(1), steps) for cells in pair)
    return max(abs(a - b) for a, b in zip(one, other, strict=True))


def run_log_density(cells, epsilon, steps):
    """The log probability of a few points: both ends, and near them."""
    masses = run_masses(cells, epsilon)
    logs = np.full(cells.widths.size, -np.inf)
    held = cells.widths > 0
    logs[held] = np.log(masses[held] / cells.widths[held])
    run = np.searchsorted(cells.starts, [0, 1, 2, steps // 2, steps - 2, steps - 1, steps], side="right") - 1
    # A run of no points begins where the next one does.
    return [logs[r] if cells.widths[r] else logs[r + 1] for r in run]


# Data, epsilon, and the probability of each interval between them, from the left end of [0, 1] to the right one.
PUBLISHED = [
    ((0.1, 0.2, 0.4, 0.8, 0.9), 1, (0.019316, 0.052506, 0.285452, 0.570904, 0.052506, 0.019316)),
    ((0.5,), 1, (0.5, 0.5)),
    ((0.2, 0.2, 0.7), Fraction(1, 2), (0.151016, 0.0, 0.622459, 0.226524)),
]


@pytest.mark.parametrize(("data", "epsilon", "published"), PUBLISHED)
def test_published_interval_probabilities(data, epsilon, published):
    """Between records the grid tends to the line; points with records keep one point's mass, which tends to nothing."""
    errors, atoms = [], []
    for steps in (2**20, 2**30):
        records = np.sort(np.rint(np.array(data) * steps).astype(np.int64))
        masses = run_masses(cells_of(records, HALF, 0, steps), epsilon)
        expected = [p for p in published if p]
        errors.append(np.abs(masses[0::2] - expected).max())
        atoms.append(masses[1::2].max())
    assert errors[0] < 1e-5
    assert errors[1] < 1e-6
    assert atoms[0] < 1e-5
    assert atoms[1] == pytest.approx(atoms[0] / 1024, rel=1e-3)


def test_an_atom_is_found_though_it_is_one_point_of_a_million(entropy):
    """n epsilon / 2 against log of the points: P[elsewhere] <= 2**20 exp(-50)."""
    assert median([0.5] * 100, grid_of(0, 1), 1, entropy=entropy).point == 2**19
    assert quantile([0.25] * 300 + [0.75] * 100, "0.9", grid_of(0, 1), 1, entropy=entropy).value == 0.75


def chi_square(counts, law):
    draws = sum(counts.values())
    expected = np.array([float(mass) * draws for mass in law.values()])
    observed = np.array([counts.get(outcome, 0) for outcome in law])
    likely = expected >= 20
    observed = np.append(observed[likely], observed[~likely].sum())
    expected = np.append(expected[likely], max(expected[~likely].sum(), 1e-9))
    kept = expected > 20
    return float(stats.chi2.sf(((observed - expected) ** 2 / expected)[kept].sum(), kept.sum() - 1))


def counted(outcomes):
    return dict(zip(*(x.tolist() for x in np.unique(np.asarray(outcomes), return_counts=True)), strict=True))


@pytest.mark.parametrize("part", FRACTIONS[:5], ids=str)
def test_draws_fit_the_law_and_a_larger_epsilon_is_rejected(part, entropy, trials):
    """Chi-square; false failure at most 1e-6."""
    records = np.array([2, 2, 5, 9, 9, 9, 14])
    cells = cells_of(records, part, 0, 16)
    draws = counted(cells.drawn(Fraction(1, 2), trials(200_000, 2_000_000), entropy))
    assert_fits(chi_square(draws, law_of(cells, Fraction(1, 2))))
    assert_rejected(chi_square(draws, law_of(cells, Fraction(3, 5))))


def test_quantile_draws_that_law(entropy, trials):
    """The public function, from floats to the value it returns; false failure 1e-6."""
    data = [0.13, 0.124, 0.31, 0.55, 0.57, 0.9]  # on 16 steps: 2, 2, 5, 9, 9, 14
    runs = trials(2_500, 30_000)
    found = [quantile(data, "0.25", grid_of(0, 1, 16), "0.5", entropy=entropy) for _ in range(runs)]
    law = law_of(cells_of(np.array([2, 2, 5, 9, 9, 14]), Fraction(1, 4), 0, 16), Fraction(1, 2))
    draws = counted([q.point for q in found])
    assert_fits(chi_square(draws, law))
    assert_rejected(chi_square(draws, law_of(cells_of(np.array([2, 2, 5, 9, 9, 14]), HALF, 0, 16), Fraction(2))))
    assert all(q.value == q.point / 16 for q in found)
    assert str(found[0].epsilon) == "0.5"
    assert found[0].stamp == entropy.stamp


# Recursive medians


def recursive_law(records, depth, steps, level_epsilon, halves=Node.halves):
    """The probability of every set of points, node by node and level by level, as the code divides them."""
    known = {}

    def law(node, levels):
        if not levels:
            return {(): mpmath.mpf(1)}
        key = (node.low, node.high, node.records.tobytes(), levels)
        if key not in known:
            room, outcomes = 1 << (levels - 1), {}
            cells = cells_of(node.records, HALF, node.low + room, node.high - room)
            for point, mass in law_of(cells, level_epsilon).items():
                left, right = (law(half, levels - 1) for half in halves(node, point))
                for (a, p), (b, q) in itertools.product(left.items(), right.items()):
                    outcomes[(*a, point, *b)] = mass * p * q
            known[key] = outcomes
        return known[key]

    return law(Node(0, steps, records), depth)


def ties_on_both_sides(node, point):
    left, right = np.searchsorted(node.records, [point, point + 1])
    return Node(node.low, point, node.records[:right]), Node(point, node.high, node.records[left:])


def worst_recursive_loss(level_epsilon, halves=Node.halves):
    laws, worst = {}, 0
    for pair in neighbours(7, 2):
        for records in pair:
            if records.tobytes() not in laws:
                laws[records.tobytes()] = recursive_law(records, 2, 6, level_epsilon, halves)
        worst = max(worst, loss_between(*(laws[records.tobytes()] for records in pair)))
    return worst


def test_no_neighbours_lose_more_than_epsilon_to_recursive_medians():
    """Both levels at their full share; all outputs of all data of up to three records on seven points."""
    with mpmath.workdps(40):
        right = worst_recursive_loss(Fraction(1, 2))
        assert 0.5 < right <= 1, "more than one level alone could lose, no more than both"
        assert worst_recursive_loss(Fraction(1)) > 1, "all of epsilon at each level is caught"


def test_records_in_both_halves_are_caught():
    """A record on the point found leaves; kept on both sides, it would be seen twice by the next level."""
    before, added = np.array([2, 78]), np.array([2, 40, 78])
    with mpmath.workdps(40):

        def next_level(halves):
            loss = 0
            for one, other in zip(halves(Node(0, 80, before), 40), halves(Node(0, 80, added), 40), strict=True):
                laws = [law_of(cells_of(n.records, HALF, n.low + 1, n.high - 1), HALF) for n in (one, other)]
                loss += loss_between(*laws)
            return loss

        assert next_level(Node.halves) == 0
        assert next_level(ties_on_both_sides) > 0.9, "both halves lose their share of 1/2"


def test_recursive_medians_draw_that_law(entropy, trials):
    data, runs = np.array([1, 1, 4, 5]), trials(1_500, 20_000)
    found = [recursive_medians(data, 2, grid_of(0, 6, 6), 1, entropy=entropy).points for _ in range(runs)]
    counts = {points: found.count(points) for points in set(found)}
    assert_fits(chi_square(counts, recursive_law(data, 2, 6, Fraction(1, 2))))
    assert_rejected(chi_square(counts, recursive_law(data, 2, 6, Fraction(3, 2))))


@pytest.mark.parametrize("data", [[], [0.5] * 50, np.linspace(0, 1, 200), [np.nan, np.inf, -np.inf, 7]], ids=len)
@pytest.mark.parametrize("steps", [8, 9, 1000, 2**20])
def test_thresholds_are_different_and_inside(data, steps, entropy):
    cuts = recursive_medians(data, 3, grid_of(0, 1, steps), 1, entropy=entropy)
    assert len(cuts.points) == len(cuts.values) == 7
    assert cuts.points[0] > 0
    assert cuts.points[-1] < steps
    assert all(a < b for a, b in itertools.pairwise(cuts.values))
    assert str(cuts.epsilon) == "1"
    assert cuts.stamp == entropy.stamp


def test_every_record_is_in_one_node_of_a_level_at_most():
    nodes = [Node(0, 64, np.sort(np.arange(200) % 65))]
    for points in ([30], [11, 47], [3, 20, 40, 60]):
        nodes = [half for node, point in zip(nodes, points, strict=True) for half in node.halves(point)]
        held = np.concatenate([node.records for node in nodes])
        assert len(held) <= 200
        counts = np.bincount(held, minlength=65)
        assert (counts <= np.bincount(np.arange(200) % 65)).all()
        assert all(node.low < r < node.high or node.low == 0 or node.high == 64 for node in nodes for r in node.records)


# The others


def test_several_quantiles_come_in_order_and_share_epsilon(entropy):
    data = np.arange(1001)
    cuts = quantiles(data, ["0.1", "0.5", "0.9"], grid_of(0, 1000, 1000), 3, entropy=entropy)
    # P[any is off by 40] <= 3 * 1001 exp(-40 / 1.8) < 1e-6
    assert np.abs(np.array(cuts.points) - [100, 500, 900]).max() < 40
    assert list(cuts.points) == sorted(cuts.points)
    assert str(cuts.epsilon) == "3"
    for _ in range(50):
        points = quantiles(data[:3], ["0.1", "0.2", "0.3"], grid_of(0, 1000, 10), "0.1", entropy=entropy).points
        assert list(points) == sorted(points)


def test_the_share_of_each_quantile(entropy, trials):
    """Two fractions at epsilon 1 draw as one does at 1/2; false failure 1e-6."""
    runs = trials(1_500, 20_000)
    least = [quantiles([3, 3, 5], [0, 1], grid_of(0, 8, 8), 1, entropy=entropy).points for _ in range(runs)]
    law = {pair: mpmath.mpf(0) for pair in itertools.combinations_with_replacement(range(9), 2)}
    ends = [law_of(cells_of(np.array([3, 3, 5]), part, 0, 8), HALF) for part in (Fraction(0), Fraction(1))]
    wrong = dict(law)
    for (a, p), (b, q) in itertools.product(ends[0].items(), ends[1].items()):
        law[tuple(sorted((a, b)))] += p * q
        wrong[tuple(sorted((a, b)))] += p * p * q * q
    total = sum(wrong.values())
    counts = {pair: least.count(pair) for pair in set(least)}
    assert_fits(chi_square(counts, law))
    assert_rejected(chi_square(counts, {pair: mass / total for pair, mass in wrong.items()}))


def test_the_rank_is_rarely_off_by_more_than_promised(entropy, trials):
    """The worst data: all records on one point, so that all others cost the most. False failure 1e-6."""
    runs, steps, miss = trials(200_000, 2_000_000), 255, 0.05
    error = rank_error(HALF, "0.5", "0.05", steps=steps)
    assert error == np.ceil(np.log(255 / 0.05) / 0.5) == 18

    def shares(records):
        return (cells_of(np.full(records, 100), HALF, 0, steps).drawn(HALF, runs, entropy) != 100).sum()

    assert stats.binom.sf(shares(2 * error + 1) - 1, runs, miss) > 1e-6
    assert stats.binom.sf(shares(2 * error - 4) - 1, runs, miss) < 1e-20, "two ranks less would not keep it"


@pytest.mark.parametrize("part", FRACTIONS, ids=str)
def test_the_promised_rank_error_holds_exactly_on_data_with_atoms(part):
    """Probabilities summed up, not sampled: one atom of every size, at the ends and inside."""
    steps, miss = 63, Fraction(1, 20)
    error = rank_error(part, 1, miss, steps=steps)
    for size in (0, 1, error, 2 * error, 40 * error):
        for place in (0, 20, 63):
            cells = cells_of(np.full(size, place), part, 0, steps)
            assert run_masses(cells, 1)[cells.costs > error * part.denominator].sum() <= miss
    assert rank_error(part, 1, "0.01", steps=steps) > error
    assert rank_error(part, "0.5", miss, steps=steps) >= 2 * error - 1


def test_the_inner_range_holds_nearly_all_and_is_never_empty(entropy):
    data = np.linspace(1, 50, 5000)
    found = inner_range(data, 64, 1, entropy=entropy)
    # Ranks are off by 2 * 0.975 (log 2**20 + 15) / 0.5 = 113 of 5000 records with probability below 1e-6.
    assert 1 <= found.low < 4
    assert 47 < found.high <= 50
    assert (str(found.epsilon), found.stamp) == ("1", entropy.stamp)
    for spot in ([0.0] * 2000, [-64.0] * 2000, [64.0] * 2000, []):
        narrow = inner_range(spot, 64, 100, entropy=entropy)
        assert narrow.low < narrow.high
    assert inner_range([64.0] * 2000, 64, 100, entropy=entropy).high == 64


def test_records_beyond_the_range_count_at_its_ends_and_nan_not_at_all():
    def points(values):
        cells = cells_of(grid_of(0, 1, 10).snapped(values), HALF, 0, 10)
        return cells.costs.tolist()

    assert points([-5, 99, 0.31]) == points([0, 1, 0.3])
    assert points([np.nan, 0.3]) == points([0.3])
    assert points([np.inf, -np.inf]) == points([0, 1])
    assert points(np.array([0, 1], dtype=np.uint8)) == points(np.array([0, 1], dtype=np.float32))


def test_whole_numbers_on_the_grid_stay_where_they_are():
    ages = np.arange(0, 111)
    assert (grid_of(0, 110, 110).snapped(ages) == ages).all()
    assert [grid_of(0, 110, 110).value(k) for k in (0, 17, 110)] == [0.0, 17.0, 110.0]


def test_real_randomness_leaves_no_stamp():
    assert median([1, 2, 3], grid_of(0, 4), 1).stamp == ""
    assert recursive_medians([1, 2, 3], 2, grid_of(0, 4), 1).stamp == ""
    assert quantiles([1, 2, 3], ["0.5"], grid_of(0, 4), 1).stamp == ""
    assert NOT_PRIVATE == "NOT PRIVATE"


def never(count):
    raise AssertionError("entropy was read")


GOOD = {"values": [0.5], "fraction": "0.5", "grid": grid_of(0, 1), "epsilon": 1}
BAD = [
    ("values", np.array([[0.5]])),
    ("values", np.array([[None]])),
    ("values", 0.5),
    ("values", None),
    ("values", "a"),
    ("values", {0.5}),
    ("values", np.array(["a"])),
    ("values", np.array([True])),
    ("values", np.array([1j])),
    ("values", np.ma.masked_array([1.0, 2.0], mask=[True, False])),
    ("fraction", -1),
    ("fraction", "1.01"),
    ("fraction", "0.0000001"),
    ("fraction", float("nan")),
    ("fraction", None),
    ("epsilon", 0),
    ("epsilon", -1),
    ("epsilon", float("nan")),
    ("epsilon", "x"),
    ("epsilon", 10**7),
    ("entropy", 3),
]


@pytest.mark.parametrize(("field", "value"), BAD, ids=str)
def test_bad_input_is_refused_before_anything_is_drawn(field, value):
    asked = GOOD | {"entropy": SystemEntropy(never)} | {field: value}
    with pytest.raises(ArgumentError, match=rf"^{field} = ") as refusal:
        quantile(**asked)
    assert refusal.value.field == field


@pytest.mark.parametrize(("field", "value"), [
    ("low", float("nan")), ("low", None), ("high", 0), ("high", -1), ("high", float("inf")),
    ("steps", 0), ("steps", -4), ("steps", 1.5), ("steps", True), ("steps", 2**41),
])  # fmt: skip
def test_what_is_no_grid_is_refused(field, value):
    with pytest.raises(ArgumentError, match=rf"^{field} = "):
        grid_of(**{"low": 0, "high": 1, field: value})


def test_what_only_one_of_them_takes():
    source = SystemEntropy(never)
    for depth in (0, -1, 21, 1.5, True):
        with pytest.raises(ArgumentError, match=r"^depth = "):
            recursive_medians([1], depth, grid_of(0, 1), 1, entropy=source)
    with pytest.raises(ArgumentError, match=r"^steps = .*2\*\*3"):
        recursive_medians([1], 3, grid_of(0, 1, 7), 1, entropy=source)
    for fractions in ([], "0.5", 0.5, ["0.5", "0.5"], ["0.6", "0.5"], ["0.5", 2], [Fraction(1, 2)] * 1001):
        with pytest.raises(ArgumentError, match=r"^fractions"):
            quantiles([1], fractions, grid_of(0, 1), 1, entropy=source)
    for bound in (0, -1, float("nan"), None):
        with pytest.raises(ArgumentError, match=r"^bound = "):
            inner_range([1], bound, 1, entropy=source)
    for tail in (0, "0.5", 1):
        with pytest.raises(ArgumentError, match=r"^tail = "):
            inner_range([1], 1, 1, tail=tail, entropy=source)
    with pytest.raises(ArgumentError, match=r"^steps = .*same float"):
        median([1], grid_of(10**15, 10**15 + 1), 1, entropy=source)


def test_no_message_shows_a_record_or_depends_on_one():
    for values in ([104_729.5], [np.nan], [], [1e300], [-1e300] * 5):
        assert median(values, grid_of(0, 1), 1).epsilon.nano == 10**9
    with pytest.raises(ArgumentError) as refusal:
        median(np.array([[104_729.5]]), grid_of(0, 1), 1)
    assert "104729" not in str(refusal.value)


def test_the_least_and_the_largest_that_are_accepted(entropy):
    assert 0 <= quantile([1, 2], "0.999999", grid_of(0, 1), "0.000000001", entropy=entropy).point <= 2**20
    assert quantile([0.5], 1, grid_of(0, 1, 2**40), 1000, entropy=entropy).point >= 2**39
    assert median([], grid_of(0, 1, 1), 1, entropy=entropy).point in (0, 1)


@pytest.mark.parametrize("room", [quantile_room, smooth_room], ids=lambda room: room.__name__)
def test_the_reference_lists_true_signatures(room):
    page = (Path(__file__).parents[2] / "docs" / "reference" / "quantiles.md").read_text()
    public = {name: f for name, f in inspect.getmembers(room, inspect.isfunction) if f.__module__ == room.__name__}
    inner = {"placed_median"}
    assert len(public) > 4
    for name, function in public.items():
        shown = inspect.signature(function).parameters.values()
        written = [p.name if p.default is p.empty else f"{p.name}={p.default!r}" for p in shown]
        keyword = next((i for i, p in enumerate(shown) if p.kind is p.KEYWORD_ONLY), None)
        if keyword is not None:
            written.insert(keyword, "*")
        assert name.startswith("_") or name in inner or f"`{name}({', '.join(written)})`" in page


def test_no_warning_tells_of_a_record():
    """Warnings are errors here: a number too wide for a float must pass in silence."""
    assert 0 <= median(np.array([0.5, np.longdouble("1e4000")]), grid_of(0, 1), "1").value <= 1
