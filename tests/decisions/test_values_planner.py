"""The planner: reference tables and vectors; its rates keep the promise, and it is never dearer than direct."""

from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from decisions.formula_shapes import SHAPES
from decisions.measured_shapes import BETA, average_and_count, count, counts, people, planned_directly, task
from scipy.optimize import minimize

from thresher.amounts import Epsilon
from thresher.config import Column, Grid
from thresher.decisions.values import block_rates, values_planner
from thresher.decisions.values.block_rates import keeps, smooth_rates, whole_rates
from thresher.decisions.values.smooth_tails import tail_quantile, tail_slope_curve
from thresher.decisions.values.strategies import joint_block, loss
from thresher.decisions.values.values_planner import strategy_for
from thresher.errors import ArgumentError
from thresher.noise import NoiseSum, smallest_epsilon
from thresher.question import ALWAYS, Aggregate, Atom, Within
from thresher.question.trees import every, leaves, some

F = Fraction
# So many steps to a half width that integers meet the continuous reference values to four digits.
FINE = 10**5


def smooth(epsilon: Epsilon, steps: int = FINE) -> float:
    """An epsilon in the unit of the reference tables, where the half width is 1."""
    return float(epsilon) * (steps + 0.5)


def members(strategy):
    return {block.members for block in strategy.blocks}


# Blocks for 2 to 6 conditions, half width 1; and what each condition by itself costs.
TABLES = {
    ("nested", every): (3.643, 4.706, 5.628, 6.459, 7.226),
    ("nested", some): (3.272, 4.010, 4.633, 5.182, 5.678),
    ("independent", every): (4.113, 6.286, 9.236, 12.190, 15.331),
    ("independent", some): (3.272, 4.633, 6.544, 7.905, 9.815),
    ("star", every): (3.643, 5.319, 7.585, 10.763, 13.624),
    ("star", some): (3.272, 4.633, 6.544, 7.905, 9.815),
    ("star, disjoint", every): (3.643, 4.404, 4.990, 5.489, 5.938),
    ("star, disjoint", some): (3.272, 4.010, 4.605, 4.605, 4.605),
    ("disjoint", every): (2.996, 3.401, 3.689, 3.912, 4.094),
    ("disjoint", some): (2.303, 2.303, 2.303, 2.303, 2.303),
}
DIRECT = {
    every: (5.992, 10.204, 14.756, 19.560, 24.566),
    some: (4.605, 6.908, 9.210, 11.513, 13.816),
    ("star, disjoint", every): (5.992, 6.685, 7.090, 7.378, 7.601),
    ("star, disjoint", some): (4.605, 4.605, 4.605, 4.605, 4.605),
    ("disjoint", every): TABLES["disjoint", every],
    ("disjoint", some): TABLES["disjoint", some],
}


@pytest.mark.parametrize(("shape", "joined"), TABLES, ids=lambda value: getattr(value, "__name__", value))
def test_the_reference_table_of_blocks(shape, joined, measured):
    for n, reference in zip(range(2, 7), TABLES[shape, joined], strict=True):
        asked = counts(shape, n, joined(*range(n)), FINE)
        found, direct = strategy_for(asked), planned_directly(asked)
        assert smooth(found.epsilon) == pytest.approx(reference, abs=6e-4)
        by_itself = DIRECT.get((shape, joined), DIRECT[joined])[n - 2]
        assert smooth(direct.epsilon) == pytest.approx(by_itself, abs=6e-4)
        assert found.epsilon <= direct.epsilon
    measured(f"values, {shape} {joined.__name__} of 6: {found.epsilon.nano / direct.epsilon.nano:.3f} of direct")


