"""Make the pictures of streams in `docs/reproduce.md` again: `python -m papers.pictures.stream_pictures`, some seconds.

Seeded, and of made-up streams, so the files are the same every time; a test compares them. They show parts of what
`python -m papers streams` measures in full.
"""

from pathlib import Path

import numpy as np

from papers.pictures.line_chart import Line, line_chart, log_axis_of, wins_of, written_to
from papers.streams.stream_counts import DENSE, LAPLACE, WIDE, ZERO, estimates
from papers.streams.stream_data import DAY, WEEK, busiest, campus, first, loads
from papers.streams.stream_draws import Trials
from papers.streams.stream_monitors import EVENTS, is_event, scores, signal_of
from papers.streams.stream_trees import tree_errors
from papers.streams.stream_windows import TREE, window_errors
from thresher.diagnostics.curves import exact_curve
from thresher.diagnostics.scored_rows import ScoredRows
from thresher.noise import SeededEntropy
from thresher.views.svg import Axis, even_axis

_FOLDER = Path(__file__).parents[2] / "docs" / "pictures" / "streams"
_SEED = 7
_EPSILON = "0.01"
# A curve has one point for this many steps, because more cannot be seen.
_EVERY = 4
_POINTS = 120


def pictures() -> dict[str, str]:
    """Return all pictures by the names of their files."""
    return {"week.svg": _week(), "windows.svg": _windows(), "jumps.svg": _jumps(), "levels.svg": _levels()}


def _week() -> str:
    """Draw figure 5.2: a week of counts."""
    data = first(busiest(loads()), WEEK)
    most = 1.25 * float(data.counts.max())
    streams = {"true counts": data.counts.astype(np.float64)}
    streams |= {
        name: values
        for name, values in estimates(data.counts, _EPSILON, SeededEntropy(_SEED))
        if name in (ZERO, WIDE, DENSE)
    }
    errors = {name: float(np.abs(values - data.counts).mean()) for name, values in streams.items()}
    steps = range(0, WEEK, _EVERY)
    lines = [
        Line(name, [step / DAY for step in steps], [float(values[step, 0].clip(0, most)) for step in steps])
        for name, values in streams.items()
        if name != ZERO
    ]
    each = ", ".join(f"{name} {errors[name]:.1f}" for name in (WIDE, DENSE, ZERO))
    note = f"Mean absolute error of a step: {each}."
    if errors[ZERO] <= min(errors[WIDE], errors[DENSE]):
        note += f" “{ZERO}” ignores the data, and errs least: at this epsilon neither stream helps for single steps."
    axes = (
        even_axis("day", 0, 7, range(8)),
        even_axis("connections in five minutes", 0, most, range(0, int(most) + 1, 100)),
    )
    return line_chart(f"A week at epsilon {_EPSILON} a step", axes, lines, (note,))


def _windows() -> str:
    """Draw figure 5.5, for the middle load."""
    data = first(loads(), 2 * WEEK)
    errors = [one for one in window_errors(data, Trials(2, SeededEntropy(_SEED), (_EPSILON,))) if one.series == "Med"]
    lines = []
    for name in dict.fromkeys(one.method for one in errors):
        mine = [one for one in errors if one.method == name]
        lines.append(Line(name, [one.length for one in mine], [one.error for one in mine], name in (ZERO, TREE)))
    axes = log_axis_of("steps of the window", lines[0].xs, 2), _errors_axis(lines)
    note = wins_of(lines[0], lines[1:], "windows of")
    return line_chart(f"Sums over the last steps, Med, epsilon {_EPSILON}", axes, lines, (note,))


def _jumps() -> str:
    """Draw figure 5.6."""
    data, event = first(busiest(loads()), 4 * WEEK), EVENTS[0]
    happens = is_event(signal_of(data.counts, event.kind, event.window)[:, 0], event.kind, event.threshold or 0)
    axes = tuple(even_axis(f"{name} positive rate", 0, 1, (0, 0.5, 1)) for name in ("false", "true"))
    spots, lines = np.linspace(0, 1, _POINTS), []
    for name, signal in scores(data.counts, _EPSILON, event, SeededEntropy(_SEED)):
        curve = exact_curve(ScoredRows(happens, np.asarray(signal[:, 0]))).curve
        heights = np.interp(spots, curve.false_positive_rate, curve.true_positive_rate)
        lines.append(Line(f"{name}: {curve.area:.2f}", spots.tolist(), heights.tolist(), name == ZERO))
    title = f"Jumps and drops by {event.threshold} in {event.window} steps, epsilon {_EPSILON}"
    note = f"ROC curves, and the areas below them. “{ZERO}” ignores the data: its area is that of a guess."
    return line_chart(title, (axes[0], axes[1]), lines, (note,))


def _levels() -> str:
    """Draw figure 5.8, level by level."""
    methods = (ZERO, LAPLACE, WIDE, "estimate 5", "history 5")
    trials = Trials(1, SeededEntropy(_SEED), ("0.1",))
    lines = [
        Line(one.method, range(1, len(one.levels) + 1), one.levels, one.method == ZERO)
        for one in tree_errors(campus(2 * DAY), trials, methods)
    ]
    levels = lines[0].xs
    axes = even_axis("level, from the root", levels[0], levels[-1], levels), _errors_axis(lines)
    note = wins_of(lines[0], lines[1:], "levels")
    return line_chart("A tree of 128 access points, epsilon 0.1", axes, lines, (note,))


def _errors_axis(lines: list[Line]) -> Axis:
    return log_axis_of("mean absolute error", [error for line in lines for error in line.ys])


if __name__ == "__main__":
    written_to(_FOLDER, pictures())
