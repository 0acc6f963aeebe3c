"""Trials as a table: what was claimed, what was measured, and what became of it.

Reads: figures. Writes: nothing. Never: other people's text as markup.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from rich.table import Table

from thresher.views.text import inert


@dataclass(frozen=True, slots=True)
class TrialRow:
    """One line: figures as they were measured, the verdict, and whether it is the one hoped for."""

    name: str
    about: str
    claimed: float | None
    measured: float | None
    samples: int
    verdict: str
    as_expected: bool
    told_by: str


def trial_table(title: str, rows: Iterable[TrialRow]) -> Table:
    """A table of trials; what is not as it should be is red."""
    table = Table(
        title=title, title_justify="left", title_style="bold", box=None, padding=(0, 2, 0, 0), header_style="bold"
    )
    for heading, right in (
        ("name", False),
        ("claimed", True),
        ("at least", True),
        ("samples", True),
        ("verdict", False),
    ):
        table.add_column(heading, justify="right" if right else "left", no_wrap=True)
    table.add_column("told by", overflow="fold")
    for row in rows:
        verdict = f"[{'green' if row.as_expected else 'red bold'}]{inert(row.verdict)}[/]"
        samples = f"{row.samples:,}" if row.samples else "exact"
        told = inert(row.told_by)
        table.add_row(inert(row.name), _figure(row.claimed), _figure(row.measured), samples, verdict, told)
    return table


def _figure(number: float | None) -> str:
    if number is None:
        return "-"
    return "infinite" if number == float("inf") else f"{number:.3f}"
