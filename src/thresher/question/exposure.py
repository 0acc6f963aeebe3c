"""Which part of a table a question is about, as a region of the account. It may be too large, never too small.

Reads: a question. Writes: nothing. Never: data.
"""

import json
from fractions import Fraction

from thresher.accounting import Grouping, Interval, Region, Values
from thresher.accounting.regions import Restriction
from thresher.config import Bands, Code, Column, Days, Grid, Hours, Listed, Numbered, Table, Text, Truth, decimal_text
from thresher.question.asked import Question
from thresher.question.conditions import AllOf, AnyOf, Condition, OneOf, Within

# Longer lists are left out of the region, which makes it larger than necessary and keeps lines of the ledger short.
_MOST_VALUES = 1000


def grouping_of(question: Question) -> Grouping:
    """Return the groups that are charged: the question's keys, over a region that holds all rows of its WHERE."""
    table, names = question.table, tuple(_name(column, question.table) for column in question.keys)
    region = _region(question.where, table)
    if table.contribution is None:
        return Grouping.of_rows(names, region)
    fixed = {_name(table.columns[name], table) for name in table.fixed_columns}
    return Grouping(names, region, table.contribution.max_groups, tuple(fixed & {*names, *region.columns}))


def group_keys(question: Question) -> list[tuple[Fraction | str, ...]] | None:
    """Return the groups as constants of regions, in the question's order; None if a key has no such constant."""
    keys = []
    for group in question.groups:
        key = tuple(_constant(column, code) for column, code in zip(question.keys, group, strict=True))
        known = tuple(constant for constant in key if constant is not None)
        if len(known) < len(key):
            return None
        keys.append(known)
    return keys


def _name(column: Column, table: Table) -> str:
    """Return the name of a column in regions, which says how the column is read.

    A value is clamped to 110 under one declaration and to 150 under another; a day is left out under one and counts
    under the next; a person may live elsewhere in the next version of the rows. Losses in disjoint regions do not add
    up, and regions over columns of different names are never disjoint. So a column whose meaning changed must have
    another name.
    """
    kind, facts = column.kind, []
    if isinstance(kind, Grid):
        facts.append(f"{decimal_text(kind.minimum)} to {decimal_text(kind.maximum)} by {decimal_text(kind.step)}")
        facts += [] if kind.missing is None else [f"missing {decimal_text(kind.missing)}"]
    elif isinstance(kind, Bands):
        facts += [f"bands of {_name(table.columns[kind.of], table)}", " ".join(map(decimal_text, kind.edges))]
    elif isinstance(kind, Days | Hours):
        facts.append(f"{'days' if isinstance(kind, Days) else 'hours'} of {kind.first} to {kind.last}")
    elif isinstance(kind, Numbered | Truth):
        facts.append("whole numbers" if isinstance(kind, Numbered) else "true or false")
    # In an account of people, columns of two tables are two columns: one person may be in both.
    shared = None if table.people is None else table.name
    version = table.version if table.edition != "1" else None
    edition = {"table": shared, "version": version, "of": table.relation, "in": table.file}
    facts += [f"{word} {value}" for word, value in edition.items() if value is not None]
    # A name that could be read as another one with its description is quoted, so that no two columns share a name.
    name = json.dumps(column.name) if set(column.name) & set('("') else column.name
    return f"{name} ({', '.join(facts)})" if facts else name


def _region(condition: Condition, table: Table) -> Region:
    """Return a region that holds all rows of the condition. Parts that are not about one column are left out."""
    if isinstance(condition, AllOf):
        region = Region.everything()
        for part in condition.parts:
            # If no row satisfies both, any region is right, so it stays as large as it was.
            region = region.within(_region(part, table)) or region
        return region
    restriction = _restriction(condition, table)
    return Region.everything() if restriction is None else Region((restriction,))


def _restriction(condition: Condition, table: Table) -> tuple[str, Restriction] | None:
    if isinstance(condition, AnyOf):
        lists = [part for part in condition.parts if isinstance(part, OneOf)]
        if len(lists) < len(condition.parts) or len({part.column for part in lists}) != 1:
            return None
        return _restriction(OneOf(lists[0].column, tuple({code for part in lists for code in part.codes})), table)
    if isinstance(condition, OneOf):
        column = table.columns[condition.column]
        constants = [_constant(column, code) for code in condition.codes]
        if None in constants or len(constants) > _MOST_VALUES:
            return None
        return _name(column, table), Values(tuple(constant for constant in constants if constant is not None))
    if isinstance(condition, Within):
        return _interval(condition, table.columns[condition.column], table)
    return None


def _interval(condition: Within, column: Column, table: Table) -> tuple[str, Restriction] | None:
    low, high = (None if end is None else _constant(column, end) for end in (condition.low, condition.high))
    if (low is None) != (condition.low is None) or (high is None) != (condition.high is None):
        return None
    if low is None and high is None:
        return None
    if low == high and low is not None:
        return _name(column, table), Values((low,))
    if condition.low is not None and condition.high is not None and condition.low > condition.high:
        return None
    return _name(column, table), Interval(low, high, low is not None, high is not None)


def _constant(column: Column, code: Code) -> Fraction | str | None:
    """Return the constant of regions that stands for a code; None if there is none."""
    kind = column.kind
    if isinstance(kind, Grid):
        return int(code) * kind.step
    if isinstance(kind, Numbered):
        return Fraction(int(code))
    if isinstance(kind, Truth):
        return "true" if code else "false"
    if isinstance(kind, Listed | Text | Days | Bands):
        return str(kind.label(code))
    return None if isinstance(kind, Hours) else str(code)
