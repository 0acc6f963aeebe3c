"""Measure whether a private residual plot separates wrong models from a right one: the dissertation's three models.

    separations(5000, "0.2", plots=60, entropy=SeededEntropy(100))

Each plot's distance is total variation from the true plot of the right model, on 10 x 10 cells that span it and one
cell for all points outside. A wrong model is separated from the right one as far as the distances of plots differ.
Reads: entropy, for data as well as for noise. Writes: nothing. Never: protected data; distances are to the truth.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from papers.residuals.sample_distance import ks_distance, shares_in, total_variation
from thresher.amounts import Amount
from thresher.diagnostics.residual_plot import residual_plot
from thresher.noise import Entropy
from thresher.noise.entropy import read_words

Column = NDArray[np.float64]
Fit = tuple[Column, Column]
PRODUCTS = (250, 500, 1000, 2000, 5000)
RIGHT, WRONG = "ideal", ("heteroscedastic", "nonlinear")
_LEFT, _RIGHT, _CURVE = 1.0, 50.0, 0.01
_CELLS, _MARGIN = 10, 0.1

# Mean distances of the three models and both separations by rows times epsilon: what our reference simulation saw with
# the recipe in print, continuous noise and 60 plots.
REFERENCE: Mapping[int, tuple[float, float, float, float, float]] = {
    250: (0.579, 0.835, 0.740, 0.75, 0.65),
    500: (0.440, 0.754, 0.667, 0.90, 0.90),
    1000: (0.243, 0.683, 0.668, 1.00, 0.95),
    2000: (0.160, 0.658, 0.610, 1.00, 1.00),
    5000: (0.101, 0.615, 0.600, 1.00, 1.00),
}
# The dissertation's claim, as total variation of the two laws of distances.
CLAIMED: Mapping[int, float] = {500: 0.90, 1000: 0.95}


@dataclass(frozen=True, slots=True)
class Separation:
    """Mean distances by model, and how far each wrong model's plots are separated from the right one's."""

    epsilon: Fraction
    rows: int
    plots: int
    distances: Mapping[str, float]
    told: Mapping[str, float]

    @property
    def product(self) -> Fraction:
        return self.rows * self.epsilon


Plotter = Callable[[Fit, Amount, Entropy], NDArray[np.float64]]


def models(rows: int, entropy: Entropy) -> dict[str, Fit]:
    """Return fitted values and residuals of a straight line through data that follow a line, fan out or bend."""
    spreads: dict[str, Callable[[Column], Column]] = {RIGHT: np.ones_like, WRONG[0]: np.sqrt, WRONG[1]: np.ones_like}
    found = {}
    for name, spread in spreads.items():
        x = _LEFT + (_RIGHT - _LEFT) * uniforms(rows, entropy)
        bend = _CURVE * x**2 if name == WRONG[1] else 0.0
        found[name] = line_through(x, x + bend + spread(x) * _normals(rows, entropy))
    return found


def line_through(x: Column, y: Column) -> Fit:
    """Return fitted values and residuals of the least-squares line: not private, as in the dissertation."""
    centred = x - x.mean()
    fitted = y.mean() + centred * (centred @ (y - y.mean())) / (centred @ centred)
    return fitted, y - fitted


def separations(rows: int, epsilon: Amount, plots: int, entropy: Entropy, plotter: Plotter | None = None) -> Separation:
    """Draw `plots` plots of one data set of each model; `plotter` can be the printed plot or another histogram."""
    draw = plotter or plotter_of(rows=rows)
    fits = models(rows, entropy)
    edges, true = true_shares(fits[RIGHT])
    seen = {
        name: [total_variation(true, shares_in(draw(fit, epsilon, entropy), edges)) for _ in range(plots)]
        for name, fit in fits.items()
    }
    told = {name: ks_distance(seen[RIGHT], seen[name]) for name in WRONG}
    means = {name: float(np.mean(each)) for name, each in seen.items()}
    return Separation(Fraction(str(epsilon)), rows, plots, means, told)


def plotter_of(rows: int | None, histogram: str = "laplace") -> Plotter:
    """Return a function that draws the points of a private plot. `rows` is their number if it is public."""

    def points(fit: Fit, epsilon: Amount, entropy: Entropy) -> NDArray[np.float64]:
        return residual_plot(*fit, epsilon, rows=rows, histogram=histogram, unit=1, entropy=entropy).points

    return points


def true_shares(fit: Fit) -> tuple[tuple[Column, Column], NDArray[np.float64]]:
    """Return the cells that span a true plot with a margin, and the share of its points in each."""
    across, up = (np.linspace(each.min() - _MARGIN, each.max() + _MARGIN, _CELLS + 1) for each in fit)
    return (across, up), shares_in(np.stack(fit, axis=1), (across, up))


def uniforms(size: int, entropy: Entropy) -> Column:
    """Draw numbers strictly between 0 and 1."""
    words = read_words(size, np.uint64, entropy) >> np.uint64(12)
    return np.asarray((words.astype(np.float64) + 0.5) / 2.0**52)


def _normals(size: int, entropy: Entropy) -> Column:
    from scipy.special import ndtri  # noqa: PLC0415 - loaded late

    return np.asarray(ndtri(uniforms(size, entropy)))
