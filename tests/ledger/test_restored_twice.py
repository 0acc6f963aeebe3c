"""What a restored ledger charges where it was renamed, used in between, or seen by several anchors; and renames."""

import json
import shutil
import threading
from contextlib import closing
from dataclasses import replace

import pytest
from ledger.older import NAMES, copied
from ledger.set_back import Copy
from ledger.spendings import charge, common

from thresher.accounting import UNKNOWN
from thresher.amounts import Epsilon
from thresher.errors import ArgumentError, BudgetError, DeclarationError, LedgerRolledBackError, LostAnswerError
from thresher.ledger import closed_book, open_book
from thresher.ledger.anchor import Anchor
from thresher.ledger.restoring import accept_restore


def answer(book, key, amount="0.1", account="t"):
    held = book.reserve(charge(account, common(amount), str(key), f"question {key}"))
    book.settle(held, common(amount), b"answer")


@pytest.fixture
def url(tmp_path):
    return f"sqlite:///{tmp_path / 'ledger.db'}"


@pytest.fixture
def anchor(tmp_path):
    return tmp_path / "safe.anchor"


def accepted(url, anchor, seen=None):
    book = closed_book(url, anchor=anchor)
    accept_restore(book, Anchor(seen or anchor))
    return book


# A rename that the backup has forgotten


def test_a_forgotten_rename_gives_nothing_back_under_the_old_name(url, anchor, tmp_path):
    with closing(open_book(url, anchor=anchor)) as book:
        book.open_account("t", "1")
        answer(book, 0)
        copy = Copy(url, "backup api", tmp_path)
        book.rename("t", "u")
        for number in range(1, 8):
            answer(book, number, account="u")
    copy.restore()
    with closing(accepted(url, anchor)) as book:
        assert {held.account: str(held.spent) for held in book.balances()} == {"t": "0.8", "u": "0.8"}
        with pytest.raises(BudgetError):
            answer(book, "more", "0.3")
        book.verify()


def test_names_that_were_exchanged_and_forgotten_give_nothing_back(url, anchor, tmp_path):
    with closing(open_book(url, anchor=anchor)) as book:
        book.open_account("t", "1")
        book.open_account("u", "1")
        copy = Copy(url, "backup api", tmp_path)
        answer(book, 0, "0.9", "t")
        for old, new in (("t", "w"), ("u", "t"), ("w", "u")):
            book.rename(old, new)
    copy.restore()
    with closing(accepted(url, anchor)) as book:
        assert {held.account: str(held.spent) for held in book.balances()} == {"t": "0.9", "u": "0.9"}


def test_a_rename_that_the_backup_knows_changes_nothing(url, anchor, tmp_path):
    with closing(open_book(url, anchor=anchor)) as book:
        book.open_account("t", "1")
        book.open_account("v", "1")
        book.rename("t", "u")
        copy = Copy(url, "backup api", tmp_path)
        answer(book, 0, "0.9", "u")
        answer(book, 1, "0.1", "v")
    copy.restore()
    with closing(accepted(url, anchor)) as book:
        assert {held.account: str(held.spent) for held in book.balances()} == {"u": "0.9", "v": "0.1"}


# A copy that was used before its loss was noticed


def test_a_copy_that_another_host_has_used_is_charged_with_both(url, anchor, tmp_path):
    """Its anchor knew no more than the copy, so it opened it. Its answers and the forgotten ones add up."""
    other = tmp_path / "other.anchor"
    with closing(open_book(url, anchor=anchor)) as book:
        book.open_account("t", "2")
        answer(book, 0)
        copy = Copy(url, "backup api", tmp_path)
        shutil.copy(anchor, other)
        for number in range(1, 4):
            answer(book, number)
    copy.restore()
    with closing(open_book(url, anchor=other)) as book:
        for number in range(4, 8):
            answer(book, number)
        assert book.balance("t").spent == Epsilon("0.5")
    with closing(accepted(url, anchor)) as book:
        # 0.5 in the copy, and 0.4 that the anchor has seen.
        assert book.balance("t").spent == Epsilon("0.9")
        book.verify()


@pytest.mark.parametrize("first", ["older", "newer"])
def test_two_anchors_are_accepted_in_either_order(url, anchor, tmp_path, first):
    """An older anchor of the same history adds nothing to the newer one; the newer one adds to what was charged."""
    older = tmp_path / "older.anchor"
    with closing(open_book(url, anchor=anchor)) as book:
        book.open_account("t", "4")
        copy = Copy(url, "backup api", tmp_path)
        answer(book, 0)
        answer(book, 1)
        shutil.copy(anchor, older)
        answer(book, 2, "0.2")
        shutil.copy(anchor, tmp_path / "newer.anchor")
    copy.restore()
    names = [older, tmp_path / "newer.anchor"]
    for name in names if first == "older" else reversed(names):
        with closing(accepted(url, anchor, name)) as book:
            answer(book, f"after {name.stem}")
            spent = book.balance("t").spent
    # 0.4 were lost before. One answer of 0.1 follows each acceptance.
    assert spent == Epsilon("0.6" if first == "newer" else "0.8")


def test_a_second_restoration_charges_what_was_lost_since_the_first(url, anchor, tmp_path):
    with closing(open_book(url, anchor=anchor)) as book:
        book.open_account("t", "4")
        copy = Copy(url, "backup api", tmp_path)
        answer(book, 0)
    copy.restore()
    with closing(accepted(url, anchor)) as book:
        copy = Copy(url, "backup api", tmp_path)
        for number in range(1, 5):
            answer(book, number)
    copy.restore()
    with closing(accepted(url, anchor)) as book:
        assert book.balance("t").spent == Epsilon("0.5")


