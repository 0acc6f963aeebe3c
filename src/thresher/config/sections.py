"""One table of `thresher.toml`, read field by field. Every refusal names the line, the field, the value, rule and fix.

Reads: the values that tomllib read. Writes: nothing. Never: repeats an address in a message, which may hold a password.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time
from fractions import Fraction
from typing import Any

from thresher.amounts import Epsilon, exact_fraction
from thresher.config.places import Places, Steps
from thresher.errors import ArgumentError, DeclarationError

MAX_NAME = 200
NAME_RULE = f"a name has 1 to {MAX_NAME} characters and no NUL"
_MAX_SHOWN = 60
_MAX_COMPARED = 60
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*://).*", re.DOTALL)
_DECIMAL = 'Write a plain number such as 10 or 0.5, or the same in quotes with a point: "0.5"'


@dataclass(frozen=True, slots=True)
class Section:
    """The content of one table, and where it stands in the file called `name`."""

    name: str
    places: Places
    steps: Steps
    content: Mapping[str, Any]

    def __contains__(self, field: str) -> bool:
        return field in self.content

    def only(self, *known: str) -> None:
        """Refuse a field that is not among these, with the nearest known name."""
        for field in self.content:
            if field not in known:
                inside = f"[{dotted(self.steps)}]" if self.steps else "the file"
                message = f"unknown field `{plain(field)}` in {inside}{did_you_mean(field, known) or '.'}"
                raise self._error((*self.steps, field), f"{message} The fields here are {', '.join(known)}.")

    def section(self, field: str, fix: str) -> "Section":
        """Return the table under a field; an empty table if there is none."""
        found = self.content.get(field, {})
        if not isinstance(found, dict):
            raise self.refusal(field, "it must be a table", fix)
        return Section(self.name, self.places, (*self.steps, field), found)

    def sections(self, fix: str) -> list[tuple[str, "Section"]]:
        """Return every field as a table. The curator chose the names of the fields."""
        folded: dict[str, str] = {}
        for field in self.content:
            twin = folded.setdefault(field.casefold(), field)
            if name_is_bad(field):
                raise self.refusal(field, NAME_RULE, "Use the name that the source uses", shown=f'"{plain(field)}"')
            if twin != field:
                rule = f"it differs from {dotted((twin,))} by capitals only, which some databases do not distinguish"
                raise self.refusal(field, rule, "Keep one of them", shown=f'"{plain(field)}"')
        return [(field, self.section(field, fix)) for field in self.content]

    def required(self, field: str, fix: str) -> None:
        if field not in self.content:
            inside = f"[{dotted(self.steps)}]" if self.steps else "the file"
            raise self._error(self.steps, f"`{field}` is missing in {inside}. {fix}.")

    def text(self, field: str, fix: str) -> str:
        found = self.content[field]
        if not isinstance(found, str):
            raise self.refusal(field, "it must be text in quotes", fix)
        if not found or "\x00" in found:
            raise self.refusal(field, "it must not be empty or hold NUL", fix)
        return found

    def column_name(self, field: str, fix: str) -> str:
        found = self.text(field, fix)
        if name_is_bad(found):
            raise self.refusal(field, NAME_RULE, fix)
        return found

    def whole(self, field: str, highest: int, default: int, fix: str, *, least: int = 1) -> int:
        """Return a whole number from `least` to `highest`; `default` if it is not set."""
        found = self.content.get(field, default)
        if not is_whole(found) or not least <= found <= highest:
            raise self.refusal(field, f"it must be a whole number from {least} to {highest}", fix)
        return int(found)

    def number(self, field: str, place: int | None = None) -> Fraction:
        """Return an exact number. A float counts as it is written."""
        found = self.content[field] if place is None else self.content[field][place]
        try:
            return exact_fraction(found, field)
        except ArgumentError as error:
            raise self.refusal(field, error.rule, _DECIMAL, place=place) from None

    def amount(self, field: str) -> Epsilon:
        """Return an epsilon above zero."""
        try:
            amount = Epsilon(self.content[field])
        except ArgumentError as error:
            rule = error.rule
        else:
            if amount:
                return amount
            rule = "it must be above zero"
        raise self.refusal(field, rule, 'Write epsilon as a decimal in quotes such as "0.5"') from None

    def flag(self, field: str, fix: str) -> bool:
        found = self.content.get(field, False)
        if not isinstance(found, bool):
            raise self.refusal(field, "it must be true or false", fix)
        return found

    def refusal(
        self, field: str, rule: str, fix: str, *, place: int | None = None, shown: str | None = None
    ) -> DeclarationError:
        """Return the error of a field, or of one element of its list, that breaks a rule."""
        steps: Steps = (*self.steps, field) if place is None else (*self.steps, field, place)
        if shown is None:
            found = self.content.get(field)
            shown = as_written(found if place is None or not isinstance(found, list) else found[place])
        stop = "" if rule.endswith("?") else "."
        return self._error(steps, f"{dotted((*self.steps, field))} = {shown} is refused: {rule}{stop} {fix}.")

    def refusal_here(self, rule: str, fix: str) -> DeclarationError:
        """Return the error of a table that breaks a rule as a whole."""
        shown = f"{{ {', '.join(plain(field) for field in list(self.content)[:3])} }}" if self.content else "{}"
        return self._error(self.steps, f"{dotted(self.steps)} = {shown} is refused: {rule}. {fix}.")

    def _error(self, steps: Steps, message: str) -> DeclarationError:
        return DeclarationError(self.name, message, self.places.line(steps))


def name_is_bad(name: str) -> bool:
    """Return whether databases or the ledger cannot keep this name."""
    return not 1 <= len(name) <= MAX_NAME or any(c == "\x00" or "\ud800" <= c <= "\udfff" for c in name)


def is_whole(value: object) -> bool:
    """Return whether the value is a whole number. Unlike in Python, a boolean is not."""
    return isinstance(value, int) and not isinstance(value, bool)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a question that names the nearest known name, or nothing."""
    from difflib import get_close_matches  # noqa: PLC0415 - only a misspelt name needs it

    by_folded = {other.lower(): other for other in known}
    near = get_close_matches(name[:_MAX_COMPARED].lower(), by_folded, n=1, cutoff=0.5)
    return f"; did you mean `{plain(by_folded[near[0]])}`?" if near else ""


