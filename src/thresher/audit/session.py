"""Run a whole audit: try each mechanism that ships and each that is broken, and collect the outcomes.

Each module of `shipped` and `mutants`, called a room here, lists its subjects.
Reads: the rooms, entropy. Writes: nothing. Never: loads a room before it is needed; stops because one case cannot be
tried (that case has failed).
"""

import os
import zlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from importlib import import_module
from multiprocessing import get_context
from pkgutil import iter_modules
from time import perf_counter

from thresher.audit import mutants, shipped
from thresher.audit.subjects import Enumerated, Finding, Promised, Subject
from thresher.audit.testers.black_box import tried_by_sampling
from thresher.audit.testers.confidence import CONFIDENCE
from thresher.audit.testers.exact import tried_by_law, tried_for_errors
from thresher.noise import Entropy, SeededEntropy, SystemEntropy


@dataclass(frozen=True, slots=True)
class Case:
    """Name one subject by its room and its place there. `sound` says whether its claim should stand."""

    sound: bool
    room: str
    place: int
    name: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """Hold a case, the finding of its trial and how long it took; `failure` says why it could not be tried."""

    case: Case
    finding: Finding | None
    seconds: float
    failure: str = ""

    @property
    def as_expected(self) -> bool:
        """Say whether a mechanism that ships stands, or a broken one is refuted."""
        return self.finding is not None and self.finding.refuted != self.case.sound

    @property
    def verdict(self) -> str:
        if self.finding is None:
            return "not tried"
        if self.case.sound:
            return "REFUTED" if self.finding.refuted else "stands"
        return "caught" if self.finding.refuted else "SURVIVES"


def rooms(*, sound: bool) -> tuple[str, ...]:
    """Return the names of the modules whose subjects ship (`sound`), or are broken."""
    return tuple(room.name for room in iter_modules((shipped if sound else mutants).__path__))


def cases() -> tuple[Case, ...]:
    """Return all cases, mechanisms that ship first."""
    return tuple(
        Case(sound, room, place, subject.name)
        for sound in (True, False)
        for room in rooms(sound=sound)
        for place, subject in enumerate(subjects_in(room, sound=sound))
    )


@lru_cache(maxsize=64)
def subjects_in(room: str, *, sound: bool) -> tuple[Subject, ...]:
    """Return the subjects of a room. They are made once in a process, because some must first compute their cost."""
    module = import_module(f"{(shipped if sound else mutants).__name__}.{room}")
    subjects: tuple[Subject, ...] = module.subjects()
    return subjects


def subject_at(case: Case) -> Subject:
    return subjects_in(case.room, sound=case.sound)[case.place]


def tried(subject: Subject, entropy: Entropy, confidence: Fraction = CONFIDENCE) -> Finding:
    """Return what the tester that fits a subject finds."""
    if isinstance(subject, Enumerated):
        return tried_by_law(subject)
    if isinstance(subject, Promised):
        return tried_for_errors(subject, entropy, confidence)
    return tried_by_sampling(subject, entropy, confidence)


def audited(
    chosen: Sequence[Case],
    *,
    seed: int | None = None,
    confidence: Fraction = CONFIDENCE,
    processes: int | None = None,
    progress: Callable[[Outcome], None] = lambda _: None,
) -> tuple[Outcome, ...]:
    """Try the chosen cases and return the outcomes in their order. With a seed, the draws are the same each time."""
    outcomes: dict[Case, Outcome] = {}
    for outcome in _outcomes(chosen, seed, confidence, processes or min(2, os.cpu_count() or 1)):
        outcomes[outcome.case] = outcome
        progress(outcome)
    return tuple(outcomes[case] for case in chosen)


def outcome_of(case: Case, seed: int | None = None, confidence: Fraction = CONFIDENCE) -> Outcome:
    """Try one case. With a seed, its draws depend on the seed and its name only."""
    start = perf_counter()
    entropy = SystemEntropy() if seed is None else SeededEntropy(seed << 32 | zlib.crc32(case.name.encode()))
    try:
        finding = tried(subject_at(case), entropy, confidence)
    except Exception as error:  # noqa: BLE001 - reported as a trial that failed
        return Outcome(case, None, perf_counter() - start, f"{type(error).__name__}: {error}")
    return Outcome(case, finding, perf_counter() - start)


def _outcomes(chosen: Sequence[Case], seed: int | None, confidence: Fraction, processes: int) -> Iterator[Outcome]:
    if processes == 1 or len(chosen) == 1:
        yield from (outcome_of(case, seed, confidence) for case in chosen)
        return
    # Spawned, not forked: a fork would copy threads and open databases of whoever calls this.
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        running: dict[Future[Outcome], Case] = {
            pool.submit(outcome_of, case, seed, confidence): case for case in chosen
        }
        for done in as_completed(running):
            error = done.exception()
            yield done.result() if error is None else Outcome(running[done], None, 0.0, type(error).__name__)
