"""Derive sentences about streams from the measured numbers, one for each claim of the dissertation.

Reads: measured errors. Writes: nothing. Never: a sentence that the numbers do not say.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from papers.report import near_reference
from papers.streams.stream_counts import DENSE, LAPLACE, PRINTED, SPARSE, WIDE, ZERO, UnitError
from papers.streams.stream_monitors import JUMP, LOW, MEDIAN, EventScore
from papers.streams.stream_reference import AREAS, PRINTED_GAIN, TREES, UNIT, WINDOWS
from papers.streams.stream_trees import TreeError
from papers.streams.stream_windows import BY_GROUP, MEDIANS, TREE, WindowError

_Found = TypeVar("_Found", UnitError, WindowError, EventScore, TreeError)
_LONG = 256


@dataclass(frozen=True, slots=True)
class _Settings:
    """Errors by method, setting by setting."""

    errors: tuple[dict[str, float], ...]

    @classmethod
    def of(
        cls, found: Sequence[_Found], same: Callable[[_Found], object], error: Callable[[_Found], float]
    ) -> "_Settings":
        settings: dict[object, dict[str, float]] = {}
        for one in found:
            settings.setdefault(same(one), {})[one.method] = error(one)
        return cls(tuple(settings.values()))

    def less(self, one: str, other: str) -> str:
        """Say in how many settings `one` errs less than `other`."""
        return f"{sum(each[one] < each[other] for each in self.errors)} of {len(self.errors)} settings"

    def factors(self, one: str, other: str) -> str:
        """Say how many times as much as `one` `other` errs, from the least to the most."""
        ratios = [each[other] / each[one] for each in self.errors if each[one] > 0]
        return f"{min(ratios):.3g} to {max(ratios):.3g}" if ratios else "nothing"

    def nothing_is_best(self) -> str:
        """Say in how many settings no method errs less than the answer 0."""
        best = sum(min(each.values()) == each[ZERO] for each in self.errors)
        return f"{best} of {len(self.errors)} settings"


def unit_remarks(found: Sequence[UnitError]) -> tuple[str, ...]:
    """Return remarks on figures 5.3 and 5.4, and on the answer 0."""
    if not found:
        return ()
    all_of = _Settings.of(found, lambda one: (one.data, one.series, one.epsilon), lambda one: one.error)
    clipped = _Settings.of(found, lambda one: (one.data, one.series, one.epsilon), lambda one: one.clipped)
    ratios = [
        one.error / known[("Low", "Med", "High").index(one.series)]
        for one in found
        if (known := UNIT.get((one.epsilon, one.method))) and one.data == "access points"
    ]
    return (
        f"Saying 0 always errs less than every method in {all_of.nothing_is_best()}"
        f" ({clipped.nothing_is_best()} where negative answers are made 0).",
        f"Printed: PeGaSus is best everywhere. Here {PRINTED}, as printed, errs less than {LAPLACE} in"
        f" {all_of.less(PRINTED, LAPLACE)}: {LAPLACE} errs {all_of.factors(PRINTED, LAPLACE)} times as much. {WIDE}"
        f" errs less in {all_of.less(WIDE, LAPLACE)} ({all_of.factors(WIDE, LAPLACE)} times). Without groups,"
        f" {SPARSE} errs less than {WIDE} in {all_of.less(SPARSE, WIDE)}, and {DENSE} less than {LAPLACE} in"
        f" {all_of.less(DENSE, LAPLACE)}.",
        f"Printed: medians err less than averages, and James-Stein errs much. Here medians err less than averages in"
        f" {all_of.less(PRINTED, f'{PRINTED}, average')} with {PRINTED} and {all_of.less(WIDE, f'{WIDE}, average')}"
        f" with {WIDE}; less than a corrected James-Stein in {all_of.less(PRINTED, f'{PRINTED}, james-stein')} and"
        f" {all_of.less(WIDE, f'{WIDE}, james-stein')}.",
        f"One-sided noise and the better split err less than the printed noise in"
        f" {all_of.less(f'{PRINTED}, one-sided', PRINTED)} with {PRINTED}, and in"
        f" {all_of.less(f'{WIDE}, one-sided', WIDE)} with {WIDE}, which then errs less than {SPARSE} in"
        f" {all_of.less(f'{WIDE}, one-sided', SPARSE)}.",
        *near_reference("scaled errors", ratios),
    )


def window_remarks(found: Sequence[WindowError]) -> tuple[str, ...]:
    """Return remarks on figure 5.5."""
    if not found:
        return ()
    all_of, short, long = (
        _Settings.of(
            [one for one in found if low < one.length <= high],
            lambda one: (one.data, one.series, one.epsilon, one.length),
            lambda one: one.error,
        )
        for low, high in ((0, 1 << 62), (0, _LONG), (_LONG, 1 << 62))
    )
    ratios = [
        one.error / known[(TREE, BY_GROUP).index(one.method)]
        for one in found
        if (known := WINDOWS.get((one.series, one.epsilon, one.length)))
        and one.data == "access points"
        and one.method in (TREE, BY_GROUP)
    ]
    return (
        f"Printed: PeGaSus by group errs less than the tree of windows up to {_LONG} steps, and more beyond. Here it"
        f" errs less in {short.less(BY_GROUP, TREE)} up to {_LONG} steps, and in {long.less(BY_GROUP, TREE)} beyond.",
        f"Printed: plain noise errs excessively. Here its sums err less than the tree in {short.less(LAPLACE, TREE)}"
        f" up to {_LONG} steps, and in {long.less(LAPLACE, TREE)} beyond.",
        f"Printed: sums by group always err less than sums of medians. Here in {all_of.less(BY_GROUP, MEDIANS)}.",
        f"Saying 0 errs less than every method in {all_of.nothing_is_best()}.",
        *near_reference("errors of windows", ratios),
    )


def event_remarks(found: Sequence[EventScore]) -> tuple[str, ...]:
    """Return remarks on figures 5.6 and 5.7; the error of an area is its difference from 1."""
    remarks = []
    for epsilon, claim in (("0.1", "does slightly better than PeGaSus"), ("0.01", "does much worse")):
        jumps = _events(found, JUMP, epsilon)
        if jumps.errors:
            remarks.append(
                f"Printed: at epsilon {epsilon}, plain noise {claim} at jumps and drops. Here it does better in"
                f" {jumps.less(LAPLACE, MEDIAN)}; {DENSE} does better than PeGaSus in {jumps.less(DENSE, MEDIAN)}."
            )
    lows = _events(found, LOW, *{one.epsilon for one in found})
    if lows.errors:
        remarks.append(
            f"Printed: PeGaSus always finds low signals better than the tree of windows. Here in"
            f" {lows.less(BY_GROUP, TREE)}; sums of plain noise do in {lows.less(LAPLACE, TREE)}."
        )
    ratios = [
        one.area / known
        for one in found
        if (known := AREAS.get((one.event, one.window, one.threshold, one.epsilon, one.method)))
        and one.series == "High"
    ]
    return (*remarks, *near_reference("areas", ratios))


def _events(found: Sequence[EventScore], kind: str, *epsilons: str) -> _Settings:
    mine = [one for one in found if one.event == kind and one.epsilon in epsilons]
    return _Settings.of(mine, lambda one: (one.data, one.window, one.epsilon), lambda one: 1 - one.area)


def tree_remarks(found: Sequence[TreeError]) -> tuple[str, ...]:
    """Return remarks on figure 5.8, over all nodes, at the root and at the busiest nodes."""
    if not found:
        return ()
    places: dict[str, Callable[[TreeError], float]] = {
        "over all nodes": lambda one: one.nodes,
        "at the root": lambda one: one.levels[0],
        "at the busiest nodes": lambda one: one.busy,
    }
    lost = [
        f"{place} in {_Settings.of(found, lambda one: (one.data, one.epsilon), error).nothing_is_best()}"
        for place, error in places.items()
    ]
    remarks = [f"Saying 0 errs less than every method {', '.join(lost)}."]
    for epsilon, printed in PRINTED_GAIN.items():
        mine = {one.method: one for one in found if one.epsilon == epsilon and one.data == "campus"}
        if mine:
            best = min((one.nodes, name) for name, one in mine.items() if name != ZERO)
            plain, nothing = mine[LAPLACE].nodes, mine[ZERO].nodes
            remarks.append(
                f"Printed: at epsilon {epsilon}, plain noise errs over {printed:.0f} times as much as PeGaSus with"
                f" pruning. Here, over all nodes of the campus, it errs {plain / best[0]:.0f} times as much as"
                f" {best[1]}, and {plain / nothing:.0f} times as much as saying 0."
            )
    ratios = [
        one.nodes / known for one in found if (known := TREES.get((one.epsilon, one.method))) and one.data == "campus"
    ]
    return (*remarks, *near_reference("errors over all nodes", ratios))
