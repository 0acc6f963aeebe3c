"""The page about the audit says what the code computes, and names every broken mechanism there is."""

import re
from pathlib import Path

import pytest

from thresher.audit.foreign.visitor import visited
from thresher.audit.laws.comparison_laws import gptt_log_ratio
from thresher.audit.session import rooms, subjects_in
from thresher.audit.subjects import Enumerated

PAGE = (Path(__file__).parents[2] / "docs" / "audit.md").read_text()
SPLITS = {"quarter and three quarters": (0.25, 0.75), "halves": (0.5, 0.5)}


@pytest.mark.parametrize("row", SPLITS)
def test_the_losses_shown_are_those_computed(row):
    copies = re.search(r"\| Exact loss at t pairs, claimed 1 \| t = (.*) \|", PAGE)[1].split(" | ")
    shown = re.search(rf"\| {row} \| (.*) \|", PAGE)[1].split(" | ")
    assert len(copies) == len(shown)
    for t, loss in zip(copies, shown, strict=True):
        places = len(loss.partition(".")[2])
        assert f"{gptt_log_ratio(int(t), *SPLITS[row]):.{places}f}" == loss


def test_every_broken_mechanism_is_told_of():
    names = {subject.name for room in rooms(sound=False) for subject in subjects_in(room, sound=False)}
    assert names == set(re.findall(r"`(broken_\w+)`", PAGE))


def test_the_numbers_of_trials_are_right():
    ships = [subject for room in rooms(sound=True) for subject in subjects_in(room, sound=True)]
    exact = sum(isinstance(subject, Enumerated) for subject in ships)
    assert f"{len(ships) - exact} trials use samples" in PAGE
    assert f"with probability at most {(len(ships) - exact) / 1000}" in PAGE.replace("\n", " ")
    assert f"({exact} trials)" in PAGE


def test_the_example_stands_and_numpy_noise_in_its_place_does_not(tmp_path, monkeypatch):
    example = re.search(r"Say this is `mine.py`:\n\n```python\n(.*?)```", PAGE, re.DOTALL)[1]
    floats = "import numpy\ndef floats(data): return len(data) + numpy.random.default_rng().laplace()\n"
    (tmp_path / "mine.py").write_text(example + floats)
    monkeypatch.chdir(tmp_path)
    assert not visited("mine:noisy_count", ([1, 2, 3], [1, 2, 3, 4]), 1, samples=2_000).finding.refuted
    refuted = visited("mine:floats", ([1, 2, 3], [1, 2, 3, 4]), 1, samples=5_000).finding
    assert refuted.refuted
    assert "lowest bit" in refuted.event
