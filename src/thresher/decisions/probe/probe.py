"""Decide by the ProBE family on plain arrays, for comparison. Do not rely on its false-alarm rate: it does not hold.

    naive         an even split of the miss rate, one look at each condition
    probe_naive   an even split, two phases
    probe         the split with the least loss by ProBE's own constraint, two phases
    probe_ent     that split, looks at levels chosen for min-entropy

Misses and losses are as promised, after the corrections that `probe.md` lists. The false-alarm rate is not: with 92
groups exactly at the threshold, 10 above it and 472 far below, every accepted answer at a rate of 10 % has 16 % false
alarms. Use `certified` or one margin instead, which cost a fraction. The caller keeps count of what is spent.
Reads: arguments, entropy. Writes: nothing. Never: a draw that the limit does not cover.
"""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike

from thresher.amounts import Amount
from thresher.decisions.decision_options import checked_looks
from thresher.decisions.probe.apportion import Shares, even_shares, once_shares, probe_shares
from thresher.decisions.probe.probe_answer import ConditionLook, DeniedError, ProbeAnswer
from thresher.decisions.probe.probe_conditions import Conditions, checked_conditions
from thresher.decisions.probe.probe_entropy import EntropyClimb, Steps
from thresher.decisions.probe.probe_phases import Found, Phases, first_looks
from thresher.errors import ArgumentError
from thresher.noise import Entropy
from thresher.question.trees import Tree

METHODS = ("naive", "probe-naive", "probe", "probe-ent")
_HALF = Fraction(1, 2)
_OF_CLIMBS = ("levels", "redistribute")


class ProbeOptions(TypedDict, total=False):
    """The options of a method.

    region         the half widths to start with, as a share of the ranges
    max_epsilon    the most that a group may lose; a method that needs more denies the question
    levels         of `probe-ent`: how many coarse levels
    redistribute   of `probe-ent`: the share of misses that a condition did not use goes to later conditions
    """

    region: Amount | None
    max_epsilon: Amount
    levels: int
    redistribute: bool
    entropy: Entropy | None


# Slacks, the tree, sensitivities, ranges.
Conditional = tuple[ArrayLike, Tree, Sequence[int], Sequence[Amount]]


def answered(
    method: str,
    conditions: Conditional,
    rates: tuple[Amount, Amount] = ("0.05", "0.10"),
    **options: Unpack[ProbeOptions],
) -> ProbeAnswer:
    """Return which groups a method of the family reports, or a denial. NOT a bound on false alarms: see above.

    Condition i of group l holds where `slacks[i, l]` is 0 or more (`slack` makes them), and a unit moves it by
    `sensitivities[i]` at most. `ranges` are public guesses of how far each slack reaches. `rates`: of misses, which is
    kept, and of false alarms, with which an estimate is compared (`naive` and the last measurement do not compare).

    Privacy: the sum of all looks, for each group a unit is in; a denial is charged too.
    Utility: the probability that the question is answered and a group that qualifies is missed is at most `miss_rate`.
    Runtime: linear in conditions times groups.
    Citations: Lahjouji, He, Ghayyur, Mehrotra (ProBE), Algorithms 1 to 5, corrected: `probe.md`.
    """
    levels = _checked_levels(method, options)
    region = options.get("region")
    width = _usual_region(method) if region is None else region
    asked = checked_conditions(*conditions, rates, width, options.get("max_epsilon", 5))
    entropy = options.get("entropy")
    if method == "probe-ent":
        climb = EntropyClimb(asked, Steps(levels, bool(options.get("redistribute", True))), entropy)
        return _answer(method, asked, climb, climb.run)
    phases, shares = Phases(asked, entropy), partial(_shares, method, asked)
    if method == "naive":
        return _answer(method, asked, phases, lambda: phases.run(first_looks(asked, shares())))
    return _answer(method, asked, phases, lambda: phases.two(shares()))


naive = partial(answered, "naive")
probe_naive = partial(answered, "probe-naive")
probe = partial(answered, "probe")
probe_ent = partial(answered, "probe-ent")


def prices_of(
    method: str,
    tree: Tree,
    sensitivities: Sequence[int],
    ranges: Sequence[Amount],
    miss_rate: Amount = "0.05",
    *,
    region: Amount | None = None,
    levels: int = 4,
) -> tuple[ConditionLook, ...]:
    """Return the first look at each condition with its price, known before anything is read; `naive` has no others.

    Later looks depend on what is seen, so only the limit bounds their cost. Looks that turn out to be needless are not
    charged, and later ones of `probe_ent` may cost less.
    """
    looks = _checked_levels(method, {"levels": levels} if method == "probe-ent" else {})
    width = _usual_region(method) if region is None else region
    no_groups = np.empty((max(len(ranges), 1), 0), dtype=np.int64)
    asked = checked_conditions(no_groups, tree, sensitivities, ranges, (miss_rate, "0.1"), width, 1)
    return first_looks(asked, _shares(method, asked, looks)) if asked.miss_rate < _HALF else ()


def _checked_levels(method: str, options: Mapping[str, object]) -> int:
    """Return the number of levels. Refuse an unknown method, and options that a method does not have."""
    if method not in METHODS:
        raise ArgumentError("method", method, "it is not a method", f"Pass one of {', '.join(METHODS)}")
    for name in options:
        if name not in ProbeOptions.__annotations__ or (name in _OF_CLIMBS and method != "probe-ent"):
            raise TypeError(f"{method} has no option {name}")
    levels = checked_looks(options.get("levels", 4))
    if levels < 2:
        raise ArgumentError("levels", options["levels"], "it must be 2 or more", "Pass 4, or call probe")
    return levels


def _usual_region(method: str) -> Amount:
    return "0.12" if method == "naive" else "0.3"


def _shares(method: str, asked: Conditions, levels: int = 1) -> Shares:
    """Return the shares of the first look: half of the miss rate with two phases, a part of it with levels."""
    if method == "naive":
        return even_shares(asked.tree, asked.miss_rate)
    if method == "probe-naive":
        return even_shares(asked.tree, asked.miss_rate / 2)
    if method == "probe":
        return probe_shares(asked.tree, asked.weights, asked.miss_rate / 2)
    return once_shares(asked.tree, asked.weights, asked.miss_rate / levels)


def _answer(method: str, asked: Conditions, run: Phases | EntropyClimb, answer: Callable[[], Found]) -> ProbeAnswer:
    """Return the answer. A miss rate of one half or more needs no data: all groups may be reported."""
    reported, denial = np.ones(asked.groups, dtype=np.bool_), None
    if asked.miss_rate < _HALF:
        try:
            reported = answer()
        except DeniedError as denied:
            denial = denied.denial
    return ProbeAnswer(
        method=method,
        reported=None if denial else reported,
        denial=denial,
        nano=run.nano,
        looks=tuple(run.looks),
        estimates=tuple(run.estimates),
        noisy=run.noisy,
    )