def dotted(steps: Steps) -> str:
    """Return the path to a field as it would be written, with quotes where TOML needs them."""
    return ".".join(str(step) if _is_bare(step) else f'"{plain(str(step))}"' for step in steps)


def _is_bare(step: str | int) -> bool:
    return len(str(step)) <= _MAX_SHOWN and _BARE_KEY.fullmatch(str(step)) is not None


def plain(text: str) -> str:
    """Return a user's text without addresses, control codes and reversed writing, and shortened."""
    short = text if len(text) <= _MAX_SHOWN else f"{text[: _MAX_SHOWN - 3]}..."
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in hide(short))


def hide(text: str) -> str:
    """Return the text with only the beginning of an address: the rest may hold a password."""
    return _ADDRESS.sub(r"\1...", text)


def as_written(value: object) -> str:
    """Return a value as it would be written in the file, shortened."""
    if isinstance(value, str):
        return f'"{plain(value)}"'
    if isinstance(value, list):
        shown = [as_written(element) for element in value[:3]]
        return f"[{', '.join([*shown, '...'] if len(value) > 3 else shown)}]"
    if isinstance(value, dict):
        return "{...}"
    if isinstance(value, date | datetime | time):
        return value.isoformat()
    if isinstance(value, int) and value.bit_length() > 8 * _MAX_SHOWN:
        return "a huge number"  # Python refuses to print thousands of digits
    # Python writes True, NaN and 1E+5 where TOML writes true, nan and 1e+5.
    return plain(str(value).lower())
