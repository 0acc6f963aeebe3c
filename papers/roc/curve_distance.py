"""Measure the area between two ROC curves.

Reads: points. Writes: nothing. Never: a draw.
"""

import numpy as np

from thresher.diagnostics.curves import Curve, Floats


def symmetric_difference(one: Curve, other: Curve) -> float:
    """Return the area between two curves."""
    spots = np.union1d(one.false_positive_rate, other.false_positive_rate)
    left, right = spots[:-1], spots[1:]
    begin, end = (_heights(one, left, right, at) - _heights(other, left, right, at) for at in (left, right))
    total = np.abs(begin) + np.abs(end)
    # Lines that cross leave two triangles between them.
    crossing = begin * end < 0
    mean = np.divide(begin**2 + end**2, total, out=np.zeros_like(total), where=total > 0)
    return float(((right - left) * np.where(crossing, mean, total) / 2).sum())


def _heights(curve: Curve, left: Floats, right: Floats, at: Floats) -> Floats:
    """Return the height of the line that the curve follows between left and right; vertical steps are left out."""
    x, y = curve.false_positive_rate, curve.true_positive_rate
    after = np.clip(np.searchsorted(x, (left + right) / 2), 1, x.size - 1)
    width = x[after] - x[after - 1]
    share = np.divide(at - x[after - 1], width, out=np.zeros_like(at), where=width > 0)
    return np.asarray(y[after - 1] + share * (y[after] - y[after - 1]))
