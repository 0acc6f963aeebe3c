"""READ SECOND. One charge for everything that is released: questions and the steps of streams alike.

    begin      reserve the worst case durably, or find the answer that is stored already
    complete   fetch, run, settle in one transaction with the release, and only then hand it out

Whatever stops a charge after data may have been read leaves the worst case lost, and says so.
Reads: a source, through `fetch`. Writes: the ledger. Never: reads private rows before the charge is on disk; hands out
what is not stored; forwards what a database said. `reserve(` and `settle(` are called here and nowhere else.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from thresher.codec import paid_before
from thresher.config import Table
from thresher.errors import (
    ArgumentError,
    BudgetError,
    BugError,
    DeclarationError,
    LedgerError,
    LostAnswerError,
    SourceUnavailableError,
    ThresherError,
    TooDearError,
)
from thresher.ledger import Balance, Book, Charge, Reservation, State, StoredRelease, checked_key
from thresher.ledger.book import WAIT_SECONDS
from thresher.noise import Entropy
from thresher.plan import Given, Plan
from thresher.question import AnyNeed, Exact
from thresher.question.identity import digest_of, identity_text

Progress = Callable[[str], None]


def silent(_: str) -> None:
    """Report no progress."""


class Readable(Protocol):
    """What a charge needs of a source."""

    def connect(self) -> None: ...

    def bases(self, table: Table) -> tuple[str, ...]: ...

    def column_names(self, table: Table) -> tuple[str, ...]: ...

    def fetch(self, need: AnyNeed) -> Exact: ...


def key_of(plan: Plan[Any], key: str | None = None) -> str:
    """Return the key of an answer: as passed, as written in the question, or made from the question's identity."""
    if plan.written_key is not None and plan.key_is_fixed and key not in (None, plan.written_key):
        rule = "the key of a refinement follows from the key of the answer that it refines"
        raise ArgumentError("key", key, rule, "Leave it out")
    asked = plan.written_key if key is None else key
    if asked is None:
        return hashlib.sha256(plan.identity.question.encode()).hexdigest()[:32]
    if checked_key(asked).startswith("stream/") and not plan.key_is_fixed:
        raise ArgumentError("key", asked, "keys that begin with stream/ name the steps of streams", "Pass another key")
    return asked


def check_limit(plan: Plan[Any], name: str, balance: Callable[[Plan[Any]], Balance] | None = None) -> None:
    """Refuse what costs more than one question may; what to change must fit the budget too, if it can be looked up."""
    limit = plan.limits.get(name)
    if limit is not None and plan.epsilon > limit:
        remaining = None if balance is None else balance(plan).remaining
        within = limit if remaining is None else min(limit, remaining)
        raise TooDearError(name, plan.epsilon, limit, plan.affordable(within))


def begin(
    book: Book,
    plan: Plan[Any],
    key: str,
    analyst: str = "",
    *,
    relations: tuple[str, ...] = (),
    columns: str = "",
    wait_seconds: float = WAIT_SECONDS,
) -> Reservation | StoredRelease:
    """Reserve the worst case of a plan, or return the stored answer; a refusal says what would be affordable."""
    if plan.cost is None:
        raise BugError("a plan without a cost was to be charged")
    question = plan.identity.question
    charge = Charge(plan.account, plan.cost, key, question, plan.family, plan.subject, analyst, relations, columns)
    try:
        return book.reserve(charge, wait_seconds)
    except BudgetError as refused:
        hint = plan.affordable(refused.remaining)
        raise BudgetError(refused.account, refused.requested, refused.remaining, refused.short_by, hint) from None


@dataclass(frozen=True, slots=True)
class Till:
    """Where a question is charged: the ledger, the source it reads, for whom, and where noise comes from."""

    book: Book
    source: Readable
    analyst: str
    entropy: Entropy
    progress: Progress = silent


def charged(till: Till, plan: Plan[Given], key: str) -> Given:
    """Charge a question and return its release, or the stored answer of its key, which is free."""
    need = plan.need
    if need is None:
        raise BugError("a plan without a need was to be charged")
    columns = hash_of_columns(till.source, need.table)
    stored = till.book.answered(plan.account, key, plan.identity.question, till.analyst)
    if stored is not None:
        return given_again(plan, stored, key, columns)
    till.progress("reaching the source")
    relations = _reached(till.source, need.table)
    till.progress("reserving the worst case in the ledger")
    held = begin(till.book, plan, key, till.analyst, relations=relations, columns=columns)
    if isinstance(held, StoredRelease):
        return given_again(plan, held, key, columns)
    return complete(till.book, plan, held, lambda: till.source.fetch(need), till.entropy, till.progress)


