"""Public facts about the data: `thresher.toml` as frozen declarations.

Read `declarations` and `columns` first: what is declared. `loading` reads a file, by `parsing` (TOML, with `places` for
the lines of mistakes), `sections` (fields), `kinds` (columns), `streams`, `own_budgets` and `relations` (no rows are
declared twice). `starter` writes the first file of a source.
Reads: one file. Writes: nothing. Never: data; a default that depends on data.
"""

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
from thresher.config.starter import CatalogueColumn, Family, starter
from thresher.config.streams import AlarmDeclaration, Polled, StreamDeclaration

__all__ = [
    "AccountDeclaration",
    "AlarmDeclaration",
    "Bands",
    "BudgetRoster",
    "CatalogueColumn",
    "Code",
    "Column",
    "Contribution",
    "Days",
    "Declarations",
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
    "StreamDeclaration",
    "Table",
    "Text",
    "Truth",
    "data_path",
    "day_code",
    "decimal_text",
    "load",
    "place_of",
    "read",
    "starter",
]
