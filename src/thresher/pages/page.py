"""A page: blocks of text, tables and drawings made of characters for people, and a document for programs.

Reads: nothing. Writes: nothing. Never: markup of any renderer.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

STRONG, GOOD, UNSURE, FAINT, ALARM, CURVE = "strong", "good", "unsure", "faint", "alarm", "curve"


@dataclass(frozen=True, slots=True)
class Span:
    """Text in one tone; renderers choose its colour."""

    text: str
    tone: str = ""


Line = tuple[Span, ...]


def line(*parts: str | Span) -> Line:
    """Return a line of these parts."""
    return tuple(part if isinstance(part, Span) else Span(part) for part in parts)


@dataclass(frozen=True, slots=True)
class Fact:
    """A paragraph with a label in front of it."""

    label: str
    text: str
    # How wide labels are in a row of facts.
    wide: int = 9


@dataclass(frozen=True, slots=True)
class Meter:
    """A fact about an amount, and its share of the limit; None if there is no limit."""

    label: str
    text: str
    share: float | None
    wide: int = 9


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines that are shown as they are, in a font of one width: headings, drawings made of characters."""

    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under headings. The columns at the places `right` are aligned to the right."""

    headings: tuple[str, ...]
    rows: tuple[tuple[Span, ...], ...]
    right: tuple[int, ...] = ()
    # Whether the last column may continue in the next line; the others never do.
    folds: bool = False


Block = Fact | Meter | Lines | Table


@dataclass(frozen=True, slots=True)
class Page:
    """What is shown of one object. Renderers put the `stamp` first: it says that the noise can be repeated."""

    blocks: tuple[Block, ...]
    document: Mapping[str, Any] = field(default_factory=dict)
    stamp: str = ""

    def __add__(self, other: "Page") -> "Page":
        return Page(self.blocks + other.blocks, {**self.document, **other.document}, self.stamp or other.stamp)


class Shown:
    """An object that makes its own page. Notebooks call `_repr_html_`."""

    __slots__ = ()

    def page(self) -> Page:
        """Return the page of the object. Spends nothing and reads nothing but the object."""
        raise NotImplementedError

    def _repr_html_(self) -> str:
        from thresher.pages.html_text import html_of  # noqa: PLC0415 - most objects are never shown so

        return html_of(self.page())


def heading(text: str, rest: str = "") -> Lines:
    """Return a line that begins with a strong text."""
    return Lines((line(Span(text, STRONG), rest),))


def plain_lines(texts: Sequence[str]) -> Lines:
    """Return lines in one tone."""
    return Lines(tuple(line(text) for text in texts))


SPACE = plain_lines([""])
# Blocks that say what the stamp of a page means.
SEEDED: tuple[Block, ...] = (Fact("", "Made with a seed, which anybody can repeat."), SPACE)


def visible(text: str) -> str:
    """Return the text with control codes, and codes that turn the direction of writing, shown as codes."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
