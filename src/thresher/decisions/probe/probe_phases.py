"""Decide in ProBE's two phases: a coarse look at each condition, an estimate, and a finer look if it is too high.

For comparison only: the estimate is not a bound (`probe.md`).
Reads: slacks, entropy. Writes: nothing. Never: a draw that the limit does not cover.
"""

import math
from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import MAX_NANO, Epsilon
from thresher.decisions.probe.apportion import Shares
from thresher.decisions.probe.probe_answer import ConditionLook, Estimate, too_dear, too_many
from thresher.decisions.probe.probe_conditions import Conditions
from thresher.errors import ArgumentError
from thresher.noise import Entropy, discrete_laplace, smallest_epsilon
from thresher.question.trees import EveryOf, Tree

Found = NDArray[np.bool_]


def first_looks(asked: Conditions, shares: Shares) -> tuple[ConditionLook, ...]:
    """Return the looks of the first phase with their costs. Reads no data."""
    return tuple(look_of(asked, atom, 1, shares, math.floor(asked.widths[atom])) for atom in asked.written)


def look_of(asked: Conditions, atom: int, phase: int, shares: Shares, steps: int) -> ConditionLook:
    """Return a look at the least epsilon at which a condition is missed with at most its share."""
    epsilon = smallest_epsilon(shares[atom], steps + 1, asked.sensitivities[atom])
    return ConditionLook(atom, phase, shares[atom], steps, epsilon)


class Phases:
    """What was measured so far, and what it cost; every group is charged for every look."""

    def __init__(self, asked: Conditions, entropy: Entropy | None) -> None:
        self._asked, self._entropy = asked, entropy
        self._due: dict[int, ConditionLook] = {}
        self._last: dict[int, ConditionLook] = {}
        self.noisy: dict[int, NDArray[np.int64]] = {}
        self.looks: list[ConditionLook] = []
        self.estimates: list[Estimate] = []

    @property
    def spent(self) -> Epsilon:
        return Epsilon.total(look.epsilon for look in self.looks)

    @property
    def nano(self) -> NDArray[np.int64]:
        """Return what each group lost: each look is at all groups."""
        return np.full(self._asked.groups, self.spent.nano, dtype=np.int64)

    def run(self, looks: Iterable[ConditionLook]) -> Found:
        """Take the looks that the formula needs, among these and earlier ones that it did not need until now."""
        due = tuple(looks)
        # In nano, because an amount cannot be above a million.
        wanted = sum(look.epsilon.nano for look in due)
        if self.spent.nano + wanted > self._asked.limit.nano:
            raise too_dear(self._asked.limit, self.spent, wanted, due[0].phase, due[0].atom)
        self._due |= {look.atom: look for look in due}
        return traversed(self._asked.tree, self._reported)

    def _reported(self, atom: int) -> Found:
        look = self._due.pop(atom, None)
        if look is not None:
            # Checked again, because the sum did not include a look that an earlier phase could skip.
            if self.spent.nano + look.epsilon.nano > self._asked.limit.nano:
                raise too_dear(self._asked.limit, self.spent, look.epsilon.nano, look.phase, atom)
            spread = self._asked.sensitivities[atom]
            self.looks.append(look)
            self._last[atom] = look
            noise = discrete_laplace(look.epsilon, self._asked.groups, spread, self._entropy)
            self.noisy[atom] = self._asked.slacks[atom] + noise
        return np.asarray(self.noisy[atom] >= -self._last[atom].steps)

    def two(self, shares: Shares) -> Found:
        """Take both phases. The second uses fresh noise, as in the paper, so its losses are added."""
        one = self.run(first_looks(self._asked, shares))
        sharper = []
        for made in self.estimated(one, 1):
            if made.too_many:
                steps = narrower(self.noisy[made.atom], self._last[made.atom], one, made.allowed)
                if steps is None:
                    raise too_many(made, self.spent)
                sharper.append(self._sharper(made.atom, shares, steps))
        if not sharper:
            return one
        two = self.run(sharper)
        for made in self.estimated(two, 2):
            if made.too_many:
                raise too_many(made, self.spent)
        return two

    def _sharper(self, atom: int, shares: Shares, steps: int) -> ConditionLook:
        try:
            return look_of(self._asked, atom, 2, shares, steps)
        except ArgumentError:
            # Above a million, which no limit covers: denied like any look that is too dear.
            raise too_dear(self._asked.limit, self.spent, MAX_NANO + 1, 2, atom) from None

    def estimated(self, answer: Found, phase: int) -> list[Estimate]:
        """Return an estimate for each condition that was measured; a condition that was skipped reported nothing."""
        made = [
            estimate(self._asked, self.noisy[atom], look, answer, phase) for atom, look in sorted(self._last.items())
        ]
        self.estimates += made
        return made


def traversed(tree: Tree, leaf: Callable[[int], Found]) -> Found:
    """Return which groups meet a formula, from left to right; once no group can meet an AND, its rest is skipped."""
    if isinstance(tree, int):
        return leaf(tree)
    # The first part is not in the loop, because an empty result differs from no result yet.
    groups = traversed(tree.parts[0], leaf)
    for part in tree.parts[1:]:
        if isinstance(tree, EveryOf):
            if not groups.any():
                break
            groups = groups & traversed(part, leaf)
        else:
            groups = groups | traversed(part, leaf)
    return groups


def estimate(asked: Conditions, noisy: NDArray[np.int64], look: ConditionLook, answer: Found, phase: int) -> Estimate:
    """Estimate false alarms (Algorithm 4): groups in between count fully, groups above with the condition's share."""
    share, allowed = float(look.share), float(asked.allowed_rate(look.atom))
    between, above = ((noisy >= -look.steps) & (noisy < 0) & answer).sum(), ((noisy >= 0) & answer).sum()
    below = ((noisy < -look.steps) & ~answer).sum()
    negatives = (int(below) - share * asked.groups) / (1 - share)
    # Negatives below zero count as zero; then an answer that reports nothing is still accepted.
    return Estimate(
        atom=look.atom,
        phase=phase,
        false_alarms=int(between) + share * int(above),
        negatives=negatives,
        allowed=allowed * max(negatives, 0.0),
        between=int(between),
    )


def narrower(noisy: NDArray[np.int64], look: ConditionLook, answer: Found, allowed: float) -> int | None:
    """Return the widest region whose estimated false alarms are allowed (Algorithm 3, line 7), if there is one."""
    spare = allowed - float(look.share) * int(((noisy >= 0) & answer).sum())
    if spare < 0:
        return None
    distances = np.sort(-noisy[answer & (noisy < 0) & (noisy >= -look.steps)])
    most = math.floor(spare)
    return int(distances[most]) - 1 if most < distances.size else look.steps
