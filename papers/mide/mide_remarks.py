"""Derive remarks on the tables of MIDE from their numbers.

Reads: tables. Writes: nothing. Never: a sentence that holds whatever was measured.
"""

import math
from collections.abc import Callable, Sequence

from papers.mide.mide_tables import BEST_EFFORT, MECHANISMS, STRICT, WHOLE, Settings, Table

# So far beyond the promise, chance would bring one table in thirty thousand.
_CHANCE = 4.0


def remarks_on(tables: Sequence[Table], settings: Settings) -> tuple[str, ...]:
    """Return remarks on wide half widths of best effort, its advantage without them, several looks, and misses."""
    return (
        _widths(tables, settings),
        _advantage(tables),
        _against_one_look(tables),
        _misses(tables, settings),
    )


def _widths(tables: Sequence[Table], settings: Settings) -> str:
    wide = [table for table in tables if table.row(BEST_EFFORT).half_width > settings.half_width]
    if not wide:
        return f"{BEST_EFFORT} keeps the half width of {settings.half_width} in all {len(tables)} tables."
    widths = sorted(table.row(BEST_EFFORT).half_width for table in wide)
    return (
        f"{BEST_EFFORT} ends with a wider half width than the {settings.half_width} asked for in"
        f" {_named(wide, tables)}: {widths[0]:.2f} to {widths[-1]:.2f} on average."
    )


def _advantage(tables: Sequence[Table]) -> str:
    by_effort = _where(tables, lambda table: table.row(BEST_EFFORT).box > table.row("ppwlm").box)
    by_strict = _where(tables, lambda table: table.row(STRICT).box > table.row("ppwlm").box)
    told = (
        "Levels chosen by what was seen (dppwlm) keep more secret than fixed ones (ppwlm), by box min-entropy: best"
        f" effort does in {_named(by_effort, tables)}; where the half width is kept (strict), in"
        f" {_named(by_strict, tables)}."
    )
    if by_effort and not by_strict:
        return f"{told} So here the paper's advantage is that of a wider half width."
    return told


def _against_one_look(tables: Sequence[Table]) -> str:
    below = _where(tables, lambda table: table.row("ppwlm").box < table.row("tslm").box)
    dearer = _where(tables, lambda table: table.row("ppwlm").epsilon > table.row("tslm").epsilon)
    return (
        f"One look (tslm) keeps more secret than several (ppwlm), by box min-entropy, in {_named(below, tables)}. The"
        f" largest loss of a group is greater with several looks in {_named(dearer, tables)}."
    )


def _misses(tables: Sequence[Table], settings: Settings) -> str:
    promised = _most_missed(tables, settings, [name for name in MECHANISMS if name != "nlm"])
    if promised is None:
        return "No group is above its threshold in any table, so nothing could be missed."
    return (
        f"At most {100 * float(settings.miss_rate):g}% of the groups above may be missed. Of all mechanisms that"
        f" promise it, {promised}. nlm does not promise it this near the line, and"
        f" {_most_missed(tables, settings, ['nlm'])}."
    )


def _most_missed(tables: Sequence[Table], settings: Settings, mechanisms: Sequence[str]) -> str | None:
    """Say where the share of misses is furthest above the promise, or nearest to it, in standard errors."""
    rate, seen = float(settings.miss_rate), []
    for table in tables:
        for row in map(table.row, mechanisms):
            if row.missed is not None:
                trials = settings.runs * table.above
                errors = (row.missed - rate) / math.sqrt(rate * (1 - rate) / trials)
                share = f"{row.mechanism} on {_name(table)} comes out worst: {row.missed:.2%} of {trials:,}"
                seen.append((errors, f"{share}, which is {_told(errors)}"))
    return max(seen)[1] if seen else None


def _told(errors: float) -> str:
    """Say how far a share is from the promise, in standard errors."""
    if errors <= 0:
        return f"{-errors:.1f} standard errors fewer"
    chance = "so chance may explain it" if errors <= _CHANCE else "and chance does not explain that"
    return f"{errors:.1f} standard errors more, {chance}"


def _where(tables: Sequence[Table], holds: Callable[[Table], bool]) -> list[Table]:
    return [table for table in tables if holds(table)]


def _named(some: Sequence[Table], tables: Sequence[Table]) -> str:
    """Say how many of the tables, and which, unless it is all or none."""
    if len(some) in (0, len(tables)):
        return f"{'all' if some else 'none of the'} {len(tables)} tables"
    return f"{len(some)} of {len(tables)} tables ({', '.join(_name(table) for table in some)})"


def _name(table: Table) -> str:
    return table.data if table.grid == WHOLE.name else f"{table.data} on the {table.grid}"
