"""Measure how well two kinds of picture can be distinguished: distances of samples and of histograms.

They measure experiments on made-up or public data; nothing here is private by itself.
Reads: arrays. Writes: nothing. Never: noise.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thresher.errors import ArgumentError
from thresher.mechanisms.public_grid import floats_of


def ks_distance(first: ArrayLike, second: ArrayLike) -> float:
    """Return Kolmogorov and Smirnov's distance: the largest difference of the shares of two samples up to any number.

    1 if a line parts them, 0 if they are alike. It bounds from below the total variation distance of their laws.
    """
    one, other = (np.sort(_sample(values, field)) for values, field in ((first, "first"), (second, "second")))
    marks = np.concatenate([one, other])
    shares = [np.searchsorted(sample, marks, side="right") / sample.size for sample in (one, other)]
    return float(np.abs(shares[0] - shares[1]).max())


def total_variation(first: ArrayLike, second: ArrayLike) -> float:
    """Half the sum of absolute differences of the shares of cells: 0 for equal shares, 1 for no cell in common.

    Nothing at all in one of the histograms counts as no cell in common, in both of them as equal shares.
    """
    one, other = (_counts(values, field) for values, field in ((first, "first"), (second, "second")))
    if one.shape != other.shape:
        rule = "both histograms must have the same cells"
        raise ArgumentError("second", f"shape {other.shape}", rule, f"Pass one of shape {one.shape}")
    totals = one.sum(), other.sum()
    if not all(totals):
        return float(any(totals))
    return float(np.abs(one / totals[0] - other / totals[1]).sum() / 2)


def shares_in(
    points: NDArray[np.float64], edges: tuple[NDArray[np.float64], NDArray[np.float64]]
) -> NDArray[np.float64]:
    """Count points (one row each) in the cells between edges, and last those in none of them."""
    inside, _, _ = np.histogram2d(points[:, 0], points[:, 1], bins=edges)
    return np.append(inside.ravel(), len(points) - inside.sum())


def _sample(values: ArrayLike, field: str) -> NDArray[np.float64]:
    sample = floats_of(values)
    if not sample.size or np.isnan(sample).any():
        raise ArgumentError(field, f"{sample.size} numbers", "it must be one number or more, and no NaN", "Drop them")
    return sample


def _counts(values: ArrayLike, field: str) -> NDArray[np.float64]:
    counts = np.asarray(values, dtype=np.float64)
    if not counts.size or not np.isfinite(counts).all() or counts.min() < 0:
        rule = "it must be finite counts of 0 or more, one at least"
        raise ArgumentError(field, f"shape {counts.shape}", rule, "Pass a histogram")
    return counts
