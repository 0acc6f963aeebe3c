"""The mechanisms by name: each prices a rule before anything is read, and decides by it afterwards.

    certified   looks that grow sharper until a promise about all groups together is reached; the default
    three-way   fixed levels with the same promise, clear groups left alone: dearer at worst, cheaper for those
    nlm         one look, the line as it is: a baseline, whose promise begins a half width away from the line
    tslm        one look, the line moved by the half width
    tslm-zone   one look, the line and one coin placed so that both rates are kept outside a zone, at the least epsilon
    ppwlm       looks at fixed levels, each at the groups that are still undecided
    dppwlm      the same, with levels chosen by what was seen

Reads: error rates and half widths; margins inside `decided`. Writes: nothing. Never: data while pricing.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import Amount, Epsilon, exact_fraction, whole_number
from thresher.config import decimal_text
from thresher.decisions.adaptive import AdaptiveLadder, adaptive_ladder_of, explore
from thresher.decisions.certified import CertifiedLadder, certify
from thresher.decisions.progressive import Ladder, climb, ladder_of
from thresher.decisions.regimes import Aim, Chosen, chosen, three_way
from thresher.decisions.three_way import ThreeWayLadder, climb_three_ways
from thresher.decisions.threshold_shift import (
    FINEST,
    Shift,
    Tolerances,
    cuts,
    look,
    priced_naive,
    priced_shift,
    priced_zone,
)
from thresher.decisions.verdicts import MISSES, Bound, Verdicts
from thresher.errors import ArgumentError
from thresher.noise import Entropy, smallest_epsilon

Rule = Shift | Ladder | AdaptiveLadder | CertifiedLadder | ThreeWayLadder
MECHANISMS = ("certified", "three-way", "tslm", "tslm-zone", "ppwlm", "dppwlm", "nlm")
LADDERS = ("ppwlm", "dppwlm")
# Mechanisms that stop by what they reach, within a limit on epsilon.
REACHING = ("certified", "three-way")
MOST_LEVELS = 32
_LEVELS = 4
# Where the range of the margins is not known, each level is this many times the one before.
_RATIO = 8
_MOST_DOUBLINGS = 10
# Where no range is declared: too large a guess costs next to nothing, for it only adds cheap levels.
_WIDEST = Fraction(100_000)
_THREE_WAY_LEVELS = 6


@dataclass(frozen=True, slots=True)
class Terms:
    """What a rule must keep: error rates, which of them is the one to bound first, and how to climb."""

    miss_rate: Fraction
    false_alarm_rate: Fraction
    bound: Bound = MISSES
    levels: int = _LEVELS
    first_epsilon: Epsilon | None = None
    best_effort: bool = False
    # The half width of the first look, in privacy units, unless its epsilon is given.
    widest: Fraction | None = None
    # For mechanisms that stop by what they reach: how many groups, epsilon at most, and the chance to be wrong.
    groups: int = 0
    limit: Epsilon | None = None
    finest: int | None = None
    delta: Fraction = Fraction(1, 50)
    insists: bool = False

    @property
    def rates(self) -> tuple[Fraction, Fraction]:
        """The rate to bound first: seen in the mirror, false alarms are misses."""
        rates = self.miss_rate, self.false_alarm_rate
        return rates if self.bound == MISSES else rates[::-1]

    def limited(self, max_epsilon: Amount, confidence: Amount | None) -> "Terms":
        """With a limit on epsilon, and a certificate wanted at this confidence, if any is named."""
        limit = named_epsilon(max_epsilon, "max_epsilon")
        if not limit:
            raise ArgumentError("max_epsilon", max_epsilon, "it must be above zero", "Pass 1, say")
        delta = self.delta if confidence is None else checked_delta(confidence)
        return replace(self, limit=limit, delta=delta, insists=confidence is not None)

    def doubled(self) -> "Terms":
        """Twice the rate that is bounded first."""
        if self.bound == MISSES:
            return replace(self, miss_rate=2 * self.miss_rate)
        return replace(self, false_alarm_rate=2 * self.false_alarm_rate)

    @property
    def two_rates(self) -> tuple[Fraction, Fraction]:
        """As `rates`, refused unless both are below one half: a zone has two sides."""
        for field, rate in (("miss_rate", self.miss_rate), ("false_alarm_rate", self.false_alarm_rate)):
            if rate >= Fraction(1, 2):
                rule = "a zone has two rates below one half"
                raise ArgumentError(field, rate, rule, "Pass 0.05, say, or another mechanism")
        return self.rates

    @property
    def free(self) -> bool:
        """Half or more: no data are needed, because every group may be called uncertain."""
        return self.rates[0] >= Fraction(1, 2)


def priced(mechanism: str, terms: Terms, tolerances: Tolerances) -> Rule:
    """The least epsilon, by this mechanism, at which each atom's half width is kept. Touches no data."""
    if mechanism in REACHING:
        return replace(regime(mechanism, terms, tolerances).rule, bound=terms.bound)
    if mechanism in LADDERS:
        return replace(_ladder(mechanism, terms, tolerances), bound=terms.bound)
    price = {"nlm": priced_naive, "tslm": priced_shift, "tslm-zone": priced_zone}[mechanism]
    rates = terms.two_rates if mechanism == "tslm-zone" else terms.rates
    return replace(price(*rates, tolerances), bound=terms.bound)