def test_an_anchor_of_an_earlier_version_knows_no_losses_and_is_not_accepted(url, anchor, tmp_path):
    with closing(open_book(url, anchor=anchor)) as book:
        book.open_account("t", "1")
        copy = Copy(url, "backup api", tmp_path)
        for number in range(8):
            answer(book, number)
        head = book.verify().head
        first = book.entries()[0].hash
    anchor.write_text(json.dumps({"book": first, "hash": head.hash, "sequence": head.sequence}))
    copy.restore()
    for _ in range(2):
        with pytest.raises(LedgerRolledBackError, match="does not say what each account had lost"):
            accepted(url, anchor)
        with pytest.raises(LedgerRolledBackError, match="older copy"):
            open_book(url, anchor=anchor)


def test_a_thread_that_waited_for_the_lock_knows_what_others_have_seen_meanwhile(url, tmp_path):
    """Without an anchor: the book is set back between the look of a thread and its turn to write."""
    book = closed_book(url)
    book._anchor = None
    book.recover(make=True)
    book.open_account("t", "1")
    copy = Copy(url, "backup api", tmp_path)
    failed = []

    def ask():
        try:
            book.set_cap("t", "2")
        except LedgerRolledBackError:
            failed.append("set back")

    store_writing, waiting, go = book._store.writing, threading.Event(), threading.Event()

    def slow():
        waiting.set()
        go.wait()
        return store_writing()

    book._store.writing = slow
    late = threading.Thread(target=ask)
    late.start()
    waiting.wait()
    book._store.writing = store_writing
    answer(book, 0, "0.9")
    book._store.close()
    copy.restore()
    go.set()
    late.join()
    assert failed == ["set back"]
    book.close()


# Renames


def test_a_question_that_runs_while_its_account_is_renamed_is_answered(url):
    with closing(open_book(url)) as asker, closing(open_book(url)) as curator:
        asker.open_account("t", "1")
        settled, lost, given_back = (asker.reserve(charge("t", common("0.1"), str(number), "q")) for number in range(3))
        curator.rename("t", "u")
        asker.settle(settled, common("0.1"), b"answer")
        asker.forfeit(lost)
        asker.cancel(given_back)
        assert curator.answered("u", "0", "q").body == b"answer"
        with pytest.raises(LostAnswerError):
            curator.answered("u", "1", "q")
        assert curator.balance("u").spent == Epsilon("0.2")
        curator.verify()


def test_a_rename_loses_no_budget_of_an_analyst_and_no_account(url):
    with closing(open_book(url)) as book:
        book.open_account("t", "1")
        book.open_account("u", "1")
        book.set_cap("u", "0.1", "ann")
        with pytest.raises(ArgumentError, match="budgets of analysts"):
            book.rename("t", "u")
        with pytest.raises(ArgumentError, match="has this name already"):
            book.rename("t", "t")
        assert {(held.account, held.analyst) for held in book.balances()} == {("t", ""), ("u", ""), ("u", "ann")}
        for old, new in (("t", "v"), ("v", "t"), ("t", "v")):
            book.rename(old, new)
        book.verify()


# Leases


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_renewer_that_failed_is_replaced_by_the_next_question(url, monkeypatch):
    with closing(open_book(url, lease_seconds=1)) as book:
        book.open_account("t", "1")
        with monkeypatch.context() as patched:
            patched.setattr(book.leases, "_renew", lambda _: 1 / 0)
            book.reserve(charge("t", common("0.1"), "first", "q"))
            book.leases._renewer.join()
        held = book.reserve(charge("t", common("0.1"), "second", "q"))
        assert book.leases._renewer.is_alive()
        book.settle(held, common("0.1"), b"answer")


# Bad input


def test_an_anchor_that_cannot_be_read_and_a_number_without_a_line_are_refused(url, anchor, tmp_path):
    with closing(open_book(url, anchor=anchor)) as book:
        book.open_account("t", "1")
        for number in (0, -1, 1 << 63, 10**30):
            with pytest.raises(ArgumentError, match="no open reservation has this number"):
                book.forfeit_entry(number)
    with pytest.raises(ArgumentError, match="cannot be read"):
        accepted(url, anchor, tmp_path)


# Books of earlier versions, whose lines do not say what they read


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "relation",
    ["/srv/clinic.duckdb main.patients", "postgresql 1/5 clinic.Patients", "/srv/patients.parquet", "memory patients"],
)
def test_a_table_that_an_old_book_charged_has_no_new_budget_under_another_name(tmp_path, name, relation):
    with closing(open_book(copied(name, tmp_path))) as book:
        spent = book.balance("patients").spent
        for account in ("trips", "journeys"):
            book.open_account(account, "1")

        def ask(account, key, of):
            book.reserve(replace(charge(account, common("0.1"), key, "q"), relations=(of,)))

        with pytest.raises(DeclarationError, match="of the budget of patients"):
            ask("trips", "a", relation)
        ask("trips", "b", "/srv/clinic.duckdb main.stays")
        assert book.balance("patients").spent == spent
        # Once the account has said what it reads, only that counts.
        if book.subjects()["patients"] != UNKNOWN:
            ask("patients", "c", "/elsewhere/old.duckdb main.patients")
            ask("journeys", "d", relation)
