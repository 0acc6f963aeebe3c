"""Draw the budgets of a roster, as bars on a terminal and as a picture, cut into parts; and the error by method.

Rosters are public by declaration. Still, these pictures are for the curator.
Reads: levels and sizes, numbers. Writes: nothing. Never: private rows, text that is not escaped.
"""

import math
from collections.abc import Sequence

import numpy as np

from thresher.views.svg import Axis, Surroundings, across, down, even_axis, log_axis, path, picture, written

_BARS, _WIDEST = 16, 44


def level_bars(levels: Sequence[float], sizes: Sequence[int], cuts: Sequence[float] = ()) -> list[str]:
    """Return lines of at most 78 columns: a bar for each range of budgets; a rule before each part but the first."""
    few = len(levels) <= _BARS
    edges, counts = (list(levels), list(sizes)) if few else _ranges(levels, sizes)
    most = max(counts)
    lines, passed = [], 0
    # The last bar includes the greatest level.
    for begin, end, count in zip(edges, [*edges[1 : len(counts)], math.inf], counts, strict=False):
        while passed < len(cuts) and cuts[passed] < end:
            lines.append(f"  {'─' * 8} part {passed + 2} from {cuts[passed]:.4g} on")
            passed += 1
        bar = "█" * max(round(count / most * _WIDEST), 1 if count else 0)
        lines.append(f"  {begin:>8.4g} {bar} {count:,}")
    return lines


def level_picture(levels: Sequence[float], sizes: Sequence[int], cuts: Sequence[float] = ()) -> str:
    """Draw people by budget as SVG, with dashed lines where parts begin."""
    edges, counts = _ranges(levels, sizes, 40)
    x_axis = even_axis("budget of a person (epsilon)", edges[0], edges[-1], _ticks(edges[0], edges[-1]))
    y_axis = even_axis("people", 0, max(counts), _ticks(0, max(counts)))
    corners = [
        (across(x_axis, edges[n]), down(y_axis, count), across(x_axis, edges[n + 1]), down(y_axis, 0))
        for n, count in enumerate(counts)
    ]
    marks = [_bar(corner) for corner in corners]
    ends = (0, y_axis.high)
    marks += [path([(across(x_axis, cut), down(y_axis, y)) for y in ends], "line1 dashed") for cut in cuts]
    parts = f" Parts begin at {', '.join(f'{cut:.4g}' for cut in cuts)}." if cuts else ""
    around = Surroundings((("line1 dashed", "a part begins"),) if cuts else ())
    return picture("What people allow", f"{sum(sizes):,} people.{parts}", (x_axis, y_axis), marks, around)


def error_picture(title: str, errors: Sequence[tuple[str, float]]) -> str:
    """Draw a bar for each method on a logarithmic axis, with its name above the bar."""
    values = [error for _, error in errors]
    low, high = 10 ** math.floor(math.log10(min(values)) - 0.1), 10 ** math.ceil(math.log10(max(values)))
    x_axis = log_axis("standard deviation of a share", low, high)
    y_axis = Axis("", 0, len(errors), float, ())
    marks = []
    for n, (name, error) in enumerate(errors):
        y, start = down(y_axis, len(errors) - n - 0.5), across(x_axis, low)
        marks += [
            _bar((start, y - 5, across(x_axis, error), y + 5)),
            written(start + 4, y - 9, f"{name}  {error:.3g}"),
        ]
    about = "; ".join(f"{name} {error:.3g}" for name, error in errors)
    return picture(title, about, (x_axis, y_axis), marks)


def error_bars(errors: Sequence[tuple[str, float]]) -> list[str]:
    """Return a line with a bar for each method, on a logarithmic scale."""
    logs = [math.log10(error) for _, error in errors]
    low, reach = min(logs) - 0.2, max(max(logs) - min(logs), 1e-9) + 0.2
    return [
        f"  {name:<14} {'█' * max(1, round((math.log10(error) - low) / reach * _WIDEST))} {error:.3g}"
        for name, error in errors
    ]


def _bar(corner: tuple[float, float, float, float]) -> str:
    left, top, right, bottom = corner
    size = f'width="{right - left:.1f}" height="{bottom - top:.1f}"'
    return f'<rect class="fill0" x="{left:.1f}" y="{top:.1f}" {size}/>'


def _ranges(levels: Sequence[float], sizes: Sequence[int], most: int = _BARS) -> tuple[list[float], list[int]]:
    """Return the edges of equally wide ranges from the least to the greatest level, and how many people are in each."""
    low, high = min(levels), max(levels)
    if low == high:
        return [low, low + (abs(low) or 1.0)], [sum(sizes)]
    bars = min(most, 4 * len(levels))
    counts, edges = np.histogram(levels, bins=bars, range=(low, high), weights=np.asarray(sizes, dtype=np.float64))
    return edges.tolist(), counts.astype(np.int64).tolist()


def _ticks(low: float, high: float) -> list[float]:
    step = 10 ** math.floor(math.log10((high - low) / 2))
    step = next(step * k for k in (1, 2, 5, 10) if (high - low) / (step * k) <= 6)
    return [round(n * step, 12) for n in range(math.ceil(low / step), math.floor(high / step) + 1)]
