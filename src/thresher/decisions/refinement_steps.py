"""The earlier answer that is refined, how far to refine it, and what that costs beyond what was paid.

All of it follows from the stored release and from what is asked now: nothing is parsed, and nothing is looked up.
Reads: a stored release, what was asked. Writes: nothing. Never: data; true margins. Proof: `refinement.md`.
"""

from collections import defaultdict
from collections.abc import Mapping, Set
from dataclasses import dataclass, replace
from fractions import Fraction
from heapq import nlargest

import numpy as np
from numpy.typing import NDArray

from thresher.accounting import GroupSpending, Spending
from thresher.amounts import Epsilon
from thresher.decisions.aim import Asked
from thresher.decisions.shift import Shift
from thresher.decisions.verdicts import opposite
from thresher.errors import ArgumentError
from thresher.guarantee import MISSES, few_digits
from thresher.noise import conditional_shift, smallest_epsilon, smallest_refinement
from thresher.question import Atom, group_keys
from thresher.release import MeasuredMargins, Release

REFINE, READ_AGAIN, AS_IT_IS = "refine", "read again", "as it is"
_FARTHEST = 1 << 40
_ANEW = "Ask it as a new question, at the full price"
OTHER_GROUPS = "that answer is about other groups than this question"
_OTHER_ROWS = "the declarations of {}, or the version of its rows, have changed, so the noise of that answer is unknown"
_OTHER_QUESTION = "that answer is to another question, and only the same measurement can be refined"
# What has changed, by the part of the measurement. The first part that differs is named.
_DIFFERENT = {
    "unit": "that answer protects another privacy unit than {} does now",
    "table": _OTHER_ROWS,
    "columns": _OTHER_ROWS,
    "groups": OTHER_GROUPS,
    "keys": OTHER_GROUPS,
    "where": _OTHER_QUESTION,
    "formula": _OTHER_QUESTION,
    "used_columns": _OTHER_ROWS,
}


