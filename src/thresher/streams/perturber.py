"""The perturber: every count of every step with noise of its own. Only this and a grouper ever see true counts.

Reads: true counts, entropy. Writes: nothing. Never: a float; a refusal that depends on a count. Proof: `perturber.md`.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thresher.amounts import Amount
from thresher.noise import Entropy, discrete_laplace
from thresher.noise.arguments import checked_rate
from thresher.streams.step_blocks import block_of


def perturb(counts: ArrayLike, epsilon: Amount, entropy: Entropy | None = None) -> NDArray[np.int64]:
    """The counts (steps by series, or one series), each plus independent discrete Laplace noise at `epsilon`.

    Privacy: epsilon for one privacy unit in one step and series. One that may be counted in k series of a step loses
    k epsilon there, so divide first; one that is present in n steps loses up to n times as much.
    Utility: a count strays by a or more, to one side, with probability p^a / (1+p), p = exp(-epsilon); its mean
    error is close to 1 / epsilon. Counts beyond 2**40 are cut off there.
    Runtime: linear; tens of millions of counts a second.
    Citations: Chen, Machanavajjhala, Hay, Miklau 2017 (PeGaSus); Ghosh, Roughgarden, Sundararajan 2009 (the noise).
    """
    checked_rate(epsilon, 1)
    block = block_of(counts, "counts")
    noise = discrete_laplace(epsilon, block.size, entropy=entropy)
    return (block + noise.reshape(block.shape)).reshape(np.shape(counts))
