"""Run a mechanism on neighbouring inputs, learn where the outputs differ, and bound the loss from below.

The outputs for each input (a side) are split in three: scores are *fitted* on the first part, a pair, a score and a cut
are *chosen* on the second, and that one event is *tested* on the third, by an exact bound. So a right mechanism is
refuted with probability at most 1 - confidence, however many pairs and scores there are to choose from.
Reads: a mechanism's outputs, entropy. Writes: nothing. Never: tests two events. Proof: `black_box.md`.
Citations: Bichsel et al., "DP-Sniper", 2021 (events from a classifier); Ding et al., "StatDP", 2018 (choose, test).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from thresher.audit.outputs.samples import Sample, sampled
from thresher.audit.subjects import Finding, Sampled
from thresher.audit.testers.confidence import CONFIDENCE, least_log_ratio
from thresher.audit.testers.scores import Scored, scores
from thresher.noise import Entropy

_FITTED, _CHOSEN = 0.35, 0.6
_LEAST_RUNS = 100
_SMALLEST_EVENT = 5


@dataclass(frozen=True, slots=True)
class _Event:
    """Hold a set of outputs that seems likelier on `here` than on `there`, and the draws to test it on."""

    promise: float
    where: str
    scored: Scored
    cut: float
    here: Sample
    there: Sample

    def hits(self) -> tuple[int, int]:
        inside = [int(np.count_nonzero(_scored(self.scored, side) >= self.cut)) for side in (self.here, self.there)]
        return inside[0], inside[1]


def tried_by_sampling(subject: Sampled, entropy: Entropy, confidence: Fraction = CONFIDENCE) -> Finding:
    """Bound the loss of a mechanism from below, and compare it with what the ledger would charge."""
    doubt = float(1 - confidence)
    best: _Event | None = None
    for pair in subject.pairs:
        outputs = [subject.run(data, subject.samples, entropy) for data in (pair.here, pair.there)]
        sides = [
            side if subject.within is None else replace(side, counted=subject.within(shown))
            for side, shown in zip(sampled(*outputs), outputs, strict=True)
        ]
        best = _better(best, telling_event(sides[0], sides[1], pair.about, doubt))
    measured, event, where = 0.0, "nothing told the inputs apart", subject.pairs[0].about
    if best is not None:
        hits = best.hits()
        measured = max(float(least_log_ratio(*hits, best.here.runs, doubt)), 0.0)
        event, where = f"{best.scored.about} ({hits[0]:,} to {hits[1]:,})", best.where
    charged = float(subject.charged.fraction)
    return Finding(subject.name, subject.about, "loss", charged, measured, subject.samples, where, event)


def telling_event(one: Sample, other: Sample, about: str, doubt: float) -> _Event | None:
    """Choose the event that promises the largest loss, in either direction. None if the draws are too few."""
    runs = min(one.runs, other.runs)
    if runs < _LEAST_RUNS:
        return None
    fitted, chosen = int(runs * _FITTED), int(runs * _CHOSEN)
    best: _Event | None = None
    for near, far in ((one, other), (other, one)):
        fit = near.part(0, fitted), far.part(0, fitted)
        pick = near.part(fitted, chosen), far.part(fitted, chosen)
        test = near.part(chosen, runs), far.part(chosen, runs)
        for scored in scores(*fit):
            for promise, cut in _cuts(scored, fit, pick, doubt):
                best = _better(best, _Event(promise, about, scored, cut, *test))
    return best


def _cuts(
    scored: Scored, fit: tuple[Sample, Sample], pick: tuple[Sample, Sample], doubt: float
) -> Iterator[tuple[float, float]]:
    """Yield the cut of a score with the largest loss on the second part of the draws, if there is one."""
    cuts = _candidates(_scored(scored, fit[0]))
    counts = [_at_least(_scored(scored, side), cuts) for side in pick]
    promises = least_log_ratio(counts[0], counts[1], pick[0].runs, doubt)
    best = int(np.argmax(promises))
    if np.isfinite(promises[best]):
        yield float(promises[best]), float(cuts[best])


def _scored(scored: Scored, side: Sample) -> NDArray[np.float64]:
    numbers = scored.score(side)
    return numbers if side.counted is None else np.where(side.counted, numbers, -np.inf)


def _candidates(fitted: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return cuts that keep a few of the fitted draws, then more by a constant factor, up to all."""
    ordered = np.sort(fitted)[::-1]
    ranks = np.unique(np.geomspace(_SMALLEST_EVENT, ordered.size, 40).astype(int)) - 1
    cuts = np.unique(ordered[ranks])
    return cuts[np.isfinite(cuts)] if np.isfinite(cuts).any() else np.array([np.inf])


def _at_least(scored: NDArray[np.float64], cuts: NDArray[np.float64]) -> NDArray[np.int64]:
    return scored.size - np.searchsorted(np.sort(scored), cuts, side="left")


def _better(one: _Event | None, other: _Event | None) -> _Event | None:
    if one is None or other is None:
        return one or other
    return one if one.promise >= other.promise else other
