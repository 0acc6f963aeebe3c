"""Compare ProBE and the certified decision on formulas of one to six conditions.

Reads: made-up and public groups, entropy. Writes: nothing. Never: a number that was not measured here.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from papers.probe.outliers import Counted, adversarial, at_threshold, bimodal, occ_like, uci_like
from thresher.amounts import Epsilon
from thresher.decisions.aim import Aim
from thresher.decisions.margin import TrueMargins
from thresher.decisions.probe.probe import METHODS as PROBE
from thresher.decisions.probe.probe import answered
from thresher.decisions.regimes import certified_look
from thresher.noise import Entropy
from thresher.question.trees import EveryOf, Tree, every, leaves, some

MISS_RATE, FALSE_ALARM_RATE, DELTA = Fraction(1, 20), Fraction(1, 10), Fraction(1, 50)
LIMIT = Epsilon(5)
SHAPES: Mapping[str, Tree] = {
    **{f"AND{n}": every(*range(n)) for n in range(1, 7)},
    **{f"OR{n}": some(*range(n)) for n in range(2, 7)},
    "Q1|(Q2&Q3)": some(0, every(1, 2)),
    "(Q1|Q2)&(Q1|Q3)": every(some(0, 1), some(0, 2)),
    "majority of 3": some(every(0, 1), every(0, 2), every(1, 2)),
}
METHODS = (*PROBE, "certified")


def scenes() -> dict[str, tuple[Counted, tuple[str, ...]]]:
    """Return kinds of made-up groups, each with the formulas that its conditions allow."""
    every_shape, one = tuple(SHAPES), ("AND1",)
    return {
        "occupancy: most groups nearly empty": (occ_like(301), every_shape),
        "two kinds: hardly a group near the line": (bimodal(301), every_shape),
        "heavy tails": (uci_like(301), every_shape),
        "92 groups exactly at the line": (at_threshold(), one),
        "most groups just below the line": (adversarial(), one),
    }


@dataclass(frozen=True, slots=True)
class Outcome:
    """One answer: its cost, its errors, and the share that it certified; only the cost if it was denied."""

    epsilon: float
    missed: float | None = None
    alarmed: float | None = None
    certified: float | None = None

    @property
    def denied(self) -> bool:
        return self.alarmed is None


@dataclass(frozen=True, slots=True)
class Cell:
    """One method on one formula: means over the answered runs; how many were denied; how many broke their promise.

    broken: answers with more false alarms than promised: the requested rate for ProBE, the certified share otherwise.
    wider: answers that certify a share above the requested rate.
    """

    method: str
    epsilon: float | None
    missed: float | None
    alarmed: float | None
    denied: int
    broken: int
    wider: int
    runs: int


def measured(method: str, tree: Tree, data: Counted, runs: int, entropy: Entropy) -> Cell:
    """Measure a method on a formula, by `runs` answers."""
    outcomes = [_outcome(method, tree, data, entropy) for _ in range(runs)]
    answered = [outcome for outcome in outcomes if not outcome.denied]
    promised = [(outcome.alarmed or 0.0) > (outcome.certified or float(FALSE_ALARM_RATE)) for outcome in answered]

    def mean(name: str) -> float | None:
        return float(np.mean([getattr(outcome, name) for outcome in answered])) if answered else None

    wider = sum((outcome.certified or 0.0) > float(FALSE_ALARM_RATE) for outcome in answered)
    denied = runs - len(answered)
    return Cell(method, mean("epsilon"), mean("missed"), mean("alarmed"), denied, sum(promised), wider, runs)


def _outcome(method: str, tree: Tree, data: Counted, entropy: Entropy) -> Outcome:
    part = data.first(max(leaves(tree)) + 1)
    truth = part.truth(tree)
    if method == "certified":
        return _certified(tree, part, truth, entropy)
    answer = answered(method, part.arguments(tree), entropy=entropy)
    epsilon = float(answer.epsilon)
    return Outcome(epsilon) if answer.reported is None else Outcome(epsilon, *_errors(answer.reported, truth))


def _certified(tree: Tree, data: Counted, truth: NDArray[np.bool_], entropy: Entropy) -> Outcome:
    widest = Fraction(int(data.ranges.max()))
    seen = certified_look(aim_of(truth.size, widest)).decide(TrueMargins.of(margin(tree, data.slacks)), entropy)
    share = None if seen.certificate is None else float(seen.certificate.share)
    return Outcome(float(seen.loss), *_errors(seen.reported, truth), share)


def aim_of(groups: int, widest: Fraction, miss_rate: Fraction = MISS_RATE) -> Aim:
    """Return the aim of certified: the rates of the paper for this many groups, without a half width."""
    rates = miss_rate, FALSE_ALARM_RATE
    return Aim(*rates, (), asked_width=False, groups=groups, limit=LIMIT, widest=widest, delta=DELTA)


def margin(tree: Tree, slacks: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return one number for each group: the least slack for AND, the largest for OR; all conditions have one unit."""
    if isinstance(tree, int):
        return np.asarray(slacks[tree])
    parts = np.stack([margin(part, slacks) for part in tree.parts])
    return np.asarray(parts.min(axis=0) if isinstance(tree, EveryOf) else parts.max(axis=0))


def _errors(reported: NDArray[np.bool_], truth: NDArray[np.bool_]) -> tuple[float, float]:
    missed = float((~reported[truth]).mean()) if truth.any() else 0.0
    return missed, float(reported[~truth].mean()) if (~truth).any() else 0.0
