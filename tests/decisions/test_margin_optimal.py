"""No private verdict does better than a line on the margin, where the margin is the number of records to change.

The best chance of "below" at a distance follows from neighbours alone; thresholded discrete Laplace noise attains it.
Distances are found by search over all small databases. Sums of deficits are allowed for exclusive filters only.
"""

import itertools
import math
from fractions import Fraction

import pytest
from decisions.measured_shapes import TABLE

from thresher.amounts import Epsilon
from thresher.config import Column, Listed, Table
from thresher.question import OneOf, Within
from thresher.question.signatures import exclusive

MOST = 9


def least_misses(missed, epsilon, far):
    """F(0) = missed, F(d) = min(e^eps F(d-1), 1 - e^-eps (1 - F(d-1))): the most "below" that neighbours allow."""
    chances = [missed]
    for _ in range(far):
        chances.append(min(math.exp(epsilon) * chances[-1], 1 - math.exp(-epsilon) * (1 - chances[-1])))
    return chances


def below(distance, steps, p):
    """P[-distance + X < -steps] for discrete Laplace noise X: the chance of "below" so far from the line."""
    reach = steps + 1 - distance
    return p**reach / (1 + p) if reach >= 0 else 1 - p ** (1 - reach) / (1 + p)


def test_thresholded_noise_is_the_best_there_is():
    epsilon, steps = 0.5, 3
    p = math.exp(-epsilon)
    best = least_misses(p ** (steps + 1) / (1 + p), epsilon, 40)
    assert best == pytest.approx([below(d, steps, p) for d in range(41)], abs=1e-15)
    wrong = least_misses(p**steps / (1 + p), epsilon, 40)
    assert max(abs(a - b) for a, b in zip(wrong, best, strict=True)) > 0.05, "the comparison tells laws apart"


def distances(holds, sides):
    """How many records must be added or removed until the condition holds, for all databases: breadth first."""
    worlds = list(itertools.product(range(MOST + 1), repeat=sides))
    found = {world: 0 for world in worlds if holds(world)}
    edge = list(found)
    while edge:
        following = []
        for world in edge:
            for side, step in itertools.product(range(sides), (-1, 1)):
                near = (*world[:side], world[side] + step, *world[side + 1 :])
                if 0 <= near[side] <= MOST and near not in found:
                    found[near] = found[world] + 1
                    following.append(near)
        edge = following
    return found


@pytest.mark.parametrize("joined", [min, max])
def test_the_margin_of_overlapping_filters_is_the_distance(joined):
    """Records in A only, in B only, in both; A >= 2 and (or) B >= 3."""

    def margin(world):
        return joined(world[0] + world[2] - 2, world[1] + world[2] - 3)

    found = distances(lambda world: margin(world) >= 0, 3)
    assert all(found[world] == max(0, -margin(world)) for world in found)


def slacks(world):
    return world[0] - 3, world[1] - 4


def deficit(values):
    """min, but where something is missing all that is missing is added up."""
    return min(values) if min(values) >= 0 else sum(min(value, 0) for value in values)


def test_exclusive_filters_may_add_up_what_is_missing():
    found = distances(lambda world: min(slacks(world)) >= 0, 2)
    assert all(found[world] == max(0, -deficit(slacks(world))) for world in found)
    assert max(found[world] - max(0, -min(slacks(world))) for world in found) == 3, "what the plain margin gives away"


def largest_step(values, sides):
    worlds = itertools.product(range(MOST), repeat=sides)
    return max(
        abs(deficit(values((*world[:side], world[side] + 1, *world[side + 1 :]))) - deficit(values(world)))
        for world in worlds
        for side in range(sides)
    )


def test_overlapping_filters_must_not():
    """One record in both filters moves the sum by two; so it is allowed only where that is proved impossible."""
    assert largest_step(slacks, 2) == 1
    assert largest_step(lambda world: (world[0] + world[2] - 3, world[1] + world[2] - 4), 3) == 2
    table = Table("t", {**TABLE.columns, "sex": Column("sex", Listed(("f", "m")))}, Epsilon("1"))
    assert exclusive([OneOf("sex", ("f",)), OneOf("sex", ("m",))], table)
    assert not exclusive([OneOf("sex", ("f",)), Within("c0", 1, None)], table)
    assert not exclusive([Within("c0", 1, None), Within("c0", 2, None)], table)


def test_the_reference_price():
    """Half width 10 at 5 %: the root of p^11 = 0.05 (1 + p)."""
    p = math.exp(-float(Fraction("0.218725417")))
    assert p**11 / (1 + p) == pytest.approx(0.05, abs=1e-8)
