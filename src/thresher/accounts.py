"""The book of a set of declarations: opened, verified, with the declared budgets in it.

Reads: the ledger. Writes: accounts and caps, where the declarations changed them. Never: a budget whose unit changed.
"""

from thresher.accounting import UNKNOWN, Subject
from thresher.amounts import Epsilon
from thresher.config import Declarations, StreamDeclaration
from thresher.errors import DeclarationError, LedgerError, NoLedgerError
from thresher.ledger import Balance, Book, open_book
from thresher.plan import subject_of, subject_of_stream


def open_accounts(declared: Declarations) -> Book:
    """Every declared table has its account with its declared cap, or the book is not opened."""
    book = open_book(declared.ledger, anchor=declared.anchor)
    try:
        _check_subjects(declared, book)
        book.keep_budgets(declared.budgets())
    except BaseException:
        book.close()
        raise
    return book


def balance_left(declared: Declarations, account: str) -> Balance | None:
    """Return the budget of an account without making a book; None if the book cannot be read."""
    cap = declared.budgets()[account]
    try:
        book = open_book(declared.ledger, anchor=declared.anchor, make=False)
    except NoLedgerError:
        return Balance(account, "", cap, Epsilon(0), cap, 0)
    except LedgerError:
        return None
    try:
        held = [balance for balance in book.balances() if (balance.account, balance.analyst) == (account, "")]
        return held[0] if held else Balance(account, "", cap, Epsilon(0), cap, 0)
    finally:
        book.close()


def _check_subjects(declared: Declarations, book: Book) -> None:
    """What was lost about rows cannot be counted as lost about persons: an account keeps the subject it began with."""
    kept = book.subjects()
    accounts = {table.account for table in declared.tables.values()}
    for stream in declared.streams.values():
        _check_stream(stream, kept.get(stream.account_name))
    for table in declared.tables.values():
        of_the_other_kind = table.name if table.own_budgets else f"personal:{table.name}"
        if of_the_other_kind in kept and of_the_other_kind not in accounts:
            began = "with one budget for all" if table.own_budgets else "with budgets of people's own"
            raise DeclarationError(
                f"tables.{table.name}.budget_column",
                f"the ledger of this table began {began}, and what was lost cannot be counted anew: declare it as it "
                "was",
            )
        before, now = kept.get(table.account), subject_of(table)
        if before not in (None, UNKNOWN, now):
            raise DeclarationError(
                f"tables.{table.name}.unit",
                f"its budget began with {_words(before.unit)} as the privacy unit, and now it is {_words(now.unit)}. "
                "What was lost cannot be counted anew: restore the declaration as it was",
            )


def _check_stream(stream: StreamDeclaration, before: Subject | None) -> None:
    """Steps of an account are steps of one clock, and lose about one and the same thing, for ever."""
    now = subject_of_stream(stream)
    if before not in (None, UNKNOWN, now):
        changed = ", ".join(before.differences(now)).replace("protected_steps", "protect")
        raise DeclarationError(
            f"streams.{stream.name}.account",
            f"the account {stream.account_name} began with another {changed}, and what it has lost cannot be counted "
            "anew: restore the declaration as it was",
        )


def _words(unit: str | None) -> str:
    return "a row" if unit is None else f"the column {unit}"
