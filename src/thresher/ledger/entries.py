"""The lines of the book: what happened, in order, each holding the hash of the one before.

Changing, removing or reordering a line changes every hash after it, and the last one is kept outside the book as well
(`anchor.py`). Lines hold public facts only: questions, amounts, regions, and the hash of what was released.
Reads: nothing. Writes: nothing. Never: a true value, or a line without its place in the chain.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from thresher.accounting import Subject, spending_from_json
from thresher.errors import LedgerCorruptError

GENESIS = "0" * 64
# book: the first line. account, cap: what may be lost. reserve: the worst case, before any data is read.
# settle: what was reached, with the release. forfeit: no answer came, all is lost. cancel: no data was read.
# subject: what the older charges of an account are about, written once when a book of before version 3 is opened.
KINDS = ("book", "account", "cap", "reserve", "settle", "forfeit", "cancel", "subject")
# Facts that are more than plain values, and how they are read; `to_json` writes them.
_READERS = {"worst_case": spending_from_json, "realised": spending_from_json, "subject": Subject.from_json}


@dataclass(frozen=True, slots=True)
class Entry:
    """One line. `facts` depends on the kind: numbers, texts, spendings, a subject. `hash` covers everything else."""

    sequence: int
    at: str
    kind: str
    account: str
    analyst: str
    facts: Mapping[str, Any]
    previous: str
    # What is stored and hashed: one text for one content.
    document: str
    hash: str

    @classmethod
    def after(cls, head: "Head", at: str, kind: str, account: str, analyst: str, facts: Mapping[str, Any]) -> "Entry":
        """The next line of a book that ends at `head`."""
        content = (head.sequence + 1, at, kind, account, analyst, facts, head.hash)
        document = _document(*content)
        return cls(*content, document, digest(document.encode()))

    @property
    def head(self) -> "Head":
        return Head(self.sequence, self.hash)

    @classmethod
    def read(cls, document: str, stored_hash: str) -> "Entry":
        """A stored line, once its hash is checked."""
        if digest(document.encode()) != stored_hash:
            raise LedgerCorruptError("its hash does not fit its content")
        said = json.loads(document)
        facts = {name: _READERS[name](fact) if name in _READERS else fact for name, fact in said["facts"].items()}
        before = (said["sequence"], said["at"], said["kind"], said["account"], said["analyst"])
        entry = cls(*before, facts, said["previous"], document, stored_hash)
        if _document(*before, facts, entry.previous) != document or entry.kind not in KINDS:
            raise LedgerCorruptError("it is not a line this book writes")
        return entry


@dataclass(frozen=True, slots=True)
class Head:
    """Where a book ends: the number and the hash of its last line."""

    sequence: int
    hash: str


EMPTY = Head(0, GENESIS)


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def canonical(document: object) -> str:
    """One text for one value: plain ones, and such as have a `to_json`."""
    return json.dumps(document, sort_keys=True, separators=(",", ":"), allow_nan=False, default=_plain)


def _plain(value: Any) -> Any:
    return value.to_json()


def _document(
    sequence: int, at: str, kind: str, account: str, analyst: str, facts: Mapping[str, Any], previous: str
) -> str:
    return canonical(
        {
            "account": account,
            "analyst": analyst,
            "at": at,
            "facts": facts,
            "kind": kind,
            "previous": previous,
            "sequence": sequence,
        }
    )
