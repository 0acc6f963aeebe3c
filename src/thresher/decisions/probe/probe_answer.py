"""What comes out of the ProBE family: looks, estimates, an answer or a denial.

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
    """What the paper reads off the noisy slacks of one condition after a phase. An estimate, not a bound: `probe.md`.

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
    """Why there is no answer. All that was looked at until then is charged."""

    reason: Reason
    phase: int
    atom: int
    text: str


@dataclass(frozen=True, slots=True)
class ProbeAnswer:
    """Which groups are reported, or why none of that is told; and what it cost.

    All of it may be shown: it follows from noisy slacks, of which `noisy` holds the last ones of each condition that
    was looked at. `nano` is what each group lost, in nano-epsilon; a denied question is charged as well.
    NOT promised: that the false-alarm rate keeps to what was asked, although the answer was accepted (`probe.md`).
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
        """The largest loss of a group."""
        return Epsilon.from_nano(int(self.nano.max())) if self.nano.size else Epsilon(0)

    @property
    def epsilons(self) -> tuple[Epsilon, ...]:
        """What each group lost, for a unit that is in this group."""
        return tuple(Epsilon.from_nano(nano) for nano in self.nano.tolist())

    @property
    def phases(self) -> int:
        """How many phases were begun, or for ProBE-Ent the largest number of looks at one condition."""
        return max((look.phase for look in self.looks), default=0)


class DeniedError(Exception):
    """Carries a denial from where it is found to where it is told; never leaves this room."""

    def __init__(self, denial: Denial) -> None:
        super().__init__(denial.text)
        self.denial = denial


def too_dear(limit: Epsilon, spent: Epsilon, nano: int, phase: int, atom: int) -> DeniedError:
    """Told before anything more is drawn. A price may be above any amount there is."""
    wanted = f"{Epsilon.from_nano(nano)}" if nano <= MAX_NANO else "more than a million"
    charged = f"{spent} is spent and charged" if spent else "nothing was read and nothing is charged"
    text = f"phase {phase} would cost {wanted}, which with the {spent} before is above the limit of {limit}; {charged}"
    return DeniedError(Denial(BUDGET, phase, atom, text))


def too_many(found: Estimate, spent: Epsilon) -> DeniedError:
    """No region is narrow enough, or the one that should have been was not."""
    text = (
        f"condition {found.atom}, phase {found.phase}: {found.false_alarms:.1f} false alarms are estimated and "
        f"{max(found.allowed, 0):.1f} allowed; {spent} is spent and charged"
    )
    return DeniedError(Denial(ESTIMATE, found.phase, found.atom, text))
