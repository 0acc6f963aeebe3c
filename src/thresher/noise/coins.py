"""Make exact random choices one at a time, by integer arithmetic on fair bits.

Every probability here is rational or the exponential of a rational, and is met exactly. No float is ever formed.
Reads: entropy. Writes: nothing. Never: a float, a table, an array. Proofs: `coins.md`.
Citation: Canonne, Kamath, Steinke, "The Discrete Gaussian for Differential Privacy", 2020, section 5.
"""

from collections.abc import Callable
from fractions import Fraction

from thresher.errors import EntropyError
from thresher.noise.entropy import Entropy

Coin = Callable[[], bool]
# A fair generator is out of range this often in a row with probability below 2**-256.
_MOST_REJECTIONS = 256


def uniform_below(bound: int, entropy: Entropy) -> int:
    """Draw uniformly from 0, 1, ..., bound - 1."""
    bits = (bound - 1).bit_length()
    size = (bits + 7) // 8
    for _ in range(_MOST_REJECTIONS):
        draw = int.from_bytes(entropy.read(size), "little") >> (8 * size - bits)
        if draw < bound:
            return draw
    raise EntropyError(f"{_MOST_REJECTIONS} draws in a row were out of range: the generator is stuck")


def bernoulli_exp(rate: Fraction, entropy: Entropy) -> bool:
    """Return True with probability exp(-rate), for any rational rate >= 0."""
    while rate > 1:
        if not _bernoulli_exp_to_one(1, 1, entropy):
            return False
        rate -= 1
    return _bernoulli_exp_to_one(rate.numerator, rate.denominator, entropy)


def _bernoulli_exp_to_one(numerator: int, denominator: int, entropy: Entropy) -> bool:
    """Return True with probability exp(-rate), for a rate of at most 1.

    Coins of probability rate/1, rate/2, rate/3, ... are tossed until one fails. The answer is True if an odd number of
    coins was tossed.
    """
    k = 1
    while uniform_below(denominator * k, entropy) < numerator:
        k += 1
    return k % 2 == 1


def ratio(first: Coin, second: Coin) -> bool:
    """Return True with probability a(1-b) / (1-ab) for coins of probability a and b (not both 1)."""
    while first():
        if not second():
            return True
    return False


def geometric_one(rate: Fraction, entropy: Entropy) -> int:
    """Draw k >= 0 with P[k] = (1-q) q^k, q = exp(-rate)."""
    numerator, denominator = rate.numerator, rate.denominator
    while True:
        rest = uniform_below(denominator, entropy)
        if _bernoulli_exp_to_one(rest, denominator, entropy):
            break
    blocks = 0
    while _bernoulli_exp_to_one(1, 1, entropy):
        blocks += 1
    return (rest + denominator * blocks) // numerator


def laplace_one(rate: Fraction, entropy: Entropy) -> int:
    """Draw x with P[x] = (1-p)/(1+p) p^|x|, p = exp(-rate)."""
    while True:
        magnitude, negative = geometric_one(rate, entropy), uniform_below(2, entropy)
        if magnitude or not negative:  # zero has one sign only
            return -magnitude if negative else magnitude


def laplace_sign(rate: Fraction, entropy: Entropy) -> int:
    """Draw the sign (-1, 0 or 1) that a draw of `laplace_one` would have, without its magnitude."""
    while True:
        away, negative = bernoulli_exp(rate, entropy), uniform_below(2, entropy)
        if away or not negative:
            return (-1 if negative else 1) if away else 0
