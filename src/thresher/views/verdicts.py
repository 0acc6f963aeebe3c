"""The verdicts of a release as a coloured table, with a gauge of how far each group was seen from the line.

Reads: a release. Writes: nothing. Never: exact values. The gauge shows noisy margins, which are released.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from rich.table import Table

from thresher.config import Label
from thresher.guarantee import ABOVE, BELOW, MISSES, UNCERTAIN
from thresher.release import Release, ShownNumber
from thresher.views.text import inert

_COLOURS = {ABOVE: "bold green", UNCERTAIN: "yellow", BELOW: "dim"}
_HALF = 7


def verdict_table(
    release: Release,
    *,
    every: bool = False,
    most: int = 200,
    extra: Mapping[str, Sequence[str]] | None = None,
) -> Table:
    """Reported groups, or `every` one, at most so many. `extra` columns are the caller's, one text for each group."""
    extra = {**{shown.text: numbers_of(shown) for shown in release.values}, **(extra or {})}
    losses = ["epsilon"] if len(release.levels) > 1 else []
    table = Table(box=None, padding=(0, 1, 0, 0), header_style="bold")
    gauge = f"{'short':<{_HALF}}│{'over':>{_HALF}}" if release.noisy else ""
    headings = (*map(inert, release.keys), "verdict", *([gauge] if gauge else []), *losses, *map(inert, extra or {}))
    for heading in headings:
        table.add_column(heading, no_wrap=True)
    clear = max(1.0, float(release.guarantee.clear_distance or 0) * release.scale)
    width = float(release.half_width) * release.scale
    # What lies this far below and above the line may come out either way; mirrored if false alarms are bounded.
    zone = (width, clear - width) if release.bound == MISSES else (clear - width, width)
    reported, shown = (ABOVE, UNCERTAIN) if release.bound == MISSES else (ABOVE,), 0
    if release.denied:
        return table
    for i, (group, verdict) in enumerate(zip(release.groups, release.verdicts, strict=True)):
        if verdict not in reported and not every:
            continue
        if shown == most:
            table.add_row("…")
            break
        shown += 1
        colour = _COLOURS[verdict]
        seen = [_gauge(release.noisy[i], clear, zone)] if gauge else []
        seen += [f"{float(release.epsilons[i]):.4g}"] if losses else []
        rest = [inert(texts[i]) for texts in (extra or {}).values()]
        table.add_row(*map(_cell, group), f"[{colour}]{verdict}[/{colour}]", *seen, *rest)
    return table


def numbers_of(shown: ShownNumber) -> list[str]:
    """A number for each group with its half width."""
    widths = shown.half_widths * (1 if len(shown.half_widths) > 1 else len(shown.numbers))
    return [f"{number} ± {width}" if number else "?" for number, width in zip(shown.numbers, widths, strict=True)]


def verdict_summary(release: Release) -> str:
    if release.denied:
        return "no answer"
    counts = Counter(release.verdicts)
    told = ", ".join(f"{counts[verdict]:,} {verdict}" for verdict in (ABOVE, UNCERTAIN, BELOW) if counts[verdict])
    return f"{len(release.groups):,} groups: {told}" if release.groups else "no groups"


def _cell(label: Label) -> str:
    return inert(str(label).lower() if isinstance(label, bool) else str(label))


def _gauge(noisy: int, clear: float, zone: tuple[float, float]) -> str:
    """Where the noisy margin lies: the condition is met right of the middle, the shaded part is uncertain.

    Half way to the left end, and further, a group is clearly short of its condition.
    """
    step = 2 * clear / _HALF
    shaded = range(_HALF - round(zone[0] / step), _HALF + round(zone[1] / step) + 1)
    line = ["░" if place in shaded else "─" for place in range(2 * _HALF + 1)]
    line[_HALF] = "│"
    place = _HALF + round(noisy / step)
    line[min(max(place, 0), 2 * _HALF)] = "●" if 0 <= place <= 2 * _HALF else "◂" if place < 0 else "▸"
    return "".join(line)


def level_summary(release: Release) -> str:
    """Say how many groups stopped at each level."""
    stops = ", ".join(f"{groups:,} at {epsilon}" for epsilon, groups in release.levels.items())
    return f"groups stopped: {stops}"
