"""Pictures of several panels for `docs/diagnostics.md`: private ones drawn from releases by displays, true ones here.

True panels are for data that anybody may see, made-up ones: nothing in the package draws data.
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

from thresher.diagnostics.canvas import CAPTION, STAMP
from thresher.diagnostics.curves import CountedCurve
from thresher.diagnostics.pictures import display_of
from thresher.diagnostics.releases import Diagnostic, ResidualPlot

Column = NDArray[np.float64]
# Its types differ from version to version.
Axes = Any
# Letters stay letters, and names of parts are made from a constant.
_SETTINGS = {"svg.fonttype": "none", "svg.hashsalt": "thresher"}
_WIDTH, _HEIGHT, _HEAD, _FOOT, _LETTERS = 4.9, 4.75, 0.8, 1.1, 97
_TRUE = "tab:green"
_SEEDED = "Noise is drawn from a published seed, so that this picture can be made again: hence the stamp NOT PRIVATE."
_MADE_UP = "Drawn from the rows themselves, which are made up: not a release."
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
    """A release, drawn by its display; caption and stamp stay, made to fit. `limits` are public or released."""

    def draw(axes: Axes) -> None:
        display_of(release).plot(axes)
        axes.set_title(f"{title}: private, epsilon {release.epsilon}", fontsize="medium")
        if limits is not None:
            axes.set(xlim=limits[0], ylim=limits[1])
        for artist in axes.get_children():
            if artist.get_gid() == CAPTION:
                artist.set_text(textwrap.fill(release.caption, _LETTERS))
                artist.set_fontsize(6)
            if artist.get_gid() == STAMP:
                artist.set(fontsize=12, rotation=270, position=(1.01, 0.5), ha="left", alpha=0.8)

    return Panel(f"private-{name}", draw)


def true_residuals(name: str, title: str, rows: tuple[Column, Column], beside: ResidualPlot) -> Panel:
    """So many rows as the release has points, in the release's ranges, so that both sides can be compared."""

    def draw(axes: Axes) -> None:
        shown = len(beside.points)
        across, up = (column[:shown] for column in rows)
        axes.plot(across, up, linestyle="none", marker=".", markersize=3, alpha=0.5, color=_TRUE, gid="points")
        axes.axhline(0, linewidth=1, color="0.5")
        axes.set(xlabel="Fitted value", ylabel="Residual", xlim=beside.fitted_range, ylim=beside.residual_range)
        _entitled(axes, title, f"{shown:,} of {rows[0].size:,} rows.")

    return Panel(f"true-{name}", draw)


def true_roc(name: str, title: str, truth: CountedCurve) -> Panel:
    def draw(axes: Axes) -> None:
        rates = truth.curve.false_positive_rate, truth.curve.true_positive_rate
        # A corner for each row is more than an eye sees.
        spots = np.linspace(0, 1, 201)
        axes.plot([0, 1], [0, 1], linestyle="--", linewidth=1, color="0.6", label="guessing", gid="chance")
        label = f"AUC = {truth.curve.area:.3f}"
        points = [0.0, *spots], [0.0, *np.interp(spots, *rates)]
        axes.plot(*points, color=_TRUE, label=label, gid="roc-curve")
        axes.set(xlabel="False positive rate", ylabel="True positive rate", xlim=(-0.01, 1.01), ylim=(-0.01, 1.01))
        axes.legend(loc="lower right")
        _entitled(axes, title, f"{truth.positives + truth.negatives:,.0f} rows.")

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
        axes.axhline(0, linewidth=1, color="0.5")
        marks: dict[str, Any] = {"linestyle": "none", "marker": "o", "markersize": 4}
        outside = np.abs(truth.residual) > truth.band
        axes.plot(truth.predicted[~outside], truth.residual[~outside], color=_TRUE, gid="inside-band", **marks)
        axes.plot(truth.predicted[outside], truth.residual[outside], color="tab:red", gid="outside-band", **marks)
        axes.set(xlabel="Mean prediction of a bin", ylabel="Mean residual", xlim=(-0.01, 1.01), ylim=(-height, height))
        _entitled(axes, title, f"{truth.rows:,} rows in {truth.predicted.size} bins of equal size.")

    return Panel(f"true-{name}", draw)


def _entitled(axes: Axes, title: str, size: str) -> None:
    axes.set_title(f"{title}: true plot", fontsize="medium")
    where: dict[str, Any] = {"xycoords": "axes fraction", "textcoords": "offset points", "annotation_clip": False}
    axes.annotate(f"{_MADE_UP} {size}", (0, 0), (-30, -36), va="top", fontsize=6, color="0.25", gid=CAPTION, **where)


def drawn(picture: Picture) -> Figure:
    """The figure, with each panel in a group of its own name, whatever the user's settings are."""
    with style.context(["default", _SETTINGS]):
        down, across = len(picture.panels), len(picture.panels[0])
        height = _HEIGHT * down
        figure = Figure(figsize=(_WIDTH * across, height))
        FigureCanvasAgg(figure)
        places = figure.subplots(down, across, squeeze=False)
        edges = {"top": 1 - _HEAD / height, "bottom": _FOOT / height}
        figure.subplots_adjust(left=0.07, right=0.97, wspace=0.24, hspace=0.52, **edges)
        figure.suptitle(picture.title, fontsize="large", y=1 - 0.12 / height)
        figure.text(0.5, 1 - 0.42 / height, _SEEDED, fontsize=7, color="0.25", ha="center", va="center", gid="seeded")
        for axes, panel in zip(places.ravel(), [each for row in picture.panels for each in row], strict=True):
            panel.draw(axes)
            # Names must be unique in a file, and displays give the same ones to all they draw.
            for artist in axes.get_children():
                if artist.get_gid():
                    artist.set_gid(f"{panel.name}-{artist.get_gid()}")
            axes.set_gid(panel.name)
        return figure


def svg_of(picture: Picture) -> str:
    """The picture as text: the same every time with the same matplotlib."""
    written = io.StringIO()
    with style.context(["default", _SETTINGS]):
        drawn(picture).savefig(
            written, format="svg", metadata={"Date": None, "Creator": "Thresher", "Title": picture.title}
        )
    return _lightened(written.getvalue())


def _lightened(text: str) -> str:
    """Marks of one style say it once, have short names, and places of one digit: a third of the size, alike to see."""

    def once(found: re.Match[str]) -> str:
        styles = set(re.findall(r' style="([^"]*)"', found[2]))
        if len(styles) != 1:
            return found[0]
        marks = re.sub(r' style="[^"]*"', "", found[2])
        marks = re.sub(r' (x|y)="([-\d.]+)"', lambda each: f' {each[1]}="{float(each[2]):.1f}"', marks)
        return f'<g clip-path="{found[1]}" style="{styles.pop()}">\n{re.sub(r"(?m)^ +", "", marks)}</g>'

    text = _STYLED_MARK.sub(once, text)
    for number, name in enumerate(sorted(set(re.findall(r'<path id="(m[0-9a-f]{10})"', text)))):
        text = text.replace(name, f"m{number}")
    return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"
