"""What ships stands and what is broken is caught, at the numbers that `thresher audit` uses, with fixed seeds.

A right mechanism is refuted with probability at most 0.001 a trial. Those that need a call for each run are called
less often here than in a soak.
"""

import ast
import importlib
import inspect
from dataclasses import replace
from pathlib import Path

import pytest

from thresher.amounts import Epsilon
from thresher.audit import session
from thresher.audit.session import Case, audited, cases, outcome_of, rooms, subject_at, subjects_in, tried
from thresher.audit.subjects import MOST_SAMPLES, Enumerated, Sampled
from thresher.noise import SeededEntropy

SEED = 20_261_116
# Subjects that make fewer runs than this need a call for each.
FEW = 5_000


@pytest.mark.parametrize("case", [case for case in cases() if not case.sound], ids=lambda case: case.name)
def test_what_is_broken_is_caught(case, trials):
    subject = subject_at(case)
    assert isinstance(subject, Enumerated) or subject.samples <= MOST_SAMPLES
    for seed in range(trials(1, 20)):
        outcome = outcome_of(case, SEED + seed)
        assert outcome.failure == ""
        assert outcome.as_expected, outcome.finding


@pytest.mark.parametrize("case", [case for case in cases() if case.sound], ids=lambda case: case.name)
def test_what_ships_stands(case, trials, soak):
    subject = subject_at(case)
    for seed in range(trials(1, 20)):
        if not isinstance(subject, Enumerated) and subject.samples < FEW and not soak:
            subject = replace(subject, samples=subject.samples // 5)
        found = tried(subject, SeededEntropy(SEED + seed))
        assert not found.refuted, found


@pytest.mark.parametrize("sound", [True, False])
def test_every_room_is_on_trial(sound):
    assert len(rooms(sound=sound)) > 8
    assert all(subjects_in(room, sound=sound) for room in rooms(sound=sound))


def test_names_are_told_apart():
    names = [case.name for case in cases()]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("room", rooms(sound=False))
def test_broken_mechanisms_are_called_so(room):
    """Whatever a room of broken mechanisms offers is named `broken_...`, and each of them is tried."""
    module = importlib.import_module(f"thresher.audit.mutants.{room}")
    tree = ast.parse(Path(inspect.getfile(module)).read_text())
    offered = {
        node.name for node in tree.body if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
    } - {"subjects"}
    assert offered
    assert all(name.startswith("broken_") for name in offered)
    assert all(subject.name.startswith("broken_") for subject in module.subjects())


def test_a_session_in_processes_finds_the_same_as_one_by_one():
    few = tuple(case for case in cases() if not case.sound and case.room in ("noise_mutants", "diagnostic_mutants"))
    told = []
    together = audited(few, seed=7, processes=2, progress=lambda outcome: told.append(outcome.case))
    assert sorted(told, key=str) == sorted(few, key=str)
    assert [outcome.finding for outcome in together] == [outcome_of(case, 7).finding for case in few]
    assert [outcome.verdict for outcome in together] == ["caught"] * len(few)


def test_a_case_that_cannot_be_tried_has_failed(monkeypatch):
    def broken(*_):
        raise RuntimeError("no")

    odd = Sampled("odd", "", Epsilon(1), (), broken, 1_000)
    monkeypatch.setattr(session, "subjects_in", lambda *_, **__: (odd,))
    (outcome,) = audited([Case(True, "noise", 0, "odd")], seed=1)
    assert not outcome.as_expected
    assert outcome.verdict == "not tried"
    assert "IndexError" in outcome.failure


def test_a_mutant_that_is_cured_survives_and_that_is_told():
    """The verdict on a broken mechanism is not foregone: with the right charge it is not refuted."""
    (retry,) = (subject for subject in subjects_in("noise_mutants", sound=False) if "retry" in subject.name)
    cured = Sampled(retry.name, retry.about, Epsilon(2), retry.pairs, retry.run, retry.samples)
    assert not tried(cured, SeededEntropy(1)).refuted
