"""Leases: what a process reserved is charged for good once it shows no sign of life, wherever it ran."""

import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
from ledger.spendings import charge, common

from thresher.amounts import Epsilon
from thresher.errors import ArgumentError, LedgerStoppedError, LostAnswerError, PendingError
from thresher.ledger import open_book
from thresher.ledger.stores.book_tables import CommitFailedError, Tables
from thresher.ledger.stores.database import DatabaseStore

ROOT = Path(__file__).parents[2]
QUESTION = charge("t", common("0.1"), "k", "q")


@pytest.fixture
def book(url):
    with closing(open_book(url, lease_seconds=1)) as opened:
        opened.open_account("t", "1")
        yield opened


def kinds(book):
    return [entry.kind for entry in book.entries()][2:]


def silent(book):
    """Let the book's owner show no sign of life from now on."""
    book.leases._renew = lambda held: None


def lapse():
    time.sleep(1.1)


def test_a_lease_is_renewed_while_its_owner_lives(book):
    held = book.reserve(QUESTION)
    time.sleep(2.5)
    book.set_cap("t", "2")
    book.settle(held, held.worst_case, b"answer")
    assert kinds(book) == ["reserve", "cap", "settle"]


def test_what_has_lapsed_is_forfeited_by_whoever_writes_next(book, url):
    held = book.reserve(QUESTION)
    silent(book)
    with closing(open_book(url, lease_seconds=1)) as other:
        other.set_cap("t", "2")
        assert kinds(other) == ["reserve", "cap"]
        lapse()
        other.set_cap("t", "3")
        assert kinds(other) == ["reserve", "cap", "forfeit", "cap"]
    with pytest.raises(LostAnswerError, match="no sign of life for 1 seconds"):
        book.settle(held, held.worst_case, b"answer")
    assert book.balance("t").spent == Epsilon("0.1")
    with pytest.raises(LostAnswerError):
        book.answered("t", "k", "q")
    book.verify()


def test_an_owner_that_wakes_too_late_cannot_settle_though_nobody_else_wrote(book):
    held = book.reserve(QUESTION)
    silent(book)
    lapse()
    with pytest.raises(LostAnswerError, match="no sign of life"):
        book.settle(held, held.worst_case, b"answer")
    # The transaction that refused it did not write; the next one forfeits.
    book.set_cap("t", "2")
    assert kinds(book) == ["reserve", "forfeit", "cap"]


@pytest.mark.parametrize("end", ["forfeit", "cancel"])
def test_nothing_is_given_back_after_it_has_lapsed(book, end):
    held = book.reserve(QUESTION)
    silent(book)
    lapse()
    with pytest.raises(LostAnswerError):
        getattr(book, end)(held)
    book.set_cap("t", "2")
    assert book.balance("t").spent == Epsilon("0.1")


def test_whoever_waits_for_the_answer_learns_that_it_is_lost(book, url):
    book.reserve(QUESTION)
    silent(book)
    with closing(open_book(url, lease_seconds=1)) as other:
        with pytest.raises(PendingError):
            other.reserve(QUESTION, wait_seconds=0)
        with pytest.raises(LostAnswerError):
            other.reserve(QUESTION, wait_seconds=10)


IN_A_CONTAINER = """
import sys, time
sys.path[:0] = ["tests"]
from ledger.spendings import charge, common
from thresher.ledger import open_book
book = open_book(sys.argv[1], lease_seconds=1)
book.reserve(charge("t", common("0.1"), sys.argv[2], "q"))
print("reserved", flush=True)
time.sleep(600)
"""


@pytest.mark.skipif(shutil.which("unshare") is None or os.geteuid() != 0, reason="NO NAMESPACES: needs root, unshare")
def test_a_process_killed_in_a_namespace_of_its_own_is_forfeited(book, url, trials, measured):
    """As in a container: its number means nothing here, so only its lease tells that it is gone."""
    count = trials(2, 50)
    for number in range(count):
        command = [
            "unshare",
            "--pid",
            "--fork",
            "--kill-child",
            sys.executable,
            "-c",
            IN_A_CONTAINER,
            url,
            f"k{number}",
        ]
        with subprocess.Popen([*command, url, f"k{number}"], stdout=subprocess.PIPE, text=True, cwd=ROOT) as container:
            assert container.stdout.readline() == "reserved\n"
            container.send_signal(signal.SIGKILL)
        with pytest.raises(PendingError):
            book.reserve(charge("t", common("0.1"), f"k{number}", "q"), wait_seconds=0)
        with pytest.raises(LostAnswerError):
            book.reserve(charge("t", common("0.1"), f"k{number}", "q"), wait_seconds=10)
        book.set_cap("t", str(2 + number))
    assert kinds(book) == ["reserve", "forfeit", "cap"] * count
    assert book.balance("t").spent == Epsilon("0.1") * count
    measured(f"killed in a namespace of its own: {count}, each charged once")


