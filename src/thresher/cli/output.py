"""Write pages to standard output, with plain characters where the terminal knows no others.

Reads: nothing. Writes: standard output. Never: fails because a bar cannot be encoded.
"""

import json
import sys

import click

from thresher.pages import Page
from thresher.views.terminal import drawn

_BRAILLE = dict.fromkeys(map(chr, range(0x2800, 0x2900)), "*")
_PLAIN = str.maketrans(dict(zip("█·│─●░◂▸", "#.|-*:<>", strict=True)) | {"…": "...", "ε": "epsilon"} | _BRAILLE)


def show(page: Page, *, as_json: bool, indent: int | None = 2) -> None:
    """Print a page, or its document; in one line, if it is not indented."""
    say(json.dumps(page.document, indent=indent) if as_json else drawn(page))


def say(text: str) -> None:
    """Print a text. Where the encoding of the output has no bars and dots, print plain ones."""
    if not can_show(text):
        encoding = _encoding()
        text = text.translate(_PLAIN).encode(encoding, "backslashreplace").decode(encoding)
    click.echo(text)


def can_show(text: str) -> bool:
    """Return whether the encoding of the output has all of these characters."""
    try:
        text.encode(_encoding())
    except UnicodeEncodeError:
        return False
    return True


def _encoding() -> str:
    return getattr(sys.stdout, "encoding", None) or "utf-8"
