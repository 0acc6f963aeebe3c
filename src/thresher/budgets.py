"""The book of a set of declarations: opened, verified, with the declared budgets in it; and answers it remembers.

Reads: the ledger. Writes: accounts and caps, where the declarations changed them. Never: a budget whose unit changed.
"""

from collections.abc import Callable
from typing import Any

from thresher.config import Declarations, StreamDeclaration, Table
from thresher.decisions import Earlier, RefinementPlan, protected, protected_by, recalled
from thresher.errors import (
    ArgumentError,
    DeclarationError,
    KeyReusedError,
    LostAnswerError,
    PendingError,
    TooDearError,
)
from thresher.ledger import Balance, Book, open_book
from thresher.personal.class_sizes import check_one_for_all
from thresher.plan import Plan
from thresher.question import Question
from thresher.streams.planning import began_with, protects


def open_budgets(declared: Declarations) -> Book:
    """Every declared table has its account with its declared cap, or the book is not opened."""
    book = open_book(declared.ledger, anchor=declared.anchor)
    try:
        _check_units(declared, book)
        book.keep_budgets(declared.budgets())
    except BaseException:
        book.close()
        raise
    return book


def _check_units(declared: Declarations, book: Book) -> None:
    """What was lost about rows cannot be counted as lost about persons, so a budget keeps the unit it began with."""
    for stream in declared.streams.values():
        _check_account(stream, book)
    accounts = {table.account: table for table in declared.tables.values()}
    for entry in book.entries() if declared.tables else ():
        table = accounts.get(entry.account)
        if entry.kind == "reserve" and table is None:
            _check_kind_of_budget(declared, entry.account)
        if entry.kind == "reserve" and table is not None:
            before, now = protected_by(entry.facts["question"]), protected(table)
            if before is not None and before != (now,):
                raise DeclarationError(
                    f"tables.{table.name}.unit",
                    f"its budget began with {_words(before[0])} as the privacy unit, and now it is {_words(now)}. What "
                    "was lost cannot be counted anew: declare the old unit, or give the table another name and a "
                    "budget of its own",
                )


def _check_kind_of_budget(declared: Declarations, account: str) -> None:
    """What was lost of one budget for all cannot be counted as shares of people's own, nor the other way round."""
    name = account.removeprefix("personal:")
    table = declared.tables.get(name)
    if table is not None and {account, table.account} == {name, f"personal:{name}"}:
        began = "with one budget for all" if account == name else "with budgets of people's own"
        raise DeclarationError(
            f"tables.{name}.budget_column",
            f"the ledger of this table began {began}, and what was lost cannot be counted anew: declare it as it was",
        )


def _check_account(stream: StreamDeclaration, book: Book) -> None:
    """Steps of an account are steps of one clock, and lose about one and the same thing, for ever."""
    first = book.asked(stream.account_name, 1)
    began = began_with(first[0]) if first else None
    if began is not None and began != protects(stream):
        changed = ", ".join(name for name, value in protects(stream).items() if began.get(name) != value)
        raise DeclarationError(
            f"streams.{stream.name}.account",
            f"the account {stream.account_name} began with another {changed}, and what it has lost cannot be counted "
            "anew: restore that, or name an account of its own and a budget for it",
        )


def _words(unit: str | None) -> str:
    return "a row" if unit is None else f"the column {unit}"


def earlier(book: Book, question: Question, key: str, analyst: str) -> Earlier:
    """The stored answer that a refinement goes on from; the analyst's own, about the same table."""
    table = question.table.name
    found = book.recalled(table, key, analyst)
    if found is None:
        rule = f"no answer of yours about {table} is stored under this key"
        raise ArgumentError("of", key, rule, "Pass the key of an answer; `thresher ledger show` lists them")
    if found.lost:
        raise LostAnswerError(f"the key {key!r} was charged and its answer was lost: there is nothing to refine")
    if found.body is None:
        raise PendingError(f"the key {key!r} is being answered elsewhere: ask again when that is done")
    return recalled(question, key, found.body, found.question)


def check_refined_once(book: Book, plan: RefinementPlan, of: str, analyst: str) -> None:
    """The ledger refuses a second refinement by its key; here it is said in words, before a price is shown."""
    done = None if plan.cost is None else book.recalled(plan.account, plan.written_key, analyst)
    if done is not None and done.lost:
        raise LostAnswerError(
            f"the refinement of {of!r} was charged and lost in a crash, and an answer is refined once: the chain "
            "ends there. Ask anew with another key, charged in full"
        )
    if done is not None and done.question != plan.identity.question:
        raise KeyReusedError(f"{of!r} was refined already: go on from that refinement (key {plan.written_key!r})")


def check_limit(plan: Plan[Any], name: str, balance: Callable[[Plan[Any]], Balance] | None = None) -> None:
    """Refuse what costs more than one question may; what to change must fit the budget too, if it can be looked up."""
    limit = plan.limits.get(name)
    if limit is not None and plan.epsilon > limit:
        remaining = None if balance is None else balance(plan).remaining
        within = limit if remaining is None else min(limit, remaining)
        raise TooDearError(name, plan.epsilon, limit, plan.affordable(within))


def declared_table(declared: Declarations, name: str, *, one_for_all: bool = False) -> Table:
    """The table of this name; `one_for_all`: only if there is one budget for all in it."""
    if name not in declared.tables:
        raise ArgumentError("table", name, "it is not declared", f"Pass one of {', '.join(declared.tables)}")
    if one_for_all:
        check_one_for_all(declared.tables[name])
    return declared.tables[name]
