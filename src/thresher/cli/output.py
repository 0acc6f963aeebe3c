"""Writing to standard output: drawn pages, whatever characters the terminal knows.

Reads: nothing. Writes: standard output. Never: fails because a bar cannot be encoded.
"""

import io
import json
import re
import sys
from collections.abc import Sequence

import click
from rich.console import Console, RenderableType

from thresher.pages import Page
from thresher.views.terminal import drawn as render

_WIDTH = 120
_ESCAPE, _RESET = "\x1b", "\x1b[0m"
_TRAILING = re.compile(r"(?:\x1b\[[0-9;]*m|\s)+$")
_BRAILLE = dict.fromkeys(map(chr, range(0x2800, 0x2900)), "*")
_PLAIN = str.maketrans(dict(zip("█·│─●░◂▸", "#.|-*:<>", strict=True)) | {"…": "...", "ε": "epsilon"} | _BRAILLE)


def drawn(parts: Sequence[RenderableType]) -> str:
    """Everything as text with colours; click drops those where the output is no terminal."""
    page = io.StringIO()
    Console(file=page, width=_WIDTH, highlight=False, emoji=False, force_terminal=True).print(*parts, sep="\n")
    return "\n".join(_trimmed(line) for line in page.getvalue().splitlines())


def _trimmed(line: str) -> str:
    """Without the coloured emptiness that fills a table's last column."""
    kept = _TRAILING.sub("", line)
    return f"{kept}{_RESET}" if _ESCAPE in kept else kept


def show(page: Page, *, as_json: bool) -> None:
    """Print a page, or its document."""
    say(json.dumps(page.document, indent=2) if as_json else render(page))


def say(text: str) -> None:
    """Print it; where the output's encoding has no bars and dots, print plain ones."""
    if not can_show(text):
        encoding = _encoding()
        text = text.translate(_PLAIN).encode(encoding, "backslashreplace").decode(encoding)
    click.echo(text)


def can_show(text: str) -> bool:
    """Whether the output's encoding has all of these characters."""
    try:
        text.encode(_encoding())
    except UnicodeEncodeError:
        return False
    return True


def _encoding() -> str:
    return getattr(sys.stdout, "encoding", None) or "utf-8"
