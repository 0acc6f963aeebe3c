"""The tables of a book and the statements on them, shared by all databases.

Reads and writes: six tables through one connection in one transaction. Never: commits, or decides what is permitted.
"""

import json
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, Protocol

from thresher.accounting import RegionLosses, Subject
from thresher.amounts import Epsilon
from thresher.ledger.entries import EMPTY, Entry, Head, canonical
from thresher.ledger.records import Account, Reservation

# 2: states. 3: the subject of an account; and, in the lines of reservations, the subject and the family of the plan.
# 4: the relations, steps and restoration of an account beside its subject; leases.
SCHEMA_VERSION = 4

# The state from which a stream continues, replaced with each step that it releases.
STATES = "CREATE TABLE states (name TEXT PRIMARY KEY, reservation BIGINT NOT NULL, body {bytes} NOT NULL)"

# `facts`: what an account is about, as one JSON text.
ACCOUNTS = (
    "CREATE TABLE accounts (name TEXT NOT NULL, analyst TEXT NOT NULL, cap BIGINT CHECK (cap >= 0),"
    " loss BIGINT NOT NULL CHECK (loss >= 0), losses TEXT NOT NULL, coarse INTEGER NOT NULL CHECK (coarse IN (0, 1)),"
    " facts TEXT NOT NULL, PRIMARY KEY (name, analyst),"
    " CHECK (cap IS NULL OR loss <= cap), CHECK (analyst <> '' OR cap IS NOT NULL))"
)

# `lease`: until when the owner of an open reservation is taken to live, in milliseconds since 1970 by the clock of the
# store. It is renewed without a line, so it is not part of the chain.
RESERVATIONS = (
    "CREATE TABLE reservations (sequence BIGINT PRIMARY KEY, account TEXT NOT NULL, analyst TEXT NOT NULL,"
    " key TEXT NOT NULL, question TEXT NOT NULL, worst_case TEXT NOT NULL, owner TEXT NOT NULL,"
    " state TEXT NOT NULL CHECK (state IN ('reserved', 'settled', 'forfeited', 'cancelled')), ended_by BIGINT,"
    " lease BIGINT NOT NULL, CHECK ((state = 'reserved') = (ended_by IS NULL)))"
)
RESERVATION_INDEXES = (
    # A key is charged once for ever. Only a cancelled reservation, for which no data were read, frees its key.
    "CREATE UNIQUE INDEX one_charge_per_key ON reservations (analyst, key) WHERE state <> 'cancelled'",
    "CREATE INDEX open_by_account ON reservations (account) WHERE state = 'reserved'",
)

TABLES = (
    "CREATE TABLE head (one INTEGER PRIMARY KEY CHECK (one = 1), version INTEGER NOT NULL,"
    " sequence BIGINT NOT NULL CHECK (sequence >= 0), hash TEXT NOT NULL)",
    "CREATE TABLE entries (sequence BIGINT PRIMARY KEY CHECK (sequence >= 1), document TEXT NOT NULL,"
    " hash TEXT NOT NULL)",
    ACCOUNTS,
    RESERVATIONS,
    *RESERVATION_INDEXES,
    "CREATE TABLE releases (reservation BIGINT PRIMARY KEY, body {bytes} NOT NULL)",
    STATES,
)

_ACCOUNT = "name, analyst, cap, loss, losses, coarse, facts"
_RESERVATION = "sequence, account, analyst, key, question, worst_case, owner, state, ended_by"


class Connection(Protocol):
    """A driver's connection, as far as the statements need it."""

    def run(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]: ...

    def now(self) -> int:
        """Return the time by the clock that leases are judged by, in milliseconds since 1970."""


def make_tables(connection: Connection, bytes_type: str, more: Sequence[str]) -> None:
    """Make the tables of an empty book, and run the statements that one kind of database adds."""
    for statement in (*TABLES, *more):
        connection.run(statement.format(bytes=bytes_type))
    values = (SCHEMA_VERSION, EMPTY.sequence, EMPTY.hash)
    connection.run("INSERT INTO head (one, version, sequence, hash) VALUES (1, ?, ?, ?)", values)


class CommitFailedError(Exception):
    """A statement or the commit of a writing transaction failed in the database."""


