"""Fill paragraphs to a readable width.

Reads: text. Writes: nothing. Never: cuts a word.
"""

import textwrap

WIDTH = 78


def paragraph(text: str, label: str = "", wide: int = 9) -> str:
    """Return indented lines of at most 78 columns, with a label in front of the first one."""
    indent = f"  {label:<{wide}}" if label else "  "
    return textwrap.fill(
        text, WIDTH, initial_indent=indent, subsequent_indent=" " * len(indent), break_long_words=False
    )
