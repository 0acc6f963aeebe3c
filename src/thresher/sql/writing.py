"""The question as text in one normal form, written from our tree, to be shown and stored.

Two questions with the same text ask the same: long lists are cut short, but carry a digest of the whole list.
Reads: conditions, atoms. Writes: nothing. Never: a word of the user's text.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from thresher.config import Code, Column, Grid, Numbered, Table, decimal_text
from thresher.question import (
    ALWAYS,
    NEVER,
    Aggregate,
    AllOf,
    AnyOf,
    Atom,
    Condition,
    Every,
    Formula,
    Missing,
    NoneOf,
    OneOf,
    Present,
    Within,
)
from thresher.sql.known_words import FUNCTIONS, PLAIN

_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9]*", re.ASCII)
_WORDS = {*FUNCTIONS, *(part for word in PLAIN.values() for part in word.split()), "DATE", "GROUP", "BY"}
_LONGEST_LIST = 20
_MEASURES = ("total", "rows", "present", "units")


@dataclass(frozen=True, slots=True)
class AskedGroups:
    """The table, keys and groups of a question. Thresholds that differ by group are written beside the group's name."""

    table: Table
    keys: Sequence[Column]
    groups: Sequence[tuple[Code, ...]]

    def group_texts(self) -> Iterator[str]:
        for group in self.groups:
            names = [_code_text(column, code) for column, code in zip(self.keys, group, strict=True)]
            yield names[0] if len(names) == 1 else f"({', '.join(names)})"


def written_question(asked: AskedGroups, where: Condition, formula: Formula | bool) -> str:  # noqa: FBT001
    """Return the whole question."""
    having = str(formula).upper() if isinstance(formula, bool) else formula_text(formula, asked)
    return f"{_select_text(asked, where)} HAVING {having}"


def count_text(asked: AskedGroups, where: Condition, atom: Atom) -> str:
    """Return a question for a number: without HAVING, and with its aggregate."""
    return _select_text(asked, where, f", {atom.aggregate}")


def _select_text(asked: AskedGroups, where: Condition, more: str = "") -> str:
    table, names = asked.table, ", ".join(name_text(column.name) for column in asked.keys)
    condition = "" if where == ALWAYS else f" WHERE {condition_text(where, table)}"
    return f"SELECT {names}{more} FROM {name_text(table.name)}{condition} GROUP BY {names}"  # noqa: S608


def name_text(name: str) -> str:
    """Return a name, in quotes unless it is plain."""
    if _PLAIN_NAME.fullmatch(name) and name.upper() not in _WORDS:
        return name
    return '"' + name.replace('"', '""') + '"'


def condition_text(condition: Condition, table: Table) -> str:
    """Return a condition on rows."""
    if condition in (ALWAYS, NEVER):
        return "TRUE" if condition == ALWAYS else "FALSE"
    if isinstance(condition, AllOf | AnyOf):
        word = " AND " if isinstance(condition, AllOf) else " OR "
        return word.join(
            _part(condition_text(part, table), isinstance(part, AllOf | AnyOf)) for part in condition.parts
        )
    column = table.columns[condition.column]
    if isinstance(condition, OneOf) and isinstance(column.kind, Numbered) and len(condition.codes) <= _LONGEST_LIST:
        return _numbers_text(column, column.kind, condition)
    return f"{name_text(column.name)} {_test_text(column, condition)}"


def _numbers_text(column: Column, kind: Numbered, condition: OneOf) -> str:
    """Return a list of numbers. Numbers outside the public list came from ranges, so they are written as ranges."""
    name = name_text(column.name)
    declared = tuple(code for code in condition.codes if code in kind.values)
    parts = [f"{name} {_test_text(column, OneOf(column.name, declared))}"] if declared else []
    parts += [f"{name} BETWEEN {code} AND {code}" for code in condition.codes if code not in declared]
    return _part(" OR ".join(parts), len(parts) > 1)


def _test_text(column: Column, condition: Within | OneOf | NoneOf | Missing | Present) -> str:
    if isinstance(condition, Missing | Present):
        return "IS NULL" if isinstance(condition, Missing) else "IS NOT NULL"
    if isinstance(condition, Within):
        low = None if condition.low is None else _code_text(column, condition.low)
        high = None if condition.high is None else _code_text(column, condition.high)
        return f"<= {high}" if low is None else f">= {low}" if high is None else f"BETWEEN {low} AND {high}"
    wanted, codes = isinstance(condition, OneOf), condition.codes
    if len(codes) == 1:
        return f"{'=' if wanted else '<>'} {_code_text(column, codes[0])}"
    return f"{'IN' if wanted else 'NOT IN'} {_list_text(_code_text(column, code) for code in codes)}"


