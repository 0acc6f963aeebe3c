"""What has been spent, durably: budgets that no crash, race or retry can cheat.

Reads and writes: a book in SQLite or PostgreSQL, and its anchor. Never: data, noise, or a promise it cannot keep.
"""

from thresher.ledger.book import Book, open_book
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
    "open_book",
]
