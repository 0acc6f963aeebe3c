"""The book of a set of declarations: opened, verified, with the declared budgets in it; and answers it remembers.

Reads: the ledger. Writes: accounts and caps, where the declarations changed them. Never: a budget whose unit changed.
"""

from thresher.config import Declarations, StreamDeclaration
from thresher.decisions import Earlier, RefinementPlan, protected, protected_by, recalled
from thresher.errors import ArgumentError, DeclarationError, KeyReusedError, LostAnswerError, PendingError
from thresher.ledger import Book, open_book
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
    for entry in book.entries() if declared.tables else ():
        table = declared.tables.get(entry.account)
        if entry.kind == "reserve" and table is not None:
            before, now = protected_by(entry.facts["question"]), protected(table)
            if before is not None and before != (now,):
                raise DeclarationError(
                    f"tables.{table.name}.unit",
                    f"its budget began with {_words(before[0])} as the privacy unit, and now it is {_words(now)}. What "
                    "was lost cannot be counted anew: declare the old unit, or give the table another name and a "
                    "budget of its own",
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
    if done is not None and done.question != plan.identity():
        raise KeyReusedError(f"{of!r} was refined already: go on from that refinement (key {plan.written_key!r})")
