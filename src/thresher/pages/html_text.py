"""A page as HTML that needs no script, no style sheet and nothing from elsewhere.

Reads: pages. Writes: text. Never: a key, a name or a question that is not escaped.
"""

import html
from collections.abc import Mapping

from thresher.pages.page import (
    ALARM,
    CURVE,
    FAINT,
    GOOD,
    STRONG,
    UNSURE,
    Block,
    Line,
    Lines,
    Meter,
    Page,
    Span,
    Table,
    visible,
)

# Colours that can be read on light and on dark paper.
_STYLES: Mapping[str, str] = {
    STRONG: "font-weight:bold",
    GOOD: "font-weight:bold;color:#2da44e",
    UNSURE: "color:#bf8700",
    FAINT: "opacity:0.6",
    ALARM: "font-weight:bold;color:#cf222e",
    CURVE: "font-weight:bold;color:#0969da",
}


def html_of(page: Page) -> str:
    """Return the page as one `div`."""
    stamp = [f"<p>{_span(Span(page.stamp, ALARM))}</p>"] if page.stamp else []
    return "\n".join(['<div class="thresher">', *stamp, *map(_block, page.blocks), "</div>"])


def _block(block: Block) -> str:
    if isinstance(block, Table):
        return _table(block)
    if isinstance(block, Lines):
        return f"<pre>{chr(10).join(map(_line, block.lines))}</pre>"
    meter = ""
    if isinstance(block, Meter) and block.share is not None:
        meter = f' <progress value="{min(max(block.share, 0.0), 1.0):.4f}"></progress> {block.share:.0%}'
    label = f"<b>{_text(block.label)}</b> " if block.label.strip() else ""
    return f"<p>{label}{_text(block.text)}{meter}</p>"


def _table(table: Table) -> str:
    sides = ["right" if place in table.right else "left" for place in range(len(table.headings))]
    head = "".join(_cell("th", side, _text(heading)) for side, heading in zip(sides, table.headings, strict=True))
    rows = (zip(sides, row, strict=True) for row in table.rows)
    body = "".join(f"<tr>{''.join(_cell('td', side, _span(cell)) for side, cell in row)}</tr>" for row in rows)
    return f"<table><tr>{head}</tr>{body}</table>"


def _cell(kind: str, side: str, text: str) -> str:
    return f'<{kind} style="text-align:{side};white-space:pre">{text}</{kind}>'


def _line(line: Line) -> str:
    return "".join(map(_span, line))


def _span(span: Span) -> str:
    return f'<span style="{_STYLES[span.tone]}">{_text(span.text)}</span>' if span.tone else _text(span.text)


def _text(text: str) -> str:
    return html.escape(visible(text))
