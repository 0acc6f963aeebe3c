"""A ledger that was set back gives out nothing twice: while it is open and after, with an anchor and without one."""

import logging
from contextlib import closing

import pytest
from ledger.set_back import Copy
from ledger.spendings import ROWS, charge, common

from thresher.accounting import Region, Subject, step_spending
from thresher.accounting.subject import STREAM
from thresher.amounts import Epsilon
from thresher.errors import (
    ArgumentError,
    BudgetError,
    LedgerCorruptError,
    LedgerError,
    LedgerRolledBackError,
    LedgerStoppedError,
    NoLedgerError,
)
from thresher.ledger import Charge, closed_book, open_book
from thresher.ledger.anchor import Anchor
from thresher.ledger.restoring import accept_restore

CLOCK = Subject(STREAM, None, "2026-01-01T00:00:00+00:00", 300, 1)
STEP = "stream/0123456789abcdef/"


def answer(book, number, amount="0.1", where=None):
    """Charge and answer one question; the noise would be drawn in between."""
    held = book.reserve(charge("t", common(amount, where), f"key {number}", f"question {number}"))
    book.settle(held, common(amount, where), b"answer")


def step(book, number):
    spending = step_spending(number, Epsilon("0.2"), 1)
    held = book.reserve(Charge("stream:s", spending, f"{STEP}{number}", f"step {number}", "stream step", CLOCK))
    book.settle(held, spending, b"record")


@pytest.fixture(params=["backup api", "files", "restore"])
def place(request, tmp_path):
    """An address and a way to set back what is there."""
    if request.param == "restore":
        return request.getfixturevalue("postgres_url"), request.param
    return f"sqlite:///{tmp_path / 'ledger.db'}", request.param


@pytest.fixture(params=["declared", "none"])
def opened(request, place, tmp_path):
    """A book with a budget of 1, its way back, and how it is opened again."""
    url, way = place
    options = {"anchor": tmp_path / "safe.anchor"} if request.param == "declared" else {}
    with closing(open_book(url, **options)) as book:
        book.open_account("t", "1")
        yield book, way, url, options


def test_a_book_that_is_set_back_while_it_is_open_gives_nothing_out(opened, tmp_path):
    """Eight answers; the first is in the copy. Of the seven that it forgot none is given out again."""
    book, way, url, options = opened
    answer(book, 0)
    copy = Copy(url, way, tmp_path)
    for number in range(1, 8):
        answer(book, number)
    if way == "files":
        # A file that was replaced is another file: this process goes on with the one that it has open.
        book._store.close()
    copy.restore()
    with pytest.raises(LedgerRolledBackError, match=r"set back|older copy|not the one"):
        answer(book, 8)
    for attempt in range(5):
        with pytest.raises(LedgerStoppedError, match="set back"):
            answer(book, 9 + attempt)
        with pytest.raises(LedgerError):
            book.answered("t", "key 0", "question 0")
    with pytest.raises(LedgerRolledBackError):
        book.recover()
    if options or url.startswith("sqlite"):
        with pytest.raises(LedgerRolledBackError):
            open_book(url, **options)


def test_a_reader_sees_it_too(opened, tmp_path):
    book, way, url, _ = opened
    copy = Copy(url, way, tmp_path)
    answer(book, 0)
    if way == "files":
        book._store.close()
    copy.restore()
    with pytest.raises(LedgerRolledBackError, match="set back"):
        book.balance("t")


def test_another_process_that_was_idle_is_stopped_by_the_anchor(place, tmp_path):
    """It has seen no more than the copy holds; the anchor has."""
    url, way = place
    anchor = tmp_path / "safe.anchor"
    with closing(open_book(url, anchor=anchor)) as busy, closing(open_book(url, anchor=anchor)) as idle:
        busy.open_account("t", "1")
        idle.balance("t")
        copy = Copy(url, way, tmp_path)
        answer(busy, 0)
        if way == "files":
            idle._store.close()
        copy.restore()
        with pytest.raises(LedgerRolledBackError, match="older copy"):
            answer(idle, 1)


# Accepting a restored backup


def restored(url, options, tmp_path, way, forgotten):
    """A book that has forgotten what `forgotten` did, and then accepted that it was restored."""
    with closing(open_book(url, **options)) as book:
        book.open_account("t", "1")
        book.open_account("stream:s", "1")
        copy = Copy(url, way, tmp_path)
        forgotten(book)
    copy.restore()
    with pytest.raises(LedgerRolledBackError):
        open_book(url, **options)
    book = closed_book(url, **options)
    return book, accept_restore(book, book.anchor)


