"""What a mechanism is: a way to price looks, and looks that decide, promise and explain themselves.

    Asked ─► mechanism.look ─► Look ─► decide(truth) ─► Verdicts
    (what is to be kept)       (price)                  (what was seen)

A new mechanism is a file with a `Look` and a `Mechanism`, and a line in `mechanisms.py`.
Reads: aims; margins inside `decide`. Writes: nothing. Never: data while pricing.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from thresher.amounts import Epsilon
from thresher.config import decimal_text
from thresher.decisions.aim import Asked
from thresher.decisions.margin import TrueMargins
from thresher.decisions.promise import counted_rows, line_promise
from thresher.decisions.verdicts import Level, Verdicts
from thresher.decisions.words import half_widths, look_details, reaching_details
from thresher.guarantee import Guarantee
from thresher.noise import Entropy, conditional_shift
from thresher.plan import Statements

_MOST_DOUBLINGS = 10
_HALF = Fraction(1, 2)
# What a question would cost one unit with other widths or rates.
Price = Callable[[Asked], Epsilon]


class Look:
    """A priced way to decide: one look, or several. Distances are in steps, of which `scale` are one privacy unit.

    epsilon        the worst case for one group
    half_width     in privacy units: by how much the line is moved
    clear          groups this many steps on the wrong side are rarely reported
    told           in plain words, why this promise was chosen; empty where there is nothing to choose
    shows_levels   every group's stopping level is shown, so that what was not reached is given back
    refinable      its noisy margins may be refined later
    fixed          its level is settled before anything is seen
    levels_move    levels are chosen by what was seen
    warnings       why not to rely on it
    how            in plain words, how it decides
    each_group_stops    decided groups are left alone, so that they lose less than the rest
    follows_limit    how fine it measures follows from the limit on its cost, where no half width was asked for
    """

    __slots__ = ()
    if TYPE_CHECKING:
        # Fields of one look, computed of another: read, and never written.
        @property
        def epsilon(self) -> Epsilon: ...
        @property
        def scale(self) -> int: ...
        @property
        def clear(self) -> int: ...
        @property
        def told(self) -> str: ...
        @property
        def half_width(self) -> Fraction: ...
        @property
        def shows_levels(self) -> bool: ...
        @property
        def refinable(self) -> bool: ...
        @property
        def fixed(self) -> bool: ...
        @property
        def levels_move(self) -> bool: ...
        @property
        def each_group_stops(self) -> bool: ...
        @property
        def warnings(self) -> tuple[str, ...]: ...
        @property
        def how(self) -> str: ...
        @property
        def follows_limit(self) -> bool: ...
    else:
        shows_levels = levels_move = each_group_stops = follows_limit = False
        refinable = fixed = True
        warnings = ()
        how = "the distance of each group from the threshold is measured once"

    def ladder(self) -> tuple[Level, ...]:
        """Its levels, as far as they are known beforehand."""
        raise NotImplementedError

    def decide(self, truth: TrueMargins, entropy: Entropy | None = None) -> Verdicts:
        """Draw and decide."""
        raise NotImplementedError

    def promise(self, asked: Asked, seen: Verdicts | None = None) -> Guarantee:  # noqa: ARG002 - what others reach
        """What is promised beforehand, or with what an answer reached."""
        return line_promise(asked, self.half_width, Fraction(self.clear, self.scale))

    def details(self, asked: Asked, price: Price) -> Statements:
        """Return how it decides and what it costs, line by line."""
        return look_details(asked, self, price)

    def document(self, asked: Asked, price: Price) -> dict[str, Any]:
        """What a plan says of it beside its levels, for JSON."""
        return {
            "epsilon_with_half_the_region": price(asked.scaled(_HALF)).to_json(),
            "half_widths": half_widths(asked, self.half_width),
        }

    def affordable(self, asked: Asked, price: Price, limit: Epsilon) -> str | None:
        """What to change so that it costs at most `limit`, in words."""
        return cheaper(asked, price, limit)

    def exact_level(self, charged: Epsilon) -> Fraction:
        """The level at which noise was drawn, of the amount that the ledger knows it by."""
        return charged.fraction

    def steps_at(self, level: Fraction, first_rate: Fraction) -> int:  # noqa: ARG002 - what others aim at
        """The half width that was aimed at, in steps."""
        return round(2 * self.scale * self.half_width) // 2

    @property
    def top(self) -> Epsilon:
        """The highest level that may be reached by looking; zero where there is one level."""
        return Epsilon(0)


class ReachingLook(Look):
    """Looks that end where a promise about all groups together is reached, or few groups are left uncertain.

    sure_rate   the chance that a group that does not qualify is marked above, each group by itself
    certifies   whether a share of errors among all groups is certified
    """

    __slots__ = ()
    if TYPE_CHECKING:

        @property
        def sure_rate(self) -> Fraction: ...
        @property
        def certifies(self) -> bool: ...

    shows_levels = True
    fixed = False

    @property
    def follows_limit(self) -> bool:
        """Whether it ends at the limit on its cost: without a certificate to reach, it has a usual half width."""
        return self.certifies

    def promise(self, asked: Asked, seen: Verdicts | None = None) -> Guarantee:
        """What each verdict promises by itself, and what is certified about all of them together."""
        options, sure = asked.options, self.sure_rate
        rates = (options.miss_rate, sure) if options.misses_first else (sure, options.false_alarm_rate)
        half_width, clear = self.half_width, Fraction(self.clear, self.scale)
        facts: dict[str, str] = {}
        if self.certifies:
            facts = {"aim": decimal_text(options.rates[1]), "confidence": f"{float(1 - asked.aim.delta):.6g}"}
        if seen is not None:
            half_width, clear = seen.half_width, Fraction(seen.clear, seen.scale)
            facts |= _reached(seen, self.epsilon)
        return Guarantee("labels", *rates, half_width, clear, options.bound, counted_rows(asked.question), facts)

    def details(self, asked: Asked, price: Price) -> Statements:  # noqa: ARG002 - the form of all looks
        """Return how it decides and what it may cost, line by line."""
        return reaching_details(asked, self)

    def document(self, asked: Asked, price: Price) -> dict[str, Any]:  # noqa: ARG002 - likewise
        """No half width is asked for."""
        return {}

    def affordable(self, asked: Asked, price: Price, limit: Epsilon) -> str | None:  # noqa: ARG002 - likewise
        """A lower limit is kept by looking less closely."""
        return f"With max_epsilon={limit} it would be measured less finely" if limit else None

    def steps_at(self, level: Fraction, first_rate: Fraction) -> int:
        """No half width was aimed at: that of one look at this level."""
        return conditional_shift(0, level, first_rate, self.scale) - 1


def _reached(seen: Verdicts, worst: Epsilon) -> dict[str, str]:
    """What was certified, and why it is less than what was aimed at, if it is."""
    if seen.certificate is None:
        return {}
    share = {"share": decimal_text(seen.certificate.share)}
    if seen.certificate.reached:
        return share
    if seen.loss >= worst:
        return {**share, "short": "the finest measurement that the limit allows was reached first"}
    return {**share, "short": "measuring more finely would not have helped"}


@dataclass(frozen=True, slots=True)
class Mechanism:
    """A way to price looks. `options` are those that apply to it beside the rates, the region and the limit."""

    name: str
    look: Callable[[Asked], Look]
    options: frozenset[str] = frozenset()
    # Whether it needs no half width where none is asked for and groups are not few.
    width_optional: bool = False
    # Whether it keeps both rates at once, so that neither may be one half or more; elsewhere such a rate needs no data.
    keeps_both_rates: bool = False


def cheaper(asked: Asked, price: Price, limit: Epsilon) -> str | None:
    """The least doubling of the region, and of the rate that is bounded first, that keeps within a limit; in words."""
    wider = ((2**i, price(asked.scaled(Fraction(2**i)))) for i in range(1, _MOST_DOUBLINGS + 1))
    found = next(((times, cost) for times, cost in wider if cost <= limit), None)
    told = [] if found is None else [f"with {found[0]} times the half width it would cost {found[1]}"]
    looser = asked.looser()
    while looser.aim.first_rate < _HALF:
        if (cost := price(looser)) <= limit:
            rate = decimal_text(looser.aim.first_rate)
            told.append(f"with a {asked.options.first_rate_name} of {rate}, {cost}")
            break
        looser = looser.looser()
    text = ", or ".join(told)
    return text[:1].upper() + text[1:] if told else None
