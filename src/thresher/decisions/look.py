"""What a mechanism is: a way to price looks. A look decides, promises and explains itself.

    Asked ─► mechanism.look ─► Look ─► decide(truth) ─► Verdicts
    (rates, widths)            (price)                  (noisy margins and what follows from them)

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
# Returns what a question would cost one unit with other widths or rates.
Price = Callable[[Asked], Epsilon]


class Look:
    """A priced way to decide: one look, or several. Distances are in steps, of which `scale` are one privacy unit.

    epsilon        the worst case for one group
    half_width     by how much the threshold is moved, in privacy units
    clear          how many steps short of the threshold a group must be to be rarely reported
    told           why this promise was chosen, in plain words; empty if there is nothing to choose
    shows_levels   whether the release shows the level at which each group stopped, so that the rest is given back
    refinable      whether its noisy margins may be refined later
    fixed          whether its level is settled before anything is seen
    levels_move    whether levels are chosen by what was seen
    warnings       why nobody should rely on it
    how            how it decides, in plain words
    each_group_stops    whether decided groups are left alone, so that they lose less than the others
    follows_limit    whether the limit on its cost decides how finely it measures, if no half width was asked for
    """

    __slots__ = ()
    if TYPE_CHECKING:
        # In some looks these are fields, in others they are computed: they are read, and never written.
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
        """Return the levels, as far as they are known before anything is read."""
        raise NotImplementedError

    def decide(self, truth: TrueMargins, entropy: Entropy | None = None) -> Verdicts:
        """Draw and decide."""
        raise NotImplementedError

    def promise(self, asked: Asked, seen: Verdicts | None = None) -> Guarantee:  # noqa: ARG002 - what others reach
        """Return what is promised before anything is read, or, with `seen`, what an answer reached."""
        return line_promise(asked, self.half_width, Fraction(self.clear, self.scale))

    def kept(self, asked: Asked) -> list[Fraction]:
        """Return the half width of each condition, in steps of its weighted sum."""
        return [self.half_width * spread for spread in asked.sensitivities.values()]

    def details(self, asked: Asked, price: Price) -> Statements:
        """Return how it decides and what it costs, line by line."""
        return look_details(asked, self, price)

    def document(self, asked: Asked, price: Price) -> dict[str, Any]:
        """Return what a plan says of the look beside its levels, for JSON."""
        return {
            "epsilon_with_half_the_region": price(asked.scaled(_HALF)).to_json(),
            "half_widths": half_widths(asked, self.half_width),
        }

    def affordable(self, asked: Asked, price: Price, limit: Epsilon) -> str | None:
        """Return what to change so that it costs at most `limit`, in words; None if nothing would help."""
        return cheaper(asked, price, limit)

    def exact_level(self, charged: Epsilon) -> Fraction:
        """Return the level at which noise was drawn, of which the ledger knows the amount `charged`."""
        return charged.fraction

    def steps_at(self, level: Fraction, first_rate: Fraction) -> int:  # noqa: ARG002 - what others aim at
        """Return the half width that was aimed at, in steps."""
        return round(2 * self.scale * self.half_width) // 2

    @property
    def top(self) -> Epsilon:
        """Return the highest level that measuring may reach; zero if there is one level."""
        return Epsilon(0)


class ReachingLook(Look):
    """Looks that end when a promise about all groups together is reached, or when each verdict is clear.

    sure_rate   the probability with which a group that does not qualify is marked above, for each group by itself
    certifies   whether a share of errors among all groups is certified
    needs_failing   how many groups must fail the condition for that share; None if it is aimed at up to the limit
    """

    __slots__ = ()
    if TYPE_CHECKING:

        @property
        def sure_rate(self) -> Fraction: ...
        @property
        def certifies(self) -> bool: ...
        @property
        def needs_failing(self) -> int | None: ...

    else:
        needs_failing = None

    shows_levels = True
    fixed = False

    @property
    def follows_limit(self) -> bool:
        """Tell whether measuring ends at the limit on its cost. Without a certificate there is a usual half width."""
        return self.certifies

    def promise(self, asked: Asked, seen: Verdicts | None = None) -> Guarantee:
        """Return what is promised for each verdict by itself, and what is certified about all of them together."""
        options, sure = asked.options, self.sure_rate
        rates = (options.miss_rate, sure) if options.misses_first else (sure, options.false_alarm_rate)
        half_width, clear = self.half_width, Fraction(self.clear, self.scale)
        facts = {"confidence": decimal_text(1 - asked.aim.delta)}
        if self.certifies:
            facts = {"aim": decimal_text(options.rates[1]), **facts}
            if seen is None and self.needs_failing is not None:
                facts["needs"] = f"{self.needs_failing:,}"
        if seen is not None:
            half_width, clear = seen.half_width, Fraction(seen.clear, seen.scale)
            facts |= _reached(seen, self.epsilon, self.needs_failing)
        return Guarantee("labels", *rates, half_width, clear, options.bound, counted_rows(asked.question), facts)

    def details(self, asked: Asked, price: Price) -> Statements:  # noqa: ARG002 - the form of all looks
        """Return how it decides and what it may cost, line by line."""
        return reaching_details(asked, self)

    def document(self, asked: Asked, price: Price) -> dict[str, Any]:  # noqa: ARG002 - likewise
        """Return nothing: no half width is asked for."""
        return {}

    def affordable(self, asked: Asked, price: Price, limit: Epsilon) -> str | None:  # noqa: ARG002 - likewise
        """Return in words that a lower limit is kept by measuring less finely."""
        return f"With max_epsilon={limit} it would be measured less finely" if limit else None

    def steps_at(self, level: Fraction, first_rate: Fraction) -> int:
        """Return the half width of one look at this level: no half width was aimed at."""
        return conditional_shift(0, level, first_rate, self.scale) - 1


def _reached(seen: Verdicts, worst: Epsilon, needed: int | None) -> dict[str, str]:
    """Return what was certified about all groups together, and why, if it is not the share that was aimed at."""
    facts: dict[str, str] = {}
    if seen.count_bound is not None:
        facts["reported"] = str(seen.count_bound.reported)
        if seen.count_bound.says_enough:
            facts["wrong_at_most"] = str(seen.count_bound.wrong_at_most)
    if seen.certificate is None:
        return facts
    if seen.certificate.reached:
        return {**facts, "share": decimal_text(seen.certificate.share)}
    unlisted = 0 if seen.count_bound is None else seen.verdict.size - seen.count_bound.reported
    few = seen.loss < worst and (needed is None or unlisted < needed)
    return {**facts, "short": "few" if few else "finest"}


@dataclass(frozen=True, slots=True)
class Mechanism:
    """A way to price looks.

    options           the options that apply to it beside the rates, the region and the limit
    width_optional    whether it needs no half width, unless one is asked for or groups are few
    keeps_both_rates  whether it keeps both rates at once: no rate of half or more then makes the answer free
    """

    name: str
    look: Callable[[Asked], Look]
    options: frozenset[str] = frozenset()
    width_optional: bool = False
    keeps_both_rates: bool = False


def cheaper(asked: Asked, price: Price, limit: Epsilon) -> str | None:
    """Return in words which multiple of the half width, and of the first rate, keeps a question within a limit."""
    offers: list[str] = []
    for times in (2**i for i in range(1, _MOST_DOUBLINGS + 1)):
        if (cost := price(asked.scaled(Fraction(times)))) <= limit:
            offers.append(f"with {times} times the half width it would cost {cost}")
            break
    looser = asked.looser()
    while looser.aim.first_rate < _HALF:
        if (cost := price(looser)) <= limit:
            rate = decimal_text(looser.aim.first_rate)
            offers.append(f"with a {asked.options.first_rate_name} of {rate} it would cost {cost}")
            break
        looser = looser.looser()
    text = ", or ".join(offers)
    return text[:1].upper() + text[1:] or None
