"""What text may be at all: how long, and of which characters.

Reads: the text. Writes: nothing. Never: changes a character of it.
"""

from thresher.sql.refusals import Refusal

MOST_BYTES = 8 * 1024
MOST_WORDS = 2000
# Each level costs the parser some thirty calls of Python's thousand, and callers need some too.
DEEPEST = 20
MOST_CONDITIONS = 32

_PLAIN_CONTROLS = "\t\n\r"


def checked_text(text: object) -> str:
    """The text, if it is text of a sane size without control characters and lone surrogates."""
    if not isinstance(text, str):
        raise Refusal("readable-text", f"A question is text; got {type(text).__name__}. Pass a str")
    if len(text) > MOST_BYTES:  # before encoding: that may be a gigabyte
        raise _too_long(f"more than {MOST_BYTES:,}")
    for offset, character in enumerate(text):
        if 0xD800 <= ord(character) <= 0xDFFF:
            raise Refusal("readable-text", "A lone surrogate is not a character; remove it", offset)
        if ord(character) in (*range(32), *range(0x7F, 0xA0)) and character not in _PLAIN_CONTROLS:
            raise Refusal(
                "readable-text", f"Control character U+{ord(character):04X} is not allowed; remove it", offset
            )
    size = len(text.encode())
    if size > MOST_BYTES:
        raise _too_long(f"{size:,}")
    return text


def _too_long(size: str) -> Refusal:
    return Refusal("query-size", f"Query too long: {size} bytes, at most {MOST_BYTES:,}. Ask several questions")
