"""All that is put on trial, by room: what ships and must stand, what is broken and must be refuted.

Reads: the rooms of `shipped` and `mutants`. Writes: nothing. Never: a room loaded before it is asked for.
"""

from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module

from thresher.audit.subjects import Subject

SHIPPED = (
    "noise",
    "decisions",
    "engine",
    "sparse_vector",
    "quantiles",
    "histograms",
    "dawa",
    "residual_plot",
    "roc_curve",
    "binned_residuals",
    "stream_alarms",
    "streams",
    "stream_trees",
    "running_streams",
    "own_budgets",
    "personal",
    "personal_learners",
)
MUTANTS = (
    "sparse_vector",
    "bounds",
    "quantiles",
    "smooth_median",
    "noise",
    "charging",
    "histograms",
    "dawa",
    "residual_plot",
    "roc_curve",
    "binned_residuals",
    "hierarchies",
    "streams",
    "deciding",
    "stream_alarms",
    "running_streams",
    "own_budgets",
    "personal",
    "personal_learners",
)


@dataclass(frozen=True, slots=True)
class Case:
    """One subject by its place: which room, and the how-manieth there. `sound` says whether it should stand."""

    sound: bool
    room: str
    place: int
    name: str


def cases() -> tuple[Case, ...]:
    """Everything, what ships first."""
    return tuple(
        Case(sound, room, place, subject.name)
        for sound, rooms in ((True, SHIPPED), (False, MUTANTS))
        for room in rooms
        for place, subject in enumerate(subjects_in(room, sound=sound))
    )


def subject_of(case: Case) -> Subject:
    return subjects_in(case.room, sound=case.sound)[case.place]


@lru_cache(maxsize=64)
def subjects_in(room: str, *, sound: bool) -> tuple[Subject, ...]:
    """The subjects of a room; made once in a process, because some must first ask what they cost."""
    module = import_module(f"thresher.audit.{'shipped' if sound else 'mutants'}.{room}")
    subjects: tuple[Subject, ...] = module.subjects()
    return subjects
