"""Public facts about the data: `thresher.toml` as frozen declarations.

Read `declarations` and `columns` first: what is declared. `loading` reads a file, by `parsing` (TOML, with `places` for
the lines of mistakes), `sections` (fields), `kinds` (columns), `streams`, `own_budgets` and `relations` (no rows are
declared twice). `first_file` writes the first file of a source, by `catalogue_facts`, `draft_choices`, `draft_columns`.
Reads: one file. Writes: nothing. Never: data; a default that depends on data.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from thresher.config.columns import (
    Bands,
    Code,
    Column,
    Days,
    Grid,
    Hours,
    Kind,
    Label,
    Listed,
    Numbered,
    Referenced,
    Text,
    Truth,
    day_code,
    decimal_text,
)
from thresher.config.declarations import Contribution, Declarations, PublicDeclaration, Table, data_path, place_of
from thresher.config.loading import load, read
from thresher.config.own_budgets import BudgetRoster, OwnBudgets
from thresher.config.shared_accounts import AccountDeclaration
from thresher.config.streams import AlarmDeclaration, Polled, StreamDeclaration

if TYPE_CHECKING:
    from thresher.config.catalogue_facts import (
        CatalogueColumn,
        ColumnFacts,
        RelationFacts,
        derived_relations,
        with_fact,
    )
    from thresher.config.draft_choices import DraftChoices
    from thresher.config.draft_columns import DraftColumn, Family, may_name_people
    from thresher.config.first_file import Draft, drafted, starter

# Only `init` writes a first file: these modules are loaded when they are first used.
_MODULES = {
    "CatalogueColumn": "catalogue_facts",
    "ColumnFacts": "catalogue_facts",
    "RelationFacts": "catalogue_facts",
    "with_fact": "catalogue_facts",
    "derived_relations": "catalogue_facts",
    "DraftChoices": "draft_choices",
    "DraftColumn": "draft_columns",
    "Family": "draft_columns",
    "may_name_people": "draft_columns",
    "Draft": "first_file",
    "drafted": "first_file",
    "starter": "first_file",
}
__all__ = [
    "AccountDeclaration",
    "AlarmDeclaration",
    "Bands",
    "BudgetRoster",
    "CatalogueColumn",
    "Code",
    "Column",
    "ColumnFacts",
    "Contribution",
    "Days",
    "Declarations",
    "Draft",
    "DraftChoices",
    "DraftColumn",
    "Family",
    "Grid",
    "Hours",
    "Kind",
    "Label",
    "Listed",
    "Numbered",
    "OwnBudgets",
    "Polled",
    "PublicDeclaration",
    "Referenced",
    "RelationFacts",
    "StreamDeclaration",
    "Table",
    "Text",
    "Truth",
    "data_path",
    "day_code",
    "decimal_text",
    "derived_relations",
    "drafted",
    "load",
    "may_name_people",
    "place_of",
    "read",
    "starter",
    "with_fact",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__} has no attribute {name}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
