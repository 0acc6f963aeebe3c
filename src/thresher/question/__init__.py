"""The question without its SQL: conditions on rows, aggregates, the formula, and the need that a source answers.

Read `conditions` (which rows), `asked` (what is asked about them) and `needs` (what is read, and the seal on it) first.
What a question means for privacy follows: `sensitivity` (how far one unit moves a number), `exposure` (which groups and
rows are charged), `identity` (which question is the same question again). `signatures` with `code_sets`, and
`implicants` with `trees`, serve the mechanisms that measure each condition by itself.
Reads: declarations. Writes: nothing. Never: SQL text, data, a cost.
"""

from thresher.question.asked import (
    Aggregate,
    Atom,
    Every,
    Formula,
    PublicTable,
    PublicValue,
    Question,
    Some,
    atoms_of,
    negated,
    with_public_values,
)
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
from thresher.question.identity import Identity, identity_of
from thresher.question.needs import AnyNeed, Exact, Need, PeopleNeed, RowsNeed
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
    "PeopleNeed",
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
