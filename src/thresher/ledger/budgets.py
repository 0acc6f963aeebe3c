"""The budgets of a book: accounts, their caps and names, and what has been lost of each.

Reads and writes: the journal. Never: a cap below what is spent; one account made of two.
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from thresher.accounting import RegionLosses, Subject
from thresher.amounts import Amount, Epsilon, whole_number
from thresher.errors import ArgumentError
from thresher.ledger.entries import Entry
from thresher.ledger.journal import Journal, write_end
from thresher.ledger.records import MAX_NAME, RESERVED, Account, Balance, Reservation, checked_analyst, checked_text
from thresher.ledger.rules import is_used, open_losses
from thresher.ledger.stores.book_tables import Tables

# What a database can keep as the number of a line.
_MOST_LINES = 1 << 62
_EPOCH = datetime.fromtimestamp(0, UTC)


class Budgets(Journal):
    """What a curator does with a book, and what is left of each budget."""

    def open_account(self, account: str, cap: Amount) -> None:
        """Give a table its budget."""
        name, amount = checked_text(account, "account", MAX_NAME), Epsilon(cap)
        with self._writing() as (tables, write):
            if tables.account(name, "") is not None:
                raise ArgumentError("account", account, "it is open already", "To change its budget, call set_cap")
            write("account", name, "", {"cap": amount.nano})

    def set_cap(self, account: str, cap: Amount, analyst: str = "") -> None:
        """Change a cap (the most that may be spent), or give an analyst one. A cap below what is spent is refused."""
        amount = Epsilon(cap)
        checked_analyst(analyst)
        with self._writing() as (tables, write):
            existing(tables, account)
            held = tables.account(account, analyst)
            if held is not None and amount < held.loss:
                raise ArgumentError("cap", cap, f"{held.loss} is spent already", f"Pass {held.loss} or more")
            kind = "account" if held is None else "cap"
            write(kind, account, analyst, {"cap": amount.nano})

    def keep_budgets(self, caps: Mapping[str, Amount]) -> None:
        """Give each table this budget: open its account, or change its cap. A cap below what is spent is refused.

        Nothing is written if every table has its budget already.
        """
        wanted = {checked_text(name, "account", MAX_NAME): Epsilon(cap) for name, cap in caps.items()}
        with self._reading() as tables:
            held = {name: tables.account(name, "") for name in wanted}
        if all(account is not None and account.cap == wanted[name] for name, account in held.items()):
            return
        with self._writing() as (tables, write):
            for name, amount in wanted.items():
                account = tables.account(name, "")
                if account is not None and amount < account.loss:
                    fix = f"Declare {account.loss} or more"
                    raise ArgumentError(f"budget of {name}", str(amount), f"{account.loss} is spent already", fix)
                if account is None or account.cap != amount:
                    write("account" if account is None else "cap", name, "", {"cap": amount.nano})

    def rename(self, old: str, new: str) -> None:
        """Let an account go by another name, with all that it has lost: for a table that was renamed."""
        checked_text(new, "account", MAX_NAME)
        if new == old:
            raise ArgumentError("account", new, "it has this name already", "Pass a name that the ledger does not have")
        with self._writing() as (tables, write):
            existing(tables, old)
            if any(held.name == new and held.analyst for held in tables.accounts()):
                rule = "an account of this name has budgets of analysts, which would be lost"
                raise ArgumentError("account", new, rule, "Pass a name that the ledger does not have")
            if is_used(tables.account(new, "")):
                rule = "an account of this name was charged, and two accounts cannot become one"
                raise ArgumentError("account", new, rule, "Pass a name that the ledger does not have")
            write("rename", old, "", {"to": new})

    def forfeit_entry(self, sequence: int) -> Epsilon:
        """Forfeit the open reservation of a line, whoever owns it: for a curator who knows that its owner is gone."""
        with self._writing() as (tables, write):
            number = whole_number(sequence, "entry")
            found = tables.reservation(number) if 0 < number < _MOST_LINES else None
            if found is None or found.state != RESERVED:
                rule = "no open reservation has this number"
                raise ArgumentError("entry", sequence, rule, "`thresher ledger show` lists the open ones")
            return write_end(tables, write, found, "forfeit", {})

    def balance(self, account: str, analyst: str = "") -> Balance:
        """Return cap, spent and remaining of an account, or of an analyst's part of it."""
        checked_analyst(analyst)
        with self._reading() as tables:
            existing(tables, account)
            held = tables.account(account, analyst) or Account(account, analyst, None, Epsilon(0), ())
            return _balance(tables, held)

    def glance(self, account: str) -> Balance | None:
        """Return the balance of an account without opening the book; None if it has no such account.

        Nothing is verified, made or changed: for a price, which must not depend on a ledger.
        """
        known = self._anchor.read() if self._anchor else None
        with self._store.glancing() as tables:
            self._compare(tables, None, known)
            held = tables.account(account, "")
            return None if held is None else _balance(tables, held)

    def balances(self) -> list[Balance]:
        """Return the balance of every account, and of every analyst's part, by name."""
        with self._reading() as tables:
            return [_balance(tables, held) for held in tables.accounts()]

    def subjects(self) -> dict[str, Subject]:
        """Return, for each charged account, what its losses are about."""
        with self._reading() as tables:
            return {held.name: held.subject for held in tables.accounts() if held.subject is not None}

    def relations(self) -> dict[str, tuple[str, ...]]:
        """Return, for each account, the tables and files whose rows it was charged for: for the curator."""
        with self._reading() as tables:
            return {held.name: held.relations for held in tables.accounts() if held.relations}

    def leased(self) -> list[tuple[Reservation, datetime, bool]]:
        """Return the open reservations, until when each is leased, and whether that moment is over."""
        with self._reading() as tables:
            now, waiting = tables.now(), tables.open_reservations()
            until = [tables.lease(reserved.sequence) for reserved in waiting]
        moments = [_EPOCH + timedelta(milliseconds=lease) for lease in until]
        return list(zip(waiting, moments, [lease < now for lease in until], strict=True))

    def losses(self, account: str) -> list[RegionLosses]:
        """Return the losses of an account by region, with open reservations at their worst case: for the curator."""
        with self._reading() as tables:
            held = existing(tables, account)
            return [*held.losses, *open_losses(tables, held)]

    def entries(self, after: int = 0) -> list[Entry]:
        """Return the lines after the line of this number, in order."""
        if not 0 <= whole_number(after, "after") < _MOST_LINES:
            raise ArgumentError("after", after, "it must be the number of an entry", "Pass 0 for all entries")
        with self._reading() as tables:
            return [Entry.read(document, stored_hash) for _, document, stored_hash in tables.lines(after)]


def existing(tables: Tables, account: str) -> Account:
    """Return the account of a table; refuse a name without an account."""
    held = tables.account(checked_text(account, "account", MAX_NAME), "")
    if held is None:
        raise ArgumentError("account", account, "the ledger has no budget of this name", "Open it with open_account")
    return held


def _balance(tables: Tables, held: Account) -> Balance:
    waiting = [r for r in tables.open_reservations(held.name) if held.analyst in ("", r.analyst)]
    remaining = None if held.cap is None else held.cap - held.loss
    return Balance(held.name, held.analyst, held.cap, held.loss, remaining, len(waiting))
