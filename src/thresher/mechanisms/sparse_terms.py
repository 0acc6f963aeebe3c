"""Choose the public numbers of a sparse vector: the split of its budget, the rates of its noises, and an offset.

Any split is private; it decides the accuracy only. The one chosen makes the noise of a comparison least, and its parts
add up to epsilon exactly.
Reads: arguments. Writes: nothing. Never: data, a draw, a float. Proof: `sparse_terms.md`.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, get_args

from thresher.amounts import NANO, Amount, Epsilon, exact_fraction, whole_number
from thresher.errors import ArgumentError
from thresher.noise.arguments import checked_whole
from thresher.noise.enclosure import Enclosure, certified, exp_minus

Kind = Literal["general", "monotone", "nested"]
Side = Literal["above", "below"]
NoiseShape = Literal["one-sided", "two-sided"]

_LEAST_SCALE, _MOST_SCALE = Fraction(1, 1000), 10**9
_MOST_TOPS = 10**6
# The decimal places of the cube root below. An error in the last one moves the split by less than a nano-epsilon.
_ROOT = 10**18


@dataclass(frozen=True, slots=True)
class Setting:
    """Say how queries move between neighbours, which answer is the rare one, and the shape of the noise.

    sensitivity   the most by which one privacy unit moves `query - threshold`, in whole steps
    kind          general: each query moves by itself; monotone: all queries move up, or all down; nested: all from
                  some query on move by the same amount, and those before it do not move (one top only)
    side          the answer that is counted and charged: "above" is query >= threshold, "below" is query <= threshold
    noise         one-sided (half the variance) or two-sided; both cost the same
    """

    sensitivity: int = 1
    kind: Kind = "general"
    side: Side = "above"
    noise: NoiseShape = "one-sided"

    def __post_init__(self) -> None:
        # As Python's integer, because numpy's integers wrap around.
        object.__setattr__(self, "sensitivity", whole_number(self.sensitivity, "sensitivity"))
        if self.sensitivity < 1:
            raise ArgumentError("sensitivity", self.sensitivity, "it must be a positive integer", "Pass 1 or more")
        for field, value, allowed in (
            ("kind", self.kind, get_args(Kind)),
            ("side", self.side, get_args(Side)),
            ("noise", self.noise, get_args(NoiseShape)),
        ):
            if not isinstance(value, str) or value not in allowed:
                raise ArgumentError(field, value, f"it must be one of {', '.join(allowed)}", f'Pass "{allowed[0]}"')


GENERAL = Setting()


@dataclass(frozen=True, slots=True)
class SparseTerms:
    """Hold all numbers that the answers depend on besides data and draws. All are public.

    The rare answer is given if query + v >= threshold + z + offset, with z drawn once at `threshold_rate` and v
    drawn for each query at `query_rate`. At rate r the law of a noise falls by exp(-r) a step.
    """

    most: int
    epsilon: Epsilon
    setting: Setting
    threshold_rate: Fraction
    query_rate: Fraction
    offset: int

    @property
    def one_sided(self) -> bool:
        return self.setting.noise == "one-sided"


def sparse_terms(most: int, epsilon: Amount, setting: Setting = GENERAL) -> SparseTerms:
    """Return the terms of a sparse vector with at most `most` tops. All its answers together cost epsilon."""
    if not isinstance(setting, Setting):
        raise ArgumentError("setting", setting, "it must be a Setting", 'Pass Setting(kind="monotone"), say')
    tops = checked_whole(most, "most", 1, _MOST_TOPS, "Pass how many rare answers may be given before it stops")
    if setting.kind == "nested" and tops != 1:
        raise ArgumentError("most", most, 'it must be 1 if kind is "nested"', 'Pass most=1, or kind="monotone"')
    budget = exact_fraction(epsilon, "epsilon")
    check_rates(epsilon, budget)
    first, second = budget_split(budget, tops, setting.kind)
    wide = setting.sensitivity
    # By how many steps a top may move: twice the sensitivity if the threshold moves one way and the query the other.
    steps = wide * tops * (2 if setting.kind == "general" else 1)
    rates = first / wide, second / steps
    check_rates(epsilon, budget, *rates)
    offset = mean_gap(*rates) if setting.noise == "one-sided" else 0
    return SparseTerms(tops, Epsilon.covering(budget), setting, *rates, offset)


def check_rates(epsilon: Amount, budget: Fraction, *rates: Fraction) -> None:
    """Refuse an epsilon, read as `budget`, that is not positive or makes noise too narrow or too wide to draw."""
    if budget <= 0:
        raise ArgumentError("epsilon", epsilon, "it must be above zero", "Pass a positive amount")
    if not all(_LEAST_SCALE <= 1 / rate <= _MOST_SCALE for rate in rates):
        rule = "it makes a noise scale that does not lie between 0.001 and 1e9 steps"
        raise ArgumentError("epsilon", epsilon, rule, "Check the units, and the sensitivity")


def budget_split(epsilon: Fraction, most: int, kind: Kind) -> tuple[Fraction, Fraction]:
    """Return the parts for threshold and queries. They add up to epsilon; for nested queries each is all of it."""
    if kind == "nested":
        return epsilon, epsilon
    steps = most * (2 if kind == "general" else 1)
    root = _cube_root(steps * steps * _ROOT**3)
    nano = epsilon * NANO * _ROOT / (_ROOT + root)
    # To the nearest nano-epsilon, unless that is 0.
    first = Fraction(round(nano), NANO) if round(nano) else nano / NANO
    return first, epsilon - first


def mean_gap(threshold_rate: Fraction, query_rate: Fraction) -> int:
    """Return the whole number nearest to the mean of v less that of z, both one-sided. It centres the comparison."""
    if threshold_rate == query_rate:
        return 0
    if query_rate > threshold_rate:
        return -mean_gap(query_rate, threshold_rate)

    def ask(bits: int) -> int:
        narrow, wide = (_mean(exp_minus(rate, bits)) for rate in (threshold_rate, query_rate))
        return (wide + Enclosure.of(Fraction(1, 2), bits) - narrow).floor(0)

    return certified(ask)


def _mean(p: Enclosure) -> Enclosure:
    return p / (1 - p)


def _cube_root(number: int) -> int:
    """Return the whole part of the cube root, by Newton's steps from above."""
    root = 1 << -(-number.bit_length() // 3)
    while (step := (2 * root + number // (root * root)) // 3) < root:
        root = step
    return root
