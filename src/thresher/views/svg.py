"""Draw SVG pictures: a frame with two axes, marks in it, a legend above, notes below; colours for light and dark pages.

Reads: numbers and text. Writes: nothing. Never: a script, a font or a file from elsewhere; text that is not escaped.
"""

import html
import math
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from thresher.pages.palette import INK, PAPER, RULE, SERIES

# The plot with its ticks and the labels of its axes. Title and legend stand above it, at negative heights, notes below.
WIDTH, HEIGHT = 640, 444
_LEFT, _RIGHT, _TOP, _BOTTOM = 74, 24, 16, 54
# Marks at the ends of an axis keep off the labels.
_WITHIN = 12
# Pixels of a line of the title, of a row above the plot and of a line of a note; letters that fit into a line.
_TITLE_LINE, ROW, _NOTE_LINE = 22, 19, 18
_TITLE_LETTERS, _NOTE_LETTERS, _LETTER = 56, 82, 7.2
_MARK = 24
COLOURS = len(SERIES)


@dataclass(frozen=True, slots=True)
class Axis:
    """Values from `low` to `high` along a line, bent by `bend` (an increasing function), with ticks."""

    label: str
    low: float
    high: float
    bend: Callable[[float], float]
    ticks: Sequence[float]

    def share(self, value: float) -> float:
        """Return how far along the axis a value lies, from 0 to 1."""
        low, high = self.bend(self.low), self.bend(self.high)
        return (self.bend(value) - low) / (high - low)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Hold the text around a plot.

    `entries` are kinds of marks and their names, for the legend; `rows` above the plot are kept free for marks at
    negative heights (`row_above`); `notes` are sentences below it.
    """

    entries: Sequence[tuple[str, str]] = ()
    rows: int = 0
    notes: Sequence[str] = ()


def counts_axis(label: str, most: int) -> Axis:
    """Return an axis of counts from 0 on, evenly by log(1 + count): 0, 1 and 2 lie apart and large ones fit in."""
    ticks = [0, 1, 2, 5, *(10**power for power in range(1, 19))]
    high = max(most, 2)
    return Axis(label, 0, high, math.log1p, [tick for tick in ticks if tick <= high])


def even_axis(label: str, low: float, high: float, ticks: Sequence[float]) -> Axis:
    """Return an axis of values as they are."""
    return Axis(label, low, high, float, ticks)


def log_axis(label: str, low: float, high: float, base: int = 10) -> Axis:
    """Return an axis of positive values, evenly by their logarithm; ticks are powers, with 2 and 5 if those are few."""
    first, last = math.ceil(math.log(low, base) - 1e-9), math.floor(math.log(high, base) + 1e-9)
    ticks = [float(base) ** power for power in range(first, last + 1)]
    if len(ticks) < 4 and base == 10:
        between = [times * 10.0**power for power in range(first - 1, last + 1) for times in (1, 2, 5)]
        ticks = [tick for tick in between if low * (1 - 1e-9) <= tick <= high * (1 + 1e-9)]
    return Axis(label, low, high, math.log, ticks)


def across(axis: Axis, value: float) -> float:
    """Return the pixels from the left."""
    return _LEFT + _WITHIN + axis.share(value) * (WIDTH - _LEFT - _RIGHT - 2 * _WITHIN)


def down(axis: Axis, value: float) -> float:
    """Return the pixels from the top of the plot's frame."""
    return HEIGHT - _BOTTOM - _WITHIN - axis.share(value) * (HEIGHT - _TOP - _BOTTOM - 2 * _WITHIN)


def row_above(place: int) -> float:
    """Return the height of the base line of text in a row above the plot; the lowest row has place 0."""
    return _TOP - 6.0 - ROW * place