@dataclass(frozen=True, slots=True)
class Earlier:
    """A stored answer and all that is needed to refine it.

    then     what was asked then: its noisy margins are margins of that formula
    moved    by how many steps each threshold is higher now: a margin of now is a margin of then less `moved`
    """

    key: str
    release: Release
    measured: MeasuredMargins
    then: Asked
    moved: int | tuple[int, ...]

    @property
    def next_key(self) -> str:
        """Return the key of the one refinement that it may have: made from its own key and nothing else."""
        return f"{self.root}/{self.measured.place + 1}"

    @property
    def root(self) -> str:
        """Return the key of the first answer of the chain."""
        return self.measured.root or self.key

    @property
    def exact(self) -> Mapping[Epsilon, Fraction]:
        """Return the levels at which noise was drawn, by the amounts in the ledger."""
        return dict(self.measured.exact)

    @property
    def lowest(self) -> Epsilon:
        return min(self.exact)

    @property
    def highest(self) -> Epsilon:
        return max(self.exact)

    @property
    def seen(self) -> NDArray[np.int64]:
        """Return the noisy margins at the last level of each group, as they were measured."""
        shown = np.array(self.release.latest or self.release.noisy, dtype=np.int64)
        return shown if self.release.bound == MISSES else opposite(shown)

    @property
    def places(self) -> dict[Epsilon, NDArray[np.int64]]:
        """Return the places of the groups that have each level."""
        nanos = np.array([epsilon.nano for epsilon in self.release.epsilons], dtype=np.int64)
        return {epsilon: np.flatnonzero(nanos == epsilon.nano) for epsilon in self.exact}

    def of_now(self, margins: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return margins of then as margins of now."""
        return margins - np.array(self.moved, dtype=np.int64)

    @property
    def rates(self) -> tuple[Fraction, Fraction]:
        """Return the rates of misses and false alarms for each group by itself, as that answer promised them."""
        promised = self.release.guarantee
        return promised.miss_rate or Fraction(0), promised.false_alarm_rate or Fraction(0)

    @property
    def promised_steps(self) -> int:
        """Return the half width that it stated, in steps of its margin, rounded down; 0 if all groups were decided."""
        return int(self.measured.scale * self.release.half_width)


@dataclass(frozen=True, slots=True)
class Step:
    """What a refinement does: `shift.epsilon` is the level afterwards, and `shift` moves the threshold.

    given_seen   whether the rates hold given everything that was seen; thresholds then move by what was seen
    fixed        whether the level was settled before anything of the chain was seen
    anew         the level of a first look with the same half width and rates
    """

    kind: str
    shift: Shift
    given_seen: bool
    fixed: bool
    anew: Epsilon


def earlier_answer(asked: Asked, parts: Mapping[str, str], key: str, release: Release) -> Earlier:
    """Return the earlier answer if it measures this question. The refusal says what is different."""
    measured = release.measured
    if measured is None:
        raise refused(key, "that answer holds no noisy margins, so nothing can be refined")
    different = [name for name in (*_DIFFERENT, *parts) if parts.get(name) != measured.parts.get(name)]
    if different:
        rule = _DIFFERENT.get(different[0], _OTHER_QUESTION)
        fix = _same_question(release) if rule == _OTHER_QUESTION else _ANEW
        raise refused(key, rule.format(asked.question.table.name), fix)
    then, moved = _moved(asked, key, release, measured)
    return Earlier(key, release, measured, then, moved)


def step_to(asked: Asked, earlier: Earlier, said: Set[str], *, given_seen: bool) -> Step:
    """Return the step to the least level that keeps what is asked. `said` names the options that were passed."""
    if not said and not earlier.moved:
        rule = "a refinement must change something: the half width, a rate or the limit"
        raise ArgumentError("uncertain_region", None, rule, "Pass a smaller half width, say")
    measured, (missed, alarmed) = earlier.measured, (asked.aim.first_rate, asked.aim.second_rate)
    limit, scale = asked.options.max_epsilon, earlier.measured.scale
    named, rates = "uncertain_region" in said, (asked.options.miss_rate, asked.options.false_alarm_rate)
    # A limit alone asks for the finest measurement that it pays for; to repeat a rate is to leave it as it was.
    by_limit = limit is not None and not named and rates == earlier.rates and not earlier.moved
    # A half width that was reached by looking, and a level that follows from one, depend on what was seen.
    settled = measured.fixed or named
    if by_limit and limit is not None:
        given_seen = given_seen or not settled
        steps = _paid_for(asked, earlier, limit, given_seen=given_seen)
    elif named:
        steps = min(scale * slack // spread for slack, spread in asked.aim.tolerances)
    else:
        steps = measured.steps
    if not given_seen:
        level = smallest_epsilon(missed, steps + 1, scale)
        if _is_kept(asked, earlier, steps):
            return _unread(AS_IT_IS, earlier, steps, alarmed, level)
        if level <= earlier.lowest:
            return _unread(READ_AGAIN, earlier, steps, alarmed, level)
        fixed = measured.fixed or not by_limit
        if level <= earlier.highest:
            # Some groups stopped above it. The highest level they could have stopped at was settled beforehand.
            return _refined(earlier, measured.top, (missed, alarmed), given_seen=False, fixed=fixed)
        if settled:
            return _refined(earlier, level, (missed, alarmed), given_seen=False, fixed=fixed)
    level = smallest_refinement(earlier.highest, missed, steps + 1, scale)
    return _refined(earlier, level, (missed, alarmed), given_seen=True, fixed=measured.fixed)


def cost_of(asked: Asked, earlier: Earlier, level: Epsilon) -> Spending:
    """Return what is charged so that, with what was charged before, each unit has paid for the new level."""
    charged = earlier.release.charged
    if charged is not None:
        return asked.cost_of(level - min(charged, level))
    if len(earlier.exact) == 1:
        return asked.cost_of(level - earlier.highest)
    keys = group_keys(asked.question)
    if keys is None:
        return asked.cost_of(level - earlier.lowest)
    paid = _paid(asked, earlier)
    amounts = tuple((key, level - before) for key, before in zip(keys, paid, strict=True) if level > before)
    return GroupSpending(asked.grouping, amounts) if amounts else asked.cost_of(Epsilon(0))


def refused(key: str, rule: str, fix: str = _ANEW) -> ArgumentError:
    """Return the refusal of an answer that cannot be refined."""
    return ArgumentError("of", key, rule, fix)


def _same_question(release: Release) -> str:
    return f"Ask the question of that answer ({release.question}), or move the threshold of its one condition"


def _moved(asked: Asked, key: str, release: Release, measured: MeasuredMargins) -> tuple[Asked, int | tuple[int, ...]]:
    """Return what was asked with the thresholds of then, and by how many steps those of now are higher."""
    atom, old = asked.measured, measured.threshold
    if old is None or not isinstance(atom, Atom) or old == atom.at_least:
        return asked, 0
    spread = asked.sensitivities[atom]
    alike = isinstance(atom.at_least, int) and isinstance(old, int)
    groups = 1 if alike else len(asked.question.groups)
    pairs = zip(_by_group(atom.at_least, groups), _by_group(old, groups), strict=True)
    rises = [measured.scale * (high - low) for high, low in pairs]
    if any(rise % spread or abs(rise) > spread * _FARTHEST for rise in rises):
        unit = Fraction(spread, measured.scale) / atom.steps
        rule = f"on this measurement, a threshold can move by whole multiples of {unit} only"
        raise refused(key, rule, _same_question(release))
    steps = tuple(rise // spread for rise in rises)
    then = replace(atom, at_least=old)
    return replace(asked, measured=then, sensitivities={then: spread}), steps[0] if alike else steps


def _by_group(threshold: int | tuple[int, ...], groups: int) -> tuple[int, ...]:
    return (threshold,) * groups if isinstance(threshold, int) else threshold


def _refined(
    earlier: Earlier, level: Epsilon, rates: tuple[Fraction, Fraction], *, given_seen: bool, fixed: bool
) -> Step:
    """Return the step that brings all groups to one level, with the least shifts that keep the rates there."""
    seen, scale = earlier.highest if given_seen else 0, earlier.measured.scale
    steps, certain = (conditional_shift(seen, level, share, scale) - 1 for share in rates)
    shift = Shift(level, scale, steps, certain, steps + certain + 1)
    return Step(REFINE, shift, given_seen, fixed, smallest_epsilon(rates[0], steps + 1, scale))


def _unread(kind: str, earlier: Earlier, steps: int, alarmed: Fraction, level: Epsilon) -> Step:
    """Return a step that reads no row: the stored margins are fine enough for this half width."""
    scale = earlier.measured.scale
    certain = conditional_shift(0, earlier.lowest, alarmed, scale) - 1
    shift = Shift(earlier.lowest, scale, steps, certain, steps + certain + 1)
    return Step(kind, shift, given_seen=False, fixed=earlier.measured.fixed, anew=level)


def _is_kept(asked: Asked, earlier: Earlier, steps: int) -> bool:
    """Tell whether the stored answer keeps what is asked as it is: its promise was made before it was seen."""
    misses, alarms = earlier.rates
    options = asked.options
    coarser = options.miss_rate >= misses and options.false_alarm_rate >= alarms and steps >= earlier.promised_steps
    return coarser and not earlier.moved


def _paid(asked: Asked, earlier: Earlier) -> list[Epsilon]:
    """Return what each group was charged; of groups that the account holds together, the mean of the highest levels.

    A unit may be in several of such groups, and has paid for as many of the highest levels.
    """
    grouping, keys = asked.grouping, group_keys(asked.question)
    if keys is None or (asked.times == 1 and set(grouping.columns) <= set(grouping.fixed_columns)):
        return list(earlier.release.epsilons)
    kept = [i for i, column in enumerate(grouping.columns) if column in grouping.fixed_columns]
    parts: defaultdict[tuple[object, ...], list[int]] = defaultdict(list)
    for key, epsilon in zip(keys, earlier.release.epsilons, strict=True):
        parts[tuple(key[i] for i in kept)].append(epsilon.nano)
    highest = {part: nlargest(grouping.max_groups_per_unit, nanos) for part, nanos in parts.items()}
    means = {part: Epsilon.from_nano(sum(nanos) // len(nanos)) for part, nanos in highest.items()}
    return [means[tuple(key[i] for i in kept)] for key in keys]


def _paid_for(asked: Asked, earlier: Earlier, limit: Epsilon, *, given_seen: bool) -> int:
    """Return the smallest half width that `limit` more pays for. Refused if the stored answer is as fine already."""
    before = earlier.release.charged or min(_paid(asked, earlier))
    level, seen = Epsilon.from_nano(before.nano + limit.nano // asked.times), earlier.highest
    measured = earlier.measured
    if level > seen:
        steps = conditional_shift(seen if given_seen else 0, level, asked.aim.first_rate, measured.scale) - 1
        if steps < measured.steps:
            return steps
    stored = few_digits(Fraction(measured.steps, measured.scale))
    rule = f"it pays for no smaller half width than {stored}, which the stored answer has already"
    raise ArgumentError("max_epsilon", limit, rule, "Pass a larger amount")
