"""Draw pictures of several panels for `docs/diagnostics.md`: displays draw private panels, this module true ones.

True panels are for made-up data only. Nothing in the product draws data.
"""

import io
import re
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib import style
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import NDArray

from thresher.diagnostics.canvas import (
    CAPTION,
    CAPTION_SIZE,
    MIDDLE,
    OUTSIDE,
    STAMP,
    STYLE,
    TITLE,
    entitled,
    for_light_and_dark,
    signed,
)
from thresher.diagnostics.curves import CountedCurve
from thresher.diagnostics.pictures import display_of
from thresher.diagnostics.releases import Diagnostic, ResidualPlot
from thresher.pages.palette import QUIET, SERIES

Column = NDArray[np.float64]
# The types of matplotlib differ between versions.
Axes = Any
# Inches, and the letters of a line of a caption.
_WIDTH, _HEIGHT, _HEAD, _FOOT, _LETTERS = 5.2, 5.35, 1.25, 1.6, 74
_TRUE = SERIES[2][0]
_SEEDED = "Noise is drawn from a published seed, so that this picture can be made again: hence the stamp NOT PRIVATE."
_MADE_UP = "Drawn from the rows themselves, which are made up: not a release."
_PATH, _DIGITS = re.compile(r' d="[^"]*"'), re.compile(r"(\.\d\d)\d+")
_STYLED_MARK = re.compile(r'<g clip-path="([^"]*)">\s*((?:<use [^>]*/>\s*)+)</g>')


@dataclass(frozen=True, slots=True)
class Panel:
    """One set of axes: its name in the file, and what draws it."""

    name: str
    draw: Callable[[Axes], None]


@dataclass(frozen=True, slots=True)
class Picture:
    """Panels in rows, a title, and rows of the table of figures that belong to it."""

    name: str
    title: str
    panels: tuple[tuple[Panel, ...], ...]
    figures: tuple[str, ...]


def private_panel(name: str, title: str, release: Diagnostic, limits: tuple[Any, Any] | None = None) -> Panel:
    """Return the panel of a release, drawn by its display, with caption and stamp. `limits` are public or released."""

    def draw(axes: Axes) -> None:
        display_of(release).plot(axes)
        entitled(axes, f"{title}: private, epsilon {release.epsilon}", legend=not isinstance(release, ResidualPlot))
        if limits is not None:
            axes.set(xlim=limits[0], ylim=limits[1])
        _fitted(axes)

    return Panel(f"private-{name}", draw)


def true_residuals(name: str, title: str, rows: tuple[Column, Column], beside: ResidualPlot) -> Panel:
    """Return a panel of as many rows as the release has points, in the release's ranges, to compare both."""

    def draw(axes: Axes) -> None:
        shown = len(beside.points)
        across, up = (column[:shown] for column in rows)
        axes.plot(across, up, linestyle="none", marker=".", markersize=4, alpha=0.8, color=_TRUE, gid="points")
        axes.axhline(0, linewidth=1, color=MIDDLE)
        axes.set(xlabel="Fitted value", ylabel="Residual", xlim=beside.fitted_range, ylim=beside.residual_range)
        _entitled(axes, title, f"{shown:,} of {rows[0].size:,} rows.")

    return Panel(f"true-{name}", draw)


def true_roc(name: str, title: str, truth: CountedCurve) -> Panel:
    def draw(axes: Axes) -> None:
        rates = truth.curve.false_positive_rate, truth.curve.true_positive_rate
        # A corner for each row is more than an eye sees.
        spots = np.linspace(0, 1, 201)
        axes.plot([0, 1], [0, 1], linestyle="--", linewidth=1, color=MIDDLE, label="guessing", gid="chance")
        label = f"AUC = {truth.curve.area:.3f}"
        points = [0.0, *spots], [0.0, *np.interp(spots, *rates)]
        axes.plot(*points, color=_TRUE, label=label, gid="roc-curve")
        axes.set(xlabel="False positive rate", ylabel="True positive rate", xlim=(-0.01, 1.01), ylim=(-0.01, 1.01))
        _entitled(axes, title, f"{truth.positives + truth.negatives:,.0f} rows.", legend=True)

    return Panel(f"true-{name}", draw)


@dataclass(frozen=True, slots=True)
class TrueBins:
    """Means of bins of equal size, and two standard errors of a mean residual if the model is right."""

    rows: int
    predicted: Column
    residual: Column
    band: Column


def true_bins(labels: NDArray[np.bool_], scores: Column, bins: int) -> TrueBins:
    parts = np.array_split(np.argsort(scores, kind="stable"), bins)
    predicted = np.array([scores[part].mean() for part in parts])
    residual = np.array([(labels - scores)[part].mean() for part in parts])
    sizes = np.array([part.size for part in parts])
    return TrueBins(scores.size, predicted, residual, 2 * np.sqrt(predicted * (1 - predicted) / sizes))


