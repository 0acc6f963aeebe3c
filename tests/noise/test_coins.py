"""The coins' laws, exactly: every path of fair choices is walked until the mass left open is negligible."""

import math
from collections import defaultdict
from fractions import Fraction

import numpy as np
import pytest
from laws import DRAWS, assert_fits, assert_rejected, chi_square_p, geometric_cdf, laplace_p

from thresher.noise import coins

OPEN_MASS = 1e-4


class _NeedsChoiceError(Exception):
    def __init__(self, masses):
        self.masses = masses


class Walker:
    """Runs a sampler along every path of its choices; each choice is replaced by its known law."""

    def __init__(self, monkeypatch, *, exact_coins=False):
        self._script, self._at = [], 0
        monkeypatch.setattr(coins, "uniform_below", lambda bound, _: self._choose([1 / bound] * bound))
        if exact_coins:  # proved by a test of their own, so that one choice stands for all their flips
            monkeypatch.setattr(coins, "_bernoulli_exp_to_one", lambda n, d, _: bool(self.coin(math.exp(-n / d))))
            monkeypatch.setattr(coins, "bernoulli_exp", lambda rate, _: bool(self.coin(math.exp(-rate))))

    def coin(self, probability):
        return self._choose([1 - probability, probability])

    def _choose(self, masses):
        if len(masses) == 1:
            return 0
        if self._at == len(self._script):
            raise _NeedsChoiceError(masses)
        self._at += 1
        return self._script[self._at - 1]

    def law(self, run, leaf=1e-9):
        """The probability of each result, from below."""
        law, paths = defaultdict(float), [((), 1.0)]
        while paths:
            self._script, mass = paths.pop()
            self._at = 0
            try:
                law[run()] += mass
            except _NeedsChoiceError as need:
                children = [((*self._script, i), mass * part) for i, part in enumerate(need.masses)]
                paths.extend(child for child in children if child[1] >= leaf)
        return law


def assert_law(law, formula):
    """Each probability is met from below, and what is missing in all is negligible."""
    missing = 1 - sum(law.values())
    assert missing < OPEN_MASS
    for result, mass in law.items():
        assert mass - 1e-12 <= formula(result) <= mass + missing + 1e-12, result


@pytest.mark.parametrize(
    "rate", [Fraction(0), Fraction(1, 2), Fraction(2, 3), Fraction(1), Fraction(3, 2), Fraction(5, 2)]
)
def test_bernoulli_exp_is_exact(rate, monkeypatch):
    law = Walker(monkeypatch).law(lambda: coins.bernoulli_exp(rate, None))
    assert_law(law, lambda true: math.exp(-rate) if true else -math.expm1(-rate))


@pytest.mark.parametrize(("a", "b"), [(Fraction(1, 2), Fraction(1, 3)), (Fraction(1, 5), Fraction(3, 4))])
def test_ratio_is_exact(a, b, monkeypatch):
    walker = Walker(monkeypatch, exact_coins=True)
    flip = [lambda chance=chance: bool(walker.coin(float(chance))) for chance in (a, b)]
    law = walker.law(lambda: coins.ratio(*flip))
    truth = a * (1 - b) / (1 - a * b)
    assert_law(law, lambda true: float(truth if true else 1 - truth))


@pytest.mark.parametrize("rate", [Fraction(1), Fraction(2), Fraction(3, 2), Fraction(2, 3)])
def test_geometric_is_exact(rate, monkeypatch):
    law = Walker(monkeypatch, exact_coins=True).law(lambda: coins.geometric_one(rate, None))
    assert_law(law, lambda k: -math.expm1(-rate) * math.exp(-rate * k))


@pytest.mark.parametrize("rate", [Fraction(1), Fraction(2)])
def test_laplace_and_its_sign_are_exact(rate, monkeypatch):
    p = math.exp(-rate)
    walker = Walker(monkeypatch, exact_coins=True)
    law = walker.law(lambda: coins.laplace_one(rate, None))
    assert_law(law, lambda x: (1 - p) / (1 + p) * p ** abs(x))
    law = walker.law(lambda: coins.laplace_sign(rate, None))
    assert_law(law, lambda sign: p / (1 + p) if sign else (1 - p) / (1 + p))


def test_the_exact_check_has_power(monkeypatch):
    law = Walker(monkeypatch).law(lambda: coins.bernoulli_exp(Fraction(1, 2), None))
    with pytest.raises(AssertionError):
        assert_law(law, lambda true: math.exp(-0.50001) if true else -math.expm1(-0.50001))


@pytest.mark.parametrize("bound", [1, 2, 3, 255, 256, 257, 1000])
def test_uniform_choices_fit_and_a_skewed_bound_does_not(bound, entropy):
    draws = np.array([coins.uniform_below(bound, entropy) for _ in range(20_000)])
    assert draws.min() >= 0
    assert draws.max() < bound
    if bound > 1:
        fair = chi_square_p(draws, lambda k: np.clip((k + 1) / bound, 0, 1), 0, bound, min(bound, 50))
        assert_fits(fair)
        assert_rejected(chi_square_p(draws, lambda k: np.clip((k + 1) / bound, 0, 1) ** 1.3, 0, bound, min(bound, 50)))


@pytest.mark.parametrize("scale", [0.5, 10, 1e6])
def test_many_coin_draws_fit(scale, entropy):
    rate, count = 1 / Fraction(scale), DRAWS // 20
    two_sided = np.array([coins.laplace_one(rate, entropy) for _ in range(count)])
    assert_fits(laplace_p(two_sided, scale))
    assert_rejected(laplace_p(two_sided, scale * 1.2))
    one_sided = np.array([coins.geometric_one(rate, entropy) for _ in range(count)])
    assert_fits(chi_square_p(one_sided, geometric_cdf(1 / scale), 0, int(10 * scale) + 1, 200))
