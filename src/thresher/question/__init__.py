"""The question in our own words: conditions on rows, aggregates, the formula, and what must be read for it.

Reads: declarations. Writes: nothing. Never: SQL text, data.
"""

from thresher.question.aggregate import Aggregate
from thresher.question.asked import PublicTable, PublicValue, Question, with_public_values
from thresher.question.conditions import (
    ALWAYS,
    NEVER,
    AllOf,
    AnyOf,
    Condition,
    Missing,
    NoneOf,
    OneOf,
    Present,
    Within,
    all_of,
    any_of,
    columns_of,
    narrowed,
    possible,
    sorted_codes,
)
from thresher.question.exposure import group_keys, grouping_of
from thresher.question.formula import Atom, Every, Formula, Some, atoms_of, negated
from thresher.question.identity import Identity, identity_of
from thresher.question.needs import AnyNeed, Exact, Need, RowsNeed
from thresher.question.sensitivity import MOST_ROWS, largest_value, sensitivity

__all__ = [
    "ALWAYS",
    "MOST_ROWS",
    "NEVER",
    "Aggregate",
    "AllOf",
    "AnyNeed",
    "AnyOf",
    "Atom",
    "Condition",
    "Every",
    "Exact",
    "Formula",
    "Identity",
    "Missing",
    "Need",
    "NoneOf",
    "OneOf",
    "Present",
    "PublicTable",
    "PublicValue",
    "Question",
    "RowsNeed",
    "Some",
    "Within",
    "all_of",
    "any_of",
    "atoms_of",
    "columns_of",
    "group_keys",
    "grouping_of",
    "identity_of",
    "largest_value",
    "narrowed",
    "negated",
    "possible",
    "sensitivity",
    "sorted_codes",
    "with_public_values",
]
