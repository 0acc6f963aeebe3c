"""Draw lines with names as SVG text, such as a loss against its claim.

Reads: numbers and text. Writes: files of pictures. Never: data that are neither public nor made up.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from thresher.errors import ArgumentError
from thresher.views.svg import COLOURS, Axis, Surroundings, across, down, log_axis, number, path, picture


@dataclass(frozen=True, slots=True)
class Line:
    """A named line through points; `dashed` for what is only claimed, or ignores the data."""

    name: str
    xs: Sequence[float]
    ys: Sequence[float]
    dashed: bool = False


def line_chart(title: str, axes: tuple[Axis, Axis], lines: Sequence[Line], notes: Sequence[str] = ()) -> str:
    """Draw lines on two axes (across and down), each in a colour of its own."""
    if not 1 <= len(lines) <= COLOURS or any(len(line.xs) != len(line.ys) or not line.xs for line in lines):
        rule = f"there are 1 to {COLOURS} of them, and each needs as many xs as ys, one or more"
        raise ArgumentError("lines", f"{len(lines)} lines", rule, "Pass points")
    marks: dict[bool, list[str]] = {False: [], True: []}
    entries = []
    for i, line in enumerate(lines):
        kind = f"line{i}" + " dashed" * line.dashed
        points = zip(line.xs, line.ys, strict=True)
        marks[line.dashed].append(path([(across(axes[0], x), down(axes[1], y)) for x, y in points], kind))
        entries.append((kind, line.name))
    values = "; ".join(
        f"{line.name}: from {line.ys[0]:.4g} at {number(line.xs[0])} to {line.ys[-1]:.4g} at {number(line.xs[-1])}"
        for line in lines
    )
    about = f"{axes[1].label} against {axes[0].label}. {values}."
    # Dashed lines come last, so that full ones show between their dashes.
    return picture(title, about, axes, [*marks[False], *marks[True]], Surroundings(entries, notes=notes))


def written_to(folder: Path, pictures: Mapping[str, str]) -> None:
    """Write pictures to files by name, and print how long each is."""
    folder.mkdir(exist_ok=True)
    for name, text in pictures.items():
        (folder / name).write_text(text, encoding="utf-8")
        print(f"{name}: {len(text)} characters")


def log_axis_of(label: str, values: Sequence[float], base: int = 10) -> Axis:
    """Return a logarithmic axis that holds these positive values."""
    if not values or not all(math.isfinite(value) and value > 0 for value in values):
        rule = "a logarithmic axis needs positive numbers, one or more"
        raise ArgumentError("values", f"{len(values)} values", rule, "Leave out others")
    low, high = min(values), max(values)
    return log_axis(label, *((low, high) if low < high else (low / 2, high * 2)), base=base)


def wins_of(trivial: Line, others: Sequence[Line], places: str) -> str:
    """Say at which xs a method that ignores the data errs no more than every other one; empty if nowhere."""
    wins = [x for i, x in enumerate(trivial.xs) if trivial.ys[i] <= min(line.ys[i] for line in others)]
    if not wins:
        return ""
    where = "all" if len(wins) == len(trivial.xs) else ", ".join(map(number, wins))
    return f"“{trivial.name}” ignores the data, and errs least at {places} {where}: there no method shown here helps."
