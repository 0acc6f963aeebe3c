"""Exact values travel sealed: they are opened only where noise is added, and nowhere else."""

import copy
import pickle
import re
from pathlib import Path

import numpy as np
import pytest

from thresher.errors import BugError
from thresher.question import Exact

SOURCE = Path(__file__).parents[2] / "src" / "thresher"
MAY_OPEN = {"decisions", "mechanisms", "streams", "diagnostics", "personal", "suggestions", "audit"}


def openers(folder: Path) -> set[str]:
    """The rooms in which some module unseals."""
    return {
        path.relative_to(folder).parts[0] for path in folder.rglob("*.py") if re.search(r"\.unseal\(", path.read_text())
    }


def test_only_families_mechanisms_and_the_audit_open_exact_values():
    assert openers(SOURCE) <= MAY_OPEN
    assert "decisions" in openers(SOURCE)


def test_the_search_has_teeth(tmp_path):
    (tmp_path / "cli").mkdir()
    (tmp_path / "cli" / "leak.py").write_text("print(exact.unseal())")
    assert openers(tmp_path) == {"cli"}


def test_a_sealed_value_shows_nothing_and_is_not_written():
    exact = Exact(np.array([[104729]]))
    for shown in (repr(exact), str(exact), f"{exact}"):
        assert shown == "<sealed>"
    for write in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(BugError):
            write(exact)
    assert not hasattr(exact, "__dict__")


@pytest.mark.parametrize("values", [np.array([1]), np.array([[1.5]]), np.array([["a"]])])
def test_it_holds_whole_numbers_by_group_and_aggregate(values):
    with pytest.raises(BugError):
        Exact(values)
