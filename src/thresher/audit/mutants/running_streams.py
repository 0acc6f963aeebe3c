"""A running stream that forgets in how many states a unit may be.

Reads: entropy. Writes: a ledger in a folder that is thrown away. Never: reachable from a release.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import Epsilon
from thresher.audit.shipped.running_streams import Day, declared, released
from thresher.audit.subjects import Pair, Sampled, Subject
from thresher.noise import Entropy


def subjects() -> tuple[Subject, ...]:
    return (
        Sampled(
            "broken_stream_of_many_states",
            "a unit counts in two states of a step, and noise is drawn as if it were in one",
            Epsilon(1),
            (Pair("a unit more in two states of the second step", ((1, 0, 1), 1), ((1, 0, 1), None)),),
            broken_stream_of_many_states,
            samples=6_000,
        ),
    )


def broken_stream_of_many_states(day: Day, runs: int, entropy: Entropy) -> NDArray[np.int64]:
    """What is wrong: the noise of each state hides one unit in it, and says so of each by itself."""
    return released(replace(declared("laplace"), max_states_per_unit=1), day, runs, entropy, most=2)
