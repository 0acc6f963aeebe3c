"""Two texts that identify a question: one decides which answer is given again free, one which may be refined.

    question     the same question gives the stored answer: what was asked, and the declarations that it uses
    measurement  an answer with the same measurement may be refined: which rows count, and how noise is added

Both are written field by field, with a version, so that no name of a class or field in the code is part of them.
`tests/question/test_identity.py` has a table of every field of every declaration: a new one must be listed there.
Reads: declarations, questions. Writes: texts. Never: budgets, levels, or defaults of the product.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from thresher.config import (
    Bands,
    Column,
    Days,
    Grid,
    Hours,
    Kind,
    Listed,
    Numbered,
    Referenced,
    Table,
    Text,
    Truth,
    decimal_text,
)
from thresher.errors import BugError
from thresher.question.asked import Aggregate, Atom, Every, Formula, Question
from thresher.question.conditions import AllOf, AnyOf, Condition, Missing, NoneOf, OneOf, Present, Within, columns_of

QUESTION, MEASUREMENT = "question 1", "measurement 1"
# The number of the rule by which sources choose among the rows of a unit that has too many. Another rule keeps others.
ROW_ORDER = 1
# Longer texts are replaced by their hash: a line of the ledger stays short.
_LONGEST = 400


@dataclass(frozen=True, slots=True)
class Identity:
    """The two texts. They are compared and hashed, and never parsed.

    `parts` are the hashes of the parts of the measurement, by name: they tell which part differs.
    """

    question: str
    measurement: str
    parts: Mapping[str, str] = field(default_factory=dict)


def identity_text(document: object) -> str:
    """Return one text for one JSON value. Unlike a line of the ledger (`canonical`), it keeps letters beyond ASCII."""
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def identity_of(
    family: str, table: Table, columns: Iterable[str], asked: Mapping[str, Any], measured: Mapping[str, Any]
) -> Identity:
    """Return the identity of a plan of a `family`, which uses `columns` and adds its own facts to each text."""
    used = sorted(with_bands(columns, table))
    rows = sorted(table.columns) if table.contribution is not None else used
    if unresolved := [name for name in rows if isinstance(table.columns[name].kind, Referenced)]:
        raise BugError(f"{unresolved[0]} is not resolved to its public values")
    question = {
        "identity": QUESTION,
        "family": family,
        "table": table_facts(table),
        "columns": {name: column_facts(table.columns[name]) for name in used},
        **asked,
    }
    where = table_facts(table)
    measurement = {
        "identity": MEASUREMENT,
        "unit": where.pop("unit"),
        "table": {**where, "version_declared": table.names_its_rows, "row_order": ROW_ORDER},
        # Without a unit, which rows count depends on the columns of the question alone.
        "columns" if table.contribution else "used_columns": {name: column_facts(table.columns[name]) for name in rows},
        **measured,
    }
    parts = {name: digest_of(identity_text(folded(part))) for name, part in measurement.items()}
    return Identity(identity_text(folded(question)), identity_text(folded(measurement)), parts)


def digest_of(text: str) -> str:
    """Return a hash that stands for a text."""
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def table_facts(table: Table) -> dict[str, Any]:
    """Return where the rows are, which version of them is meant, and how many rows of a unit count."""
    limits = table.contribution
    return {
        "name": table.name,
        "source": table.source,
        "relation": table.relation,
        "file": None if table.file is None else str(table.file),
        "version": table.version,
        "unit": None if limits is None else limits.unit,
        "max_groups_per_unit": None if limits is None else limits.max_groups,
        "max_rows_per_group": None if limits is None else limits.max_rows,
    }


def rows_digest(table: Table) -> str:
    """Return a hash of all that decides which rows of a table with units count, apart from the keys."""
    columns = [column_facts(table.columns[name]) for name in sorted(table.columns)]
    return digest_of(identity_text([table_facts(table), columns]))


def column_facts(column: Column) -> dict[str, Any]:
    """Return how a column is read."""
    return {"name": column.name, "fixed": column.fixed, **kind_facts(column.kind)}


def kind_facts(kind: Kind) -> dict[str, Any]:  # noqa: PLR0911 - one for each kind
    """Return what a column may hold."""
    match kind:
        case Listed(values):
            return {"holds": "text", "values": list(values)}
        case Numbered(numbers):
            return {"holds": "whole numbers", "values": list(numbers)}
        case Truth():
            return {"holds": "truth"}
        case Grid(low, high, step, missing):
            ends = {"min": decimal_text(low), "max": decimal_text(high), "step": decimal_text(step)}
            return {"holds": "grid", **ends, "missing": None if missing is None else decimal_text(missing)}
        case Days(first, last):
            return {"holds": "days", "first": first.isoformat(), "last": last.isoformat()}
        case Hours(first, last):
            return {"holds": "hours", "first": first.isoformat(), "last": last.isoformat()}
        case Bands(of, edges):
            return {"holds": "bands", "of": of, "edges": [decimal_text(edge) for edge in edges]}
        case Referenced(name, column):
            return {"holds": "public values", "public_table": name, "public_column": column}
        case Text():
            return {"holds": "any text"}


def condition_facts(condition: Condition) -> list[Any]:  # noqa: PLR0911 - one for each kind
    """Return a condition on rows as lists."""
    match condition:
        case Within(column, low, high):
            return ["within", column, low, high]
        case OneOf(column, codes):
            return ["one of", column, list(codes)]
        case NoneOf(column, codes):
            return ["none of", column, list(codes)]
        case Missing(column):
            return ["missing", column]
        case Present(column):
            return ["present", column]
        case AllOf(parts):
            return ["all of", [condition_facts(part) for part in parts]]
        case AnyOf(parts):
            return ["any of", [condition_facts(part) for part in parts]]


def aggregate_facts(aggregate: Aggregate) -> list[Any]:
    """Return an aggregate as a list."""
    return [aggregate.measure, aggregate.column, condition_facts(aggregate.where)]


def formula_facts(formula: Formula | bool, *, thresholds: bool = True) -> Any:  # noqa: FBT001 - a constant formula
    """Return a formula as lists, with the thresholds of its conditions or without them."""
    if isinstance(formula, bool):
        return formula
    if isinstance(formula, Atom):
        at_least = list(formula.at_least) if isinstance(formula.at_least, tuple) else formula.at_least
        weighted = [[weight, *aggregate_facts(aggregate)] for aggregate, weight in formula.weights]
        return ["at least", weighted, at_least if thresholds else None]
    parts = [formula_facts(part, thresholds=thresholds) for part in formula.parts]
    return ["every" if isinstance(formula, Every) else "some", parts]


def rows_facts(question: Question) -> dict[str, Any]:
    """Return which rows a question is about, and how it groups them."""
    return {
        "where": condition_facts(question.where),
        "keys": [column.name for column in question.keys],
        "groups": [list(group) for group in question.groups],
    }


def columns_used(question: Question) -> set[str]:
    """Return the columns that a question's answer depends on."""
    used = {column.name for column in question.keys} | columns_of(question.where)
    for atom in question.atoms:
        for aggregate, _ in atom.weights:
            used |= columns_of(aggregate.where) | ({aggregate.column} if aggregate.column else set())
    return used


def with_bands(columns: Iterable[str], table: Table) -> set[str]:
    """Return these columns, and the columns that bands among them are cut from."""
    named = set(columns)
    kinds = [table.columns[name].kind for name in named if name in table.columns]
    return named | {kind.of for kind in kinds if isinstance(kind, Bands)}


def folded(value: Any) -> Any:
    """Return the document with every long list replaced by its length and hash."""
    if isinstance(value, Mapping):
        return {name: folded(part) for name, part in value.items()}
    if not isinstance(value, Sequence) or isinstance(value, str):
        return value
    text = identity_text(value)
    if len(text) <= _LONGEST:
        return value
    return {"parts": len(value), "sha256": hashlib.sha256(text.encode()).hexdigest()}