class Tables:
    """One transaction on the tables; a `LedgerState` for the rules. It reads the row of each account once."""

    def __init__(self, connection: Connection, lock_rows: str = "") -> None:
        self._run, self._now = connection.run, connection.now
        self._lock = lock_rows
        self._head: Head | None = None
        self._accounts: dict[tuple[str, str], Account | None] = {}
        self._reservations: dict[int, Reservation] = {}

    def head(self) -> Head:
        """Return where the book ends. A writer reads this first, because its row is the lock of the whole book."""
        if self._head is None:
            ((sequence, stored_hash),) = self._run(f"SELECT sequence, hash FROM head WHERE one = 1{self._lock}")
            self._head = Head(sequence, stored_hash)
        return self._head

    def append(self, entry: Entry) -> None:
        values = (entry.sequence, entry.document, entry.hash)
        self._run("INSERT INTO entries (sequence, document, hash) VALUES (?, ?, ?)", values)
        self._run("UPDATE head SET sequence = ?, hash = ? WHERE one = 1", (entry.sequence, entry.hash))
        self._head = entry.head

    def lines(self, after: int = 0) -> Iterator[tuple[int, str, str]]:
        """Read the stored lines after a number, in order and unchecked: number, document, hash."""
        while rows := self._run(
            "SELECT sequence, document, hash FROM entries WHERE sequence > ? ORDER BY sequence LIMIT 1000", (after,)
        ):
            yield from ((row[0], row[1], row[2]) for row in rows)
            after = rows[-1][0]

    def line_at(self, sequence: int | None) -> dict[str, Any]:
        """Read one stored line, unchecked."""
        rows = self._run("SELECT document FROM entries WHERE sequence = ?", (sequence,))
        line: dict[str, Any] = json.loads(rows[0][0]) if rows else {"at": "", "facts": {}}
        return line

    def hash_at(self, sequence: int) -> str | None:
        rows = self._run("SELECT hash FROM entries WHERE sequence = ?", (sequence,))
        return rows[0][0] if rows else None

    def account(self, name: str, analyst: str) -> Account | None:
        if (name, analyst) not in self._accounts:
            where = f"WHERE name = ? AND analyst = ?{self._lock}"
            rows = self._run(f"SELECT {_ACCOUNT} FROM accounts {where}", (name, analyst))
            self._accounts[name, analyst] = _account(rows[0]) if rows else None
        return self._accounts[name, analyst]

    def accounts(self) -> list[Account]:
        rows = self._run(f"SELECT {_ACCOUNT} FROM accounts ORDER BY name, analyst")
        return [_account(row) for row in rows]

    def put_account(self, account: Account) -> None:
        cap = None if account.cap is None else account.cap.nano
        losses = canonical(account.losses)
        self._run(
            f"INSERT INTO accounts ({_ACCOUNT}) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (name, analyst) DO UPDATE SET"
            " cap = excluded.cap, loss = excluded.loss, losses = excluded.losses, coarse = excluded.coarse,"
            " facts = excluded.facts",
            (account.name, account.analyst, cap, account.loss.nano, losses, int(account.coarse), _facts(account)),
        )
        self._accounts[account.name, account.analyst] = account

    def reservation(self, sequence: int) -> Reservation | None:
        if sequence not in self._reservations:
            rows = self._run(f"SELECT {_RESERVATION} FROM reservations WHERE sequence = ?", (sequence,))
            if not rows:
                return None
            self._reservations[sequence] = Reservation(*rows[0])
        return self._reservations[sequence]

    def reservation_of(self, analyst: str, key: str) -> Reservation | None:
        """Return the reservation of a key; a key has at most one that was not cancelled."""
        rows = self._run(
            f"SELECT {_RESERVATION} FROM reservations WHERE analyst = ? AND key = ? AND state <> 'cancelled'",
            (analyst, key),
        )
        return Reservation(*rows[0]) if rows else None

    def reservations(self) -> list[Reservation]:
        return [Reservation(*row) for row in self._run(f"SELECT {_RESERVATION} FROM reservations ORDER BY sequence")]

    def open_reservations(self, account: str | None = None) -> list[Reservation]:
        which, values = ("", ()) if account is None else (" AND account = ?", (account,))
        rows = self._run(
            f"SELECT {_RESERVATION} FROM reservations WHERE state = 'reserved'{which} ORDER BY sequence", values
        )
        return [Reservation(*row) for row in rows]

    def rename(self, old: str, new: str) -> None:
        """Give an account, its analysts' parts and its reservations another name."""
        # An account of the new name that was never charged makes room.
        self._run("DELETE FROM accounts WHERE name = ?", (new,))
        for table in ("accounts", "reservations"):
            column = "name" if table == "accounts" else "account"
            self._run(f"UPDATE {table} SET {column} = ? WHERE {column} = ?", (new, old))
        self._accounts.clear()
        self._reservations.clear()

    def totals(self) -> list[tuple[str, str, int | None, int, str]]:
        """Return name, analyst, cap, loss and facts of every account, without the losses by region."""
        rows = self._run("SELECT name, analyst, cap, loss, facts FROM accounts ORDER BY name, analyst")
        return [(name, analyst, cap, loss, facts) for name, analyst, cap, loss, facts in rows]

    def now(self) -> int:
        """Return the time by the clock that leases are judged by, in milliseconds since 1970."""
        return self._now()

    def lease(self, sequence: int) -> int:
        """Return until when a reservation is leased."""
        rows = self._run("SELECT lease FROM reservations WHERE sequence = ?", (sequence,))
        return int(rows[0][0]) if rows else 0

    def put_lease(self, sequence: int, until: int) -> None:
        """Lease an open reservation until a moment."""
        self._run("UPDATE reservations SET lease = ? WHERE sequence = ? AND state = 'reserved'", (until, sequence))

    def lapsed(self) -> list[Reservation]:
        """Return the open reservations whose lease has run out."""
        where = "state = 'reserved' AND lease < ?"
        rows = self._run(f"SELECT {_RESERVATION} FROM reservations WHERE {where} ORDER BY sequence", (self.now(),))
        return [Reservation(*row) for row in rows]

    def put_reservation(self, reserved: Reservation) -> None:
        self._run(
            f"INSERT INTO reservations ({_RESERVATION}, lease) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0)"
            " ON CONFLICT (sequence) DO UPDATE SET state = excluded.state, ended_by = excluded.ended_by",
            (
                reserved.sequence,
                reserved.account,
                reserved.analyst,
                reserved.key,
                reserved.question,
                reserved.written,
                reserved.owner,
                reserved.state,
                reserved.ended_by,
            ),
        )
        self._reservations[reserved.sequence] = reserved

    def release(self, reservation: int) -> bytes | None:
        rows = self._run("SELECT body FROM releases WHERE reservation = ?", (reservation,))
        return bytes(rows[0][0]) if rows else None

    def released(self) -> list[int]:
        """Return the numbers of the reservations that have a stored release."""
        return [row[0] for row in self._run("SELECT reservation FROM releases ORDER BY reservation")]

    def state(self, name: str) -> bytes | None:
        rows = self._run("SELECT body FROM states WHERE name = ?", (name,))
        return bytes(rows[0][0]) if rows else None

    def states(self) -> dict[str, tuple[int, bytes]]:
        """Return all states by name: the reservation that left it, and its bytes."""
        rows = self._run("SELECT name, reservation, body FROM states ORDER BY name")
        return {name: (reservation, bytes(body)) for name, reservation, body in rows}

    def put_state(self, name: str, reservation: int, body: bytes) -> None:
        self._run(
            "INSERT INTO states (name, reservation, body) VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE SET"
            " reservation = excluded.reservation, body = excluded.body",
            (name, reservation, body),
        )

    def put_release(self, reservation: int, body: bytes) -> None:
        self._run("INSERT INTO releases (reservation, body) VALUES (?, ?)", (reservation, body))


