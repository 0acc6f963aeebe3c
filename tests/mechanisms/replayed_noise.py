"""A mechanism run on noise that is given: what it drew and at which rates, and whether neighbours can be aligned.

A mechanism that measures sums over disjoint blocks is private at epsilon if, whatever its noise, moving the noise by
one step in one place of each call makes the neighbour release the same, at steps times rates of epsilon in all.
The search for such places is blind: it knows nothing of which blocks the mechanism has chosen.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product

import numpy as np

from thresher.amounts import exact_fraction


@dataclass
class Replay:
    """Stands where a module calls `discrete_laplace`: hands out given noise, and writes down rates and sizes."""

    seed: int
    moves: tuple[tuple[int, int], ...] = ()
    spread: int = 4
    rates: list[Fraction] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)

    def __call__(self, epsilon, size, sensitivity=1, entropy=None):
        call = len(self.rates)
        self.rates.append(exact_fraction(epsilon, "epsilon") / sensitivity)
        self.sizes.append(size)
        noise = np.random.default_rng((self.seed, call)).integers(-self.spread, self.spread + 1, size)
        if self.moves:
            place, step = self.moves[call]
            if place < size:
                noise[place] += step
        return noise


def run(mechanism, module, monkeypatch, counts, epsilon, replay):
    with monkeypatch.context() as patch:
        patch.setattr(module, "discrete_laplace", replay)
        return mechanism(np.array(counts), epsilon).counts


def aligned_cost(mechanism, module, monkeypatch, here, there, epsilon, replay_of):
    """What it costs to make `there` release what `here` does on this noise; None if one step a call cannot do it."""
    first = replay_of(())
    shown = run(mechanism, module, monkeypatch, here, epsilon, first)
    (step,) = set(np.unique(np.array(here) - np.array(there))) - {0}
    for places in product(*(range(size) for size in first.sizes)):
        second = replay_of(tuple((place, int(step)) for place in places))
        again = run(mechanism, module, monkeypatch, there, epsilon, second)
        if np.array_equal(again, shown) and second.sizes == first.sizes and second.rates == first.rates:
            return sum(first.rates)
    return None


def neighbours(counts):
    """The same data with one record more, in each cell in turn."""
    table = np.array(counts)
    for cell in np.ndindex(table.shape):
        more = table.copy()
        more[cell] += 1
        yield table, more
        yield more, table
