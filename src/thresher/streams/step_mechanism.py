"""One step drawn: the only place of a running stream that sees true counts, sealed until here.

    laplace    noise on every count
    pegasus    noise on every count, and groups of steps whose counts are alike
    tree       the same at every node, each level at its share; pruned or not

Between steps a drawer keeps what it must: the open groups of a grouper, which are as secret as the counts themselves,
and noise that was drawn ahead, which is not written anywhere.
Reads: sealed counts, entropy. Writes: secrets, as bytes, for whoever seals them. Never: shows either.
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

# A group is closed by then at the latest: a bound on what is kept and looked back on.
LONGEST_GROUP = 1 << 14


@dataclass(frozen=True, slots=True)
class Measures:
    """What one series, or one leaf with all nodes above it, is measured at in a step.

    `whole` is shared out: every count is measured at `perturber`, its deviations at `grouper` (0: there is none), at
    each level of a tree.
    """

    whole: Epsilon
    perturber: Epsilon
    grouper: Epsilon


class Drawer(Protocol):
    """Draws one step after another."""

    def draw(self, counts: Exact) -> NoisyStep:
        """One step's counts, in the order of the states. Costs what the plan says, whatever comes out."""

    def secrets(self) -> bytes:
        """What it keeps between steps; empty if nothing."""

    def restore(self, secrets: bytes) -> None: ...

    def close(self) -> None:
        """Forget all that is kept: groups that were open are closed."""


def measures(declared: StreamDeclaration, tree: Tree | None, epsilon: Epsilon) -> Measures:
    """How one series' epsilon for a step is shared out. The parts of a path never add up to more."""
    share = declared.grouper_share if declared.mechanism == "pegasus" else Fraction(0)
    if tree is not None:
        terms = hierarchy_terms(tree.height, epsilon.fraction, share, _prune(declared), declared.cutoff)
        return Measures(epsilon, Epsilon.from_nano(terms.count_nano), Epsilon.from_nano(terms.group_nano))
    grouper = int(epsilon.nano * share)
    found = Measures(epsilon, Epsilon.from_nano(epsilon.nano - grouper), Epsilon.from_nano(grouper))
    checked_rate(found.perturber.fraction, 1)
    if share:
        grouper_terms(found.grouper.fraction, declared.theta, longest=LONGEST_GROUP)
    return found


def drawer(declared: StreamDeclaration, measured: Measures, tree: Tree | None, entropy: Entropy) -> Drawer:
    """Whatever draws the steps of a stream."""
    if tree is not None:
        return _Nodes(declared, measured, tree, entropy)
    return _Series(len(declared.states), declared, measured, entropy)


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


class _Nodes:
    """A tree of states."""

    def __init__(self, declared: StreamDeclaration, measured: Measures, tree: Tree, entropy: Entropy) -> None:
        share = declared.grouper_share if measured.grouper else Fraction(0)
        self._tree = Hierarchy(
            tree,
            measured.whole.fraction,
            share,
            declared.theta,
            _prune(declared),
            cutoff=declared.cutoff,
            longest=LONGEST_GROUP,
            entropy=entropy,
        )

    def draw(self, counts: Exact) -> NoisyStep:
        return self._tree.steps(_row(counts, len(self._tree.tree.leaves)))[0]

    def secrets(self) -> bytes:
        return self._tree.secrets()

    def restore(self, secrets: bytes) -> None:
        self._tree.restore(secrets)

    def close(self) -> None:
        self._tree.close()


def sealed_counts(counts: ArrayLike, states: int) -> Exact:
    """Counts of one step as sealed whole numbers; refused if they are not what counts can be."""
    given = np.asarray(counts)
    if given.shape != (states,):
        rule = f"it must hold one count for each of the {states} states"
        raise ArgumentError("counts", f"of shape {given.shape}", rule, "Pass them in declared order")
    if given.dtype.kind not in "iu":
        rule = "counts are whole numbers"
        raise ArgumentError("counts", f"of type {given.dtype}", rule, "Count units; convert whole floats to integers")
    if given.size and given.min() < 0:
        # No stream of events has a negative count, so that this tells apart no two streams there can be.
        raise ArgumentError("counts", "a negative one", "nobody is counted less than not at all", "Count units")
    # Numpy's large unsigned numbers would become negative.
    return Exact(np.minimum(given, MOST_COUNT).astype(np.int64)[:, None])


def _row(counts: Exact, states: int) -> NDArray[np.int64]:
    """The counts as a block of one step, cut off where every block is."""
    return np.clip(counts.unseal(), -MOST_COUNT, MOST_COUNT).astype(np.int64).reshape(1, states)


def _prune(declared: StreamDeclaration) -> Literal["none", "estimate", "history"]:
    return cast(Literal["none", "estimate", "history"], declared.prune)