def test_a_book_ends_what_it_could_not_end_when_it_recovers(book, monkeypatch):
    held = book.reserve(QUESTION)

    def fails(self, entry):
        raise CommitFailedError("disk")

    with monkeypatch.context() as patched:
        patched.setattr(Tables, "append", fails)
        with pytest.raises(LedgerStoppedError):
            book.settle(held, held.worst_case, b"answer")
    book.recover()
    assert kinds(book) == ["reserve", "forfeit"]
    with pytest.raises(LostAnswerError):
        book.reserve(QUESTION)
    book.reserve(charge("t", common("0.1"), "another", "q"))


def test_another_book_of_the_same_process_goes_on_when_the_lease_has_run_out(url, monkeypatch):
    """After a failed commit nobody may open the stopped book again; a new one waits for its lease."""
    with closing(open_book(url, lease_seconds=1)) as stopped:
        stopped.open_account("t", "1")
        stopped.reserve(QUESTION)
        stopped._stop("a commit failed")
        with closing(open_book(url, lease_seconds=1)) as fresh:
            with pytest.raises(LostAnswerError):
                fresh.reserve(QUESTION, wait_seconds=10)
            fresh.reserve(charge("t", common("0.1"), "another", "q"))


def test_a_lease_beyond_the_clock_is_named_and_ended_by_hand(book, url, monkeypatch):
    """The clock was set back: the lease does not run out, and nobody renews it."""
    held = book.reserve(QUESTION)
    silent(book)
    with book._store.writing() as tables:
        tables.put_lease(held.sequence, tables.now() + 10**9)
    with closing(open_book(url, lease_seconds=1)) as other:
        with pytest.raises(PendingError, match=f"clock.*thresher ledger forfeit {held.sequence}"):
            other.await_end("k")
        assert other.forfeit_entry(held.sequence) == Epsilon("0.1")
        other.await_end("k")
        with pytest.raises(ArgumentError, match="no open reservation"):
            other.forfeit_entry(held.sequence)
    with pytest.raises(LostAnswerError):
        book.settle(held, held.worst_case, b"answer")


def test_renewals_are_no_lines_and_failures_to_renew_are_not_raised(book, monkeypatch):
    held = book.reserve(QUESTION)
    lines = len(book.entries())
    with book._reading() as tables:
        before = tables.lease(held.sequence)
    time.sleep(0.01)
    book._renew([held.sequence])
    with book._reading() as tables:
        assert tables.lease(held.sequence) > before
    assert len(book.entries()) == lines

    def gone(self):
        raise LedgerStoppedError("the server is gone")

    with monkeypatch.context() as patched:
        patched.setattr(DatabaseStore, "writing", gone)
        book._renew([held.sequence])
    book.settle(held, held.worst_case, b"answer")
    book._renew([held.sequence])
    book.verify()


def test_a_child_does_not_renew_what_its_parent_reserved(book):
    held = book.reserve(QUESTION)
    child = os.fork()
    if child == 0:
        book.leases.drop(held.sequence)
        book.leases.drop_all()
        ours = book.leases._held
        book.leases.hold(99)
        os._exit(0 if ours == {held.sequence} and book.leases._held == {99} else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert book.leases._held == {held.sequence}
    book.settle(held, held.worst_case, b"answer")


@pytest.mark.parametrize("seconds", [0, 0.5, -1, 10**6])
def test_leases_of_odd_lengths_are_refused(tmp_path, seconds):
    with pytest.raises(ArgumentError, match="lease_seconds"):
        open_book(f"sqlite:///{tmp_path / 'ledger.db'}", lease_seconds=seconds)
