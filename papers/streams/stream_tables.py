"""Write tables of `python -m papers streams` as text: methods down, series, lengths, events or levels across.

Reads: measured errors. Writes: nothing. Never: a line wider than 78 columns.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from papers.streams.stream_counts import UnitError
from papers.streams.stream_data import StreamSet
from papers.streams.stream_monitors import EventScore
from papers.streams.stream_reference import AREAS, TREES, UNIT, WINDOWS
from papers.streams.stream_trees import TreeError
from papers.streams.stream_windows import BY_GROUP, TREE, WindowError

_Found = TypeVar("_Found")
_Key = TypeVar("_Key")
_NAME, _SIDE_BY_SIDE = 24, 3
_REFERENCE = "  reference"
# The made-up sets that the reference simulation was run on.
_LOADS, _CAMPUS = "access points", "campus"


def unit_tables(sets: Sequence[StreamSet], found: Sequence[UnitError], epsilons: Sequence[str]) -> list[str]:
    """Return scaled errors: up to three series side by side, for each epsilon."""
    errors = {(one.data, one.series, one.epsilon, one.method): one.error for one in found}
    measured = dict.fromkeys((one.data, one.series) for one in found)
    whole = [[pair for pair in measured if pair[0] == each.name] for each in sets]
    alone = [pairs[0] for pairs in whole if len(pairs) == 1]
    together = [pairs for pairs in whole if len(pairs) > 1]
    together += [alone[i : i + _SIDE_BY_SIDE] for i in range(0, len(alone), _SIDE_BY_SIDE)]
    lines: list[str] = []
    for pairs in together:
        title = pairs[0][0] if len({data for data, _ in pairs}) == 1 else "one series each"
        known = UNIT if title == _LOADS else {}
        lines += ["", f"Counts: {title}"]
        lines += [f"{'scaled error at epsilon':<{_NAME}}" + "".join(f"{one:>9}" for one in epsilons for _ in pairs)]
        lines += [f"{'':<{_NAME}}" + "".join(f"{series:>9}" for _ in epsilons for _, series in pairs)]
        for method in dict.fromkeys(one.method for one in found):
            cells = [errors[(*pair, epsilon, method)] for epsilon in epsilons for pair in pairs]
            lines += [f"{method:<{_NAME}}" + _cells(cells, 9)]
            if any((epsilon, method) in known for epsilon in epsilons):
                lines += [f"{_REFERENCE:<{_NAME}}" + _cells([x for e in epsilons for x in known[e, method]], 9)]
    return lines


def window_tables(found: Sequence[WindowError]) -> list[str]:
    """Return mean absolute errors: a table for each series and epsilon."""
    lines: list[str] = []
    for about, mine in _grouped(found, lambda one: (one.data, one.series, one.epsilon)).items():
        data, series, epsilon = about
        lengths = dict.fromkeys(one.length for one in mine)
        lines += ["", f"Windows: {_called(data, series)}, epsilon {epsilon}"]
        lines += [f"{'steps':<18}" + "".join(f"{length:>7}" for length in lengths)]
        errors = {(one.method, one.length): one.error for one in mine}
        for method in dict.fromkeys(one.method for one in mine):
            lines += [f"{method:<18}" + _cells([errors[method, length] for length in lengths], 7)]
            known = [WINDOWS.get((series, epsilon, length)) for length in lengths] if data == _LOADS else []
            if any(known) and method in (TREE, BY_GROUP):
                cells = [each[method != TREE] if each else None for each in known]
                lines += [(f"{_REFERENCE:<18}" + _cells(cells, 7)).rstrip()]
    return lines


def event_tables(found: Sequence[EventScore]) -> list[str]:
    """Return areas: a table for each series and event."""
    lines: list[str] = []
    for about, mine in _grouped(
        found, lambda one: (one.data, one.series, one.event, one.window, one.threshold)
    ).items():
        data, series, event, window, threshold = about
        epsilons = dict.fromkeys(one.epsilon for one in mine)
        lines += ["", f"Events: {_called(data, series)}: {event}, {threshold:,} in {window} steps"]
        share = f"   true in {mine[0].share:.0%} of steps"
        lines += [f"{'area at epsilon':<18}" + "".join(f"{epsilon:>9}" for epsilon in epsilons) + share]
        areas = {(one.method, one.epsilon): one.area for one in mine}
        for method in dict.fromkeys(one.method for one in mine):
            lines += [f"{method:<18}" + "".join(f"{areas[method, epsilon]:9.3f}" for epsilon in epsilons)]
            known = [AREAS.get((event, window, threshold, epsilon, method)) for epsilon in epsilons]
            if data == _LOADS and any(known):
                lines += [f"{_REFERENCE:<18}" + "".join(f"{area:9.3f}" if area else f"{'':9}" for area in known)]
    return [line.rstrip() for line in lines]


def tree_tables(found: Sequence[TreeError]) -> list[str]:
    """Return mean absolute errors by level: a table for each set and epsilon."""
    lines: list[str] = []
    for (data, epsilon), mine in _grouped(found, lambda one: (one.data, one.epsilon)).items():
        levels = len(mine[0].levels)
        lines += ["", f"Trees: {data}, epsilon {epsilon}"]
        heads = ["all", *(f"lvl {level}" for level in range(1, levels + 1)), "busy"]
        lines += [f"{'mean error':<16}" + "".join(f"{head:>6}" for head in heads)]
        for one in mine:
            lines += [f"{one.method:<16}" + _cells([one.nodes, *one.levels, one.busy], 6, 3)]
            if data == _CAMPUS and (epsilon, one.method) in TREES:
                lines += [f"{_REFERENCE:<16}" + _cells([TREES[epsilon, one.method]], 6, 3)]
    return lines


def _grouped(found: Sequence[_Found], same: Callable[[_Found], _Key]) -> dict[_Key, list[_Found]]:
    groups: dict[_Key, list[_Found]] = {}
    for one in found:
        groups.setdefault(same(one), []).append(one)
    return groups


def _called(data: str, series: str) -> str:
    return data if data == series else f"{data}, {series}"


def _cells(values: Iterable[float | None], wide: int, digits: int = 4) -> str:
    return "".join(f"{'' if value is None else shown(value, digits):>{wide}}" for value in values)


def shown(value: float, digits: int = 4) -> str:
    """Return a number with `digits` digits, or in thousands with one decimal."""
    if value >= 99_995:
        return f"{value / 1000:.0f}k"
    if value >= 9_999.5:
        return f"{value / 1000:.1f}k"
    return f"{value:.{max(digits - len(f'{int(value)}'), 0) if value >= 1 else digits}f}"
