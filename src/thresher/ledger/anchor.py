"""Where a book ended, kept in a file outside it, so that an older copy of the book is seen to be older.

The anchor follows every commit. It may lag behind the book after a crash, which is harmless, and never runs ahead.
Reads and writes: one small file. Never: goes back.
"""

import fcntl
import json
import os
import threading
from pathlib import Path

from thresher.errors import LedgerCorruptError, LedgerError, LedgerRolledBackError
from thresher.ledger.entries import Head, canonical


class _Turn:
    """One thread of this process at a time."""

    lock = threading.Lock()

    @classmethod
    def renew(cls) -> None:
        cls.lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_Turn.renew)


class Anchor:
    """The file at `path`: the first and the last line that were seen in the book."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._named_on_disk = False

    def read(self) -> tuple[str, Head] | None:
        """The book's first hash and its last known head, or None if there is no file."""
        try:
            said = json.loads(self.path.read_text(encoding="ascii"))
            book, sequence, last = said["book"], said["sequence"], said["hash"]
            if [type(book), type(sequence), type(last)] != [str, int, str] or not 0 < sequence < 2**63:
                raise TypeError("not what an anchor holds")
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise LedgerCorruptError(f"the anchor {self.path} cannot be read; restore it from a backup") from error
        return book, Head(sequence, last)

    def move(self, book: str, head: Head) -> None:
        """Remember `head`, unless a later one is known already."""
        with _Turn.lock, open(self.path.with_name(self.path.name + ".lock"), "w", encoding="ascii") as lock:
            # A record lock, which a fork does not copy; it excludes other processes, `_Turn` other threads.
            fcntl.lockf(lock, fcntl.LOCK_EX)
            known = self.read()
            if known is None or known[1].sequence < head.sequence:
                self._replace(book, head)
            if not self._named_on_disk:
                # A power cut that undoes a later move leaves an older anchor; one that undoes the first leaves none,
                # and the book would be refused. The last opening may have died before this line: so at each opening.
                _sync_folder(self.path.parent)
                self._named_on_disk = True

    def _replace(self, book: str, head: Head) -> None:
        draft = self.path.with_name(self.path.name + ".new")
        with open(draft, "w", encoding="ascii") as file:
            file.write(canonical({"book": book, "hash": head.hash, "sequence": head.sequence}))
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, self.path)


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _missing(path: Path) -> LedgerError:
    """The refusal of a book that has lines and no anchor."""
    return LedgerError(
        f"the anchor {path} is missing. If the ledger was moved, move its anchor too; "
        "if you know that this is its latest state, accept it with: thresher ledger verify --accept-anchor"
    )


def check(known: tuple[str, Head], first: str | None, hash_at: str | None, head: Head) -> None:
    """Refuse a book that does not contain the line the anchor knows."""
    book, anchored = known
    if first is None:
        raise LedgerRolledBackError(
            f"the ledger is empty, but its anchor has seen {anchored.sequence} entries: restore the ledger"
        )
    if first != book:
        raise LedgerRolledBackError("the anchor belongs to another ledger: put the right one beside it")
    if head.sequence < anchored.sequence:
        raise LedgerRolledBackError(
            f"the ledger ends at entry {head.sequence}, but its anchor has seen entry {anchored.sequence}: "
            "this is an older copy, and opening it would allow its budget to be spent again"
        )
    if hash_at != anchored.hash:
        raise LedgerRolledBackError(f"entry {anchored.sequence} is not the one that the anchor has seen")
