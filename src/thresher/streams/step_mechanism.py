"""Draw one step: the only place of a running stream that opens sealed counts.

    laplace    noise on each count
    pegasus    noise on each count, and groups of steps with similar counts
    tree       the same at each node, each level at its share; pruned or not

Between steps a drawer keeps the open groups of a grouper, which are as secret as the counts, and noise that was drawn
ahead, which is never written.
Reads: sealed counts, entropy. Writes: secrets, as bytes, for the caller to seal. Never: shows either.
Proof: `step_mechanism.md`.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, Protocol, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thresher.amounts import Epsilon
from thresher.config import StreamDeclaration
from thresher.errors import ArgumentError
from thresher.noise import Entropy
from thresher.noise.arguments import checked_rate
from thresher.question import Exact
from thresher.streams.grouper import Grouper, grouper_terms
from thresher.streams.hierarchy import Hierarchy
from thresher.streams.hierarchy_terms import hierarchy_terms
from thresher.streams.perturber import NoiseAhead
from thresher.streams.step_blocks import MOST_COUNT
from thresher.streams.step_release import NoisyStep
from thresher.streams.tree import Tree

# The longest group of steps. It bounds what is kept for each series, and what a restart must read again.
LONGEST_GROUP = 1 << 14


@dataclass(frozen=True, slots=True)
class Measures:
    """The epsilon of the measurements of one series, or of one leaf with all nodes above it, in a step.

    `whole` is shared out: at each level of a tree, a count is measured at `perturber`, and its deviations at `grouper`,
    which is 0 without a grouper.
    """

    whole: Epsilon
    perturber: Epsilon
    grouper: Epsilon


class Drawer(Protocol):
    """What draws one step after another."""

    def draw(self, counts: Exact) -> NoisyStep:
        """Draw a step from its counts, in the order of the states. It costs what the plan says, whatever comes out."""

    def secrets(self) -> bytes:
        """Return what is kept between steps; empty if nothing is."""

    def restore(self, secrets: bytes) -> None:
        """Go on from the secrets of another drawer of the same plan, which must not be used again."""

    def close(self) -> None:
        """Forget the secrets: open groups are closed."""


def measures(declared: StreamDeclaration, tree: Tree | None, epsilon: Epsilon) -> Measures:
    """Share out the epsilon of one series in a step. The parts of a path never add up to more."""
    share = declared.grouper_share if declared.mechanism == "pegasus" else Fraction(0)
    if tree is not None:
        terms = hierarchy_terms(tree.height, epsilon.fraction, share, _prune(declared), declared.cutoff)
        return Measures(epsilon, Epsilon.from_nano(terms.count_nano), Epsilon.from_nano(terms.group_nano))
    grouper = int(epsilon.nano * share)
    measured = Measures(epsilon, Epsilon.from_nano(epsilon.nano - grouper), Epsilon.from_nano(grouper))
    checked_rate(measured.perturber.fraction, 1)
    if share:
        grouper_terms(measured.grouper.fraction, declared.theta, longest=LONGEST_GROUP)
    return measured


def drawer(declared: StreamDeclaration, measured: Measures, tree: Tree | None, entropy: Entropy) -> Drawer:
    """Make the drawer of a stream's steps."""
    if tree is None:
        return _Series(len(declared.states), declared, measured, entropy)
    return _Nodes(
        tree,
        measured.whole.fraction,
        declared.grouper_share if measured.grouper else 0,
        declared.theta,
        _prune(declared),
        cutoff=declared.cutoff,
        longest=LONGEST_GROUP,
        entropy=entropy,
    )


class _Series:
    """States side by side: noise on each count, and a grouper if there is one."""

    def __init__(self, series: int, declared: StreamDeclaration, measured: Measures, entropy: Entropy) -> None:
        self._series, self._noise = series, NoiseAhead(series, measured.perturber.fraction, entropy)
        self._grouper: Grouper | None = None
        if measured.grouper:
            terms = grouper_terms(measured.grouper.fraction, declared.theta, longest=LONGEST_GROUP)
            self._grouper = Grouper(series, terms, entropy)

    def draw(self, counts: Exact) -> NoisyStep:
        row = _row(counts, self._series)
        noisy = (row + self._noise.take(1))[0]
        return NoisyStep(noisy, None if self._grouper is None else self._grouper.of_block(row)[0])

    def secrets(self) -> bytes:
        return b"" if self._grouper is None else self._grouper.secrets()

    def restore(self, secrets: bytes) -> None:
        if self._grouper is not None:
            self._grouper.restore(secrets)

    def close(self) -> None:
        if self._grouper is not None:
            self._grouper.close()


class _Nodes(Hierarchy):
    """A tree of states."""

    def draw(self, counts: Exact) -> NoisyStep:
        return self.steps(_row(counts, len(self.tree.leaves)))[0]


def sealed_counts(counts: ArrayLike, states: int) -> Exact:
    """Seal the counts of one step, or refuse what cannot be counts."""
    given = np.asarray(counts)
    if given.shape != (states,):
        rule = f"it must hold one count for each of the {states} states"
        raise ArgumentError("counts", f"of shape {given.shape}", rule, "Pass them in declared order")
    if given.dtype.kind not in "iu":
        rule = "counts are whole numbers"
        raise ArgumentError("counts", f"of type {given.dtype}", rule, "Count units; convert whole floats to integers")
    if given.size and given.min() < 0:
        # No stream of events has a negative count, so the refusal reveals nothing about one.
        raise ArgumentError("counts", "a negative number", "counts are 0 or more", "Count units")
    # Large unsigned numbers of numpy would become negative.
    return Exact(np.minimum(given, MOST_COUNT).astype(np.int64)[:, None])


def _row(counts: Exact, states: int) -> NDArray[np.int64]:
    """Unseal the counts as a block of one step."""
    return np.clip(counts.unseal(), -MOST_COUNT, MOST_COUNT).astype(np.int64).reshape(1, states)


def _prune(declared: StreamDeclaration) -> Literal["none", "estimate", "history"]:
    return cast(Literal["none", "estimate", "history"], declared.prune)