def regime(mechanism: str, terms: Terms, tolerances: Tolerances) -> Chosen:
    """Which promise so many groups allow, and the rule that keeps it."""
    if terms.limit is None:
        rule = f"{mechanism} looks closer until it is sure enough, so it needs to know when to stop"
        raise ArgumentError("max_epsilon", None, rule, "Pass 1, say, or declare max_epsilon_per_question")
    widest = terms.widest or _WIDEST
    aim = Aim(*terms.rates, terms.groups, terms.limit, widest, terms.finest, terms.delta, terms.insists)
    if mechanism == "three-way":
        return three_way(aim, _THREE_WAY_LEVELS, "fixed levels, at which clear groups are left alone")
    return chosen(aim, tolerances)


def decided(margins: NDArray[np.int64], rule: Rule, entropy: Entropy | None = None) -> Verdicts:
    """Draw and decide."""
    if isinstance(rule, Shift):
        return look(margins, rule, entropy)
    if isinstance(rule, CertifiedLadder):
        return certify(margins, rule, entropy)
    if isinstance(rule, ThreeWayLadder):
        return climb_three_ways(margins, rule, entropy)
    return climb(margins, rule, entropy) if isinstance(rule, Ladder) else explore(margins, rule, entropy)


def _ladder(mechanism: str, terms: Terms, tolerances: Tolerances) -> Ladder | AdaptiveLadder:
    missed, alarmed = terms.rates
    # Noise of a scale above 1e9 is not drawn, so a tiny first level allows fewer steps to a unit.
    finest = terms.first_epsilon.nano if terms.first_epsilon else FINEST
    scale, steps = cuts(missed / terms.levels, tolerances, finest)
    last = smallest_epsilon(missed / terms.levels, steps + 1, scale)
    widening = Fraction(_RATIO ** (terms.levels - 1))
    if terms.widest is not None:
        widening = max(Fraction(1), terms.widest * scale / (steps + 1))
    # Half widths go as one over epsilon.
    first = terms.first_epsilon or Epsilon.from_nano(max(scale, int(last.nano / widening)))
    if mechanism == "ppwlm":
        return ladder_of(missed, alarmed, steps, scale, terms.levels, first)
    ladder = adaptive_ladder_of(missed, alarmed, steps, scale, terms.levels, first)
    return replace(ladder, best_effort=terms.best_effort)


def affordable(cost_of: Callable[[Terms, Fraction], Epsilon], terms: Terms, limit: Epsilon) -> str | None:
    """The least doubling of the region, and of the rate that is bounded, that keeps within a limit; in words."""
    wider = ((2**i, cost_of(terms, Fraction(2**i))) for i in range(1, _MOST_DOUBLINGS + 1))
    found = next(((times, cost) for times, cost in wider if cost <= limit), None)
    told = [] if found is None else [f"with {found[0]} times the uncertain region it would cost {found[1]}"]
    looser = terms.doubled()
    while not looser.free:
        if (cost := cost_of(looser, Fraction(1))) <= limit:
            name = "miss_rate" if terms.bound == MISSES else "false_alarm_rate"
            told.append(f"with a {name} of {decimal_text(looser.rates[0])}, {cost}")
            break
        looser = looser.doubled()
    text = ", or ".join(told)
    return text[:1].upper() + text[1:] if told else None


def checked_rate(value: Amount, field: str, bound: Bound) -> Fraction:
    """A rate above 0; the one that is bounded first may be half or more, up to 1, which costs nothing."""
    rate = exact_fraction(value, field)
    bounded = field == ("miss_rate" if bound == MISSES else "false_alarm_rate")
    if not 0 < rate <= 1 or (rate == 1 and not bounded):
        most = "at most 1" if bounded else "below 1"
        rule = f"it must be above 0 and {most}; 0 would need infinite epsilon"
        raise ArgumentError(field, value, rule, f"Pass {'0.05' if field == 'miss_rate' else '0.1'}, say")
    return rate


def checked_delta(confidence: Amount) -> Fraction:
    """The chance that a certificate may be wrong."""
    share = exact_fraction(confidence, "confidence")
    if not Fraction(1, 2) <= share < 1:
        rule = "it must be 0.5 or more and below 1; 1 would need infinite epsilon"
        raise ArgumentError("confidence", confidence, rule, "Pass 0.98, say")
    return 1 - share


def checked_levels(levels: object) -> int:
    number = whole_number(levels, "levels")  # type: ignore[arg-type]  # it refuses what is no integer
    if not 1 <= number <= MOST_LEVELS:
        raise ArgumentError("levels", levels, f"there are 1 to {MOST_LEVELS} looks; 1 is a threshold shift", "Pass 4")
    return number


def checked_first(epsilon: Amount) -> Epsilon:
    amount = exact_fraction(epsilon, "first_epsilon")
    if amount < Fraction(1, 10**9):
        rule = "it must be above zero, and 1e-9, the ledger's unit, at least"
        raise ArgumentError("first_epsilon", epsilon, rule, "Pass 0.001, say")
    return named_epsilon(epsilon, "first_epsilon")


def named_epsilon(value: Amount, field: str) -> Epsilon:
    """An amount, or a refusal that names the argument it came from."""
    try:
        return Epsilon(value)
    except ArgumentError as refused:
        raise ArgumentError(field, value, refused.rule, refused.fix) from None
