"""Define what can be put on trial and what a trial finds: a claim is refuted or stands, and no claim is proved.

Reads: nothing. Writes: nothing. Never: a claim without inputs to try it on.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import Epsilon
from thresher.noise import Entropy

# Outputs of independent runs: an array whose first axis is the run, or one object for each run.
Outputs = NDArray[Any] | Sequence[Any]
# The most draws of a side. About a third each serve to fit, to choose and to test.
MOST_SAMPLES = 200_000
Kind = Literal["loss", "law", "errors"]
KINDS: dict[Kind, str] = {
    "loss": "privacy loss, from below, by sampling",
    "law": "privacy loss, exactly, from the output law",
    "errors": "probability of an error, from below, at the worst case",
}


@dataclass(frozen=True, slots=True)
class Pair:
    """Hold two inputs that differ by one privacy unit. `about` says how, in a few words."""

    about: str
    here: Any
    there: Any


@dataclass(frozen=True, slots=True)
class Sampled:
    """Describe a mechanism that can be run: `run(data, runs, entropy)` returns the outputs of `runs` independent runs.

    `charged` is what the ledger would charge for one run, and `samples` the number of runs on each input. Where an
    output itself states its cost, `within` picks the outputs that cost no more than `charged`; events are made of those
    only.
    """

    name: str
    about: str
    charged: Epsilon
    pairs: tuple[Pair, ...]
    run: Callable[[Any, int, Entropy], Outputs]
    samples: int = MOST_SAMPLES
    within: Callable[[Outputs], NDArray[np.bool_]] | None = None


@dataclass(frozen=True, slots=True)
class Enumerated:
    """Describe a mechanism whose output law can be computed: `law(data)` returns the probability of each output.

    `missing` bounds the probability that the law leaves out, on each of the two inputs.
    """

    name: str
    about: str
    charged: Epsilon
    pairs: tuple[Pair, ...]
    law: Callable[[Any], Mapping[Hashable, float]]
    missing: float = 0.0


@dataclass(frozen=True, slots=True)
class Promised:
    """Describe a promise about errors: on each of the `worst` inputs, an error has probability at most `rate`.

    `run(data, runs, entropy)` says for each of `runs` independent runs whether it erred.
    """

    name: str
    about: str
    rate: Fraction
    worst: tuple[tuple[str, Any], ...]
    run: Callable[[Any, int, Entropy], NDArray[np.bool_]]
    samples: int = MOST_SAMPLES


Subject = Sampled | Enumerated | Promised


@dataclass(frozen=True, slots=True)
class Finding:
    """Hold what the trial of one subject found. `measured` is a lower bound at the trial's confidence; exact for a law.

    `samples` is the number of runs on each input, 0 for a law. `where` names the input or the pair of inputs, and
    `event` the set of outputs on which the two differ most.
    """

    name: str
    about: str
    kind: Kind
    claimed: float
    measured: float
    samples: int
    where: str
    event: str

    @property
    def refuted(self) -> bool:
        return self.measured > self.claimed
