"""Draw a release as text of at most 78 columns, for a terminal: no colours, only ASCII.

Reads: releases. Writes: nothing. Never: data.
"""

import numpy as np
from numpy.typing import NDArray

from thresher.diagnostics.releases import BinnedResiduals, Diagnostic, ResidualPlot, RocCurve
from thresher.errors import ArgumentError

WIDTH = 78
_COLUMNS, _LINES = 60, 20
_SHADES = " .:-=+*#%@"
_BAR = 25
_MOST_BINS = 24


def sparkline(release: Diagnostic) -> str:
    """Return the picture in characters, below one line that says what it shows; the caption is the release's."""
    if isinstance(release, RocCurve):
        title, body = _roc(release)
    elif isinstance(release, ResidualPlot):
        title, body = _residuals(release)
    elif isinstance(release, BinnedResiduals):
        title, body = _binned(release)
    else:
        kind = type(release).__name__
        raise ArgumentError("release", kind, "it must be a diagnostic's release", "Pass what the diagnostic returned")
    stamp = f"{release.stamp}: " if release.stamp else ""
    return "\n".join(line.rstrip() for line in (f"{stamp}{title}", *body))


def _roc(release: RocCurve) -> tuple[str, list[str]]:
    page = np.full((_LINES, _COLUMNS), " ")
    across = (np.arange(_COLUMNS) + 0.5) / _COLUMNS
    _put(page, across, across, ".")
    # In both directions, so that a steep curve has no holes.
    up = np.linspace(0, 1, 4 * _LINES)
    _put(page, across, np.interp(across, release.false_positive_rate, release.true_positive_rate), "#")
    _put(page, np.interp(up, release.true_positive_rate, release.false_positive_rate), up, "#")
    area = "AUC undefined under noise" if release.auc is None else f"AUC {release.auc:.3f}"
    body = _framed(page, ("1", "0"), ("0", "1"))
    return f"true against false positive rate, {area}", body


def _residuals(release: ResidualPlot) -> tuple[str, list[str]]:
    dense = _shrunk(release.counts)
    top = dense.max() if dense.size else 0.0
    # A root, so that small counts show beside large ones.
    shade = np.ceil(np.sqrt(dense / top) * (len(_SHADES) - 1)) if top > 0 else np.zeros(dense.shape)
    page = np.array(list(_SHADES))[shade.astype(np.int64)][::-1]
    low, high = (f"{end:.4g}" for end in release.residual_range)
    return "residual against fitted value", _framed(
        page, (high, low), tuple(f"{end:.4g}" for end in release.fitted_range)
    )


def _binned(release: BinnedResiduals) -> tuple[str, list[str]]:
    few = np.linspace(0, release.counts.size - 1, min(release.counts.size, _MOST_BINS)).round().astype(np.int64)
    reach = float(np.maximum(np.abs(release.residual), release.band)[few].max()) or 1.0
    rows = [
        _bar_row(float(release.predicted[k]), float(release.residual[k]), float(release.band[k]), reach) for k in few
    ]
    head = f"{'predicted':>9} {'residual':>9}  {-reach:<+{_BAR}.3g} {reach:>+{_BAR}.3g}"
    left = release.counts.size - few.size
    title = "mean residual by bin; ( ) two standard errors, ! beyond them"
    return title, [head, *rows, *([f"{left} of {release.counts.size} bins are not shown"] if left else [])]


def _bar_row(predicted: float, residual: float, band: float, reach: float) -> str:
    bar = [" "] * (2 * _BAR + 1)
    end, edge = (round(x / reach * _BAR) for x in (residual, band))
    for place in range(min(end, 0), max(end, 0) + 1):
        bar[_BAR + place] = "#"
    bar[_BAR - edge], bar[_BAR + edge], bar[_BAR] = "(", ")", "|"
    mark = "!" if abs(residual) > band else " "
    return f"{predicted:9.3f} {residual:+9.3f}  {''.join(bar)} {mark}"


def _shrunk(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Fit counts to the terminal: spread each cell evenly over the places that it covers."""
    high, wide = (_spreading(size, page) for size, page in zip(counts.shape, (_LINES, _COLUMNS), strict=True))
    return np.asarray(high @ counts.astype(np.float64) @ wide.T)


def _spreading(cells: int, places: int) -> NDArray[np.float64]:
    """Return the part of each cell that falls on each place; both divide the same length evenly."""
    begin, start = np.arange(places) / places, np.arange(cells) / cells
    common = np.minimum(begin[:, None] + 1 / places, start + 1 / cells) - np.maximum(begin[:, None], start)
    return np.asarray(np.maximum(common, 0) * cells)


def _put(page: NDArray[np.str_], across: NDArray[np.float64], up: NDArray[np.float64], mark: str) -> None:
    column = np.clip((across * _COLUMNS).astype(np.int64), 0, _COLUMNS - 1)
    line = np.clip(_LINES - 1 - (up * _LINES).astype(np.int64), 0, _LINES - 1)
    page[line, column] = mark


def _framed(page: NDArray[np.str_], sides: tuple[str, str], ends: tuple[str, ...]) -> list[str]:
    margin = min(max(map(len, sides)), WIDTH - _COLUMNS - 2)
    lines = [f"{'':>{margin}} |{''.join(line)}" for line in page]
    lines[0], lines[-1] = (
        f"{side[:margin]:>{margin}}{line[margin:]}" for side, line in zip(sides, (lines[0], lines[-1]), strict=True)
    )
    foot = f"{'':>{margin}}  {ends[0]}{ends[1]:>{_COLUMNS - len(ends[0])}}"
    return [*lines, f"{'':>{margin}} +{'-' * _COLUMNS}", foot]
