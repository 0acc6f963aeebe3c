"""Paper for a picture: axes with room for the caption under them, the caption itself, and the stamp across.

Reads: text of a release. Writes: matplotlib objects. Never: data; matplotlib before a picture is asked for.
"""

import textwrap
from typing import TYPE_CHECKING, Any

from thresher.errors import CuratorError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MISSING = (
    "pictures need matplotlib, which is not installed: pip install 'thresher[diagnostics]', or take the release's"
    " numbers and its sparkline, which need nothing"
)
CAPTION, STAMP = "caption", "stamp"
# Inches and points; a line of the caption holds so many letters of its size.
_WIDTH, _PLOT, _TOP, _FOOT, _LINE = 6.4, 3.9, 0.35, 0.68, 0.125
_LETTERS, _SIZE, _BELOW = 112, 7, 36


def pyplot() -> Any:
    """The interface for people at a screen."""
    check_matplotlib()
    import matplotlib.pyplot as plt  # noqa: PLC0415 - an extra, and slow to load

    return plt


def check_matplotlib() -> None:
    """Refuses, and says what to install, if there is no matplotlib."""
    try:
        import matplotlib  # noqa: F401, PLC0415 - as above
    except ImportError:
        raise CuratorError(MISSING) from None


def prepared(figure: "Figure", caption: str) -> "Axes":
    """Axes in an empty figure, which is made as tall as the caption needs."""
    foot = _FOOT + _LINE * len(_lines(caption))
    height = _PLOT + _TOP + foot
    figure.set_size_inches(_WIDTH, height)
    figure.subplots_adjust(left=0.12, right=0.97, top=1 - _TOP / height, bottom=foot / height)
    return figure.subplots()


def signed(axes: "Axes", caption: str, stamp: str) -> None:
    """The caption under the axes, and across them the stamp, if there is one."""
    axes.annotate(
        "\n".join(_lines(caption)),
        (0, 0),
        (-30, -_BELOW),
        xycoords="axes fraction",
        textcoords="offset points",
        va="top",
        fontsize=_SIZE,
        color="0.25",
        annotation_clip=False,
        gid=CAPTION,
    )
    if stamp:
        axes.text(
            0.5,
            0.5,
            stamp,
            transform=axes.transAxes,
            rotation=25,
            ha="center",
            va="center",
            fontsize=34,
            color="tab:red",
            alpha=0.35,
            gid=STAMP,
            zorder=10,
        )


def _lines(caption: str) -> list[str]:
    return textwrap.wrap(caption, _LETTERS)
