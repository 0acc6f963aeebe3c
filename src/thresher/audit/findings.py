"""What a trial found: the claim, what was measured, and whether the claim is refuted.

Reads: nothing. Writes: nothing. Never: says more than was tested: a claim is refuted or stands, and none is proved.
"""

from dataclasses import dataclass
from typing import Literal

Kind = Literal["loss", "law", "errors"]
KINDS: dict[Kind, str] = {
    "loss": "privacy loss, from below, by sampling",
    "law": "privacy loss, exactly, from the output law",
    "errors": "probability of an error, from below, at the worst case",
}


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
