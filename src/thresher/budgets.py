"""The book of a set of declarations: opened, verified, with the declared budgets in it.

Reads: the ledger. Writes: accounts and caps, where the declarations changed them. Never: a budget whose unit changed.
"""

from thresher.config import Declarations
from thresher.decisions import protected, protected_by
from thresher.errors import DeclarationError
from thresher.ledger import Book, open_book


def open_budgets(declared: Declarations) -> Book:
    """Every declared table has its account with its declared cap, or the book is not opened."""
    book = open_book(declared.ledger, anchor=declared.anchor)
    try:
        _check_units(declared, book)
        book.keep_budgets({name: table.budget for name, table in declared.tables.items()})
    except BaseException:
        book.close()
        raise
    return book


def _check_units(declared: Declarations, book: Book) -> None:
    """What was lost about rows cannot be counted as lost about persons, so a budget keeps the unit it began with."""
    for entry in book.entries():
        table = declared.tables.get(entry.account)
        if entry.kind == "reserve" and table is not None:
            before, now = protected_by(entry.facts["question"]), protected(table)
            if before is not None and before != (now,):
                raise DeclarationError(
                    f"tables.{table.name}.unit",
                    f"its budget began with {_words(before[0])} as the privacy unit, and now it is {_words(now)}. What "
                    "was lost cannot be counted anew: declare the old unit, or give the table another name and a "
                    "budget of its own",
                )


def _words(unit: str | None) -> str:
    return "a row" if unit is None else f"the column {unit}"
