"""The anchor: a file outside the book that says where the book ended, so that an older copy of it is recognised.

The anchor follows every commit. After a crash it may be behind the book, which is harmless. It is never ahead.
Reads and writes: one small file. Never: moves the anchor back.
"""

import fcntl
import json
import os
import threading
from pathlib import Path

from thresher.errors import LedgerCorruptError, LedgerError, LedgerRolledBackError
from thresher.ledger.entries import Head, canonical


class _Turn:
    """Let one thread of this process move an anchor at a time."""

    lock = threading.Lock()

    @classmethod
    def renew(cls) -> None:
        cls.lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_Turn.renew)


class Anchor:
    """The file at `path`. It holds the hash of the book's first line, and the number and hash of the last line seen."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._named_on_disk = False

    def read(self) -> tuple[str, Head] | None:
        """Return the hash of the book's first line and its last known head; None if there is no file."""
        try:
            said = json.loads(self.path.read_text(encoding="ascii"))
            book, sequence, last = said["book"], said["sequence"], said["hash"]
            if [type(book), type(sequence), type(last)] != [str, int, str] or not 0 < sequence < 2**63:
                raise TypeError("an anchor holds the hash of a book, a number and the hash of a line")
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise LedgerCorruptError(f"the anchor {self.path} cannot be read. Restore it from a backup") from error
        return book, Head(sequence, last)

    def move(self, book: str, head: Head) -> None:
        """Write `head` to the file, unless the file knows a later one."""
        with _Turn.lock, open(self.path.with_name(self.path.name + ".lock"), "w", encoding="ascii") as lock:
            # This lock excludes other processes, and a fork does not copy it. `_Turn` excludes other threads.
            fcntl.lockf(lock, fcntl.LOCK_EX)
            known = self.read()
            if known is None or known[1].sequence < head.sequence:
                self._replace(book, head)
            if not self._named_on_disk:
                # If a power cut undoes a later move, an older anchor is left, which is harmless. If it undoes the
                # first move, no anchor is left, and the book would be refused. So the folder is synced, at each
                # opening, because an earlier opening may have died before this line.
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
    """Return the refusal of a book that has entries and lacks its anchor."""
    return LedgerError(
        f"the anchor {path} is missing. It shows that the ledger is not an older copy. If the ledger was moved, move "
        "its anchor too. If you know that this is the latest state of the ledger, make a new anchor with: "
        "thresher ledger verify --accept-anchor"
    )


def check(known: tuple[str, Head], first: str | None, hash_at: str | None, head: Head) -> None:
    """Refuse a book that does not contain the line that the anchor knows."""
    book, anchored = known
    if first is None:
        raise LedgerRolledBackError(
            f"the ledger is empty, but its anchor has seen {anchored.sequence} entries. "
            "Restore the newest copy of the ledger"
        )
    if first != book:
        raise LedgerRolledBackError("the anchor belongs to another ledger. Put the anchor of this ledger in its place")
    if head.sequence < anchored.sequence:
        raise LedgerRolledBackError(
            f"the ledger ends at entry {head.sequence}, but its anchor has seen entry {anchored.sequence}. This is an "
            "older copy; with it the budget could be spent twice. Restore the newest copy of the ledger. If there is "
            "none, count its budgets as spent"
        )
    if hash_at != anchored.hash:
        raise LedgerRolledBackError(
            f"entry {anchored.sequence} is not the one that the anchor has seen. Restore the newest copy of the ledger"
        )
