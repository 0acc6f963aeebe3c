"""Open the ledger of a set of declarations, verified, with the declared budgets in it.

Reads: the ledger. Writes: accounts and caps, where the declarations changed them. Never: a budget of another subject.
"""

from dataclasses import replace
from pathlib import Path
from typing import TypedDict

from thresher.accounting import UNKNOWN, Subject
from thresher.amounts import Epsilon
from thresher.config import Declarations, StreamDeclaration
from thresher.errors import DeclarationError, LedgerError, NoLedgerError
from thresher.ledger import Balance, Book, closed_book, open_book
from thresher.plan import subject_of, subject_of_stream


class BookOptions(TypedDict, total=False):
    """How a ledger is opened, beside its address."""

    anchor: Path | None
    folder: Path | None
    lease_seconds: float


def open_accounts(declared: Declarations) -> Book:
    """Open the book and give every declared table and stream its account and cap. If one is refused, close the book."""
    book = open_book(declared.ledger, **book_options(declared))
    try:
        _check_subjects(declared, book)
        book.keep_budgets(declared.budgets())
    except BaseException:
        book.close()
        raise
    return book


def book_options(declared: Declarations) -> BookOptions:
    """Return how the declared ledger is opened: its anchor, the folder for an undeclared one, and its leases."""
    options = BookOptions(anchor=declared.anchor, folder=declared.folder)
    if declared.lease_seconds is not None:
        options["lease_seconds"] = declared.lease_seconds
    return options


def balance_left(declared: Declarations, account: str) -> Balance | None:
    """Return what is left of an account, without making or changing a ledger; None if it cannot be read."""
    cap = declared.budgets()[account]
    book = closed_book(declared.ledger, **book_options(declared))
    try:
        kept = book.glance(account)
        if kept is None:
            return Balance(account, "", cap, Epsilon(0), cap, 0)
        # The next question writes the declared budget into the ledger.
        return replace(kept, cap=cap, remaining=cap - min(kept.spent, cap))
    except NoLedgerError:
        return Balance(account, "", cap, Epsilon(0), cap, 0)
    except (LedgerError, OSError):
        return None
    finally:
        book.close()


def _check_subjects(declared: Declarations, book: Book) -> None:
    """Refuse a declaration under which an account would be about another subject than the one that it began with."""
    kept = book.subjects()
    accounts = {table.account for table in declared.tables.values()}
    for stream in declared.streams.values():
        _check_stream(stream, kept.get(stream.account_name))
    for table in declared.tables.values():
        of_the_other_kind = table.name if table.own_budgets else f"personal:{table.name}"
        if of_the_other_kind in kept and of_the_other_kind not in accounts:
            began = "one budget for all" if table.own_budgets else "a budget for each person"
            raise DeclarationError(
                f"tables.{table.name}.budget_column",
                f"this table began with {began}, and losses of one kind cannot be converted into the other. Restore "
                "the declaration as it was",
            )
        before, now = kept.get(table.account), subject_of(table)
        if table.people is not None and before not in (None, UNKNOWN, now):
            raise DeclarationError(
                f"accounts.{table.people.name}.unit",
                f"the account began with {_words(before.unit)} as the unit (who is protected), and now it is "
                f"{table.people.unit}. What was lost before cannot be converted: restore the declaration as it was",
            )
        if before not in (None, UNKNOWN, now):
            raise DeclarationError(
                f"tables.{table.name}.unit",
                f"its budget began with {_words(before.unit)} as the privacy unit (who is protected), and now it is "
                f"{_words(now.unit)}. What was lost before cannot be converted: restore the declaration as it was",
            )


def _check_stream(stream: StreamDeclaration, before: Subject | None) -> None:
    """Refuse a stream whose clock, protection or unit differs from what its account began with."""
    now = subject_of_stream(stream)
    if before not in (None, UNKNOWN, now):
        changed = ", ".join(before.differences(now)).replace("protected_steps", "protect")
        raise DeclarationError(
            f"streams.{stream.name}.account",
            f"the account {stream.account_name} began with another {changed}, and what was lost before cannot be "
            "converted. Restore the declaration as it was",
        )


def _words(unit: str | None) -> str:
    return "a row" if unit is None else f"the column {unit}"
