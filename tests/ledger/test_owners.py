import os
import subprocess
import sys

import pytest

from thresher.ledger import owners
from thresher.ledger.owners import is_gone, process_name


def test_this_process_is_not_gone():
    assert not is_gone(process_name())


def test_a_process_that_ended_is_gone():
    program = "from thresher.ledger.owners import process_name; print(process_name())"
    owner = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.strip()
    assert is_gone(owner)


def test_a_process_that_ended_unnoticed_is_gone():
    """A zombie holds its number, and nothing else."""
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(write_end, process_name().encode())
        os._exit(0)
    owner = os.read(read_end, 1000).decode()
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    assert is_gone(owner)
    os.waitpid(child, 0)
    assert is_gone(owner)


def test_a_number_used_again_is_another_process():
    *rest, _ = process_name().split("/")
    assert is_gone("/".join([*rest, "12345"]))


@pytest.mark.parametrize(
    ("part", "value", "gone"),
    [
        (0, "elsewhere", False),  # another boot id follows, so it may be another machine
        (1, "0" * 32, False),
        (2, "another-boot", True),
        (3, "[1]", False),
    ],
)
def test_only_this_machine_is_judged(part, value, gone):
    parts = process_name().split("/")
    if part < 2:
        parts[2] = "another-boot"
    parts[part] = value
    if owners._UNKNOWN in parts:
        pytest.skip("this machine does not say which it is")
    assert is_gone("/".join(parts)) is gone


@pytest.mark.parametrize("owner", ["", "x", "a/b/c/d/e/f", "?/?/?/?/1/1", "a/b/c/d/e"])
def test_a_name_that_says_nothing_is_not_gone(owner):
    assert not is_gone(owner)


def test_what_cannot_be_read_is_not_gone(monkeypatch):
    owner = process_name()
    monkeypatch.setattr(owners, "_started", lambda number: None)
    assert not is_gone(owner)
    monkeypatch.setattr(owners, "_text", lambda path: "?")
    assert not is_gone(owner)
