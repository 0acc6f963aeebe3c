"""The ProBE family on plain arrays, to be compared with. Do not rely on its false-alarm rate: it does not hold.

    naive         an even split of the miss rate, one look at each condition
    probe_naive   an even split, two phases
    probe         the split with the least loss by ProBE's own constraint, two phases
    probe_ent     that split, looks at levels chosen for min-entropy

Misses and losses are as promised, after the mends that `probe.md` lists. The false-alarm rate is not: 92 groups exactly
at the threshold, 10 above it and 472 far below are accepted at a rate of 10 % with 16 % false alarms, every time.
Use `certified` or one margin instead, which cost a fraction. Whoever calls these keeps count of what is spent.
Reads: arguments, entropy. Writes: nothing. Never: a draw that the limit does not cover.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from thresher.amounts import Amount, whole_number
from thresher.decisions.apportion import Shares, even_shares, once_shares, probe_shares
from thresher.decisions.probe_answer import DeniedError, Look, ProbeAnswer
from thresher.decisions.probe_conditions import Conditions, checked_conditions
from thresher.decisions.probe_entropy import EntropyClimb, Steps
from thresher.decisions.probe_phases import Found, Phases, first_looks
from thresher.decisions.rules import checked_levels
from thresher.decisions.trees import Tree
from thresher.errors import ArgumentError
from thresher.noise import Entropy

METHODS = ("naive", "probe-naive", "probe", "probe-ent")
_HALF = Fraction(1, 2)


def naive(
    slacks: ArrayLike,
    tree: Tree,
    sensitivities: Sequence[int],
    ranges: Sequence[Amount],
    miss_rate: Amount = "0.05",
    *,
    region: Amount = "0.12",
    max_epsilon: Amount = 5,
    entropy: Entropy | None = None,
) -> ProbeAnswer:
    """The same share of the miss rate for every condition, one look at each. Nothing is said about false alarms.

    Condition i of group l holds where `slacks[i, l]` is 0 or more (`slack` makes them), and a unit moves it by
    `sensitivities[i]` at most. `ranges` are public guesses of how far each slack reaches; `region` is the half width
    as a share of them. What it costs is known beforehand: a limit below it denies at no charge.
    """
    asked = checked_conditions(slacks, tree, sensitivities, ranges, (miss_rate, "0.1"), region, max_epsilon)
    phases = Phases(asked, entropy)
    return _answered("naive", asked, phases, lambda: phases.run(first_looks(asked, _shares("naive", asked))))


def probe_naive(
    slacks: ArrayLike,
    tree: Tree,
    sensitivities: Sequence[int],
    ranges: Sequence[Amount],
    miss_rate: Amount = "0.05",
    false_alarm_rate: Amount = "0.10",
    *,
    region: Amount = "0.3",
    max_epsilon: Amount = 5,
    entropy: Entropy | None = None,
) -> ProbeAnswer:
    """An even split, half of it for each of two phases: as `probe`, so NOT a bound on false alarms."""
    asked = checked_conditions(slacks, tree, sensitivities, ranges, (miss_rate, false_alarm_rate), region, max_epsilon)
    phases = Phases(asked, entropy)
    return _answered("probe-naive", asked, phases, lambda: phases.two(_shares("probe-naive", asked)))


def probe(
    slacks: ArrayLike,
    tree: Tree,
    sensitivities: Sequence[int],
    ranges: Sequence[Amount],
    miss_rate: Amount = "0.05",
    false_alarm_rate: Amount = "0.10",
    *,
    region: Amount = "0.3",
    max_epsilon: Amount = 5,
    entropy: Entropy | None = None,
) -> ProbeAnswer:
    """A wide look, an estimate of the false alarms, and a second look in a narrower region where there are too many.

    `false_alarm_rate` is what the estimate is compared with, and NOT kept: see above. The tree is taken as it is
    written; the paper would run it on `minimal_form(tree)`. Other arguments as for `naive`.

    Privacy: the sum of all looks, for each group a unit is in; a denial is charged too.
    Utility: a group that qualifies is not reported, and the question not denied, with probability `miss_rate` at most.
    Runtime: linear in conditions times groups.
    Citations: Lahjouji, He, Ghayyur, Mehrotra (ProBE), Algorithms 1 to 4, mended: `probe.md`.
    """
    asked = checked_conditions(slacks, tree, sensitivities, ranges, (miss_rate, false_alarm_rate), region, max_epsilon)
    phases = Phases(asked, entropy)
    return _answered("probe", asked, phases, lambda: phases.two(_shares("probe", asked)))


def probe_ent(
    slacks: ArrayLike,
    tree: Tree,
    sensitivities: Sequence[int],
    ranges: Sequence[Amount],
    miss_rate: Amount = "0.05",
    false_alarm_rate: Amount = "0.10",
    *,
    region: Amount = "0.3",
    levels: int = 4,
    fine: int = 3,
    redistribute: bool = True,
    max_epsilon: Amount = 5,
    entropy: Entropy | None = None,
) -> ProbeAnswer:
    """Each condition by up to `levels` looks at groups still undecided; its first look says how far to climb.

    No estimate is made after the last look, as in print, so there is not even a check of the `false_alarm_rate`.
    `redistribute`: misses that a condition did not use are handed on to those after it.

    Privacy: for each group the level at which it stopped, summed over conditions; looks are refined, not drawn anew.
    Utility: as `probe`. Runtime: as `probe`, plus a dozen min-entropies for each look.
    Citations: ProBE, Algorithm 5 and appendix C; MIDE, Algorithms 3 and 4, mended: `probe.md`, `adaptive.md`.
    """
    asked = checked_conditions(slacks, tree, sensitivities, ranges, (miss_rate, false_alarm_rate), region, max_epsilon)
    if checked_levels(levels) < 2:
        raise ArgumentError("levels", levels, "a climb has two levels or more", "Pass 4, or call probe")
    if not 1 <= whole_number(fine, "fine") <= 32:
        raise ArgumentError("fine", fine, "an interval has 1 to 32 parts", "Pass 3")
    climb = EntropyClimb(asked, Steps(levels, fine, bool(redistribute)), entropy)
    return _answered("probe-ent", asked, climb, climb.run)


def planned(
    method: str,
    tree: Tree,
    sensitivities: Sequence[int],
    ranges: Sequence[Amount],
    miss_rate: Amount = "0.05",
    *,
    region: Amount | None = None,
    levels: int = 4,
) -> tuple[Look, ...]:
    """The first look at each condition and its price; known before anything is read. For `naive` that is all of it.

    What comes after depends on what is seen, so the most it may cost is the limit. Looks that turn out to be needless
    are not paid, and `probe_ent` may take later ones for less.
    """
    if method not in METHODS:
        raise ArgumentError("method", method, "there is no such method", f"Pass one of {', '.join(METHODS)}")
    width = ("0.12" if method == "naive" else "0.3") if region is None else region
    nobody = np.empty((max(len(ranges), 1), 0), dtype=np.int64)
    asked = checked_conditions(nobody, tree, sensitivities, ranges, (miss_rate, "0.1"), width, 1)
    return first_looks(asked, _shares(method, asked, checked_levels(levels))) if asked.miss_rate < _HALF else ()


def _shares(method: str, asked: Conditions, levels: int = 1) -> Shares:
    """Of the first look: half of the miss rate where there is a second phase, a part of it where there are levels."""
    if method == "naive":
        return even_shares(asked.tree, asked.miss_rate)
    if method == "probe-naive":
        return even_shares(asked.tree, asked.miss_rate / 2)
    if method == "probe":
        return probe_shares(asked.tree, asked.weights, asked.miss_rate / 2)
    return once_shares(asked.tree, asked.weights, asked.miss_rate / levels)


def _answered(method: str, asked: Conditions, run: Phases | EntropyClimb, answer: Callable[[], Found]) -> ProbeAnswer:
    """What came out; a miss rate of one half or more needs no data, for all groups may be reported."""
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
