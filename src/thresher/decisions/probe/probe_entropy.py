"""Decide by ProBE-Ent: measure each condition at levels chosen for min-entropy; the first look sets the last level.

For comparison only: it makes one estimate of its false alarms and checks nothing afterwards (`probe.md`).
Reads: slacks, entropy. Writes: nothing. Never: fresh noise for a second look; a last level above the limit.
"""

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import MAX_NANO, Epsilon
from thresher.decisions.adaptive_ladder import AdaptiveLadder, Rungs, climbing
from thresher.decisions.ladder import Climb, geometric_levels, level_of
from thresher.decisions.probe.apportion import cut_off
from thresher.decisions.probe.probe_answer import ConditionLook, Estimate, too_dear, too_many
from thresher.decisions.probe.probe_conditions import Conditions
from thresher.decisions.probe.probe_phases import Found, estimate, narrower, traversed
from thresher.errors import ArgumentError
from thresher.noise import Entropy, smallest_epsilon


@dataclass(frozen=True, slots=True)
class Steps:
    """How to climb: the number of coarse levels, and whether later conditions get the misses that others left."""

    levels: int = 4
    redistribute: bool = True


class EntropyClimb:
    """Condition after condition, with a running total of the misses that may still be made."""

    def __init__(self, asked: Conditions, steps: Steps, entropy: Entropy | None) -> None:
        self._asked, self._steps, self._entropy = asked, steps, entropy
        self._left = asked.miss_rate
        self._seen: dict[int, Found] = {}
        self.noisy: dict[int, NDArray[np.int64]] = {}
        self.nano = np.zeros(asked.groups, dtype=np.int64)
        self.looks: list[ConditionLook] = []
        self.estimates: list[Estimate] = []

    def run(self) -> Found:
        return traversed(self._asked.tree, self._reported)

    @property
    def spent(self) -> Epsilon:
        return Epsilon.from_nano(int(self.nano.max(initial=0)))

    def share_of(self, atom: int) -> Fraction:
        """Return a condition's share of the misses that are left, by weight among those ahead (Algorithm 5)."""
        weights = self._asked.weights
        ahead = [other for other in self._asked.written if not self._steps.redistribute or other not in self._seen]
        total = sum((weights[other] for other in ahead), Fraction(0))
        # Otherwise the number of digits would grow with each condition.
        return cut_off(self._left * weights[atom] / (self._asked.written[atom] * total))

    def _reported(self, atom: int) -> Found:
        if atom not in self._seen:
            share = self.share_of(atom)
            used = self._climb(atom, share)
            if self._steps.redistribute:
                self._left -= self._asked.written[atom] * used
        return self._seen[atom]

    def _climb(self, atom: int, share: Fraction) -> Fraction:
        """Measure, estimate, and climb if the estimate is too high; return the share of misses that was used."""
        asked, spread = self._asked, self._asked.sensitivities[atom]
        each = share / self._steps.levels
        first = smallest_epsilon(each, math.floor(asked.widths[atom]) + 1, spread)
        self._afford(atom, 1, first)
        way, level = Climb(asked.slacks[atom], spread, self._entropy), level_of(None, first, each, each, spread)
        way.look(first, level.steps, level.certain)
        self.nano += first.nano
        self.looks.append(ConditionLook(atom, 1, each, level.steps, first))
        # The paper's estimate uses the condition's whole share for the misses of its first look.
        end = self._end(way, replace(self.looks[-1], share=share))
        used = each
        if end > first:
            self._afford(atom, 2, end - first)
            used = self._climb_on(atom, way, share, geometric_levels(first, end, self._steps.levels))
        seen = way.verdicts(end, 0)
        self._seen[atom], self.noisy[atom] = seen.reported, seen.noisy
        self.nano += np.array([level.nano - first.nano for level in way.levels])[seen.stopped]
        return used

    def _end(self, way: Climb, look: ConditionLook) -> Epsilon:
        """Return the level at which the estimate has few enough false alarms: the first look's own if that has few."""
        noisy = way.verdicts(look.epsilon, 0).noisy
        reported = np.asarray(noisy >= -look.steps)
        made = estimate(self._asked, noisy, look, reported, 1)
        self.estimates.append(made)
        if not made.too_many:
            return look.epsilon
        steps = narrower(noisy, look, reported, made.allowed)
        if steps is None:
            raise too_many(made, self.spent)
        each = look.share / self._steps.levels
        try:
            return smallest_epsilon(each, steps + 1, self._asked.sensitivities[look.atom])
        except ArgumentError:
            # Above a million, which no limit covers.
            raise too_dear(self._asked.limit, self.spent, MAX_NANO + 1, 2, look.atom) from None

    def _climb_on(self, atom: int, way: Climb, share: Fraction, coarse: list[Epsilon]) -> Fraction:
        """Climb, as in the paper's other algorithm, until no group is undecided or the levels are used up."""
        spread, rungs = self._asked.sensitivities[atom], Rungs(coarse[0], tuple(coarse[1:]))
        # Best effort has no half width: the levels determine where it ends.
        ladder = AdaptiveLadder(tuple(coarse), share, share, 0, spread, clear=0, best_effort=True)
        for step in climbing(way, rungs, ladder):
            rungs, level = step.then, step.level
            missed, _ = ladder.shares(step.taken)
            self.looks.append(ConditionLook(atom, len(way.levels), missed, level.steps, level.epsilon))
        return share * Fraction(len(coarse) - len(rungs.ahead), len(coarse))

    def _afford(self, atom: int, phase: int, wanted: Epsilon) -> None:
        """Deny the question if the most that comes next may exceed the limit, before it begins."""
        if self.spent.nano + wanted.nano > self._asked.limit.nano:
            raise too_dear(self._asked.limit, self.spent, wanted.nano, phase, atom)
