"""How far to refine, and what that costs beyond what was paid: found from the wish and the earlier answer alone.

Reads: a question, an earlier answer, a wish. Writes: nothing. Never: data. Proof: `refining.md`.
"""

from collections import defaultdict
from collections.abc import Set
from dataclasses import dataclass
from fractions import Fraction
from heapq import nlargest
from typing import Literal

from thresher.accounting import CommonSpending, GroupSpending, Spending
from thresher.amounts import Epsilon
from thresher.decisions.earlier import Earlier
from thresher.decisions.threshold_shift import Shift
from thresher.decisions.verdicts import Bound, checked_bound, few_digits
from thresher.decisions.wishes import Wish
from thresher.errors import ArgumentError
from thresher.noise import conditional_shift, smallest_epsilon, smallest_refinement
from thresher.question import Question, group_keys, grouping_of, sensitivity

Kind = Literal["refine", "read again", "as it is"]
REFINE: Kind = "refine"
READ_AGAIN: Kind = "read again"
AS_IT_IS: Kind = "as it is"


@dataclass(frozen=True, slots=True)
class Step:
    """What is to be done: `shift.epsilon` is the level afterwards, `shift` the line that margins are judged by.

    given_seen   the rates hold given everything that was seen, and lines differ by what was seen of each group
    fixed        whether the level was settled before anything of the chain was seen
    anew         the level of a first look with the same half width and rates
    """

    kind: Kind
    shift: Shift
    given_seen: bool
    fixed: bool
    anew: Epsilon


def step_to(question: Question, earlier: Earlier, wished: Wish, said: Set[str], *, given_seen: bool) -> Step:
    """The least that keeps the wish, of which `said` was put in words: all else is as it was."""
    if not said and not earlier.moved:
        raise ArgumentError("uncertain_region", None, "nothing is said to be sharper", "Pass a smaller half width, say")
    scale, (missed, alarmed) = earlier.release.scale, wished.terms.rates
    # A level that follows from one found by looking depends on what was seen.
    by_limit = said == {"max_epsilon"} and not earlier.moved
    given_seen, fixed = given_seen or (by_limit and not earlier.fixed), earlier.fixed or not (by_limit or given_seen)
    if by_limit and wished.max_epsilon is not None:
        steps = _paid_for(question, earlier, wished.max_epsilon, missed, given_seen=given_seen)
    else:
        steps = _half_width(question, earlier, wished) if "uncertain_region" in said else earlier.steps
    level = smallest_epsilon(missed, steps + 1, scale)
    if given_seen:
        level = smallest_refinement(earlier.highest, missed, steps + 1, scale)
        return _refined(earlier, level, missed, alarmed, given_seen=True, fixed=fixed)
    if _is_kept(earlier, wished, steps):
        return _unread(AS_IT_IS, earlier, steps, alarmed, level)
    if level <= earlier.lowest:
        return _unread(READ_AGAIN, earlier, steps, alarmed, level)
    if level <= earlier.highest:
        # Some groups stopped above it. The highest level they could have stopped at was settled beforehand.
        level = earlier.top
    return _refined(earlier, level, missed, alarmed, given_seen=False, fixed=fixed)


def _refined(
    earlier: Earlier, level: Epsilon, missed: Fraction, alarmed: Fraction, *, given_seen: bool, fixed: bool
) -> Step:
    """All groups at one level; the lines are the nearest that keep the rates there."""
    seen, scale = earlier.highest if given_seen else 0, earlier.release.scale
    reaches = (conditional_shift(seen, level, share, scale) for share in (missed, alarmed))
    steps, certain = (reach - 1 for reach in reaches)
    shift = Shift(level, scale, steps, certain, steps + certain + 1, bound=_bound(earlier))
    return Step(REFINE, shift, given_seen, fixed, smallest_epsilon(missed, steps + 1, scale))


