"""The public numbers of a hierarchy: each level's share of epsilon in whole nanos, what pruning saves, and the cutoff.

A privacy unit is counted once at each level, so the shares of a path add up. All levels get the same share. Rounding
down to whole nanos leaves less than one nano for each level and part unspent.
Reads: arguments, released records. Writes: nothing. Never: data, a draw. Proof: `hierarchy.md`.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import NANO, Amount, Epsilon, exact_fraction
from thresher.errors import ArgumentError
from thresher.noise.arguments import checked_rate
from thresher.streams.step_release import NoisyStep
from thresher.streams.tree import Tree

Prune = Literal["none", "estimate", "history"]
# Beyond this the square below overflows; such noise is zero anyway.
_SILENT = 600.0


@dataclass(frozen=True, slots=True)
class HierarchyTerms:
    """All public numbers on which the releases of a hierarchy depend, besides data and draws.

    `count_nano`, `group_nano`: what one node's count and one node's grouper cost, at every level.
    `cutoff`: a node whose estimate lies below it has its children pruned.
    """

    height: int
    count_nano: int
    group_nano: int
    prune: Prune
    cutoff: float

    @property
    def epsilon(self) -> Epsilon:
        """Return what one unit at one leaf in one step may lose: the sum of each path, whatever is pruned."""
        return Epsilon.from_nano(self.height * (self.count_nano + self.group_nano))

    def saved_nano(self, level: int) -> int:
        """Return what pruning below a node of this level saves on each path through it."""
        return (self.height - level) * (self.count_nano + self.group_nano)


def hierarchy_terms(
    height: int, epsilon: Amount, grouper_share: Amount = "0.2", prune: Prune = "none", cutoff: Amount | None = None
) -> HierarchyTerms:
    """Share out epsilon of one step among the levels of a tree; groupers get `grouper_share` of it, which may be 0.

    The cutoff, if left out, is one standard deviation of a node's count.
    """
    whole, share = exact_fraction(epsilon, "epsilon"), exact_fraction(grouper_share, "grouper_share")
    if not 0 <= share < 1:
        rule = "it must be 0 or more and below 1"
        raise ArgumentError("grouper_share", grouper_share, rule, "Pass 0.2, or 0 for no grouper")
    if not isinstance(prune, str) or prune not in get_args(Prune):
        rule = f"it must be one of {', '.join(get_args(Prune))}"
        raise ArgumentError("prune", prune, rule, "Pass one of them")
    group = math.floor(whole * share / height * NANO)
    count = math.floor(whole * (1 - share) / height * NANO)
    if count < 1 or (share and group < 1):
        rule = f"it leaves less than a nano for one of {height} levels"
        raise ArgumentError("epsilon", epsilon, rule, "Pass more, or leave out a level")
    for nano in {count, height * (count + group)}:
        checked_rate(Fraction(nano, NANO), 1)
    least = math.sqrt(2) * NANO / count if cutoff is None else float(exact_fraction(cutoff, "cutoff"))
    return HierarchyTerms(height, count, group, prune, least)


def path_epsilon(tree: Tree, terms: HierarchyTerms, drawn: NoisyStep) -> tuple[Epsilon, ...]:
    """Return what one unit counted at each leaf has lost by one step, exactly, from the measurements of the step."""
    if drawn.nano is None:
        spent = np.full(len(tree.names), terms.count_nano + terms.group_nano)
    else:
        spent = drawn.nano + np.where(drawn.nano > 0, terms.group_nano, 0)
        spent = spent if drawn.more_nano is None else spent + drawn.more_nano
    return tuple(Epsilon.from_nano(nano) for nano in spent[tree.paths()].sum(axis=1).tolist())


def noise_precision(nano: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return one over the variance of discrete Laplace noise: 2 sinh(epsilon / 2) squared, which is 0 at 0."""
    root: NDArray[np.float64] = np.sinh(np.minimum(nano / NANO, _SILENT) / 2)
    return 2 * root * root


def as_precise_nano(total: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the nano-epsilon at which one measurement has this precision: the inverse of `noise_precision`."""
    rates: NDArray[np.float64] = 2 * np.arcsinh(np.sqrt(total / 2))
    return np.rint(rates * NANO).astype(np.int64)


def combined_terms(drawn: NoisyStep, count_nano: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return each node's count by all its measurements of one step, weighed by inverse variance, and its weight.

    The weight, which smoothers take, is the nano-epsilon at which one measurement would be as precise. A node that was
    not looked at has the value 0 and the weight 0. `count_nano`: the measurement of all nodes if the step names none.
    """
    nano = np.full(drawn.noisy.shape, count_nano) if drawn.nano is None else drawn.nano
    total, weighed = noise_precision(nano), noise_precision(nano) * drawn.noisy
    if drawn.more is not None and drawn.more_nano is not None:
        total, weighed = (
            total + noise_precision(drawn.more_nano),
            weighed + noise_precision(drawn.more_nano) * drawn.more,
        )
    return quotient(weighed, total, 0.0), as_precise_nano(total)


def quotient(above: NDArray[np.float64], below: NDArray[np.float64], missing: float) -> NDArray[np.float64]:
    """Return `above` / `below`, and `missing` where `below` is 0."""
    return np.divide(above, below, out=np.full_like(below, missing), where=below > 0)