def true_binned(name: str, title: str, truth: TrueBins, height: float) -> Panel:
    def draw(axes: Axes) -> None:
        axes.fill_between(truth.predicted, -truth.band, truth.band, color=_TRUE, alpha=0.15, gid="band")
        axes.axhline(0, linewidth=1, color=MIDDLE)
        marks: dict[str, Any] = {"linestyle": "none", "marker": "o", "markersize": 4}
        outside = np.abs(truth.residual) > truth.band
        for part, colour, where in ((~outside, _TRUE, "inside"), (outside, OUTSIDE, "outside")):
            marks |= {"color": colour, "label": f"{where} the band", "gid": f"{where}-band"}
            axes.plot(truth.predicted[part], truth.residual[part], **marks)
        axes.set(xlabel="Mean prediction of a bin", ylabel="Mean residual", xlim=(-0.01, 1.01), ylim=(-height, height))
        _entitled(axes, title, f"{truth.rows:,} rows in {truth.predicted.size} bins of equal size.", legend=True)

    return Panel(f"true-{name}", draw)


def _entitled(axes: Axes, title: str, size: str, *, legend: bool = False) -> None:
    entitled(axes, f"{title}: true plot", legend=legend)
    signed(axes, f"{_MADE_UP} {size}", "")
    _fitted(axes)


def _fitted(axes: Axes) -> None:
    """Make caption and stamp fit a panel."""
    for artist in axes.get_children():
        if artist.get_gid() == CAPTION:
            artist.set_text(textwrap.fill(artist.get_text().replace("\n", " "), _LETTERS))
        if artist.get_gid() == STAMP:
            artist.set(fontsize=12, rotation=270, position=(1.015, 0.5), ha="left", alpha=0.8)


def drawn(picture: Picture) -> Figure:
    """Return the figure, with each panel in a group of its name; the user's settings have no effect."""
    with style.context(["default", dict(STYLE)]):
        down, across = len(picture.panels), len(picture.panels[0])
        height = _HEIGHT * down
        figure = Figure(figsize=(_WIDTH * across, height))
        FigureCanvasAgg(figure)
        places = figure.subplots(down, across, squeeze=False)
        edges = {"top": 1 - _HEAD / height, "bottom": _FOOT / height}
        figure.subplots_adjust(left=0.075, right=0.965, wspace=0.3, hspace=0.72, **edges)
        left: dict[str, Any] = {"x": 0.02, "ha": "left"}
        figure.suptitle(picture.title, fontsize=TITLE, fontweight="bold", y=1 - 0.15 / height, **left)
        seeded: dict[str, Any] = {
            "y": 1 - 0.52 / height,
            "s": _SEEDED,
            "fontsize": CAPTION_SIZE,
            "color": QUIET[0],
            "gid": "seeded",
        }
        figure.text(va="center", **seeded, **left)
        for axes, panel in zip(places.ravel(), [each for row in picture.panels for each in row], strict=True):
            panel.draw(axes)
            # Names must be unique in a file, and displays give the same ones to all they draw.
            for artist in axes.get_children():
                if artist.get_gid():
                    artist.set_gid(f"{panel.name}-{artist.get_gid()}")
            axes.set_gid(panel.name)
        return figure


def svg_of(picture: Picture) -> str:
    """Return the picture as text, which is the same each time with one version of matplotlib."""
    written = io.StringIO()
    with style.context(["default", dict(STYLE)]):
        drawn(picture).savefig(
            written, format="svg", metadata={"Date": None, "Creator": "Thresher", "Title": picture.title}
        )
    return for_light_and_dark(_lightened(written.getvalue()))


def _lightened(text: str) -> str:
    """Name the style of marks once, with short names and few digits: a third of the size, alike to see."""

    def once(found: re.Match[str]) -> str:
        styles = set(re.findall(r' style="([^"]*)"', found[2]))
        if len(styles) != 1:
            return found[0]
        marks = re.sub(r' style="[^"]*"', "", found[2])
        marks = re.sub(r' (x|y)="([-\d.]+)"', lambda each: f' {each[1]}="{float(each[2]):.1f}"', marks)
        return f'<g clip-path="{found[1]}" style="{styles.pop()}">\n{re.sub(r"(?m)^ +", "", marks)}</g>'

    text = _PATH.sub(lambda found: _DIGITS.sub(r"\1", found[0]), _STYLED_MARK.sub(once, text))
    for number, name in enumerate(sorted(set(re.findall(r'<path id="(m[0-9a-f]{10})"', text)))):
        text = text.replace(name, f"m{number}")
    return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"
