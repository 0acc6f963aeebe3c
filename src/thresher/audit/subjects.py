"""What can be put on trial, and what a trial finds: a claim is refuted or stands, and none is proved.

Reads: nothing. Writes: nothing. Never: a claim without the inputs on which it is to be tried.
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
# Both sides draw this many times at most; a third each to fit, to choose and to test.
MOST_SAMPLES = 200_000
Kind = Literal["loss", "law", "errors"]
KINDS: dict[Kind, str] = {
    "loss": "privacy loss, from below, by sampling",
    "law": "privacy loss, exactly, from the output law",
    "errors": "probability of an error, from below, at the worst case",
}


@dataclass(frozen=True, slots=True)
class Pair:
    """Two inputs that differ by one privacy unit. `about` says how, in a few words."""

    about: str
    here: Any
    there: Any


@dataclass(frozen=True, slots=True)
class Sampled:
    """A mechanism that can be run: `run(data, runs, entropy)` gives the outputs of so many independent runs.

    `charged` is what the ledger would charge for one run. `samples` a side. Where an output itself says what it cost,
    `within` picks the outputs that say they cost no more than `charged`; events are made of those only.
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
    """A mechanism whose output law can be written down: `law(data)` gives the probability of every output.

    `missing` bounds the probability that the law leaves out, on either side.
    """

    name: str
    about: str
    charged: Epsilon
    pairs: tuple[Pair, ...]
    law: Callable[[Any], Mapping[Hashable, float]]
    missing: float = 0.0


@dataclass(frozen=True, slots=True)
class Promised:
    """A promise about errors: on each of the `worst` inputs, an error has probability at most `rate`.

    `run(data, runs, entropy)` says of so many independent runs whether each erred.
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
    """One subject tried. `measured` is a lower bound at the trial's confidence, exact for a law; `seen` the plain one.

    `samples` were drawn a side (of them, some to learn and the rest to test); 0 for a law. `where` names the pair of
    inputs or the input, `event` the set of outputs that told most.
    """

    name: str
    about: str
    kind: Kind
    claimed: float
    measured: float
    seen: float
    samples: int
    where: str
    event: str

    @property
    def refuted(self) -> bool:
        return self.measured > self.claimed
