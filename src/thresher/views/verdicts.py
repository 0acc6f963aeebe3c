"""The verdicts of a release as a coloured table, with a gauge of how far each group was seen from the line.

Reads: a release. Writes: nothing. Never: exact values. The gauge shows noisy margins, which are released.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from rich.table import Table

from thresher.config import Label
from thresher.plan import ABOVE, BELOW, UNCERTAIN, Release
from thresher.views.text import inert

_COLOURS = {ABOVE: "bold green", UNCERTAIN: "yellow", BELOW: "dim"}
_HALF = 10


def verdict_table(
    release: Release,
    *,
    every: bool = False,
    most: int = 200,
    extra: Mapping[str, Sequence[str]] | None = None,
) -> Table:
    """Reported groups, or `every` one, at most so many. `extra` columns are the caller's, one text for each group."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    gauge = f"short {'·' * (_HALF - 6)}│{'·' * (_HALF - 5)} over" if release.noisy else ""
    for heading in (*map(inert, release.keys), "verdict", *([gauge] if gauge else []), *map(inert, extra or {})):
        table.add_column(heading, no_wrap=True)
    furthest = max([1, *map(abs, release.noisy)])
    shown = 0
    for i, (group, verdict) in enumerate(zip(release.groups, release.verdicts, strict=True)):
        if verdict == BELOW and not every:
            continue
        if shown == most:
            table.add_row("…")
            break
        shown += 1
        colour = _COLOURS[verdict]
        seen = [_gauge(release.noisy[i], furthest)] if gauge else []
        rest = [inert(texts[i]) for texts in (extra or {}).values()]
        table.add_row(*map(_cell, group), f"[{colour}]{verdict}[/{colour}]", *seen, *rest)
    return table


def verdict_summary(release: Release) -> str:
    counts = Counter(release.verdicts)
    told = ", ".join(f"{counts[verdict]:,} {verdict}" for verdict in (ABOVE, UNCERTAIN, BELOW) if counts[verdict])
    return f"{len(release.groups):,} groups: {told}" if release.groups else "no groups"


def _cell(label: Label) -> str:
    return inert(str(label).lower() if isinstance(label, bool) else str(label))


def _gauge(noisy: int, furthest: int) -> str:
    """A mark on a line of fixed length; the furthest group is at its end, the condition is met right of the middle."""
    place = _HALF + round(_HALF * noisy / furthest)
    line = ["─"] * (2 * _HALF + 1)
    line[_HALF] = "│"
    line[place] = "●"
    return "".join(line)