@pytest.mark.parametrize(
    ("name", "nested", "independent", "star", "direct"),
    [
        ("Q0|(Q1&Q2)", 4.010, 5.693, 4.633, 8.294),
        ("(Q0|Q1)&(Q0|Q2)", 4.010, 5.693, 4.633, 8.294),
        ("(Q0&Q1)|(Q0&Q2)", 4.583, 5.693, 5.037, 8.817),
        ("(Q0&Q1)|(Q2&Q3)", 5.357, 7.947, 7.018, 11.983),
        ("maj3", 4.583, 5.693, 5.037, 8.987),
    ],
)
def test_the_reference_table_of_mixed_formulas(name, nested, independent, star, direct):
    tree = SHAPES[name]
    n = 4 if "Q3" in name else 3
    for shape, reference in (("nested", nested), ("independent", independent), ("star", star)):
        asked = counts(shape, n, tree, FINE)
        assert smooth(strategy_for(asked).epsilon) == pytest.approx(reference, abs=6e-4)
        assert smooth(planned_directly(asked).epsilon) == pytest.approx(direct, abs=6e-4)


@pytest.mark.parametrize(
    ("shape", "joined", "n", "blocks", "direct"),
    [
        ("nested", every, 2, 0.0140, 0.0241),
        ("nested", every, 3, 0.0210, 0.0496),
        ("nested", every, 6, 0.0866, 0.2885),
        ("nested", some, 6, 0.0768, 0.1747),
        ("star", every, 3, 0.0250, 0.0496),
        ("star", every, 6, 0.1973, 0.2885),
        ("star", some, 4, 0.0473, 0.0596),
        ("star", some, 6, 0.1531, 0.1747),
        ("star, disjoint", every, 3, 0.0193, 0.0312),
        ("star, disjoint", some, 6, 0.0768, 0.0844),
    ],
)
def test_unequal_half_widths(shape, joined, n, blocks, direct):
    """30 % of caps from 1000 to 100, in steps of a thousandth."""
    slacks = [300 * cap for cap in (1000, 700, 500, 300, 200, 100)[:n]]
    asked = counts(shape, n, joined(*range(n)), slacks)
    assert 1000 * float(strategy_for(asked).epsilon) == pytest.approx(blocks, abs=6e-5)
    assert 1000 * float(planned_directly(asked).epsilon) == pytest.approx(direct, abs=6e-5)


def test_whole_numbers():
    """Half width 10 in counts of one: nested cells, their tails, and what each by itself costs."""
    two = strategy_for(counts("nested", 2, every(0, 1), 10))
    assert float(two.epsilon) == pytest.approx(0.345261, abs=5e-7)
    tails = [answer.noise.tail(two.epsilon, 11).high for answer in two.blocks[0].answers]
    assert tails == pytest.approx([0.036875, 0.013125], abs=5e-7)
    either = strategy_for(counts("nested", 2, some(0, 1), 10))
    assert float(either.epsilon) == pytest.approx(0.310144, abs=5e-7)
    tails = [answer.noise.tail(either.epsilon, 11).high for answer in either.blocks[0].answers]
    assert tails == pytest.approx([0.05, 0.019032], abs=5e-7)
    three = strategy_for(counts("nested", 3, every(0, 1, 2), 10))
    assert float(three.epsilon) == pytest.approx(0.444805, abs=5e-7)
    tails = [answer.noise.tail(three.epsilon, 11).high for answer in three.blocks[0].answers]
    assert tails == pytest.approx([0.030249, 0.015180, 0.004570], abs=5e-7)
    for n, shape, reference in ((6, "nested", 0.676668), (3, "independent", 0.590725), (6, "star", 1.275528)):
        assert float(strategy_for(counts(shape, n, every(*range(n)), 10)).epsilon) == pytest.approx(reference, abs=1e-6)
    for n, reference in ((2, 0.568697), (3, 0.968068), (6, 2.328931)):
        assert float(planned_directly(counts("star", n, every(*range(n)), 10)).epsilon) == pytest.approx(
            reference, abs=1e-6
        )
    wide = counts("nested", 2, every(0, 1), 100)
    assert float(strategy_for(wide).epsilon) == pytest.approx(0.036249, abs=5e-7)
    assert float(planned_directly(wide).epsilon) == pytest.approx(0.059614, abs=5e-7)


