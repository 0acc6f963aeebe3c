"""The line of every key and of every element of a list in a TOML text: tomllib gives values without their lines.

The scan is made for texts that tomllib accepts. On other texts it neither fails nor hangs, and it finds the keys before
the first mistake: enough to name a key that is set twice. It refuses very deep nesting, on which tomllib takes hours or
crashes.
Reads: text. Writes: nothing. Never: values, which tomllib reads.
"""

import re
import tomllib
from bisect import bisect_right
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

# The path to a value: names of keys, and places in lists.
Steps = tuple[str | int, ...]

_BLANK = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
_SPACE = re.compile(r"[ \t]*")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_STRING = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}(?!")'
    r"|'''.*?'{3,5}(?!')"
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|'[^'\n]*'",
    re.DOTALL,
)
_SCALAR = re.compile(r"[^,\]}#\n]+")
_DEEPEST = 40


@dataclass(frozen=True, slots=True)
class Places:
    """The line of each key, counted from one, and both lines of each key that is set twice."""

    lines: Mapping[Steps, int]
    twice: Mapping[Steps, tuple[int, int]]

    def line(self, steps: Steps) -> int | None:
        """Return the line of that key, or of the nearest key around it."""
        while steps and steps not in self.lines:
            steps = steps[:-1]
        return self.lines.get(steps)

    def by_name(self) -> dict[str, int]:
        """Return the lines of all keys by their names, joined by dots. Elements of lists are left out."""
        found: dict[str, int] = {}
        for steps, line in self.lines.items():
            names = [step for step in steps if isinstance(step, str)]
            if len(names) == len(steps):
                found.setdefault(".".join(names), line)
        return found


def places_in(text: str) -> Places:
    """Return the places of a text; raise `TooDeepError` if a key or an element is nested too deeply."""
    scan = _Scan(text)
    with suppress(_MistakeError):
        scan.document()
    return Places(scan.lines, scan.twice)


class TooDeepError(Exception):
    """Tables or lists are nested more than forty deep."""

    def __init__(self, line: int) -> None:
        self.line = line
        super().__init__(f"too deep on line {line}")


class _MistakeError(Exception):
    """From here on the text is not TOML."""


class _Scan:
    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.lines: dict[Steps, int] = {}
        self.twice: dict[Steps, tuple[int, int]] = {}
        self._ends = [match.start() for match in re.finditer("\n", text)]
        self._set: set[Steps] = set()
        # Keys with a value: the path to another key cannot lead through them.
        self._closed: set[Steps] = set()
        # The number of elements of each list of tables ([[name]]) so far.
        self._lengths: dict[Steps, int] = {}

    def document(self) -> None:
        section: Steps = ()
        while self._skip(_BLANK) < len(self.text):
            if self.text.startswith("[", self.at):
                section = self._header()
            else:
                self._pair(section)

    def _header(self) -> Steps:
        line, is_list = self._line(), self.text.startswith("[[", self.at)
        self.at += 2 if is_list else 1
        steps: Steps = ()
        names = self._key()
        for i, name in enumerate(names):
            steps = (*steps, name)
            last = i == len(names) - 1
            if steps in self._lengths and not (last and is_list):
                self.lines.setdefault(steps, line)
                steps = (*steps, self._lengths[steps] - 1)
            elif not last:
                self._pass(steps, line)
        if is_list:
            self.lines.setdefault(steps, line)
            self._lengths[steps] = self._lengths.get(steps, 0) + 1
            steps = (*steps, self._lengths[steps] - 1)
        self._note(steps, line)
        self._expect("]]" if is_list else "]")
        return steps

    def _pair(self, section: Steps) -> None:
        line, names = self._line(), self._key()
        self._expect("=")
        for i in range(1, len(names)):
            self._pass((*section, *names[:i]), line)
        self._note((*section, *names), line)
        self._closed.add((*section, *names))
        self._value((*section, *names))

    def _pass(self, steps: Steps, line: int) -> None:
        """Note that the path of a longer key or header leads through this key."""
        if steps in self._closed:
            self.twice.setdefault(steps, (self.lines[steps], line))
        self.lines.setdefault(steps, line)

    def _note(self, steps: Steps, line: int) -> None:
        """Note a key's own line, which replaces the line of a header that only led through it."""
        if steps in self._set:
            self.twice.setdefault(steps, (self.lines[steps], line))
        self._set.add(steps)
        self.lines[steps] = line

    def _key(self) -> list[str]:
        names: list[str] = []
        while True:
            self._check_depth(len(names))
            self._skip(_SPACE)
            quoted = self.text[self.at : self.at + 1] in ("'", '"')
            names.append(self._unquoted(self._take(_STRING if quoted else _BARE_KEY)))
            if not self.text.startswith(".", self._skip(_SPACE)):
                return names
            self.at += 1

    def _value(self, steps: Steps) -> None:
        self._check_depth(len(steps))
        self._skip(_SPACE)
        first = self.text[self.at : self.at + 1]
        if first == "[":
            self._elements(steps)
        elif first == "{":
            self._inline(steps)
        else:
            self._take(_STRING if first in ("'", '"') else _SCALAR)

    def _elements(self, steps: Steps) -> None:
        self.at += 1
        place = 0
        while not self.text.startswith("]", self._skip(_BLANK)):
            self.lines[*steps, place] = self._line()
            self._value((*steps, place))
            place += 1
            self._comma_or("]")
        self.at += 1

    def _inline(self, steps: Steps) -> None:
        self.at += 1
        while not self.text.startswith("}", self._skip(_BLANK)):
            self._pair(steps)
            self._comma_or("}")
        self.at += 1

    def _comma_or(self, end: str) -> None:
        if self.text.startswith(",", self._skip(_BLANK)):
            self.at += 1
        elif not self.text.startswith(end, self.at):
            raise _MistakeError

    def _check_depth(self, steps: int) -> None:
        if steps > _DEEPEST:
            raise TooDeepError(self._line())

    def _line(self) -> int:
        return bisect_right(self._ends, self.at) + 1

    def _skip(self, pattern: re.Pattern[str]) -> int:
        match = pattern.match(self.text, self.at)
        self.at = match.end() if match else self.at
        return self.at

    def _take(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self.text, self.at)
        if not match:
            raise _MistakeError
        self.at = match.end()
        return match[0]

    def _expect(self, mark: str) -> None:
        if not self.text.startswith(mark, self._skip(_SPACE)):
            raise _MistakeError
        self.at += len(mark)

    @staticmethod
    def _unquoted(written: str) -> str:
        if written[:1] not in ("'", '"'):
            return written
        if "\\" not in written:
            return written[1:-1]
        try:
            return str(tomllib.loads(f"key = {written}")["key"])
        except ValueError:
            raise _MistakeError from None
