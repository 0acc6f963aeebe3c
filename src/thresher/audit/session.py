"""A whole audit: every case tried, in as many processes as asked for, and what became of each.

Reads: the registry, entropy. Writes: nothing. Never: stops because one case cannot be tried:
that case has failed.
"""

import os
import zlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from fractions import Fraction
from multiprocessing import get_context
from time import perf_counter

from thresher.audit.confidence import CONFIDENCE
from thresher.audit.findings import Finding
from thresher.audit.registry import Case, subject_of
from thresher.audit.trial import tried
from thresher.noise import Entropy, SeededEntropy, SystemEntropy


@dataclass(frozen=True, slots=True)
class Outcome:
    """A case, what its trial found, and how long it took; `failure` if it could not be tried."""

    case: Case
    finding: Finding | None
    seconds: float
    failure: str = ""

    @property
    def as_expected(self) -> bool:
        """What ships stands, what is broken is refuted."""
        return self.finding is not None and self.finding.refuted != self.case.sound

    @property
    def verdict(self) -> str:
        if self.finding is None:
            return "not tried"
        if self.case.sound:
            return "REFUTED" if self.finding.refuted else "stands"
        return "caught" if self.finding.refuted else "SURVIVES"


def audited(
    cases: Sequence[Case],
    *,
    seed: int | None = None,
    confidence: Fraction = CONFIDENCE,
    processes: int | None = None,
    progress: Callable[[Outcome], None] = lambda _: None,
) -> tuple[Outcome, ...]:
    """All cases tried, in their order. With a seed, the same draws every time."""
    found: dict[Case, Outcome] = {}
    for outcome in _tried_by(cases, seed, confidence, processes or min(2, os.cpu_count() or 1)):
        found[outcome.case] = outcome
        progress(outcome)
    return tuple(found[case] for case in cases)


def _tried_by(cases: Sequence[Case], seed: int | None, confidence: Fraction, processes: int) -> Iterator[Outcome]:
    if processes == 1 or len(cases) == 1:
        yield from (outcome_of(case, seed, confidence) for case in cases)
        return
    # Spawned, not forked: a fork would copy threads and open databases of whoever calls this.
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        running: dict[Future[Outcome], Case] = {pool.submit(outcome_of, case, seed, confidence): case for case in cases}
        for done in as_completed(running):
            error = done.exception()
            yield done.result() if error is None else Outcome(running[done], None, 0.0, type(error).__name__)


def outcome_of(case: Case, seed: int | None = None, confidence: Fraction = CONFIDENCE) -> Outcome:
    """One case tried, with draws of its own."""
    start = perf_counter()
    try:
        finding = tried(subject_of(case), _entropy(case, seed), confidence)
    except Exception as error:  # noqa: BLE001 - reported as a trial that failed
        return Outcome(case, None, perf_counter() - start, f"{type(error).__name__}: {error}")
    return Outcome(case, finding, perf_counter() - start)


def _entropy(case: Case, seed: int | None) -> Entropy:
    return SystemEntropy() if seed is None else SeededEntropy(seed << 32 | zlib.crc32(case.name.encode()))
