"""The anchor: a file outside the book that knows the book's last line, and what each account had lost by then.

An older copy of the book lacks that line, so it is recognised; what the copy forgot can be charged (`restoring.py`).
The anchor follows every commit. It is written in place and not synced each time: after a power cut it may be behind the
book, which is harmless, and it is never ahead of it. The file has three slots, each with a checksum. The first is
written with the file, and synced; the other two are written in turn, so that a torn slot leaves an older one.
Reads and writes: one small file. Never: moves the anchor back, or makes a file anew that has vanished.
"""

import fcntl
import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from thresher.errors import LedgerCorruptError, LedgerError, LedgerRolledBackError
from thresher.ledger.entries import Head, canonical

_SLOTS = 3
_PAGE = 4096
_CHECKSUM = 64


@dataclass(frozen=True, slots=True)
class AnchoredAccount:
    """A budget as the anchor saw it: its cap and loss in nano-epsilon, and the last charged step of each stream.

    `by_step`: each step of a stream loses by itself, so that the loss is that of any of them. `restored`, `renamed`:
    the lines that last restored the account, and gave it its name; 0 if none did.
    """

    name: str
    analyst: str
    cap: int | None
    loss: int
    steps: tuple[tuple[str, int], ...] = ()
    by_step: bool = False
    restored: int = 0
    renamed: int = 0


@dataclass(frozen=True, slots=True)
class AnchoredBook:
    """A state of a book: the hash of its first line, which names the book; its last line; its accounts.

    `knows_losses`: the anchors of earlier versions do not say what the accounts had lost.
    """

    book: str
    head: Head
    accounts: tuple[AnchoredAccount, ...] = ()
    knows_losses: bool = True


class _Turn:
    """Let one thread of this process move an anchor at a time."""

    lock = threading.Lock()

    @classmethod
    def renew(cls) -> None:
        cls.lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_Turn.renew)


class Anchor:
    """The file at `path`. `optional`: it may be missing when a book is opened on a host that has not seen the book."""

    def __init__(self, path: Path, *, optional: bool = False) -> None:
        self.path, self.optional = path, optional

    def check_place(self) -> None:
        """Raise `OSError` where the file could not be written: before a book is made that would lack it."""
        if not self.optional:
            with self._alone():
                pass

    def read(self) -> AnchoredBook | None:
        """Return the latest state that the file knows; None if there is no file. Refuse a file that says nothing."""
        try:
            return self._latest(self.path.read_bytes())
        except FileNotFoundError:
            return None

    def make(self, seen: AnchoredBook, *, unless_later: bool = False) -> None:
        """Make the file, or write it anew, unless it knows a later state. It is on disk when this returns."""
        with self._alone():
            known = self.read() if unless_later else None
            if known is None or known.head.sequence <= seen.head.sequence:
                self._replace(seen)
            _sync_folder(self.path.parent)

    def follow(self, seen: AnchoredBook) -> None:
        """Write a later state into the file, unless the file holds a later one. Raise `OSError` if there is no file."""
        with self._alone(), open(self.path, "r+b", buffering=0) as file:
            content = file.read()
            known = self._latest(content)
            if known.head.sequence >= seen.head.sequence:
                return
            slot, size = _slot(seen), len(content) // _SLOTS
            if content.startswith(b"{") or len(slot) > size:
                self._replace(seen)
                return
            sequences = [0 if state is None else state.head.sequence for state in _states(content)]
            older = 1 if sequences[1] <= sequences[2] else 2
            os.pwrite(file.fileno(), slot.ljust(size), older * size)

    def _latest(self, content: bytes) -> AnchoredBook:
        states = [state for state in _states(content) if state is not None]
        if not states:
            raise LedgerCorruptError(f"the anchor {self.path} cannot be read. Restore it from a backup")
        return max(states, key=lambda state: state.head.sequence)

    def _replace(self, seen: AnchoredBook) -> None:
        slot = _slot(seen)
        size = _PAGE
        while size < 2 * len(slot):
            size *= 2
        draft = self.path.with_name(self.path.name + ".new")
        with open(draft, "wb") as file:
            file.write(slot.ljust(size) + b" " * (_SLOTS - 1) * size)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, self.path)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Exclude other processes by a lock that a fork does not copy, and other threads of this one."""
        with _Turn.lock, open(self.path.with_name(self.path.name + ".lock"), "w", encoding="ascii") as lock:
            fcntl.lockf(lock, fcntl.LOCK_EX)
            yield


def _slot(seen: AnchoredBook) -> bytes:
    accounts = [
        [held.name, held.analyst, held.cap, held.loss, list(held.steps), held.by_step, held.restored, held.renamed]
        for held in seen.accounts
    ]
    said = {"accounts": accounts, "book": seen.book, "hash": seen.head.hash, "sequence": seen.head.sequence}
    text = canonical(said).encode()
    return sha256(text).hexdigest().encode() + text + b"\n"


def _states(content: bytes) -> list[AnchoredBook | None]:
    """Return what each slot says; None where a slot is empty or torn. The file of an earlier version has one text."""
    if content.startswith(b"{"):
        return [_state(content)]
    size = len(content) // _SLOTS
    slots = [content[number * size : (number + 1) * size].rstrip() for number in range(_SLOTS)]
    return [
        _state(slot[_CHECKSUM:]) if sha256(slot[_CHECKSUM:]).hexdigest().encode() == slot[:_CHECKSUM] and size else None
        for slot in slots
    ]


def _state(text: bytes) -> AnchoredBook | None:
    try:
        said: Any = json.loads(text)
        book, sequence, last = said["book"], said["sequence"], said["hash"]
        if [type(book), type(sequence), type(last)] != [str, int, str] or not 0 < sequence < 2**63:
            return None
        accounts = tuple(
            AnchoredAccount(name, analyst, cap, loss, tuple((stream, step) for stream, step in steps), *more)
            for name, analyst, cap, loss, steps, *more in said.get("accounts", ())
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    return AnchoredBook(book, Head(sequence, last), accounts, "accounts" in said)


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def missing_anchor(path: Path) -> LedgerError:
    """Return the refusal of a book that has entries and lacks its anchor."""
    return LedgerError(
        f"the anchor {path} is missing. It shows that the ledger is not an older copy. If the ledger was moved, move "
        "its anchor too. If you know that this is the latest state of the ledger, make a new anchor with: "
        "thresher ledger verify --accept-anchor"
    )


def check(known: AnchoredBook, first: str | None, hash_at: str | None, head: Head) -> None:
    """Refuse a book that does not contain the line that the anchor knows."""
    anchored = known.head
    if first is None:
        raise LedgerRolledBackError(
            f"the ledger is empty, but its anchor has seen {anchored.sequence} entries. "
            "Restore the newest copy of the ledger"
        )
    if first != known.book:
        raise LedgerRolledBackError("the anchor belongs to another ledger. Put the anchor of this ledger in its place")
    if head.sequence < anchored.sequence:
        raise LedgerRolledBackError(
            f"the ledger ends at entry {head.sequence}, but its anchor has seen entry {anchored.sequence}. This is an "
            "older copy; with it the budget could be spent twice. Restore the newest copy of the ledger. If there is "
            "none, charge what the anchor has seen with: thresher ledger accept-restore"
        )
    if hash_at != anchored.hash:
        raise LedgerRolledBackError(
            f"entry {anchored.sequence} is not the one that the anchor has seen. Restore the newest copy of the "
            "ledger. If there is none, charge what the anchor has seen with: thresher ledger accept-restore"
        )