def hash_of_columns(source: Readable, table: Table) -> str:
    """Return a hash of the names of the columns of a table in memory that has no version; otherwise nothing.

    Whoever passes the table can change its rows between two questions. Names are all that is compared: types,
    categories and numbers of rows follow from rows, so that one person can change them.
    """
    names = () if table.names_its_rows else source.column_names(table)
    return digest_of(identity_text(sorted(names))) if names else ""


def given_again(plan: Plan[Given], stored: StoredRelease, key: str, columns: str) -> Given:
    """Return the stored answer with the day it was paid, unless its table is another one by the names of columns."""
    if columns and stored.columns and columns != stored.columns:
        table = plan.need.table.name if plan.need else plan.account
        raise DeclarationError(
            f"tables.{table}.version",
            f"the table in memory has other columns than when the answer {key} was stored, on {stored.paid_on}. That "
            "answer describes the rows as they were then, so it is not given for this table. Nothing was read or "
            f'paid. Set a new version, such as version = "2" under [tables.{table}], or '
            f'thresher.open(..., versions={{"{table}": "2"}}), and ask again, at the full price',
        )
    return paid_before(plan.recall(stored.body, key), stored.paid_on)


def _reached(source: Readable, table: Table) -> tuple[str, ...]:
    """Connect to the source, and return what the rows of a table are based on. No row is read, nothing is charged yet.

    The ledger must know the relations, because another name for rows that have lost something is not a new budget.
    """
    try:
        source.connect()
        return source.bases(table)
    except ThresherError:
        raise
    except Exception as stopped:  # noqa: BLE001 - raised below, outside of the handler
        fault = f"the source cannot be reached ({type(stopped).__name__})"
    # The driver's text is not ours, and may quote an address.
    raise SourceUnavailableError(fault)


def complete(
    book: Book,
    plan: Plan[Given],
    held: Reservation,
    fetch: Callable[[], Exact],
    entropy: Entropy,
    progress: Progress = silent,
) -> Given:
    """Fetch, run and settle what was reserved. Whatever stops it, Ctrl-C too: the worst case is lost, and said.

    An error that is not Thresher's own may quote the data: a fixed one is raised in its place, outside the handler.
    """
    reading = False
    try:
        progress("reading, in one scan")
        reading = True
        exact = fetch()
        reading = False
        progress("drawing noise and deciding")
        release, reached = plan.run(exact, entropy)
        kept = plan.state_after(release)
        state = None if kept is None else State(*kept)
        body = release.to_bytes()
        book.settle(held, reached or held.worst_case, body, shows_levels=plan.shows_levels, state=state)
        return release.handed_out(held.key)
    except BaseException as stopped:
        if isinstance(stopped, ThresherError) or _is_request_to_stop(stopped):
            if reading and isinstance(stopped, SourceUnavailableError):
                # The source was never reached, so nothing was read.
                book.cancel(held)
            else:
                stopped.add_note(_given_up(book, plan, held))
            raise
        fault = BugError(f"{plan.called} could not be answered ({type(stopped).__name__})")
    fault.add_note(_given_up(book, plan, held))
    raise fault


def _is_request_to_stop(stopped: BaseException) -> bool:
    """Say whether it is Ctrl-C, the end of the program, or the cancelling of a task."""
    asked = isinstance(stopped, KeyboardInterrupt | SystemExit | GeneratorExit)
    return asked or type(stopped).__module__ == "asyncio.exceptions"


def _given_up(book: Book, plan: Plan[Any], held: Reservation) -> str:
    """Give up the answer, unless it was stored at the last moment; return the sentence that says so."""
    try:
        book.forfeit(held)
    except ArgumentError:
        return f"Charged {plan.epsilon}; the answer is stored: ask again with key {held.key}"
    except LostAnswerError:
        return f"Charged {plan.epsilon}. No answer is stored for key {held.key}"
    except LedgerError:
        return f"Charged {plan.epsilon}, at the latest when the ledger is opened again"
    return f"Charged {plan.epsilon}: data may have been read. No answer is stored for key {held.key}"
