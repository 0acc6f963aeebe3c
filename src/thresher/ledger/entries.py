"""The lines of the book: what happened, in order. Each line holds the hash of the line before it.

A line that is changed, removed or moved changes every hash after it, and the last hash is also kept outside the book
(`anchor.py`). Lines hold public facts only: questions, amounts, regions, and the hash of what was released.
Reads: nothing. Writes: nothing. Never: an exact value, or a line without its place in the chain.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from thresher.accounting import Subject, spending_from_json
from thresher.errors import LedgerCorruptError

GENESIS = "0" * 64
# book: the first line. account, cap: what may be lost. reserve: the worst case, before any data are read.
# settle: the loss that was reached, with the release. forfeit: no answer came, the worst case is lost.
# cancel: no data were read, nothing is lost. rename: an account goes by another name. restore: what an anchor saw is
# charged to an older copy. anchor: a host opened the book without an anchor. subject: what the older charges of an
# account are about, written once when a book of version 1 or 2 is opened.
KINDS = (
    "book",
    "account",
    "cap",
    "reserve",
    "settle",
    "forfeit",
    "cancel",
    "rename",
    "restore",
    "anchor",
    "subject",
)
# How the facts that are not plain values are read; `to_json` writes them.
_READERS = {"worst_case": spending_from_json, "realised": spending_from_json, "subject": Subject.from_json}


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the book. `facts` depends on the kind: numbers, texts, spendings, a subject.

    `document` is all of it but the hash, as one text: this is what is stored and hashed.
    """

    sequence: int
    at: str
    kind: str
    account: str
    analyst: str
    facts: Mapping[str, Any]
    previous: str
    document: str
    hash: str

    @classmethod
    def after(cls, head: "Head", at: str, kind: str, account: str, analyst: str, facts: Mapping[str, Any]) -> "Entry":
        """Return the next line of a book that ends at `head`."""
        content = (head.sequence + 1, at, kind, account, analyst, facts, head.hash)
        document = _document(*content)
        return cls(*content, document, digest(document.encode()))

    @property
    def head(self) -> "Head":
        return Head(self.sequence, self.hash)

    @classmethod
    def read(cls, document: str, stored_hash: str) -> "Entry":
        """Read a stored line and check its hash."""
        if digest(document.encode()) != stored_hash:
            raise LedgerCorruptError("its hash does not match its content")
        said = json.loads(document)
        facts = {name: _READERS[name](fact) if name in _READERS else fact for name, fact in said["facts"].items()}
        before = (said["sequence"], said["at"], said["kind"], said["account"], said["analyst"])
        entry = cls(*before, facts, said["previous"], document, stored_hash)
        if _document(*before, facts, entry.previous) != document or entry.kind not in KINDS:
            raise LedgerCorruptError("it is not an entry that Thresher writes")
        return entry


@dataclass(frozen=True, slots=True)
class Head:
    """The end of a book: the number and the hash of its last line."""

    sequence: int
    hash: str


EMPTY = Head(0, GENESIS)


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def canonical(document: object) -> str:
    """Return one text for one value. It may hold plain values and objects with a `to_json`."""
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
