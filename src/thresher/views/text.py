"""Other people's text made harmless, and paragraphs of a readable width.

Reads: text. Writes: nothing. Never: a control code, reversed writing or markup that came from outside.
"""

import textwrap

from rich.markup import escape

WIDTH = 78


def inert(text: str) -> str:
    """Names, keys and questions are other people's text: control codes shown as codes, no markup."""
    return escape("".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text))


def paragraph(text: str, label: str = "", wide: int = 9) -> str:
    """Indented lines of at most 78 columns, with a label in front of the first one."""
    indent = f"  {label:<{wide}}" if label else "  "
    return textwrap.fill(
        text, WIDTH, initial_indent=indent, subsequent_indent=" " * len(indent), break_long_words=False
    )
