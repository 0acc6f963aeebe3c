"""Make labels whose log odds are a function of x, and the chances that a logistic regression on x alone gives them.

The dissertation's two models for binned residuals: the line in x fits one and misses the bend of the other.
Reads: entropy. Writes: nothing. Never: protected data.
"""

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from papers.residuals.residual_models import uniforms
from thresher.noise import Entropy

Column = NDArray[np.float64]
Scored = tuple[NDArray[np.bool_], Column]
FITS, BENDS = "M1", "M2"
_NEWTON_STEPS = 12

# Log odds by name of the model.
LOG_ODDS: Mapping[str, Callable[[Column], Column]] = {FITS: lambda x: 2 * x, BENDS: lambda x: x**2 + 2 * x - 1}


def labels_and_chances(log_odds: Callable[[Column], Column], rows: int, entropy: Entropy) -> Scored:
    """Draw labels for x from -1 to 1, and return them with the chances of a regression fitted to them (not private)."""
    x = 2 * uniforms(rows, entropy) - 1
    labels = uniforms(rows, entropy) < _chance(log_odds(x))
    design, weights = np.stack([np.ones(rows), x], axis=1), np.zeros(2)
    for _ in range(_NEWTON_STEPS):
        chance = _chance(design @ weights)
        curvature = design.T @ (design * (chance * (1 - chance))[:, None])
        weights = weights + np.linalg.solve(curvature, design.T @ (labels - chance))
    return labels, _chance(design @ weights)


def _chance(log_odds: Column) -> Column:
    return np.asarray(1 / (1 + np.exp(-log_odds)))
