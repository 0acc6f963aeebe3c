"""The book of a set of declarations: opened, verified, with the declared budgets in it; and answers it remembers.

Reads: the ledger. Writes: accounts and caps, where the declarations changed them. Never: a budget whose unit changed.
"""

from thresher.config import Declarations, StreamDeclaration
from thresher.errors import (
    DeclarationError,
)
from thresher.ledger import Book, open_book
from thresher.streams.planning import began_with, protects


def open_accounts(declared: Declarations) -> Book:
    """Every declared table has its account with its declared cap, or the book is not opened."""
    book = open_book(declared.ledger, anchor=declared.anchor)
    try:
        _check_units(declared, book)
        book.keep_budgets(declared.budgets())
    except BaseException:
        book.close()
        raise
    return book


def _check_units(declared: Declarations, book: Book) -> None:
    """What was lost about rows cannot be counted as lost about persons, so a budget keeps the unit it began with."""
    for stream in declared.streams.values():
        _check_account(stream, book)


def _check_kind_of_budget(declared: Declarations, account: str) -> None:
    """What was lost of one budget for all cannot be counted as shares of people's own, nor the other way round."""
    name = account.removeprefix("personal:")
    table = declared.tables.get(name)
    if table is not None and {account, table.account} == {name, f"personal:{name}"}:
        began = "with one budget for all" if account == name else "with budgets of people's own"
        raise DeclarationError(
            f"tables.{name}.budget_column",
            f"the ledger of this table began {began}, and what was lost cannot be counted anew: declare it as it was",
        )


def _check_account(stream: StreamDeclaration, book: Book) -> None:
    """Steps of an account are steps of one clock, and lose about one and the same thing, for ever."""
    first = book.asked(stream.account_name, 1)
    began = began_with(first[0]) if first else None
    if began is not None and began != protects(stream):
        changed = ", ".join(name for name, value in protects(stream).items() if began.get(name) != value)
        raise DeclarationError(
            f"streams.{stream.name}.account",
            f"the account {stream.account_name} began with another {changed}, and what it has lost cannot be counted "
            "anew: restore that, or name an account of its own and a budget for it",
        )
