"""The least rates at which blocks keep a miss rate: a convex search in floats, then whole nano that enclosures check.

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
from thresher.decisions.values.smooth_tails import least, tail_and_slope
from thresher.errors import ArgumentError
from thresher.noise import NoiseSum
from thresher.noise.enclosure import Enclosure, certified
from thresher.question.implicants import Sets

# With more sets of conditions than this, the rates the search starts from are kept: they are safe already.
_MOST_SETS = 500
_MOST_ROUNDS = 200
# How much is added at a time if floats came out a little too low.
_NUDGE = 1e-9
_MOST_STEPS_DOWN = 8


@dataclass(frozen=True, slots=True)
class Held:
    """A condition as the rates see it: it is missed if the noise of its number, in `block`, reaches `slack` + 1."""

    block: int
    noise: NoiseSum
    slack: int


@dataclass(frozen=True, slots=True)
class Demand:
    """Misses add up along `sets` (of places in `held`) to at most `rate`; blocks cost by what is touched `together`."""

    held: tuple[Held, ...]
    sets: Sets
    rate: Fraction
    together: tuple[tuple[int, ...], ...]

    def price(self, rates: Sequence[float]) -> float:
        """The largest sum of rates that one unit can touch."""
        return max(sum(rates[block] for block in blocks) for blocks in self.together)


def smooth_rates(demand: Demand, start: Sequence[float]) -> tuple[float, ...]:
    """The rates of the least price, as if noise were continuous. `start` is enough, and what is found is no dearer."""
    if len(start) == 1:
        return (least(lambda rate: _smooth_misses(demand, [rate]) <= float(demand.rate), start[0]),)
    if len(demand.sets) > _MOST_SETS:
        return tuple(start)
    found = _solved(demand, start)
    if found is None:
        return tuple(start)
    # The solver may stop a little outside: one factor for all rates brings it back.
    factor = least(lambda f: _smooth_misses(demand, [f * rate for rate in found]) <= float(demand.rate), 1.0)
    mended = tuple(factor * rate for rate in found)
    return mended if demand.price(mended) < demand.price(start) else tuple(start)


def whole_rates(demand: Demand, rates: Sequence[float]) -> tuple[Epsilon, ...]:
    """Rates in whole nano that keep the miss rate with the noise as it is drawn; nearly proportional to `rates`."""
    factor = least(lambda f: _misses(demand, [f * rate for rate in rates]) <= float(demand.rate), 1.0)
    nano = [math.ceil(factor * rate * NANO) for rate in rates]
    if max(nano) > MAX_NANO:
        rule = "even an epsilon of a million cannot meet it with these half widths"
        raise ArgumentError("miss_rate", demand.rate, rule, "Raise it or the uncertain region")
    while not keeps(demand, nano):
        nano = [number + math.ceil(_NUDGE * number) for number in nano]
    if len(nano) == 1:
        for _ in range(_MOST_STEPS_DOWN):
            if nano[0] == 1 or not keeps(demand, [nano[0] - 1]):
                break
            nano = [nano[0] - 1]
    return tuple(Epsilon.from_nano(number) for number in nano)


def keeps(demand: Demand, nano: Sequence[int]) -> bool:
    """Whether the misses of every set add up to at most the rate: certain, not computed in floats."""

    def kept(bits: int) -> bool:
        tails = [held.noise.enclosed(Fraction(nano[held.block], NANO), held.slack + 1, bits) for held in demand.held]
        sums = (sum((tails[i] for i in members), Enclosure(0, 0, bits)) for members in demand.sets)
        return all(total.at_most(demand.rate) for total in sums)

    return certified(kept)


def _misses(demand: Demand, rates: Sequence[float]) -> float:
    tails = [held.noise.sketched(rates[held.block], held.slack + 1) for held in demand.held]
    return max(sum(tails[i] for i in members) for members in demand.sets)


def _smooth_misses(demand: Demand, rates: Sequence[float]) -> float:
    tails = [tail_and_slope(held.noise, held.slack + 0.5, rates[held.block])[0] for held in demand.held]
    return max(sum(tails[i] for i in members) for members in demand.sets)


def _solved(demand: Demand, start: Sequence[float]) -> tuple[float, ...] | None:
    """The convex program: least price with all sums of tails at most the rate. Variables are shares of the start."""
    from scipy.optimize import minimize  # noqa: PLC0415 - only planners of values need it

    base, blocks = np.array(start), len(start)
    dearest = demand.price(start)
    inside = np.zeros((len(demand.sets), len(demand.held)))
    for row, members in enumerate(demand.sets):
        inside[row, list(members)] = 1.0
    where = np.array([held.block for held in demand.held])
    paid = np.zeros((len(demand.together), blocks + 1))
    for row, members in enumerate(demand.together):
        paid[row, list(members)] = -base[list(members)] / dearest
    paid[:, -1] = 1.0

    def spared(x: NDArray[np.float64]) -> NDArray[np.float64]:
        rates = np.maximum(x[:-1], 1e-6) * base
        tails = [tail_and_slope(h.noise, h.slack + 0.5, float(rates[h.block]))[0] for h in demand.held]
        return np.asarray(1.0 - inside @ np.array(tails) / float(demand.rate))

    def slopes(x: NDArray[np.float64]) -> NDArray[np.float64]:
        rates = np.maximum(x[:-1], 1e-6) * base
        falls = np.array([tail_and_slope(h.noise, h.slack + 0.5, float(rates[h.block]))[1] for h in demand.held])
        by_rate = np.zeros((len(demand.held), blocks + 1))
        by_rate[np.arange(len(where)), where] = falls * base[where]
        return np.asarray(-inside @ by_rate / float(demand.rate))

    last = np.zeros(blocks + 1)
    last[-1] = 1.0
    found = minimize(
        lambda x: float(x[-1]),
        np.ones(blocks + 1),
        jac=lambda _: last,
        method="SLSQP",
        bounds=[(1e-3, 10.0)] * blocks + [(1e-3, 10.0)],
        constraints=[
            {"type": "ineq", "fun": lambda x: paid @ x, "jac": lambda _: paid},
            {"type": "ineq", "fun": spared, "jac": slopes},
        ],
        options={"maxiter": _MOST_ROUNDS, "ftol": 1e-10},
    )
    rates = np.asarray(found.x[:-1]) * base
    return tuple(float(rate) for rate in rates) if np.all(np.isfinite(rates)) and np.all(rates > 0) else None
