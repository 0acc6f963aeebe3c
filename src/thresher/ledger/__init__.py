"""The ledger: what every budget permits, and what has been spent of it, safe against crashes, races and retries.

    book       charges: reserve before data are read, settle with the answer
    budgets    accounts, their caps and names, and what is left
    book_page  how a ledger is shown
    leases     how the owner of a reservation says that it lives
    restoring  charge to a restored backup what its anchor has seen
    journal    the lines of a book and its anchor: opened only when verified, stopped after a failed commit
    entries, records, rules    one line; what is charged and kept; what a line does to budgets
    verify     everything derived again from the lines
    anchor     a file outside the book that knows the last line, so that an older copy is refused
    owners, old_books, stores    dead processes; books of earlier versions; SQLite and PostgreSQL

This room knows `accounting` and the pages that show a balance. No plan, question, source or mechanism may enter it.
Reads and writes: a book in SQLite or PostgreSQL, and its anchor. Never: rows, exact values, or noise.
What is promised and what is not: `docs/ledger.md`.
"""

from thresher.ledger.book import Book, closed_book, open_book
from thresher.ledger.entries import Entry
from thresher.ledger.records import Balance, Charge, Recalled, Reservation, State, StoredRelease, checked_key
from thresher.ledger.verify import Verification

__all__ = [
    "Balance",
    "Book",
    "Charge",
    "Entry",
    "Recalled",
    "Reservation",
    "State",
    "StoredRelease",
    "Verification",
    "checked_key",
    "closed_book",
    "open_book",
]
