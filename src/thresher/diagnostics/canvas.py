"""Paper for a picture: its style, axes with room for the caption under them, the caption itself, and the stamp across.

The style is that of the other pictures (`views/svg.py`): a title and a legend above the plot, nothing but data on it,
and colours that change on dark pages. Reads: text of a release. Writes: matplotlib objects. Never: data; matplotlib
before a picture is asked for.
"""

import re
import textwrap
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from thresher.errors import CuratorError
from thresher.pages.palette import DANGER, INK, PAPER, QUIET, RULE, SERIES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure

MISSING = (
    "pictures need matplotlib, which is not installed: pip install 'thresher[diagnostics]', or take the release's"
    " numbers and its sparkline, which need nothing"
)
CAPTION, STAMP = "caption", "stamp"
DATA, OUTSIDE, MIDDLE = SERIES[0][0], SERIES[1][0], QUIET[0]
# Text of 13 and 16 pixels, in points; a title with room for a legend below it.
_TEXT, TITLE, CAPTION_SIZE, _ROOM = 9.75, 12, 8, 20
# Letters stay letters in SVG, and names of parts are made from a constant.
STYLE: Mapping[str, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "thresher",
    "font.size": _TEXT,
    "axes.titlesize": TITLE,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlepad": 8,
    "axes.labelsize": _TEXT,
    "legend.fontsize": _TEXT,
    "legend.frameon": False,
    "figure.facecolor": PAPER[0],
    "axes.facecolor": PAPER[0],
    "savefig.facecolor": PAPER[0],
    "text.color": INK[0],
    "axes.titlecolor": INK[0],
    "axes.labelcolor": INK[0],
    "xtick.color": RULE[0],
    "ytick.color": RULE[0],
    "xtick.labelcolor": INK[0],
    "ytick.labelcolor": INK[0],
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": RULE[0],
    **{f"axes.spines.{side}": False for side in ("left", "right", "top", "bottom")},
}
# Inches; a line of the caption holds so many letters of its size.
_WIDTH, _PLOT, _TOP, _FOOT, _LINE = 6.4, 3.9, 0.6, 0.68, 0.14
_LETTERS, _BELOW = 100, 36
_FONT = re.compile(r"font: ((?:\d+ )?[\d.]+px) [^;\"]*")


def pyplot() -> Any:
    """Return matplotlib's interface for people at a screen."""
    check_matplotlib()
    import matplotlib.pyplot as plt  # noqa: PLC0415 - an extra, and slow to load

    return plt


def check_matplotlib() -> None:
    """Refuse, and say what to install, if there is no matplotlib."""
    try:
        import matplotlib  # noqa: F401, PLC0415 - as above
    except ImportError:
        raise CuratorError(MISSING) from None


def prepared(figure: "Figure", caption: str) -> "Axes":
    """Return axes in an empty figure, which is made as tall as the caption needs."""
    foot = _FOOT + _LINE * len(_lines(caption))
    height = _PLOT + _TOP + foot
    figure.set_size_inches(_WIDTH, height)
    figure.subplots_adjust(left=0.12, right=0.97, top=1 - _TOP / height, bottom=foot / height)
    return figure.subplots()


def entitled(axes: "Axes", title: str, *, legend: bool = False) -> None:
    """Write the title above the axes, and between them the names of what is drawn, if there is a `legend`."""
    axes.set_title(title, loc="left", pad=_ROOM if legend else None)
    if legend:
        axes.legend(loc="lower left", bbox_to_anchor=(-0.02, 0.98), ncols=3, frameon=False, handlelength=1.5)


def shades() -> "Colormap":
    """Return shades from nothing to the colour of data, which suit light and dark paper."""
    from matplotlib.colors import LinearSegmentedColormap, to_rgba  # noqa: PLC0415 - as above

    return LinearSegmentedColormap.from_list("counts", [to_rgba(DATA, 0), to_rgba(DATA, 1)])


def signed(axes: "Axes", caption: str, stamp: str) -> None:
    """Write the caption under the axes, and across them the stamp, if there is one."""
    axes.annotate(
        "\n".join(_lines(caption)),
        (0, 0),
        (-30, -_BELOW),
        xycoords="axes fraction",
        textcoords="offset points",
        va="top",
        fontsize=CAPTION_SIZE,
        color=QUIET[0],
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
            color=DANGER[0],
            alpha=0.5,
            gid=STAMP,
            zorder=10,
        )


def for_light_and_dark(svg: str) -> str:
    """Return matplotlib's SVG text with the reader's own font, and with other colours on dark pages."""
    rules = "".join(
        f'[style*="{what}: {light}"]{{{what}:{dark}!important}}'
        for light, dark in (PAPER, INK, QUIET, RULE, DANGER, *SERIES)
        for what in ("fill", "stroke")
    )
    style = f"@media (prefers-color-scheme:dark){{{rules}}}</style>"
    return _FONT.sub(r"font: \1 system-ui, sans-serif", svg.replace("</style>", style, 1))


def _lines(caption: str) -> list[str]:
    return textwrap.wrap(caption, _LETTERS)
