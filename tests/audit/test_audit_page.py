"""The page about the audit says what the code computes, and names every broken mechanism there is."""

import re
from pathlib import Path

import pytest

from thresher.audit.comparison_laws import gptt_log_ratio
from thresher.audit.registry import MUTANTS, subjects_in

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
    names = {subject.name for room in MUTANTS for subject in subjects_in(room, sound=False)}
    assert names == set(re.findall(r"`(broken_\w+)`", PAGE))
