"""Draw a page on a terminal: coloured text, paragraphs of at most 78 columns.

Reads: pages. Writes: text. Never: a control code or markup that came from outside.
"""

import io
import re
from collections.abc import Iterable
from typing import Literal

from rich.console import Console, RenderableType
from rich.table import Table as RichTable
from rich.text import Text

from thresher.pages import Fact, Line, Lines, Meter, Page, Span, Table, visible
from thresher.pages.page import ALARM, CURVE, FAINT, GOOD, STRONG, UNSURE, Block
from thresher.views.text import paragraph

_WIDTH = 120
_STYLES = {
    STRONG: "bold",
    GOOD: "bold green",
    UNSURE: "yellow",
    FAINT: "dim",
    ALARM: "bold red",
    CURVE: "bold cyan",
}
_BAR = 24
_NEARLY, _MUCH = 0.9, 0.6
_ESCAPE, _RESET = "\x1b", "\x1b[0m"
_TRAILING = re.compile(r"(?:\x1b\[[0-9;]*m|\s)+$")


def drawn(page: Page) -> str:
    """Return the page as text with colours; click drops those where the output is not a terminal."""
    page_text = io.StringIO()
    console = Console(file=page_text, width=_WIDTH, highlight=False, emoji=False, force_terminal=True)
    # Lines are shown as they are: a command that is folded could not be pasted.
    console.print(*rich_parts(page), sep="\n", no_wrap=True, overflow="ignore", crop=False)
    return "\n".join(_trimmed(text) for text in page_text.getvalue().splitlines())


def rich_parts(page: Page) -> list[RenderableType]:
    """Return the page for rich."""
    stamp = [rich_line((Span(page.stamp, ALARM),))] if page.stamp else []
    return [*stamp, *(part for block in page.blocks for part in _block(block))]


def facts(page: Page) -> str:
    """Return the facts of a page without colours, for standard error."""
    return "\n".join(_fact(block) for block in page.blocks if isinstance(block, Fact))


def rich_line(line: Line) -> Text:
    """Return a line for rich."""
    return Text.assemble(*((visible(one.text), _STYLES.get(one.tone, "")) for one in line))


def bar(share: float) -> Line:
    """Return a bar of how much of a limit is used: full only if all of it is used, empty only if none of it is."""
    filled = _BAR if share >= 1 else min(max(int(share * _BAR), share > 0), _BAR - 1)
    tone = ALARM if share >= _NEARLY else UNSURE if share >= _MUCH else GOOD
    return Span("█" * filled, tone), Span(f"{'·' * (_BAR - filled)} {share:.0%}")


def _block(block: Block) -> Iterable[RenderableType]:
    if isinstance(block, Table):
        yield _table(block)
    elif isinstance(block, Lines):
        yield from map(rich_line, block.lines)
    elif isinstance(block, Meter):
        label = Span(f"  {visible(block.label):<{block.wide}}{block.text} ")
        yield rich_line((label, *(() if block.share is None else bar(block.share))))
    else:
        yield Text(_fact(block))


def _fact(fact: Fact) -> str:
    return paragraph(visible(fact.text), visible(fact.label), fact.wide)


def _table(table: Table) -> RichTable:
    shown = RichTable(box=None, padding=(0, 1, 0, 0), header_style="bold")
    last = len(table.headings) - 1
    for place, heading in enumerate(table.headings):
        folds = table.folds and place == last
        side: Literal["left", "right"] = "right" if place in table.right else "left"
        shown.add_column(
            Text(visible(heading)), justify=side, no_wrap=not folds, overflow="fold" if folds else "ellipsis"
        )
    for row in table.rows:
        shown.add_row(*(rich_line((cell,)) for cell in row))
    return shown


def _trimmed(text: str) -> str:
    """Return a line without the coloured spaces that fill a table's last column."""
    trimmed = _TRAILING.sub("", text)
    return f"{trimmed}{_RESET}" if _ESCAPE in trimmed else trimmed