def aggregate_text(aggregate: Aggregate, table: Table, word: str | None = None) -> str:
    """Return one aggregate. `word` replaces SUM, to write the sum of a column as its average."""
    name = "" if aggregate.column is None else name_text(aggregate.column)
    unit = table.contribution.unit if table.contribution else ""
    forms = {
        "rows": "COUNT(*)",
        "present": f"COUNT({name})",
        "total": f"{word or 'SUM'}({name})",
        "units": f"COUNT(DISTINCT {name_text(unit)})",
    }
    filtered = "" if aggregate.where == ALWAYS else f" FILTER (WHERE {condition_text(aggregate.where, table)})"
    return forms[aggregate.measure] + filtered


def order(aggregate: Aggregate, table: Table) -> tuple[int, str]:
    """Return the place of an aggregate in a sum: sums first, then counts."""
    return _MEASURES.index(aggregate.measure), aggregate_text(aggregate, table)


def linear_text(terms: Mapping[Aggregate, Fraction], table: Table, *, average: bool = False) -> str:
    """Return a sum of multiples of aggregates, in the given order. Coefficients of sums are for codes."""
    word = "AVG" if average else None
    named = {aggregate_text(one, table, word): factor / step(one, table) for one, factor in terms.items()}
    return sum_text({name: factor for name, factor in named.items() if factor}) or "0"


def ratio_text(terms: Mapping[Aggregate, Fraction], over: Aggregate, table: Table) -> str:
    """Return a sum of multiples of aggregates, divided by a count."""
    bracket = "({})" if len(terms) > 1 else "{}"
    return f"{bracket.format(linear_text(terms, table))} / {aggregate_text(over, table)}"


def sum_text(named: Mapping[str, Fraction]) -> str:
    """Return a sum such as `2 * a - b`. The empty name is the number 1."""
    text = ""
    for name, factor in named.items():
        size = abs(factor)
        item = name if name and size == 1 else decimal_text(size) + (f" * {name}" if name else "")
        sign = "-" if factor < 0 else "+"
        text += f" {sign} {item}" if text else ("-" if factor < 0 else "") + item
    return text


def formula_text(formula: Formula, asked: AskedGroups) -> str:
    """Return a formula, whose parts are already sorted."""
    if isinstance(formula, Atom):
        return _atom_text(formula, asked)
    word = " AND " if isinstance(formula, Every) else " OR "
    return word.join(_part(formula_text(part, asked), not isinstance(part, Atom)) for part in formula.parts)


def step(aggregate: Aggregate, table: Table) -> Fraction:
    """Return the value of one code of the aggregate."""
    kind = table.columns[aggregate.column].kind if aggregate.measure == "total" and aggregate.column else None
    return kind.step if isinstance(kind, Grid) else Fraction(1)


def _atom_text(atom: Atom, asked: AskedGroups) -> str:
    """Return an atom. It is written from the whole numbers alone, so `> 5` and `>= 6` are written alike."""
    table = asked.table
    weights = {aggregate: Fraction(weight) for aggregate, weight in atom.weights}
    lead, *others = sorted(weights, key=lambda aggregate: order(aggregate, table))
    if lead.measure != "total":
        # The count with the largest factor comes first, so that a share reads `part - 0.3 * whole`.
        lead, *others = sorted([lead, *others], key=lambda aggregate: -abs(weights[aggregate]))
        others.sort(key=lambda aggregate: order(aggregate, table))
    factor = weights[lead] / step(lead, table)
    if atom.at_least == 1 and len(weights) == 2 and (average := _average_of(lead, table)) in weights:
        bound = -weights[average] / factor
        return f"{aggregate_text(lead, table, 'AVG')} {'>' if factor > 0 else '<'} {decimal_text(bound)}"
    sign = ">=" if factor > 0 else "<="
    left = linear_text({aggregate: weights[aggregate] / factor for aggregate in (lead, *others)}, table)
    if atom.at_least == 1 and others:
        return f"{left} {'>' if factor > 0 else '<'} 0"
    if isinstance(atom.at_least, int):
        return f"{left} {sign} {decimal_text(atom.at_least / factor)}"
    by_group = zip(asked.group_texts(), atom.at_least, strict=True)
    return f"{left} {sign} {_list_text(f'{name}: {decimal_text(bound / factor)}' for name, bound in by_group)}"


def _average_of(total: Aggregate, table: Table) -> Aggregate | None:
    """Return the count by which the average of a summed column divides; None for a count."""
    if total.measure != "total" or total.column is None:
        return None
    if table.columns[total.column].kind.missing is not None:
        return Aggregate("rows", None, total.where)
    return Aggregate("present", total.column, total.where)


def _code_text(column: Column, code: Code) -> str:
    shown = column.kind.label(code)
    if isinstance(shown, bool):
        return str(shown).upper()
    if isinstance(shown, int) or isinstance(column.kind, Grid):
        return str(shown)
    return "'" + str(shown).replace("'", "''") + "'"


def _list_text(items: Iterable[str]) -> str:
    listed = list(items)
    whole = ", ".join(listed)
    if len(listed) <= _LONGEST_LIST:
        return f"({whole})"
    digest = hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()
    return f"({', '.join(listed[:3])}, ... {len(listed)} values, sha256 {digest})"


def _part(text: str, joined: bool) -> str:  # noqa: FBT001
    return f"({text})" if joined else text