@pytest.fixture
def options(tmp_path):
    return {"anchor": tmp_path / "safe.anchor"}


def test_what_the_anchor_saw_is_charged_in_every_region(place, options, tmp_path):
    """R.2: three questions about three buildings leave 0.5 spent. None of the three is sold again."""
    url, way = place

    def forgotten(book):
        for number, building in enumerate("ABC"):
            answer(book, number, "0.5", [("building", "=", building)])
        assert book.balance("t").spent == Epsilon("0.5")

    book, report = restored(url, options, tmp_path, way, forgotten)
    with closing(book):
        assert ("t", "", Epsilon(0), Epsilon("0.5")) in report.charged
        for building in "ABCD":
            with pytest.raises(BudgetError):
                answer(book, f"more {building}", "0.6", [("building", "=", building)])
            assert book.balance("t").spent == Epsilon("0.5")
        answer(book, "last", "0.5", [("building", "=", "A")])
        assert next(loss.where for loss in book.losses("t")) == Region.everything()
        book.verify()
    with closing(open_book(url, **options)) as again:
        assert again.balance("t").spent == Epsilon(1)


def test_answers_of_a_restored_book_are_not_refined_and_its_steps_not_drawn(place, options, tmp_path):
    url, way = place
    with closing(open_book(url, **options)) as book:
        book.open_account("t", "1")
        book.open_account("stream:s", "1")
        answer(book, "before")
        step(book, 0)
        copy = Copy(url, way, tmp_path)
        for number in range(1, 5):
            step(book, number)
    copy.restore()
    book = closed_book(url, **options)
    accept_restore(book, book.anchor)
    with closing(book):
        assert book.recalled("t", "key before").restored
        answer(book, "after")
        assert not book.recalled("t", "key after").restored
        assert book.restored_step("stream:s", f"{STEP}0") == 4
        assert book.restored_step("stream:s", "stream/another/0") == -1
        # A step of before the restoration costs what it cost and more; one of later has its own time.
        step(book, 5)
        assert book.balance("stream:s").spent == Epsilon("0.2")
        book.verify()


def test_a_copy_that_went_on_is_charged_with_both_losses(place, options, tmp_path):
    """A failover: another host, whose anchor knows less, went on with the copy before anybody noticed."""
    url, way = place
    with closing(open_book(url, **options)) as book:
        book.open_account("t", "1")
        copy = Copy(url, way, tmp_path)
        for number in range(2):
            answer(book, number, "0.2")
    copy.restore()
    with closing(open_book(url, anchor=tmp_path / "other.anchor", accept_anchor=True)) as other:
        for number in range(3):
            answer(other, f"there {number}", "0.1")
    with pytest.raises(LedgerRolledBackError):
        open_book(url, **options)
    book = closed_book(url, **options)
    accept_restore(book, book.anchor)
    with closing(book):
        assert book.balance("t").spent == Epsilon("0.7")
        book.verify()


def test_accounts_caps_and_analysts_that_the_backup_does_not_know_are_charged(place, options, tmp_path):
    url, way = place

    def forgotten(book):
        book.open_account("u", "2")
        book.set_cap("u", "0.7", "ann")
        held = book.reserve(Charge("u", common("0.6"), "k", "q", "decision", ROWS, "ann"))
        book.settle(held, common("0.6"), b"answer")
        book.set_cap("t", "5")
        for number in range(12):
            answer(book, number, "0.1")

    book, report = restored(url, options, tmp_path, way, forgotten)
    with closing(book):
        spent = {(account, analyst): str(after) for account, analyst, _, after in report.charged}
        assert spent == {("t", ""): "1.2", ("u", ""): "0.6", ("u", "ann"): "0.6", ("stream:s", ""): "0"}
        with pytest.raises(BudgetError):
            book.reserve(Charge("u", common("0.2"), "k2", "q2", "decision", ROWS, "ann"))
        book.verify()


def test_open_reservations_of_the_backup_are_forfeited(place, options, tmp_path):
    url, way = place
    with closing(open_book(url, **options)) as book:
        book.open_account("t", "1")
        held = book.reserve(charge("t", common("0.3"), "open", "q"))
        copy = Copy(url, way, tmp_path)
        book.cancel(held)
    copy.restore()
    book = closed_book(url, **options)
    accept_restore(book, book.anchor)
    with closing(book):
        assert book.balance("t").reserved == 0
        assert book.balance("t").spent == Epsilon("0.3")


