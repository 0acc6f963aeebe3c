"""Write a release as a file, SVG or PNG by its ending.

The same release gives the same bytes with the same matplotlib: no date, no random names, no settings of the user's.
Reads: releases. Writes: one file. Never: data; a picture without its caption.
"""

import os
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

from thresher.diagnostics.canvas import STYLE, check_matplotlib, for_light_and_dark, prepared
from thresher.diagnostics.displays import BinnedResidualDisplay, Display, ResidualDisplay, RocCurveDisplay
from thresher.diagnostics.releases import Diagnostic
from thresher.diagnostics.sparklines import sparkline
from thresher.errors import ArgumentError

__all__ = ["check_picture", "display_of", "save_picture", "sparkline"]

_DISPLAYS: tuple[type[Display[Any]], ...] = (ResidualDisplay, RocCurveDisplay, BinnedResidualDisplay)
_METADATA: Mapping[str, Mapping[str, str | None]] = {
    ".svg": {"Date": None, "Creator": "Thresher"},
    ".png": {"Software": None},
}
_DOTS_PER_INCH = 150


def display_of(release: Diagnostic) -> Display[Any]:
    """Return the display that draws a release."""
    for display in _DISPLAYS:
        if isinstance(release, display.holds):
            return display(release)
    raise ArgumentError("release", type(release).__name__, "it must be a diagnostic's release", "Pass what it returned")


def check_picture(path: str | os.PathLike[str]) -> Path:
    """Return the path if a picture can be written there; to be called before anything is charged."""
    where = Path(path)
    if where.suffix.lower() not in _METADATA:
        raise ArgumentError("path", str(path), "its ending names the kind of picture", "End it with .svg or .png")
    if where.is_dir() or not where.absolute().parent.is_dir():
        raise ArgumentError("path", str(path), "it must name a file in a folder that exists", "Make the folder first")
    if not os.access(where if where.exists() else where.absolute().parent, os.W_OK):
        raise ArgumentError("path", str(path), "no file can be written there", "Name another folder")
    check_matplotlib()
    return where


def save_picture(release: Diagnostic, path: str | os.PathLike[str]) -> Path:
    """Draw a release into a file, and return its path."""
    display, where = display_of(release), check_picture(path)
    import matplotlib.style  # noqa: PLC0415 - an extra, and slow to load
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415
    from matplotlib.figure import Figure  # noqa: PLC0415

    kind = where.suffix.lower()
    written = BytesIO()
    with matplotlib.style.context(["default", dict(STYLE)]):
        figure = Figure()
        FigureCanvasAgg(figure)
        display.plot(prepared(figure, release.caption))
        figure.savefig(written, format=kind[1:], dpi=_DOTS_PER_INCH, metadata=dict(_METADATA[kind]))
    picture = written.getvalue()
    where.write_bytes(picture if kind == ".png" else for_light_and_dark(picture.decode()).encode())
    return where
