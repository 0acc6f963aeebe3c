import threading

import pytest
from ledger.spendings import charge, common

from thresher.errors import LedgerCorruptError, LedgerRolledBackError
from thresher.ledger import open_book
from thresher.ledger.anchor import Anchor, check
from thresher.ledger.entries import Head

BOOK = "b" * 64


def test_an_anchor_never_goes_back(tmp_path):
    anchor = Anchor(tmp_path / "anchor")
    anchor.move(BOOK, Head(5, "5" * 64))
    anchor.move(BOOK, Head(3, "3" * 64))
    assert anchor.read() == (BOOK, Head(5, "5" * 64))


def test_threads_that_move_an_anchor_leave_the_latest(tmp_path):
    """Several books of one process may share a file: each has an anchor object of its own."""
    barrier = threading.Barrier(8)

    def work(start):
        anchor = Anchor(tmp_path / "anchor")
        barrier.wait()
        for number in range(start, 400, 8):
            anchor.move(BOOK, Head(number + 1, f"{number + 1:064d}"))

    threads = [threading.Thread(target=work, args=(start,)) for start in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Anchor(tmp_path / "anchor").read() == (BOOK, Head(400, f"{400:064d}"))


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
    assert anchor.read()[1] == book.entries()[-1].head
    book.settle(reservation, common("0.1"), b"")
    assert anchor.read() == (book.entries()[0].hash, book.entries()[-1].head)
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
        check((BOOK, Head(5, "5" * 64)), first, hash_at, head)
    check((BOOK, Head(5, "5" * 64)), BOOK, "5" * 64, Head(9, "9" * 64))