def test_the_partitions_of_the_reference():
    assert members(strategy_for(counts("independent", 4, some(*range(4)), FINE))) == {(0, 1), (2, 3)}
    assert members(strategy_for(counts("independent", 4, every(*range(4)), FINE))) == {(0, 1, 2, 3)}
    assert members(strategy_for(counts("star, disjoint", 4, some(*range(4)), FINE))) == {(0,), (1,), (2,), (3,)}
    assert members(strategy_for(counts("disjoint", 3, every(*range(3)), FINE))) == {(0,), (1,), (2,)}
    assert members(strategy_for(counts("nested", 6, every(*range(6)), FINE))) == {tuple(range(6))}
    eight = [strategy_for(counts("independent", 8, joined(*range(8)), FINE)) for joined in (every, some)]
    assert [smooth(found.epsilon) for found in eight] == pytest.approx([20.91, 13.09], abs=6e-3)
    assert [sorted(map(len, members(found))) for found in eight] == [[4, 4], [2, 2, 2, 2]]


def partitions(items):
    if not items:
        yield []
        return
    first, *rest = items
    for found in partitions(rest):
        yield [[first], *found]
        for i, block in enumerate(found):
            yield [*found[:i], [first, *block], *found[i + 1 :]]


@pytest.mark.parametrize("shape", ["independent", "star", "star, disjoint"])
@pytest.mark.parametrize("joined", [every, some])
def test_no_partition_is_cheaper(shape, joined):
    """All 15 partitions of four conditions, each with its own best rates."""
    asked = counts(shape, 4, joined(*range(4)), (10, 14, 25, 40))
    search = values_planner._Search(asked)
    prices = []
    for partition in partitions(range(4)):
        ordered = tuple(tuple(sorted(block)) for block in partition)
        if all(search.block(block) is not None for block in ordered):
            prices.append(search.solved(ordered)[0])
    taken = tuple(block.members for block in strategy_for(asked).blocks)
    assert search.solved(taken)[0] <= min(prices) * (1 + 1e-6)


def solved_elsewhere(demand, start):
    """The same program by another method of somebody else."""
    price = demand.price(start)

    def spared(x):
        rates = [share * rate for share, rate in zip(x, start, strict=False)]
        tails = [tail_slope_curve(one.noise, one.slack + 0.5, rates[one.block])[0] for one in demand.held]
        return [1 - sum(tails[i] for i in members) / float(demand.rate) for members in demand.sets]

    def unpaid(x):
        return [x[-1] - sum(x[i] * start[i] for i in blocks) / price for blocks in demand.together]

    found = minimize(
        lambda x: x[-1],
        np.ones(len(start) + 1),
        method="SLSQP",
        bounds=[(1e-3, 10.0)] * (len(start) + 1),
        constraints=[{"type": "ineq", "fun": spared}, {"type": "ineq", "fun": unpaid}],
        options={"maxiter": 500, "ftol": 1e-9},
    )
    assert found.success
    return found.x[-1] * price


@pytest.mark.parametrize("shape", ["nested", "independent", "star, disjoint"])
@pytest.mark.parametrize("joined", [every, some])
@pytest.mark.parametrize("slacks", [(10, 14, 25, 40), (10, 10, 10, 10), (3, 100, 1000, 30)])
def test_rates_are_the_cheapest(shape, joined, slacks):
    search = values_planner._Search(counts(shape, 4, joined(*range(4)), slacks))
    for partition in [((0,), (1,), (2,), (3,)), ((0, 1), (2,), (3,)), ((0, 2), (1, 3))]:
        if any(search.block(block) is None for block in partition):
            continue
        demand = search._demand(search.blocks(partition))
        start = [search.cost(members) for members in partition]
        rates = smooth_rates(demand, start)
        assert block_rates._smooth_misses(demand, rates) <= float(demand.rate) * (1 + 1e-9)
        assert demand.price(rates) <= solved_elsewhere(demand, start) * (1 + 1e-6)


