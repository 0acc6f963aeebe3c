"""Noise that is given: stands where a module makes its `NoiseAhead`, so that runs can be repeated and moved."""

import numpy as np


class GivenNoise:
    """Makes sources of small noise, the same for the same seed, whatever the blocks it is taken in.

    `moves`: {(source, step, column): how far} on top; sources are numbered as they are made.
    """

    def __init__(self, seed, spread=4, moves=None):
        self.seed, self.spread, self.moves, self.made = seed, spread, moves or {}, []

    def __call__(self, width, rate, entropy, draws=None):
        source = _Source(self, len(self.made), width, rate)
        self.made.append(source)
        return source


class _Source:
    ahead = 1000

    def __init__(self, given, number, width, rate):
        self.given, self.number, self.width, self.rate, self.step = given, number, width, rate, 0
        self.rng = np.random.default_rng((given.seed, number))

    def take(self, count):
        spread = self.given.spread
        rows = self.rng.integers(-spread, spread + 1, (count, self.width))
        for (number, step, column), far in self.given.moves.items():
            if number == self.number and self.step <= step < self.step + count:
                rows[step - self.step, column] += far
        self.step += count
        return rows