def picture(
    title: str, about: str, axes: tuple[Axis, Axis], marks: Sequence[str], around: Surroundings | None = None
) -> str:
    """Return a whole picture: title, legend, the axes (across and down) with marks on them, and notes.

    `about` is for screen readers. Nothing but marks lies on the plot.
    """
    around = around or Surroundings()
    legend, keys = _legend(around.entries, around.rows)
    titles = textwrap.wrap(_printable(title), _TITLE_LETTERS) or [""]
    notes = [line for note in around.notes for line in textwrap.wrap(_printable(note), _NOTE_LETTERS)]
    head = ROW * (around.rows + keys) + _TITLE_LINE * len(titles)
    top, tall = -head, HEIGHT + head + (_NOTE_LINE * len(notes) + 10 if notes else 0)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 {top} {WIDTH} {tall}" width="{WIDTH}" height="{tall}"'
        ' role="img" aria-labelledby="title about">',
        f'<title id="title">{_text(title)}</title>',
        f'<desc id="about">{_text(about)}</desc>',
        _style(),
        f'<rect class="paper" y="{top}" width="{WIDTH}" height="{tall}"/>',
        *(written(_LEFT, top + 24 + _TITLE_LINE * i, line, "heading") for i, line in enumerate(titles)),
        *legend,
        *_grid(*axes),
        *marks,
        *(written(_LEFT, HEIGHT + 12 + _NOTE_LINE * i, line) for i, line in enumerate(notes)),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def written(x: float, y: float, text: str, kind: str = "ink", anchor: str = "start") -> str:
    """Return text at a place."""
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{_text(text)}</text>'


def width_of(text: str) -> float:
    """Return about how many pixels wide a text is."""
    return _LETTER * len(text)


def dot(x: float, y: float, radius: float, colour: int) -> str:
    """Return a filled circle."""
    return f'<circle class="fill{colour}" cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}"/>'


def path(points: Sequence[tuple[float, float]], kind: str) -> str:
    """Return a line through points; `kind` is `line0`, `line1`, ... or `rule`, with ` dashed` after it or not."""
    joined = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline class="{kind}" points="{joined}"/>'


def number(value: float) -> str:
    """Return a number with thousands apart and no needless digits."""
    return f"{value:,.0f}" if value >= 1 and value == round(value) else f"{value:g}"


def _legend(entries: Sequence[tuple[str, str]], rows: int) -> tuple[list[str], int]:
    """Return the names of kinds of marks, in columns above all else above the plot, and the number of their rows."""
    if not entries:
        return [], 0
    room = WIDTH - _LEFT - _RIGHT
    wide = max(_MARK + 24 + width_of(name) for _, name in entries)
    tall = -(-len(entries) // max(1, int(room // wide)))
    columns = -(-len(entries) // tall)
    parts = []
    for i, (kind, name) in enumerate(entries):
        x, y = _LEFT + i % columns * wide, row_above(rows + tall - 1 - i // columns)
        fill = kind.startswith("fill")
        mark = dot(x + 12, y - 4, 4, int(kind[4:])) if fill else path([(x, y - 4), (x + _MARK, y - 4)], kind)
        parts += [mark, written(x + _MARK + 8, y, name)]
    return parts, tall


def _grid(x_axis: Axis, y_axis: Axis) -> list[str]:
    bottom, right = HEIGHT - _BOTTOM, WIDTH - _RIGHT
    parts = []
    for tick in x_axis.ticks:
        x = across(x_axis, tick)
        parts += [path([(x, _TOP), (x, bottom)], "rule"), written(x, bottom + 17, number(tick), anchor="middle")]
    for tick in y_axis.ticks:
        y = down(y_axis, tick)
        parts += [path([(_LEFT, y), (right, y)], "rule"), written(_LEFT - 8, y + 4, number(tick), anchor="end")]
    middle = (_TOP + bottom) / 2
    turned = written(0, 0, y_axis.label, anchor="middle")
    return [
        *parts,
        written((_LEFT + right) / 2, HEIGHT - 14, x_axis.label, anchor="middle"),
        f'<g transform="translate(18 {middle:.1f}) rotate(-90)">{turned}</g>',
    ]


def _style() -> str:
    def colours(place: int) -> str:
        series = "".join(f".fill{i}{{fill:{c[place]}}}.line{i}{{stroke:{c[place]}}}" for i, c in enumerate(SERIES))
        plain = f".paper{{fill:{PAPER[place]}}}.ink,.heading{{fill:{INK[place]}}}.rule{{stroke:{RULE[place]}}}"
        return plain + series

    always = (
        "text{font:13px system-ui,sans-serif}.heading{font-size:16px;font-weight:600}"
        "polyline{fill:none;stroke-width:2}.rule{stroke-width:1}.dashed{stroke-dasharray:6 5}circle{fill-opacity:.75}"
    )
    return f"<style>{always}{colours(0)}@media (prefers-color-scheme:dark){{{colours(1)}}}</style>"


def _printable(text: str) -> str:
    """Return text without characters that XML does not allow."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def _text(text: str) -> str:
    return html.escape(_printable(text))