def _unread(kind: Kind, earlier: Earlier, steps: int, alarmed: Fraction, level: Epsilon) -> Step:
    """What is there is sharp enough for this half width."""
    certain = conditional_shift(0, earlier.lowest, alarmed, earlier.release.scale) - 1
    shift = Shift(earlier.lowest, earlier.release.scale, steps, certain, steps + certain + 1, bound=_bound(earlier))
    return Step(kind, shift, given_seen=False, fixed=earlier.fixed, anew=level)


def _bound(earlier: Earlier) -> Bound:
    return checked_bound(earlier.release.bound)


def _is_kept(earlier: Earlier, wished: Wish, steps: int) -> bool:
    """Whether the stored answer keeps all of the wish as it is: its promise was made before it was seen."""
    misses, alarms = earlier.rates
    coarser = wished.miss_rate >= misses and wished.false_alarm_rate >= alarms and steps >= earlier.told_steps
    return coarser and not earlier.moved and earlier.release.mechanism != "nlm"


def _half_width(question: Question, earlier: Earlier, wished: Wish) -> int:
    """The half width in steps of the margin as it was cut then."""
    spreads = {atom: sensitivity(atom, question.table) for atom in question.atoms}
    asked = {atom: spread for atom, spread in spreads.items() if atom.written} or spreads
    scale, table = earlier.release.scale, question.table
    return min(scale * wished.region.slack_of(atom, table) // spread for atom, spread in asked.items())


def cost_of(question: Question, earlier: Earlier, level: Epsilon) -> Spending:
    """What is to be charged so that, with what was charged before, every unit has paid for the new level."""
    grouping, charged = grouping_of(question), earlier.release.charged
    if charged is not None:
        return CommonSpending(grouping, level - min(charged, level))
    if len(earlier.exact) == 1:
        return CommonSpending(grouping, level - earlier.highest)
    keys = group_keys(question)
    if keys is None:
        return CommonSpending(grouping, level - earlier.lowest)
    paid = _paid(question, earlier)
    amounts = tuple((key, level - before) for key, before in zip(keys, paid, strict=True) if level > before)
    return GroupSpending(grouping, amounts) if amounts else CommonSpending(grouping, Epsilon(0))


def for_one_unit(spending: Spending) -> Epsilon:
    """What it comes to for one unit, which may be in several groups."""
    return max(amount for loss in spending.losses() for _, amount in loss.regions())


def _paid(question: Question, earlier: Earlier) -> list[Epsilon]:
    """What each group was charged. Where the account holds groups together, it is the mean of their highest levels.

    Of such groups a unit may be in so many, and paid for as many of the highest.
    """
    grouping, keys = grouping_of(question), group_keys(question)
    if keys is None or set(grouping.columns) <= set(grouping.fixed_columns):
        return list(earlier.release.epsilons)
    kept = [i for i, column in enumerate(grouping.columns) if column in grouping.fixed_columns]
    parts: defaultdict[tuple[object, ...], list[int]] = defaultdict(list)
    for key, epsilon in zip(keys, earlier.release.epsilons, strict=True):
        parts[tuple(key[i] for i in kept)].append(epsilon.nano)
    highest = {part: nlargest(grouping.max_groups_per_unit, nanos) for part, nanos in parts.items()}
    means = {part: Epsilon.from_nano(sum(nanos) // len(nanos)) for part, nanos in highest.items()}
    return [means[tuple(key[i] for i in kept)] for key in keys]


def _paid_for(question: Question, earlier: Earlier, limit: Epsilon, missed: Fraction, *, given_seen: bool) -> int:
    """The smallest half width that so much more pays for; refused if it is no smaller than the one there is."""
    groups = for_one_unit(CommonSpending(grouping_of(question), Epsilon.from_nano(1))).nano
    before = earlier.release.charged or min(_paid(question, earlier))
    level, seen = Epsilon.from_nano(before.nano + limit.nano // groups), earlier.highest
    if level > seen:
        steps = conditional_shift(seen if given_seen else 0, level, missed, earlier.release.scale) - 1
        if steps < earlier.steps:
            return steps
    there = few_digits(Fraction(earlier.steps, earlier.release.scale))
    rule = f"it pays for no smaller half width than {there}, which is there already"
    raise ArgumentError("max_epsilon", limit, rule, "Pass more")
