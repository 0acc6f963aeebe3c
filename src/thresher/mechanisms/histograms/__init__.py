"""Noisy histograms on a public grid, of one or two dimensions: one interface, several mechanisms, a proof for each.

    noisy_histogram(counts, "0.1", "laplace").counts

Reads: counts, entropy. Writes: nothing. Never: a grid, a total or a shape of the data that is not public or paid for.
"""

from collections.abc import Mapping
from fractions import Fraction
from types import MappingProxyType

from numpy.typing import ArrayLike

from thresher.amounts import Amount
from thresher.errors import ArgumentError
from thresher.mechanisms.histograms import adaptive_grid, ahp, dawa, flat, hierarchical, mwem
from thresher.mechanisms.histograms.estimate import HistogramMechanism, NoisyHistogram, checked_counts
from thresher.noise import Entropy

MECHANISMS: Mapping[str, HistogramMechanism] = MappingProxyType(
    {
        "laplace": flat.laplace,
        "uniform": flat.uniform,
        "hb": hierarchical.hierarchical,
        "ahp": ahp.ahp,
        "ag": adaptive_grid.adaptive_grid,
        "mwem": mwem.mwem,
        "dawa": dawa.dawa,
        "dawa-argmin": dawa.dawa_argmin,
    }
)
# The others take one dimension as well.
TWO_DIMENSIONS_ONLY = frozenset({"ag"})
# What is enough for any number of cells, where that is more than all take.
LEAST_EPSILONS: Mapping[str, Fraction] = MappingProxyType({"dawa-argmin": Fraction(1, 50_000)})


def noisy_histogram(
    counts: ArrayLike, epsilon: Amount, mechanism: str = "laplace", entropy: Entropy | None = None
) -> NoisyHistogram:
    """The histogram with noise by the mechanism of that name. Its privacy, errors and runtime are told there."""
    if mechanism not in MECHANISMS:
        raise ArgumentError("mechanism", mechanism, "there is no such one", f"Pass one of {', '.join(MECHANISMS)}")
    return MECHANISMS[mechanism](counts, epsilon, entropy=entropy)


__all__ = [
    "LEAST_EPSILONS",
    "MECHANISMS",
    "TWO_DIMENSIONS_ONLY",
    "HistogramMechanism",
    "NoisyHistogram",
    "checked_counts",
    "noisy_histogram",
]
