"""Break the limit that few people exceed: too little noise.

Reads: entropy. Writes: nothing. Never: reachable from a release.
"""

import numpy as np
from numpy.typing import NDArray

from thresher.audit.mutants import ONE, by_samples
from thresher.audit.shipped.limit_subjects import Sizes, noisy_people
from thresher.audit.subjects import Pair, Subject
from thresher.noise import Entropy


def subjects() -> tuple[Subject, ...]:
    return (by_samples(broken_limit_noise, Pair("nobody, and one person with all groups", (), (8,))),)


def broken_limit_noise(sizes: Sizes, runs: int, entropy: Entropy) -> NDArray[np.int64]:
    """Draw noise of scale 1 / (2 epsilon), as if a person were in half a bin."""
    return noisy_people(sizes, runs, entropy, 2 * ONE.fraction)