def test_a_restoration_that_is_cut_short_is_done_again(place, options, tmp_path, monkeypatch):
    url, way = place
    with closing(open_book(url, **options)) as book:
        book.open_account("t", "1")
        copy = Copy(url, way, tmp_path)
        answer(book, 0, "0.5")
    copy.restore()
    with monkeypatch.context() as patched:
        patched.setattr(Anchor, "make", lambda *_, **__: (_ for _ in ()).throw(OSError(28, "No space")))
        book = closed_book(url, **options)
        with pytest.raises(LedgerError, match=r"cannot be read or written \(No space"):
            accept_restore(book, book.anchor)
        book.close()
    with pytest.raises(LedgerRolledBackError):
        open_book(url, **options)
    book = closed_book(url, **options)
    accept_restore(book, book.anchor)
    with closing(book):
        assert book.balance("t").spent == Epsilon("0.5")


def test_what_was_not_restored_is_not_accepted(place, options, tmp_path):
    url, _ = place
    with closing(open_book(url, **options)) as book:
        book.open_account("t", "1")
    book = closed_book(url, **options)
    with closing(book), pytest.raises(ArgumentError, match="contains all that this anchor has seen"):
        accept_restore(book, book.anchor)
    with pytest.raises(ArgumentError, match="there is no such file"):
        accept_restore(book, Anchor(tmp_path / "nowhere"))
    other = tmp_path / "other.db"
    open_book(f"sqlite:///{other}").close()
    with pytest.raises(LedgerRolledBackError, match="belongs to another ledger"):
        accept_restore(book, Anchor(tmp_path / "other.db.anchor"))
    with closing(open_book(url, **options)) as again:
        again.verify()


# Anchors


def test_a_declared_anchor_is_strict(url, tmp_path):
    place = tmp_path / "safe.anchor"
    book = open_book(url, anchor=place)
    book.open_account("t", "1")
    place.unlink()
    with pytest.raises(LedgerStoppedError, match="vanished"):
        answer(book, 0)
    assert not place.exists()
    with pytest.raises(LedgerError, match="missing"):
        book.recover()
    book.recover(accept_anchor=True)
    answer(book, 0)
    place.write_text("x")
    with pytest.raises(LedgerStoppedError, match="cannot be read"):
        answer(book, 1)
    with pytest.raises(LedgerCorruptError):
        book.recover()
    book.close()


def test_a_declared_anchor_that_cannot_be_written_refuses_the_book_and_makes_none(url, tmp_path):
    with pytest.raises(LedgerError, match="cannot be read or written"):
        open_book(url, anchor=tmp_path / "absent" / "safe.anchor")
    assert not list(tmp_path.glob("ledger.db*"))
    with pytest.raises(NoLedgerError):
        open_book(url, make=False)


def test_a_host_that_has_no_anchor_yet_says_so_once(postgres_url, tmp_path, caplog):
    """PostgreSQL: the anchor lies beside the declarations, and another host begins without one."""
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    with closing(open_book(postgres_url, folder=first)) as book:
        book.open_account("t", "1")
    assert caplog.text == ""
    for _ in range(2):
        with caplog.at_level(logging.WARNING), closing(open_book(postgres_url, folder=second)) as book:
            assert [entry.kind for entry in book.entries()].count("anchor") == 1
            answer(book, len(book.entries()))
    assert caplog.text.count("has no anchor of the ledger yet") == 1
    copy = Copy(postgres_url, "restore", tmp_path)
    with closing(open_book(postgres_url, folder=second)) as book:
        answer(book, "more")
    copy.restore()
    with pytest.raises(LedgerRolledBackError):
        open_book(postgres_url, folder=second)
    # The first host has not seen what was forgotten, and its anchor knows nothing of it.
    open_book(postgres_url, folder=first).close()


def test_a_host_where_no_anchor_can_be_kept_opens_and_says_so(postgres_url, tmp_path, caplog):
    with closing(open_book(postgres_url, folder=tmp_path)) as book:
        book.open_account("t", "1")
    with caplog.at_level(logging.WARNING), closing(open_book(postgres_url, folder=tmp_path / "absent")) as book:
        assert "without an anchor" in caplog.text
        assert [entry.kind for entry in book.entries()].count("anchor") == 1
        answer(book, 0)
