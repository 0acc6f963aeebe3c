"""Errors of a broken mechanism, to be shown beside those of private ones: bare numbers, never a release.

Reads: public or made-up data. Writes: nothing. Never: protected data; a result that a release could be made of.
"""

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from thresher.audit.mutants.dawa import broken_dawa
from thresher.noise import Entropy


def leaking_histograms() -> Mapping[str, Callable[[NDArray[np.int64], str, Entropy], NDArray[np.float64]]]:
    """By name: counts, an epsilon that is not kept and entropy in, estimated counts out."""
    return {"dawa published": lambda counts, epsilon, entropy: broken_dawa(counts, epsilon, entropy=entropy).counts}
