"""The bytes of `thresher.toml` as tomllib's values, or a refusal that names the line.

Reads: one file, up to a megabyte. Writes: nothing. Never: repeats a part of the file's text in a message.
"""

import re
import tomllib
from decimal import Decimal, InvalidOperation
from pathlib import Path

from thresher.config.places import Places, TooDeepError, places_in
from thresher.config.sections import Section, dotted, hide, plain
from thresher.errors import DeclarationError

BLANK = "___"
_MAX_BYTES = 1_000_000
_WHERE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")
_BLANK_VALUE = re.compile(rf"[=,\[{{]\s*{BLANK}(?![A-Za-z0-9_-])")
_NO_TEXT = re.compile("[\x00\ud800-\udfff]")
_LONG_NUMBER = re.compile(r"[0-9][0-9_]{4000,}")
_UNREADABLE: dict[type[OSError], str] = {
    FileNotFoundError: "this file does not exist. Run thresher init to make one, or name another file.",
    IsADirectoryError: "this is a folder. Name the file in it.",
    PermissionError: "the user who runs Thresher may not read it. Change its permissions.",
}
_NO_PLAIN_FILE = "it cannot be read. Check its name, and that it is a plain file."
_TOO_LARGE = f"it has more than {_MAX_BYTES} bytes. Move long lists of values into a public table"


def file_text(path: Path) -> str:
    """Return the text of the file, or say in one sentence why it cannot be read."""
    shown = plain(path.name) or "thresher.toml"
    try:
        with path.open("rb") as file:
            content = file.read(_MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        why = next((words for kind, words in _UNREADABLE.items() if isinstance(error, kind)), _NO_PLAIN_FILE)
        raise DeclarationError(shown, why) from None
    if len(content) > _MAX_BYTES:
        raise DeclarationError(shown, f"{_TOO_LARGE}.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise DeclarationError(shown, "this line is not UTF-8 text. Save the file as UTF-8.", line) from None


def file_section(text: str, name: str) -> Section:
    """Return the whole file as one section."""
    _check_characters(text, name)
    try:
        places = places_in(text)
        return Section(name, places, (), tomllib.loads(text, parse_float=_exact))
    except TooDeepError as error:
        message = "lists or tables are nested too deeply. No setting needs more than a list in a column."
        raise DeclarationError(name, message, error.line) from None
    except tomllib.TOMLDecodeError as error:
        raise _syntax_refusal(text, name, str(error), places) from None
    except ValueError:
        # Python refuses whole numbers of more than 4300 digits, and tomllib passes its error on.
        found = _LONG_NUMBER.search(text)
        line = text.count("\n", 0, found.start()) + 1 if found else None
        message = "a number has thousands of digits. Write a shorter number."
        raise DeclarationError(name, message, line) from None


def _exact(written: str) -> Decimal:
    """Return a float as it is written. One with too large an exponent counts as infinite, which every field refuses."""
    try:
        return Decimal(written)
    except InvalidOperation:
        return Decimal("Infinity")


def _check_characters(text: str, name: str) -> None:
    if len(text.encode(errors="surrogatepass")) > _MAX_BYTES:
        raise DeclarationError(name, f"{_TOO_LARGE}.")
    found = _NO_TEXT.search(text)
    if found:
        what = "NUL" if found[0] == "\x00" else "half a surrogate pair"
        line = text.count("\n", 0, found.start()) + 1
        raise DeclarationError(name, f"this line holds {what}, which text cannot hold. Remove it.", line)


def _syntax_refusal(text: str, name: str, said: str, places: Places) -> DeclarationError:
    where = _WHERE.search(said)
    rule = plain(hide(_WHERE.sub("", said)))
    lines = text.replace("\r\n", "\n").split("\n")
    if where is None or where[1] is None:
        line, written = len("\n".join(lines).rstrip("\n").split("\n")), ""
    else:
        line = int(where[1])
        written = lines[line - 1][int(where[2]) - 1 :] if line <= len(lines) else ""
    if written.startswith(BLANK):
        others = [i for i, one in enumerate(lines, 1) if i != line and _BLANK_VALUE.search(one.split("#")[0])]
        more = f" Lines {', '.join(map(str, others[:8]))} have blanks too." if others else ""
        message = f"fill in {BLANK}: only you know this fact, and it must be public. See the comment on the line."
        return DeclarationError(name, message + more, line)
    for steps, (first, second) in places.twice.items():
        return DeclarationError(name, f"{dotted(steps)} is set twice, first on line {first}. Keep one of them.", second)
    return DeclarationError(name, f"this is not TOML: {rule}. Check quotes, brackets and commas on this line.", line)
