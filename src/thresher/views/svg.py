"""Pieces of SVG pictures: a frame with two axes, marks in it, and colours for light and dark pages.

Reads: numbers and text. Writes: nothing. Never: a script, a font or a file from elsewhere; text that is not escaped.
"""

import html
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

WIDTH, HEIGHT = 640, 480
_LEFT, _RIGHT, _TOP, _BOTTOM = 74, 24, 52, 54
CORNER = (_LEFT, _TOP)
# Marks at the ends of an axis keep off the labels.
_WITHIN = 12
# Told apart by people who see few colours too; the second of each pair is for dark pages.
_COLOURS = (("#0072b2", "#56b4e9"), ("#d55e00", "#ff9d5c"), ("#00795c", "#3ecfa4"), ("#a03f78", "#e59cc6"))
COLOURS = len(_COLOURS)


@dataclass(frozen=True, slots=True)
class Axis:
    """Values from `low` to `high` along a line, bent by `bend` (an increasing function), with ticks."""

    label: str
    low: float
    high: float
    bend: Callable[[float], float]
    ticks: Sequence[float]

    def share(self, value: float) -> float:
        """How far along, from 0 to 1."""
        low, high = self.bend(self.low), self.bend(self.high)
        return (self.bend(value) - low) / (high - low)


def counts_axis(label: str, most: int) -> Axis:
    """Counts from 0 on, evenly by log(1 + count), so that 0, 1 and 2 lie apart and large ones fit in."""
    ticks = [0, 1, 2, 5, *(10**power for power in range(1, 19))]
    high = max(most, 2)
    return Axis(label, 0, high, math.log1p, [tick for tick in ticks if tick <= high])


def even_axis(label: str, low: float, high: float, ticks: Sequence[float]) -> Axis:
    """Values as they are."""
    return Axis(label, low, high, float, ticks)


def log_axis(label: str, low: float, high: float, base: int = 10) -> Axis:
    """Positive values, evenly by their logarithm."""
    first, last = math.ceil(math.log(low, base) - 1e-9), math.floor(math.log(high, base) + 1e-9)
    return Axis(label, low, high, math.log, [float(base) ** power for power in range(first, last + 1)])


def across(axis: Axis, value: float) -> float:
    """Pixels from the left."""
    return _LEFT + _WITHIN + axis.share(value) * (WIDTH - _LEFT - _RIGHT - 2 * _WITHIN)


def down(axis: Axis, value: float) -> float:
    """Pixels from the top."""
    return HEIGHT - _BOTTOM - _WITHIN - axis.share(value) * (HEIGHT - _TOP - _BOTTOM - 2 * _WITHIN)


def picture(title: str, about: str, axes: tuple[Axis, Axis], marks: Sequence[str]) -> str:
    """A whole picture: the title on top, the axes (across and down), the marks on them, `about` for screen readers."""
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}"'
        ' role="img" aria-labelledby="title about">',
        f'<title id="title">{_text(title)}</title>',
        f'<desc id="about">{_text(about)}</desc>',
        _style(),
        f'<rect class="paper" width="{WIDTH}" height="{HEIGHT}"/>',
        written(_LEFT, 28, title, "heading"),
        *_grid(*axes),
        *marks,
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def written(x: float, y: float, text: str, kind: str = "ink", anchor: str = "start") -> str:
    """Text at a place."""
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{_text(text)}</text>'


def dot(x: float, y: float, radius: float, colour: int) -> str:
    """A filled circle."""
    return f'<circle class="fill{colour}" cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}"/>'


def path(points: Sequence[tuple[float, float]], kind: str) -> str:
    """A line through points; `kind` is `line0`, `line1`, ... or `rule`, with ` dashed` after it or not."""
    joined = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline class="{kind}" points="{joined}"/>'


def legend(entries: Sequence[tuple[str, str]], at: tuple[float, float] = CORNER) -> list[str]:
    """Kinds of lines and their names, in the upper left corner or below and right of another place."""
    parts = []
    for i, (kind, name) in enumerate(entries):
        x, y = at[0] + 14, at[1] + 18 + 18 * i
        parts += [path([(x, y - 4), (x + 24, y - 4)], kind), written(x + 32, y, name)]
    return parts


def number(value: float) -> str:
    """Thousands apart, no needless digits."""
    return f"{value:,.0f}" if value >= 1 else f"{value:g}"


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
        written((_LEFT + right) / 2, HEIGHT - 12, x_axis.label, anchor="middle"),
        f'<g transform="translate(18 {middle:.1f}) rotate(-90)">{turned}</g>',
    ]


def _style() -> str:
    def colours(place: int) -> str:
        return "".join(f".fill{i}{{fill:{c[place]}}}.line{i}{{stroke:{c[place]}}}" for i, c in enumerate(_COLOURS))

    always = (
        "text{font:13px system-ui,sans-serif}.heading{font-size:16px;font-weight:600}"
        "polyline{fill:none;stroke-width:2}.rule{stroke-width:1}.dashed{stroke-dasharray:6 5}circle{fill-opacity:.75}"
    )
    light = ".paper{fill:#ffffff}.ink,.heading{fill:#1f2328}.rule{stroke:#d8dee4}" + colours(0)
    dark = ".paper{fill:#0d1117}.ink,.heading{fill:#e6edf3}.rule{stroke:#30363d}" + colours(1)
    return f"<style>{always}{light}@media (prefers-color-scheme:dark){{{dark}}}</style>"


def _text(text: str) -> str:
    """Escaped, and without characters that XML does not know."""
    return html.escape("".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text))
