"""Mechanisms side by side.

Reads: figures. Writes: nothing. Never: exact values.
"""

from collections.abc import Iterable, Sequence

from rich.table import Table


def side_by_side(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    """A table of figures: names to the left, numbers to the right."""
    table = Table(box=None, padding=(0, 1, 0, 0), header_style="bold")
    for i, heading in enumerate(headings):
        table.add_column(heading, justify="right" if i else "left", no_wrap=i > 0)
    for row in rows:
        table.add_row(*row)
    return table