def test_rates_where_most_conditions_cost_next_to_nothing():
    """Half widths from 1 to 100,000: the rates of the wide ones may rise and rise, until they miss nothing at all."""
    for shape, joined, reference in (("star, disjoint", every, 1.876222), ("star", some, 1.779817)):
        found = strategy_for(counts(shape, 6, joined(*range(6)), [10**i for i in range(6)]))
        assert float(found.epsilon) == pytest.approx(reference, abs=2e-6)


@pytest.mark.parametrize(
    ("threshold", "widths", "joined", "ends", "direct"),
    [
        (50, (1, 1), every, 4.113, 5.991),
        (65, (1, 1), every, 3.754, 5.991),
        (90, (1, 1), every, 3.647, 5.991),
        (65, (1, 1), some, 3.272, 4.605),
        (65, (3, 1), every, 3.273, 3.820),
        (65, (3, 1), some, 3.272, 3.070),
        (65, (1, 3), every, 2.633, 3.820),
        (65, (1, 3), some, 2.614, 3.070),
        (65, (10, 1), every, 3.272, 2.868),
        (99, (1, 3), every, 2.343, 3.820),
    ],
)
def test_an_average_beside_a_count(threshold, widths, joined, ends, direct):
    """Half widths in records, a thousand steps each; the planner takes what is cheaper."""
    table, atoms = average_and_count(threshold)
    most = max(threshold, 100 - threshold)
    asked = task(atoms, [1000 * widths[0] * most, 1000 * widths[1]], joined(0, 1), table)
    search = values_planner._Search(asked)
    _, blocks, rates = search.solved(((0, 1),))
    assert blocks[0].kind == "ends"
    assert 1000 * float(search.exact(blocks, rates).epsilon) == pytest.approx(ends, abs=4e-3)
    assert 1000 * float(planned_directly(asked).epsilon) == pytest.approx(direct, abs=4e-3)
    assert {block.kind for block in strategy_for(asked).blocks} == ({"ends"} if ends < direct else {"direct"})


def test_ends_reference():
    """Half widths of 650 for the sum and 10 for the count: tails that add up to 5 %, and each by itself."""
    table, atoms = average_and_count(65)
    asked = task(atoms, [650, 10], every(0, 1), table)
    block = joint_block((0, 1), asked.formula.measures, asked.signatures)
    widths = (650, 10)
    tails = [tail_slope_curve(one.noise, width, 0.375395)[0] for one, width in zip(block.answers, widths, strict=True)]
    assert tails == pytest.approx([0.016304, 0.033696], abs=1e-6)
    assert sum(tails) == pytest.approx(0.05, abs=1e-6)
    halves = [
        tail_quantile(NoiseSum((1,), 1, spread), 0.025) / width for spread, width in zip((65, 1), widths, strict=True)
    ]
    assert sum(halves) == pytest.approx(0.599146, abs=5e-7)


def test_a_column_that_may_be_missing_takes_a_third_reading():
    table, atoms = average_and_count(65, missing=False)
    asked = task(atoms, [65_000, 1000], every(0, 1), table)
    found = strategy_for(asked)
    assert [len(block.readings) for block in found.blocks] == [3]
    assert 1000 * float(found.epsilon) == pytest.approx(4.302, abs=2e-3)


@pytest.mark.parametrize("slack", [0, 1, 10, 1000])
def test_one_number_costs_what_one_margin_costs(slack):
    asked = counts("nested", 1, 0, slack)
    assert strategy_for(asked).epsilon == smallest_epsilon(BETA, slack + 1)


def test_conditions_on_one_number_share_it():
    rows = Aggregate("rows", None, ALWAYS)
    above, below = count(ALWAYS, 10), replace(count(ALWAYS), weights=((rows, -1),), at_least=-50)
    found = strategy_for(task([above, below], [10, 10], every(0, 1)))
    assert found.epsilon == smallest_epsilon(BETA / 2, 11)
    assert [len(block.readings) for block in found.blocks] == [1]


