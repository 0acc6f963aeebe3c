"""Define what the ProBE family returns: looks, estimates, an answer or a denial.

Reads: noisy slacks. Writes: nothing. Never: a true slack in an answer or in a message.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import MAX_NANO, Epsilon

Reason = Literal["budget", "estimate"]
BUDGET: Reason = "budget"
ESTIMATE: Reason = "estimate"


@dataclass(frozen=True, slots=True)
class ConditionLook:
    """A look at one condition of all groups: reported where the noisy slack is at least -steps.

    It misses with probability at most `share`. `phase` counts from 1.
    """

    atom: int
    phase: int
    share: Fraction
    steps: int
    epsilon: Epsilon


@dataclass(frozen=True, slots=True)
class Estimate:
    """The paper's estimate from the noisy slacks of one condition after a phase. It is not a bound: `probe.md`.

    `false_alarms` are compared with `allowed`, which is the condition's part of the rate times `negatives`; `between`
    is the number of groups in the answer whose noisy slack is below 0 and not below -steps.
    """

    atom: int
    phase: int
    false_alarms: float
    negatives: float
    allowed: float
    between: int

    @property
    def too_many(self) -> bool:
        return self.false_alarms > self.allowed


@dataclass(frozen=True, slots=True)
class Denial:
    """The reason why there is no answer. All looks until then are charged."""

    reason: Reason
    phase: int
    atom: int
    text: str


@dataclass(frozen=True, slots=True)
class ProbeAnswer:
    """The groups that are reported, or the reason of a denial; and what it cost.

    All of it may be shown, because it follows from noisy slacks. `noisy` has the last noisy slacks of each condition
    that was measured; `nano` is what each group lost, in nano-epsilon; a denied question is charged as well.
    NOT promised: the false-alarm rate that was asked for, even if the answer was accepted (`probe.md`).
    """

    method: str
    reported: NDArray[np.bool_] | None
    denial: Denial | None
    nano: NDArray[np.int64]
    looks: tuple[ConditionLook, ...]
    estimates: tuple[Estimate, ...]
    noisy: Mapping[int, NDArray[np.int64]]

    @property
    def denied(self) -> bool:
        return self.denial is not None

    @property
    def epsilon(self) -> Epsilon:
        """Return the largest loss of a group."""
        return Epsilon.from_nano(int(self.nano.max())) if self.nano.size else Epsilon(0)

    @property
    def epsilons(self) -> tuple[Epsilon, ...]:
        """Return what each group lost, for a unit that is in this group."""
        return tuple(Epsilon.from_nano(nano) for nano in self.nano.tolist())

    @property
    def phases(self) -> int:
        """Return how many phases were begun, or for ProBE-Ent the largest number of looks at one condition."""
        return max((look.phase for look in self.looks), default=0)


class DeniedError(Exception):
    """Carries a denial up to `answered`, which returns it; this package never lets it out."""

    def __init__(self, denial: Denial) -> None:
        super().__init__(denial.text)
        self.denial = denial


def too_dear(limit: Epsilon, spent: Epsilon, nano: int, phase: int, atom: int) -> DeniedError:
    """Return the denial of a look that is too dear, before it is drawn. Its price may be above the largest amount."""
    wanted = f"{Epsilon.from_nano(nano)}" if nano <= MAX_NANO else "more than a million"
    charged = f"{spent} is spent and charged" if spent else "nothing was read and nothing is charged"
    text = f"phase {phase} would cost {wanted}, which with the {spent} before is above the limit of {limit}; {charged}"
    return DeniedError(Denial(BUDGET, phase, atom, text))


def too_many(made: Estimate, spent: Epsilon) -> DeniedError:
    """Return the denial if no region is narrow enough, or the narrowed region still has too many false alarms."""
    text = (
        f"condition {made.atom}, phase {made.phase}: {made.false_alarms:.1f} false alarms are estimated and "
        f"{made.allowed:.1f} are allowed; {spent} is spent and charged"
    )
    return DeniedError(Denial(ESTIMATE, made.phase, made.atom, text))
