import threading

import pytest
from ledger.spendings import charge, common

from thresher.errors import LedgerCorruptError, LedgerRolledBackError
from thresher.ledger import open_book
from thresher.ledger.anchor import Anchor, AnchoredAccount, AnchoredBook, check
from thresher.ledger.entries import Head

BOOK = "b" * 64


def test_an_anchor_never_goes_back(tmp_path):
    anchor = Anchor(tmp_path / "anchor")
    anchor.make(AnchoredBook(BOOK, Head(5, "5" * 64)))
    for sequence in (3, 6, 4, 7, 5):
        anchor.follow(AnchoredBook(BOOK, Head(sequence, f"{sequence}" * 64)))
    assert anchor.read() == AnchoredBook(BOOK, Head(7, "7" * 64))
    anchor.make(AnchoredBook(BOOK, Head(2, "2" * 64)), unless_later=True)
    assert anchor.read().head.sequence == 7


def test_an_anchor_holds_what_accounts_have_lost_however_many_there_are(tmp_path):
    anchor, few = Anchor(tmp_path / "anchor"), (AnchoredAccount("t", "", 10, 3, (("stream/x", 4),)),)
    anchor.make(AnchoredBook(BOOK, Head(1, "1" * 64), few))
    assert anchor.read().accounts == few
    many = tuple(AnchoredAccount(f"table {number}", "ann", None, number) for number in range(1000))
    anchor.follow(AnchoredBook(BOOK, Head(2, "2" * 64), many))
    assert anchor.read().accounts == many
    anchor.follow(AnchoredBook(BOOK, Head(3, "3" * 64), few))
    assert anchor.read() == AnchoredBook(BOOK, Head(3, "3" * 64), few)


def test_a_torn_slot_falls_back_to_the_state_before(tmp_path):
    path = tmp_path / "anchor"
    anchor = Anchor(path)
    anchor.make(AnchoredBook(BOOK, Head(1, "1" * 64)))
    for sequence in range(2, 9):
        before = path.read_bytes()
        anchor.follow(AnchoredBook(BOOK, Head(sequence, f"{sequence}" * 64)))
        after = path.read_bytes()
        changed = [at for at in range(len(after)) if after[at] != before[at]]
        for part in (0.1, 0.5, 0.9):
            at = changed[int(len(changed) * part)]
            path.write_bytes(after[:at] + before[at:])
            assert anchor.read().head.sequence == sequence - 1
        path.write_bytes(after)
        assert anchor.read().head.sequence == sequence


def test_a_file_that_has_vanished_is_not_made_anew(tmp_path):
    anchor = Anchor(tmp_path / "anchor")
    anchor.make(AnchoredBook(BOOK, Head(1, "1" * 64)))
    (tmp_path / "anchor").unlink()
    with pytest.raises(FileNotFoundError):
        anchor.follow(AnchoredBook(BOOK, Head(2, "2" * 64)))
    assert anchor.read() is None


def test_threads_that_move_an_anchor_leave_the_latest(tmp_path):
    """Several books of one process may share a file: each has an anchor object of its own."""
    barrier = threading.Barrier(8)
    Anchor(tmp_path / "anchor").make(AnchoredBook(BOOK, Head(1, "1" * 64)))

    def work(start):
        anchor = Anchor(tmp_path / "anchor")
        barrier.wait()
        for number in range(start, 400, 8):
            anchor.follow(AnchoredBook(BOOK, Head(number + 2, f"{number + 2:064d}")))

    threads = [threading.Thread(target=work, args=(start,)) for start in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Anchor(tmp_path / "anchor").read() == AnchoredBook(BOOK, Head(401, f"{401:064d}"))


@pytest.mark.parametrize("text", ["", "{}", "[1]", "x", '{"book": 1, "hash": 2, "sequence": 3}', "[" * 100_000])
def test_an_anchor_that_cannot_be_read_is_no_anchor(tmp_path, text):
    (tmp_path / "anchor").write_text(text)
    with pytest.raises(LedgerCorruptError, match="anchor"):
        Anchor(tmp_path / "anchor").read()


def test_the_anchor_of_a_book_follows_every_commit(tmp_path):
    book = open_book(f"sqlite:///{tmp_path / 'ledger.db'}")
    anchor = Anchor(tmp_path / "ledger.db.anchor")
    book.open_account("t", "1")
    reservation = book.reserve(charge("t", common("0.1"), "k", "q"))
    assert anchor.read().head == book.entries()[-1].head
    assert anchor.read().accounts == (AnchoredAccount("t", "", 10**9, 10**8),)
    book.settle(reservation, common("0.1"), b"")
    assert (anchor.read().book, anchor.read().head) == (book.entries()[0].hash, book.entries()[-1].head)
    book.close()


@pytest.mark.parametrize(
    ("first", "hash_at", "head"),
    [
        (None, None, Head(0, "0" * 64)),
        ("c" * 64, "5" * 64, Head(9, "9" * 64)),
        (BOOK, None, Head(4, "4" * 64)),
        (BOOK, "6" * 64, Head(9, "9" * 64)),
    ],
)
def test_a_book_that_lacks_the_anchored_line_is_refused(first, hash_at, head):
    with pytest.raises(LedgerRolledBackError):
        check(AnchoredBook(BOOK, Head(5, "5" * 64)), first, hash_at, head)
    check(AnchoredBook(BOOK, Head(5, "5" * 64)), BOOK, "5" * 64, Head(9, "9" * 64))