def test_a_condition_that_makes_no_difference_is_not_measured():
    found = strategy_for(counts("independent", 2, some(0, every(0, 1)), 10))
    assert members(found) == {(0,)}
    assert found.epsilon == smallest_epsilon(BETA, 11)


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("shape", ["nested", "independent", "star, disjoint"])
def test_rates_keep_the_promise_and_are_charged_in_full(name, shape):
    tree = SHAPES[name]
    n = max(leaves(tree)) + 1
    asked = counts(shape, n, tree, [7 + 5 * i for i in range(n)])
    found = strategy_for(asked)
    search = values_planner._Search(asked)
    nano = [epsilon.nano for epsilon in found.epsilons]
    demand = search._demand(found.blocks)
    assert keeps(demand, nano)
    assert not keeps(demand, [number * 999 // 1000 for number in nano]), "and not much is wasted"
    assert found.epsilon.nano == loss(found.blocks, nano, asked.signatures)


def test_caps(monkeypatch):
    six = counts("independent", 6, every(*range(6)), 10)
    with monkeypatch.context() as few_cells:
        few_cells.setattr(values_planner, "joint_block", partial(joint_block, most=3))
        assert max(len(block.readings) for block in strategy_for(six).blocks) == 3
    monkeypatch.setattr(values_planner, "MOST_READINGS", 8)
    small = strategy_for(six)
    assert sum(len(block.readings) for block in small.blocks) <= 8
    assert small.epsilon <= planned_directly(six).epsilon
    monkeypatch.setattr(values_planner, "MOST_READINGS", 5)
    with pytest.raises(ArgumentError, match="6 numbers for each group are more than the 5"):
        strategy_for(six)


def test_noise_that_cannot_be_drawn_is_refused_while_planning():
    table = people(1, x=Grid(F(0), F(10**12), F(1)))
    wide = Atom(((Aggregate("total", "x", ALWAYS), 1),), 1, "SUM(x)", "SUM(x) > 0", F(1))
    with pytest.raises(ArgumentError, match="Declare a larger step"):
        strategy_for(task([wide], [10**12], 0, table))


def test_so_many_conditions_that_signatures_are_not_listed():
    columns = {f"c{i}": Column(f"c{i}", Grid(F(0), F(9), F(1))) for i in range(32)}
    table = replace(people(1), columns=columns)
    asked = task([count(Within(name, 1, None)) for name in columns], [10] * 32, every(*range(32)), table)
    found = strategy_for(asked)
    assert asked.signatures.masks is None
    assert sum(len(block.readings) for block in found.blocks) <= 256
    assert found.epsilon < planned_directly(asked).epsilon


class TestCarelessRates:
    """Rates that a careless planner would give are refused by `keeps`, or are wrong by the same tables."""

    def demand(self, n=3):
        search = values_planner._Search(counts("nested", n, every(*range(n)), 10))
        return search._demand(search.blocks((tuple(range(n)),)))

    def test_one_noise_for_a_sum_of_cells(self):
        """The tail of a single noise in place of that of the sum: three times the misses that are promised."""
        demand = self.demand()
        alone = replace(
            demand, held=tuple(replace(one, noise=replace(one.noise, coefficients=(1,))) for one in demand.held)
        )
        cheap = whole_rates(alone, [1.0])
        assert not keeps(demand, [epsilon.nano for epsilon in cheap])

    def test_a_share_for_each_condition_of_an_and(self):
        demand = self.demand()
        undivided = replace(demand, sets=((0,), (1,), (2,)))
        cheap = whole_rates(undivided, [1.0])
        assert not keeps(demand, [epsilon.nano for epsilon in cheap])

    def test_rates_from_smooth_tails_alone(self):
        """With u = s + 1 in place of s + 1/2 the smooth tail is too small for whole numbers."""
        demand = self.demand()
        rate = tail_quantile(demand.held[0].noise, 0.03) / 11
        shares = [tail_slope_curve(one.noise, 11, rate)[0] for one in demand.held]
        loose = replace(demand, rate=F(str(round(sum(shares), 9))))
        assert not keeps(loose, [int(rate * 10**9)])
        assert block_rates._misses(demand, [rate]) > sum(shares)
