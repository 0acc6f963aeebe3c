"""The desk at which asks become plans: what is declared, what is public, and whose question it is.

Reads: declarations, public tables; the ledger, only if a price depends on it. Writes: nothing. Never: private rows.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, Generic, Protocol, TypeVar

from thresher.amounts import Epsilon
from thresher.config import Declarations, Table
from thresher.errors import ArgumentError
from thresher.ledger import Book
from thresher.plan import Plan
from thresher.question import PublicTable

Planned_co = TypeVar("Planned_co", bound=Plan[Any], covariant=True)
Kept = TypeVar("Kept")

_MOST = 32
_PLAIN = (str, int, float, bool, Fraction, Decimal, Epsilon, type(None))


@dataclass(frozen=True, slots=True)
class Desk:
    """Where questions are planned. `book` opens the ledger, which most plans do not need."""

    declared: Declarations
    public: Mapping[str, PublicTable]
    book: Callable[[], Book]
    analyst: str = ""

    def table(self, name: str) -> Table:
        """Return the declared table of this name."""
        tables = self.declared.tables
        if name not in tables:
            raise ArgumentError("table", name, "no such table is declared", f"Pass one of {', '.join(tables)}")
        return tables[name]


class Ask(Protocol[Planned_co]):
    """A question of some family, before it has a price."""

    def plan(self, desk: Desk) -> Planned_co:
        """Return the plan. Spends nothing and reads no private row."""


def check_one_for_all(table: Table) -> None:
    """Refuse an ordinary question about a table in which each person has a budget of their own."""
    if table.own_budgets is not None:
        rule = f"each person in {table.name} has a budget of their own, and this question would charge all alike"
        fix = "Ask with personal=True, by personal_count, or by `thresher personal run`"
        raise ArgumentError("table", table.name, rule, fix)


class PlanMemory(Generic[Kept]):
    """The last plans of an engine, by what was asked: the same text and options are planned once.

    A plan follows from the text, the options, the declarations and the public tables, and the last two are the same for
    as long as an engine is open. Two requests that differ in a type or a letter are two. Threads may share it.
    """

    def __init__(self) -> None:
        self._plans: OrderedDict[str, Kept] = OrderedDict()
        self._lock = threading.Lock()

    def planned(self, sql: object, options: Mapping[str, object], plan: Callable[[], Kept]) -> Kept:
        """Return the plan that was made for exactly this request, or make it and keep it. A refusal is not kept."""
        name = _exactly([sql, dict(options)])
        if name is None:
            return plan()
        with self._lock:
            if name in self._plans:
                self._plans.move_to_end(name)
                return self._plans[name]
        made = plan()
        with self._lock:
            self._plans[name] = made
            while len(self._plans) > _MOST:
                self._plans.popitem(last=False)
        return made


def _exactly(value: object) -> str | None:
    """Return a text that no other request has: values with their types. None for what is not plain."""
    if type(value) in _PLAIN:
        return f"{type(value).__name__} {value!r}"
    if type(value) is dict:
        parts = [_exactly(part) for pair in value.items() for part in pair]
    elif type(value) is list:
        parts = [_exactly(part) for part in value]
    else:
        return None
    return None if None in parts else f"{type(value).__name__} {parts}"
