"""Makes the pictures of streams in `docs/reproduce.md` anew: `python -m papers.pictures.stream_pictures`, some seconds.

Seeded, and of made-up streams, so the files are the same every time; a test compares them. They show parts of what
`python -m papers streams` measures in full.
"""

from pathlib import Path

import numpy as np

from papers.pictures.line_chart import Line, line_chart
from papers.streams.stream_counts import DENSE, LAPLACE, WIDE, ZERO, estimates
from papers.streams.stream_data import DAY, WEEK, busiest, campus, first, loads
from papers.streams.stream_draws import Trials
from papers.streams.stream_monitors import EVENTS, is_event, scores, signal_of
from papers.streams.stream_trees import tree_errors
from papers.streams.stream_windows import TREE, window_errors
from thresher.diagnostics.curves import exact_curve
from thresher.diagnostics.scored_rows import ScoredRows
from thresher.noise import SeededEntropy
from thresher.views.svg import across, down, even_axis, legend, path, picture

_FOLDER = Path(__file__).parents[2] / "docs" / "pictures" / "streams"
_SEED = 7
_EPSILON = "0.01"
# A point of a curve for each of so many steps, which is what can be seen.
_EVERY = 4
_POINTS = 120


def pictures() -> dict[str, str]:
    """All pictures, by the name of their file."""
    return {"week.svg": _week(), "windows.svg": _windows(), "jumps.svg": _jumps(), "levels.svg": _levels()}


def _week() -> str:
    """Figure 5.2: what a week looks like."""
    data = first(busiest(loads()), WEEK)
    most = 1.25 * float(data.counts.max())
    shown = {"true counts": data.counts.astype(np.float64)}
    shown |= {
        name: np.clip(values, 0, most)
        for name, values in estimates(data.counts, _EPSILON, SeededEntropy(_SEED))
        if name in (WIDE, DENSE)
    }
    x_axis = even_axis("day", 0, 7, range(8))
    y_axis = even_axis("connections in five minutes", 0, most, range(0, int(most) + 1, 100))
    marks = [
        path(
            [(across(x_axis, step / DAY), down(y_axis, float(values[step, 0]))) for step in range(0, WEEK, _EVERY)],
            f"line{i}",
        )
        for i, values in enumerate(shown.values())
    ]
    entries = [(f"line{i}", name) for i, name in enumerate(shown)]
    about = (
        f"A week of a busy access point and two private streams of it at epsilon {_EPSILON} a step, up to {most:.0f}."
    )
    return picture(
        f"A week at epsilon {_EPSILON} a step", about, (x_axis, y_axis), [*marks, *legend(entries, (380, 48))]
    )


def _windows() -> str:
    """Figure 5.5, for the load in the middle."""
    data = first(loads(), 2 * WEEK)
    found = [one for one in window_errors(data, Trials(2, SeededEntropy(_SEED), (_EPSILON,))) if one.series == "Med"]
    lines = []
    for name in dict.fromkeys(one.method for one in found):
        mine = [one for one in found if one.method == name]
        lines.append(Line(name, [one.length for one in mine], [one.error for one in mine], name in (ZERO, TREE)))
    title, labels = f"Sums over the last steps, Med, epsilon {_EPSILON}", ("steps of the window", "mean absolute error")
    return line_chart(title, lines, *labels, x_base=2, names_at=(410, 290))


def _jumps() -> str:
    """Figure 5.6."""
    data, event = first(busiest(loads()), 4 * WEEK), EVENTS[0]
    happens = is_event(signal_of(data.counts, event.kind, event.window)[:, 0], event.kind, event.threshold or 0)
    x_axis, y_axis = (even_axis(f"{name} positive rate", 0, 1, (0, 0.5, 1)) for name in ("false", "true"))
    marks, entries = [], []
    for i, (name, signal) in enumerate(scores(data.counts, _EPSILON, event, SeededEntropy(_SEED))):
        curve = exact_curve(ScoredRows(happens, np.asarray(signal[:, 0]))).curve
        spots = np.linspace(0, 1, _POINTS)
        heights = np.interp(spots, curve.false_positive_rate, curve.true_positive_rate)
        kind = "rule" if name == ZERO else f"line{i - 1}"
        marks.append(
            path(
                [(across(x_axis, x), down(y_axis, y)) for x, y in zip(spots.tolist(), heights.tolist(), strict=True)],
                kind,
            )
        )
        entries.append((kind, f"{name}: {curve.area:.2f}"))
    title = f"Jumps and drops by {event.threshold} in {event.window} steps, epsilon {_EPSILON}"
    about = f"ROC curves and areas below them: {', '.join(name for _, name in entries)}."
    return picture(title, about, (x_axis, y_axis), [*marks, *legend(entries, (400, 280))])


def _levels() -> str:
    """Figure 5.8, level by level."""
    methods = (ZERO, LAPLACE, WIDE, "estimate 5", "history 5")
    trials = Trials(1, SeededEntropy(_SEED), ("0.1",))
    lines = [
        Line(one.method, range(1, len(one.levels) + 1), one.levels, one.method == ZERO)
        for one in tree_errors(campus(2 * DAY), trials, methods)
    ]
    title, labels = "A tree of 128 access points, epsilon 0.1", ("level, from the root", "mean absolute error")
    return line_chart(title, lines, *labels, x_base=2, names_at=(80, 310))


def main() -> None:
    """Overwrites the files of the docs."""
    _FOLDER.mkdir(exist_ok=True)
    for name, text in pictures().items():
        (_FOLDER / name).write_text(text, encoding="utf-8")
        print(f"{name}: {len(text)} characters")


if __name__ == "__main__":
    main()
