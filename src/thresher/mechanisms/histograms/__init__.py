"""Release noisy histograms on a public grid of one or two dimensions, by one of several mechanisms.

    noisy_histogram(counts, "0.1", "laplace").counts

Each mechanism is a module with its proof in a `.md` file of the same name. Read `estimate` first (what all mechanisms
take and return), then `flat` (the simplest), `hierarchical`, `ahp`, `adaptive_grid` and `mwem`. `dawa` joins a private
partition (`deviations`, `partition_law`, `partition_argmin`) and totals through a tree (`greedy_hierarchy`).
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
# The other mechanisms take one dimension as well.
TWO_DIMENSIONS_ONLY = frozenset({"ag"})
# The least epsilon that is enough for any number of cells, where it is above the 0.000001 of all mechanisms.
LEAST_EPSILONS: Mapping[str, Fraction] = MappingProxyType({"dawa-argmin": Fraction(1, 50_000)})


def noisy_histogram(
    counts: ArrayLike, epsilon: Amount, mechanism: str = "laplace", entropy: Entropy | None = None
) -> NoisyHistogram:
    """Return the histogram with noise by the named mechanism, whose docstring states privacy, errors and runtime."""
    if mechanism not in MECHANISMS:
        names = ", ".join(MECHANISMS)
        raise ArgumentError("mechanism", mechanism, "no histogram mechanism has this name", f"Pass one of {names}")
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
