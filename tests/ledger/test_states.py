"""What streams go on from: kept with the release in one transaction, and checked with the book."""

import sqlite3
from contextlib import closing

import pytest
from ledger.spendings import charge, common

from thresher.errors import ArgumentError, LedgerCorruptError, LedgerStoppedError
from thresher.ledger import State, open_book


def step(book, number, state):
    held = book.reserve(charge("campus", common("0.1"), f"step/{number}", "q"))
    book.settle(held, common("0.1"), b"released %d" % number, state=state)


def test_a_state_is_kept_with_its_step_and_replaced_by_the_next(book):
    book.open_account("campus", "1")
    assert book.state("campus") is None
    step(book, 0, State("campus", b"sealed zero"))
    step(book, 1, State("gym", b"other"))
    step(book, 2, State("campus", b"sealed two"))
    assert (book.state("campus"), book.state("gym")) == (b"sealed two", b"other")
    step(book, 3, None)
    assert book.state("campus") == b"sealed two"
    book.verify()
    book.close()
    with pytest.raises(LedgerStoppedError):
        book.state("campus")


@pytest.mark.parametrize("state", [("campus", b"x"), State("a", b"x").body])
def test_what_is_no_state_is_refused_and_the_reservation_stands(book, state):
    book.open_account("campus", "1")
    held = book.reserve(charge("campus", common("0.1"), "k", "q"))
    with pytest.raises(ArgumentError, match="State"):
        book.settle(held, common("0.1"), b"r", state=state)
    book.settle(held, common("0.1"), b"r")


@pytest.mark.parametrize(("name", "body"), [("", b"x"), ("x" * 201, b"x"), ("a\x00b", b"x"), ("a", "text"), (7, b"x")])
def test_names_are_texts_and_bodies_bytes(name, body):
    with pytest.raises(ArgumentError):
        State(name, body)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE states SET body = x'00'",
        "UPDATE states SET reservation = reservation + 1",
        "UPDATE states SET name = 'another'",
        "DELETE FROM states",
        "INSERT INTO states VALUES ('forged', 3, x'00')",
        "UPDATE states SET body = 'text'",
        "UPDATE states SET body = 7",
    ],
)
def test_a_state_changed_by_hand_is_found_at_opening(tmp_path, statement):
    url = f"sqlite:///{tmp_path}/ledger.db"
    with closing(open_book(url)) as book:
        book.open_account("campus", "1")
        step(book, 0, State("campus", b"sealed"))
    with closing(sqlite3.connect(tmp_path / "ledger.db")) as raw, raw:
        raw.execute(statement)
    with pytest.raises(LedgerCorruptError, match="state"):
        open_book(url)
