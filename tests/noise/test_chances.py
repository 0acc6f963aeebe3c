"""Coins of one chance: decided by known words, counted over many, and refused where a word cannot decide them."""

import struct
from fractions import Fraction

import pytest
from scipy.stats import binom

from thresher.errors import ArgumentError
from thresher.noise import chances
from thresher.noise.chances import CHANCES

FALSE_FAILURE = 1e-6


class Words:
    """Entropy that gives the words it was told to."""

    stamp = "NOT PRIVATE"

    def __init__(self, *words):
        self._bytes = struct.pack(f"={len(words)}I", *words)

    def read(self, count):
        assert count == len(self._bytes)
        return self._bytes


@pytest.mark.parametrize("counted", [1, 2, 227_000_001, CHANCES // 2, CHANCES - 1])
def test_a_coin_is_true_for_exactly_so_many_words(counted):
    words = [0, counted - 1, counted, CHANCES - 1]
    expected = [True, True, counted > CHANCES - 1, False]
    assert chances(Fraction(counted, CHANCES), 4, Words(*words)).tolist() == expected


def test_never_and_always():
    assert not chances(0, 2, Words(0, CHANCES - 1)).any()
    assert chances(1, 2, Words(0, CHANCES - 1)).all()


def refuted(heads, coins, chance):
    return 2 * min(binom.cdf(heads, coins, chance), binom.sf(heads - 1, coins, chance)) < FALSE_FAILURE


@pytest.mark.parametrize("chance", [Fraction(1, 1024), Fraction(227, 4096), Fraction(1, 2), Fraction(4095, 4096)])
def test_the_share_of_heads(chance, entropy, trials):
    coins = trials(400_000, 4_000_000)
    heads = int(chances(chance, coins, entropy).sum())
    assert not refuted(heads, coins, float(chance))
    assert refuted(heads, coins, float(chance) + (0.01 if chance <= Fraction(1, 2) else -0.01)), "the check has power"


def test_coins_are_independent_of_their_neighbours(entropy):
    coins = chances("0.25", 400_000, entropy)
    both = int((coins[:-1:2] & coins[1::2]).sum())
    assert not refuted(both, 200_000, 1 / 16)


def test_none_at_all():
    assert chances("0.5", 0, Words()).tolist() == []


@pytest.mark.parametrize("chance", [Fraction(1, 3), "0.1", -1, "-0.25", 2, Fraction(1, 1 << 33), float("nan"), None])
def test_what_a_word_cannot_decide_is_refused(chance):
    with pytest.raises(ArgumentError, match=r"^probability = "):
        chances(chance, 1)


@pytest.mark.parametrize("size", [-1, 1.5, True])
def test_a_size_is_a_number_of_coins(size):
    with pytest.raises(ArgumentError, match=r"^size = "):
        chances("0.5", size)
