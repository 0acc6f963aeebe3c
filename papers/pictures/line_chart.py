"""Lines on logarithmic axes as SVG text, such as a loss against its claim.

Reads: numbers and text. Writes: nothing. Never: what is not public or made up.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from thresher.errors import ArgumentError
from thresher.views.svg import COLOURS, CORNER, across, down, legend, log_axis, number, path, picture


@dataclass(frozen=True, slots=True)
class Line:
    """A named line through points with positive coordinates; `dashed` for what is only claimed."""

    name: str
    xs: Sequence[float]
    ys: Sequence[float]
    dashed: bool = False


def line_chart(
    title: str,
    lines: Sequence[Line],
    x_label: str,
    y_label: str,
    x_base: int = 10,
    *,
    names_at: tuple[float, float] = CORNER,
) -> str:
    """Lines on logarithmic axes, with their names in the upper left corner or another place."""
    xs, ys = [x for line in lines for x in line.xs], [y for line in lines for y in line.ys]
    if not xs or any(len(line.xs) != len(line.ys) for line in lines):
        raise ArgumentError("lines", f"{len(lines)} lines", "they need as many xs as ys, one or more", "Pass points")
    if not all(math.isfinite(value) and value > 0 for value in (*xs, *ys)):
        raise ArgumentError("lines", f"{len(lines)} lines", "coordinates must be positive numbers", "Leave out others")
    x_axis, y_axis = log_axis(x_label, *_room(xs), base=x_base), log_axis(y_label, *_room(ys))
    marks, entries = [], []
    for i, line in enumerate(lines):
        kind = f"line{i % COLOURS}" + (" dashed" if line.dashed else "")
        points = zip(line.xs, line.ys, strict=True)
        marks.append(path([(across(x_axis, x), down(y_axis, y)) for x, y in points], kind))
        entries.append((kind, line.name))
    told = "; ".join(
        f"{line.name}: from {line.ys[0]:.4g} at {number(line.xs[0])} to {line.ys[-1]:.4g} at {number(line.xs[-1])}"
        for line in lines
    )
    return picture(
        title, f"{y_label} against {x_label}. {told}.", (x_axis, y_axis), [*marks, *legend(entries, names_at)]
    )


def _room(values: Sequence[float]) -> tuple[float, float]:
    """From the least to the largest value, or a little around the only one."""
    low, high = min(values), max(values)
    return (low, high) if low < high else (low / 2, high * 2)
