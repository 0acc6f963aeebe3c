"""Pictures as SVG text: counts found against true ones, and lines such as a loss against its claim.

They hold what they are given, the truth included: for made-up and public data only.
Reads: numbers and text. Writes: nothing. Never: a release and a truth that is not public in one picture.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from thresher.errors import ArgumentError
from thresher.views.svg import (
    COLOURS,
    CORNER,
    across,
    counts_axis,
    dot,
    down,
    legend,
    log_axis,
    number,
    path,
    picture,
    written,
)


@dataclass(frozen=True, slots=True)
class Line:
    """A named line through points with positive coordinates; `dashed` for what is only claimed."""

    name: str
    xs: Sequence[float]
    ys: Sequence[float]
    dashed: bool = False


def count_scatter(title: str, truth: ArrayLike, found: ArrayLike) -> str:
    """Every cell by its true count (across) and the one that was found (up): right ones lie on the diagonal.

    Cells at the same place are one dot, the larger the more there are.
    """
    true, seen = np.asarray(truth), np.maximum(np.asarray(found), 0)
    if true.ndim != 1 or true.shape != seen.shape or not true.size:
        rule = "there must be a true count for each one that was found"
        raise ArgumentError("found", f"{seen.size} counts", rule, f"Pass {true.size} counts")
    right = int((true == seen).sum())
    places, cells = np.unique(np.stack([true, seen]), axis=1, return_counts=True)
    most = int(places.max())
    x_axis, y_axis = counts_axis("true count of a cell", most), counts_axis("count that was found", most)
    marks = [path([(across(x_axis, 0), down(y_axis, 0)), (across(x_axis, most), down(y_axis, most))], "rule")]
    for x, y, size in zip(places[0].tolist(), places[1].tolist(), cells.tolist(), strict=True):
        marks.append(dot(across(x_axis, x), down(y_axis, y), 2.5 + 1.5 * math.log2(size) / 2, 0 if x == y else 1))
    share = f"{right:,} of {true.size:,} cells found exactly ({right / true.size:.1%})"
    marks += [written(across(x_axis, 0) + 4, 72, share)]
    about = f"Counts that an attack found against the true ones, both from 0 to {number(most)}. {share}."
    return picture(title, about, (x_axis, y_axis), marks)


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