@lru_cache(maxsize=8)
def _read_losses(text: str) -> tuple[RegionLosses, ...]:
    """Parse the losses of an account. One question reads the same text several times, so results are cached."""
    return tuple(RegionLosses.from_json(document) for document in json.loads(text))


def _facts(account: Account) -> str:
    """Return what an account is about as one text; what it does not say is left out."""
    said = {
        "relations": account.relations,
        "renamed": account.renamed,
        "restored": account.restored,
        "steps": account.steps,
        "subject": account.subject,
    }
    return canonical({name: fact for name, fact in said.items() if fact})


def steps_in(facts: str) -> tuple[tuple[str, int], ...]:
    """Return the last charged step of each stream, from the facts of its account."""
    return tuple((stream, step) for stream, step in json.loads(facts).get("steps", ()))


def is_by_step(facts: str) -> bool:
    """Tell whether each step of a stream loses by itself, from the facts of its account."""
    subject = json.loads(facts).get("subject")
    return subject is not None and Subject.from_json(subject).protected_steps is not None


def lines_in(facts: str) -> tuple[int, int]:
    """Return the lines that last restored an account, and gave it its name, from its facts; 0 if none did."""
    said = json.loads(facts)
    return said.get("restored", 0), said.get("renamed", 0)


def _account(row: Sequence[Any]) -> Account:
    name, analyst, cap, loss, losses, coarse, facts = row
    said = json.loads(facts)
    return Account(
        name,
        analyst,
        None if cap is None else Epsilon.from_nano(cap),
        Epsilon.from_nano(loss),
        _read_losses(losses),
        bool(coarse),
        Subject.from_json(said["subject"]) if "subject" in said else None,
        tuple(said.get("relations", ())),
        steps_in(facts),
        *lines_in(facts),
    )
