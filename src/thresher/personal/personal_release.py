"""Define what a personal release hands out: estimates, how far off they will be, and what each class of budgets lost.

Reads: nothing. Writes: nothing. Never: a value that was not drawn with noise.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import Epsilon

INDEPENDENT = (
    "This assumes that budgets are independent of the values, and that the roster has the same mix of budgets as the "
    "data: if those who allow more differ from the others, the estimate is biased towards them."
)
# Nobody is asked for more than this in one release: there is hardly any noise left.
MOST_EPSILON = 1_000


@dataclass(frozen=True, slots=True, eq=False)
class PersonalRelease:
    """Estimates about everybody on a roster. All of it may be shown.

    `noisy` are the whole numbers that were drawn, `estimates` what follows from them; the noise in each estimate has
    scale `noise_scale`, and `predicted_sd` is the standard deviation of its whole error, known beforehand. `spent` is
    the most that one person of each class loses, in the roster's order of classes. `assumption` is empty where the
    estimates need none.
    """

    method: str
    noisy: NDArray[np.int64]
    estimates: NDArray[np.float64]
    noise_scale: float
    predicted_sd: float
    spent: tuple[Epsilon, ...] = field(repr=False)
    assumption: str
    stamp: str

    @property
    def estimate(self) -> float:
        """Return the first estimate, for releases of one number."""
        return float(self.estimates[0])


def as_floats(noisy: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return noisy whole numbers as floats to estimate with; the release that holds them carries the stamp."""
    return np.asarray(noisy).astype(np.float64)
