"""Find the least rates at which blocks keep a miss rate: search in floats, then check whole nano by enclosures.

Reads: blocks, half widths. Writes: nothing. Never: data; rates that an enclosure has not checked.
Why it is safe: `values_planner.md`.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import MAX_NANO, NANO, Epsilon
from thresher.decisions.values.smooth_tails import least_rate, tail_quantile, tail_slope_curve
from thresher.errors import ArgumentError
from thresher.noise import NoiseSum
from thresher.noise.enclosure import Enclosure, certified
from thresher.question.implicants import Sets

Floats = NDArray[np.float64]

# With more sets of conditions than this there is no search: the rates that it would start from are safe.
_MOST_SETS = 500
# The search begins this much above rates that are enough, and ends when all residuals are below `_CLOSE`.
_INSIDE, _CLOSE, _MOST_ROUNDS = 1.05, 1e-10, 100
# A round aims at this share of the gap, goes this share of the way to the edge, and changes no rate by more than half.
_CENTRING, _NOT_QUITE, _FARTHEST = 0.1, 0.99, 0.5
_LEAST_FLOAT = 1e-300
# The share that is added each time if the floats are a little too low.
_NUDGE = 1e-9
_MOST_STEPS_DOWN = 8


@dataclass(frozen=True, slots=True)
class Held:
    """A condition and its block: it is missed if the noise of its number is `slack` + 1 or more."""

    block: int
    noise: NoiseSum
    slack: int


@dataclass(frozen=True, slots=True)
class Demand:
    """What rates must keep, and what they cost.

    The misses of each set of conditions (places in `held`) add up to at most `rate`. `together` lists the blocks that
    one unit can touch together.
    """

    held: tuple[Held, ...]
    sets: Sets
    rate: Fraction
    together: tuple[tuple[int, ...], ...]

    def price(self, rates: Sequence[float]) -> float:
        """Return the largest sum of the rates of blocks that one unit can touch."""
        return max(sum(rates[block] for block in blocks) for blocks in self.together)


def smooth_rates(demand: Demand, start: Sequence[float]) -> tuple[float, ...]:
    """Return the rates of least price as if noise were continuous. `start` is enough; the result is not dearer."""
    if len(start) == 1:
        return (least_rate(lambda rate: _smooth_misses(demand, [rate]) <= float(demand.rate), start[0]),)
    if len(demand.sets) > _MOST_SETS:
        return tuple(start)
    rates = _solved(demand, start)
    if rates is None:
        return tuple(start)
    # The solver may stop at rates that are a little too low: one factor for all corrects that.
    factor = least_rate(lambda f: _smooth_misses(demand, [f * rate for rate in rates]) <= float(demand.rate), 1.0)
    enough = tuple(factor * rate for rate in rates)
    return enough if demand.price(enough) < demand.price(start) else tuple(start)


def whole_rates(demand: Demand, rates: Sequence[float]) -> tuple[Epsilon, ...]:
    """Return rates in whole nano that keep the miss rate with discrete noise, nearly proportional to `rates`."""
    factor = least_rate(lambda f: _misses(demand, [f * rate for rate in rates]) <= float(demand.rate), 1.0)
    nano = [math.ceil(factor * rate * NANO) for rate in rates]
    if max(nano) > MAX_NANO:
        rule = "even an epsilon of a million cannot meet it with these half widths"
        raise ArgumentError("miss_rate", demand.rate, rule, "Raise it, or widen the uncertain region")
    while not keeps(demand, nano):
        nano = [number + math.ceil(_NUDGE * number) for number in nano]
    if len(nano) == 1:
        for _ in range(_MOST_STEPS_DOWN):
            if nano[0] == 1 or not keeps(demand, [nano[0] - 1]):
                break
            nano = [nano[0] - 1]
    return tuple(Epsilon.from_nano(number) for number in nano)


def keeps(demand: Demand, nano: Sequence[int]) -> bool:
    """Tell whether the misses of every set add up to at most the rate. Enclosures decide, not floats."""

    def kept(bits: int) -> bool:
        tails = [held.noise.enclosed(Fraction(nano[held.block], NANO), held.slack + 1, bits) for held in demand.held]
        sums = (sum((tails[i] for i in members), Enclosure(0, 0, bits)) for members in demand.sets)
        return all(total.at_most(demand.rate) for total in sums)

    return certified(kept)


def _misses(demand: Demand, rates: Sequence[float]) -> float:
    tails = [held.noise.sketched(rates[held.block], held.slack + 1) for held in demand.held]
    return max(sum(tails[i] for i in members) for members in demand.sets)


def _smooth_misses(demand: Demand, rates: Sequence[float]) -> float:
    tails = [tail_slope_curve(held.noise, held.slack + 0.5, rates[held.block])[0] for held in demand.held]
    return max(sum(tails[i] for i in members) for members in demand.sets)


def _solved(demand: Demand, start: Sequence[float]) -> tuple[float, ...] | None:
    """Return the rates of least price with all sums of tails at most the rate; None if the search does not converge.

    It is a primal-dual interior-point search with slack variables (Boyd, Vandenberghe, "Convex Optimization", section
    11.7). Its variables are the rates as shares of a start, and the price as a share of the start's price.
    """
    program = _Program.of(demand, _by_weight(demand, start))
    shares = np.full(len(start) + 1, _INSIDE)
    shares[-1] *= _INSIDE
    cost = np.eye(shares.size)[-1]
    at = program.at(shares)
    room = np.maximum(-at.values, 1 - 1 / _INSIDE)
    weights = 1 / (room * room.size)
    for _ in range(_MOST_ROUNDS):
        gap, off, tilt = float(room @ weights), at.values + room, cost + at.slopes.T @ weights
        if max(gap, np.abs(off).max(), np.abs(tilt).max()) < _CLOSE:
            return tuple(float(rate) for rate in shares[:-1] * program.base)
        due = (_CENTRING * max(gap, _CLOSE) / room.size - room * weights + weights * off) / room
        try:
            move = np.linalg.solve(at.bend(weights, room), -tilt - at.slopes.T @ due)
        except np.linalg.LinAlgError:
            return None
        shift = -off - at.slopes @ move
        turn = due - weights / room * (shift + off)
        step = min(_reach(room, shift), _FARTHEST / float(np.abs(move / shares).max()))
        shares, room = shares + step * move, room + step * shift
        weights = weights + _reach(weights, turn) * turn
        at = program.at(shares)
    return None


def _reach(positive: Floats, change: Floats) -> float:
    """Return the share of a change, at most 1, that leaves positive numbers positive."""
    falling = change < 0
    return min(1.0, _NOT_QUITE * float((-positive[falling] / change[falling]).min(initial=math.inf)))


def _by_weight(demand: Demand, rates: Sequence[float]) -> list[float]:
    """Return rates that divide misses in proportion to rates, which is optimal if each number is one reading."""
    weights = [rates[held.block] for held in demand.held]
    shares = [0.5] * len(weights)
    for members in demand.sets:
        total = sum(weights[i] for i in members)
        for i in members:
            shares[i] = min(shares[i], float(demand.rate) * weights[i] / total)
    divided = [0.0] * len(rates)
    for held, share in zip(demand.held, shares, strict=True):
        divided[held.block] = max(divided[held.block], tail_quantile(held.noise, share) / (held.slack + 0.5))
    return divided


@dataclass(frozen=True, slots=True)
class _At:
    """The program at one point: its constraints (at most zero), their slopes, and the curvature of each set's tails.

    The first rows are the sums of rates that are touched together, less the price; the others are logarithms of the
    misses of sets.
    """

    values: Floats
    slopes: Floats
    curves: Floats

    def bend(self, weights: Floats, room: Floats) -> Floats:
        """Return the matrix of a Newton step, without the concave part of logarithms where it would dominate."""
        pull, missing = weights / room, weights[-len(self.curves) :]
        pull[-len(self.curves) :] = np.maximum(pull[-len(self.curves) :] - missing, 0.0)
        return np.asarray(np.diag(missing @ self.curves) + self.slopes.T @ (self.slopes * pull[:, None]))


@dataclass(frozen=True, slots=True)
class _Program:
    """The program: `paid` times the variables is at most zero, and so are logarithms of `inside` times the tails."""

    demand: Demand
    base: Floats
    paid: Floats
    inside: Floats
    of_block: Floats

    @classmethod
    def of(cls, demand: Demand, base: Sequence[float]) -> "_Program":
        price = demand.price(base)
        paid = np.zeros((len(demand.together), len(base) + 1))
        paid[:, -1] = -1.0
        for row, blocks in enumerate(demand.together):
            paid[row, list(blocks)] = [base[block] / price for block in blocks]
        inside = np.zeros((len(demand.sets), len(demand.held)))
        for row, members in enumerate(demand.sets):
            inside[row, list(members)] = 1.0 / float(demand.rate)
        of_block = np.zeros((len(demand.held), len(base) + 1))
        for row, held in enumerate(demand.held):
            of_block[row, held.block] = base[held.block]
        return cls(demand, np.array(base), paid, inside, of_block)

    def at(self, shares: Floats) -> _At:
        rates = (shares[:-1] * self.base).tolist()
        tails = [tail_slope_curve(one.noise, one.slack + 0.5, rates[one.block]) for one in self.demand.held]
        value, slope, curve = np.array(tails).T
        # A set whose misses are below any float has slopes of zero.
        missed = np.maximum(self.inside @ value, _LEAST_FLOAT)
        sides = self.inside / missed[:, None]
        return _At(
            np.concatenate([self.paid @ shares, np.log(missed)]),
            np.concatenate([self.paid, sides @ (slope[:, None] * self.of_block)]),
            sides @ (curve[:, None] * self.of_block**2),
        )
