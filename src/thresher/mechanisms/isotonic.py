"""The nearest numbers that never fall: isotonic regression by pooling adjacent violators.

Post-processing of numbers that are noisy already; whoever passes other ones has to pay for the result.
Reads: numbers, weights. Writes: nothing. Never: a draw.
Citations: Ayer, Brunk, Ewing, Reid, Silverman 1955; Hay, Rastogi, Miklau, Suciu 2010 (for noisy counts).
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thresher.errors import ArgumentError
from thresher.mechanisms.public_grid import numbers_of


def isotonic(values: ArrayLike, weights: ArrayLike | None = None) -> NDArray[np.float64]:
    """The numbers x[0] <= x[1] <= ... for which the sum of weight (value - x)**2 is least; weights are 1 if left out.

    Runtime: linear. A value joins the block before it as long as that block's mean is greater.
    """
    line = numbers_of(values)
    burden = np.ones(line.size) if weights is None else numbers_of(weights)
    if not np.isfinite(line).all():
        raise ArgumentError("values", f"{line.size} numbers", "all must be finite", "Leave out what is no number")
    if burden.size != line.size or not (np.isfinite(burden).all() and (burden > 0).all()):
        rule = "there must be one weight above 0 for each number, all finite"
        raise ArgumentError("weights", f"{line.size} numbers, {burden.size} weights", rule, "Leave weights out for 1")
    means: list[float] = []
    masses: list[float] = []
    lengths: list[int] = []
    for value, weight in zip(line.tolist(), burden.tolist(), strict=True):
        mean, mass, length = value, weight, 1
        while means and means[-1] > mean:
            before, heavy = means.pop(), masses.pop()
            mean = (before * heavy + mean * mass) / (heavy + mass)
            mass, length = heavy + mass, length + lengths.pop()
        means.append(mean)
        masses.append(mass)
        lengths.append(length)
    return np.repeat(np.array(means, dtype=np.float64), np.array(lengths, dtype=np.int64))
