"""Check a whole book: the chain of hashes, every sum, every release, every state.

Reads: all tables in one view. Writes: nothing. Never: trusts a stored sum; each is derived again from the lines.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from thresher.accounting import account_loss
from thresher.errors import LedgerCorruptError, ThresherError
from thresher.ledger.entries import EMPTY, Entry, Head, digest
from thresher.ledger.records import RESERVED, Account, Reservation
from thresher.ledger.rules import apply, open_losses
from thresher.ledger.stores.book_tables import Tables


@dataclass(frozen=True, slots=True)
class Verification:
    """What was checked and agrees.

    entries, accounts, releases    how many there are
    head        the last line
    budgets     the accounts, derived from the lines
    hosts       the hosts that opened the book without an anchor
    """

    entries: int
    accounts: int
    releases: int
    head: Head
    budgets: tuple[Account, ...] = field(default=(), repr=False)
    hosts: frozenset[str] = field(default=frozenset(), repr=False)


@dataclass(slots=True)
class _Memory:
    """A `LedgerState` in memory, to which all lines are applied again."""

    held: dict[tuple[str, str], Account] = field(default_factory=dict)
    reserved: dict[int, Reservation] = field(default_factory=dict)
    open: dict[int, Reservation] = field(default_factory=dict)

    def account(self, name: str, analyst: str) -> Account | None:
        return self.held.get((name, analyst))

    def put_account(self, account: Account) -> None:
        self.held[account.name, account.analyst] = account

    def reservation(self, sequence: int) -> Reservation | None:
        return self.reserved.get(sequence)

    def put_reservation(self, reserved: Reservation) -> None:
        self.reserved[reserved.sequence] = reserved
        if reserved.state == RESERVED:
            self.open[reserved.sequence] = reserved
        else:
            self.open.pop(reserved.sequence, None)

    def open_reservations(self, account: str) -> Iterable[Reservation]:
        return [reserved for reserved in self.open.values() if reserved.account == account]

    def rename(self, old: str, new: str) -> None:
        # An account of the new name that was never charged makes room.
        self.held = {name: account for name, account in self.held.items() if name[0] != new}
        self.held = {
            (new if name == old else name, analyst): replace(account, name=new) if name == old else account
            for (name, analyst), account in self.held.items()
        }
        for reserved in [held for held in self.reserved.values() if held.account == old]:
            self.put_reservation(replace(reserved, account=new))


# What reading a damaged row can raise: bytes in place of a text, a text in place of a number, a document cut short.
_UNREADABLE = (ThresherError, ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)


def verified_book(tables: Tables, *, of_an_older_version: bool = False) -> Verification:
    """Check all of a book. `LedgerCorruptError` names the first line that does not fit.

    `of_an_older_version`: charges need not say what they are about, and the rows of accounts do not say what they read.
    """
    memory, head, releases = _Memory(), EMPTY, {}
    states: dict[str, tuple[int, str]] = {}
    hosts: set[str] = set()
    for sequence, document, stored_hash in tables.lines():
        entry = _read(sequence, document, stored_hash, head)
        try:
            apply(entry, memory)
        except _UNREADABLE as error:
            raise LedgerCorruptError(f"entry {sequence} breaks a rule: {error}") from error
        if entry.kind == "settle":
            releases[entry.facts["reservation"]] = entry
            states.update(_state(entry))
        if entry.kind == "anchor":
            hosts.add(str(entry.facts.get("host")))
        head = entry.head
    _check_head(tables, head)
    _check_losses(memory)
    if not of_an_older_version:
        _check_subjects(memory)
    _check_tables(tables, memory, of_an_older_version=of_an_older_version)
    _check_releases(tables, releases)
    _check_states(tables, states)
    budgets = tuple(memory.held.values())
    return Verification(head.sequence, len(memory.held), len(releases), head, budgets, frozenset(hosts))


def _check_losses(memory: _Memory) -> None:
    """Refuse an account whose stated loss is less than its releases cost. A sum that is only a bound proves nothing."""
    for account in memory.held.values():
        found = account_loss([*account.losses, *open_losses(memory, account)])
        if found.exact and not account.coarse and found.loss > account.loss:
            raise LedgerCorruptError(f"the account {account.name} has lost more than its entries state")
        if account.cap is not None and account.loss > account.cap:
            raise LedgerCorruptError(f"the account {account.name} has spent more than its cap")


def _check_subjects(memory: _Memory) -> None:
    """Refuse an account that was charged and does not say what its losses are about."""
    for name in {reserved.account for reserved in memory.reserved.values()}:
        if memory.held[name, ""].subject is None:
            raise LedgerCorruptError(f"the account {name} was charged, and no entry says what its losses are about")


def _check_head(tables: Tables, head: Head) -> None:
    try:
        said = tables.head()
    except _UNREADABLE as error:
        raise LedgerCorruptError("the ledger does not say where it ends") from error
    if said != head:
        raise LedgerCorruptError(
            f"the ledger says that it ends at entry {said.sequence}, but its last line is entry {head.sequence}"
        )


def _read(sequence: int, document: str, stored_hash: str, before: Head) -> Entry:
    try:
        entry = Entry.read(document, stored_hash)
    except _UNREADABLE as error:
        raise LedgerCorruptError(f"entry {before.sequence + 1} is damaged: {error}") from error
    if (entry.sequence, sequence, entry.previous) != (before.sequence + 1, before.sequence + 1, before.hash):
        raise LedgerCorruptError(f"entry {before.sequence + 1} is missing, moved or not linked to the entry before it")
    return entry


def _check_tables(tables: Tables, memory: _Memory, *, of_an_older_version: bool) -> None:
    try:
        accounts, reservations = tables.accounts(), tables.reservations()
    except _UNREADABLE as error:
        raise LedgerCorruptError("an account or a reservation cannot be read") from error
    stored = {(account.name, account.analyst): account for account in accounts}
    derived = memory.held
    if of_an_older_version:
        derived = {name: replace(account, relations=(), steps=()) for name, account in derived.items()}
    for name in stored.keys() | derived.keys():
        if stored.get(name) != derived.get(name):
            raise LedgerCorruptError(
                f"the account {'/'.join(map(str, filter(None, name)))} does not agree with its entries"
            )
    listed = {reserved.sequence: reserved for reserved in reservations}
    for number in listed.keys() | memory.reserved.keys():
        if listed.get(number) != memory.reserved.get(number):
            raise LedgerCorruptError(f"reservation {number} does not agree with its entries")


def _check_releases(tables: Tables, settlements: dict[int, Entry]) -> None:
    odd = set(tables.released()) ^ set(settlements)
    if odd:
        named = ", ".join(str(number) for number in odd)
        raise LedgerCorruptError(f"a settlement has no release, or a release no settlement: reservation {named}")
    for reservation, entry in settlements.items():
        try:
            body = tables.release(reservation)
        except _UNREADABLE:
            body = None
        if body is None or digest(body) != entry.facts["release"]:
            raise LedgerCorruptError(f"the release of entry {entry.sequence} is not the one that was settled")


def _state(entry: Entry) -> dict[str, tuple[int, str]]:
    """Return the state that a settlement left, by its name: the reservation, and the hash of its body."""
    try:
        kept = entry.facts.get("state")
        return {} if kept is None else {kept["name"]: (entry.facts["reservation"], kept["body"])}
    except _UNREADABLE as error:
        raise LedgerCorruptError(
            f"entry {entry.sequence} is damaged: the state that it names cannot be read"
        ) from error


def _check_states(tables: Tables, expected: dict[str, tuple[int, str]]) -> None:
    try:
        found = {name: (reservation, digest(body)) for name, (reservation, body) in tables.states().items()}
    except _UNREADABLE as error:
        raise LedgerCorruptError("a state cannot be read") from error
    for name in found.keys() | expected.keys():
        if found.get(name) != expected.get(name):
            raise LedgerCorruptError(f"the state {name!r} is not the one that was kept with its last step")
