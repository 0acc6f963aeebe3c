"""The check of declarations against the catalogue: tables and columns exist, and their types fit.

Reads: the catalogue. Writes: nothing. Never: rows; names of the catalogue that no declaration names, except names that
are nearly the same.
"""

import difflib
from collections.abc import Mapping, Sequence

from thresher.config import (
    Bands,
    Column,
    Days,
    Declarations,
    Grid,
    Hours,
    Kind,
    Listed,
    Numbered,
    PublicDeclaration,
    Referenced,
    Table,
    Text,
    Truth,
)
from thresher.errors import DeclarationError
from thresher.sources.codes import ends_fit
from thresher.sources.protocol import Family, PhysicalColumn

_NUMBERS = (Family.INTEGER, Family.DECIMAL, Family.DOUBLE)
_FITTING: Mapping[type[Kind], tuple[Family, ...]] = {
    Listed: (Family.TEXT,),
    Text: (Family.TEXT,),
    Numbered: _NUMBERS,
    Grid: _NUMBERS,
    Truth: (Family.TRUTH, Family.INTEGER),
    Days: (Family.DATE, Family.MOMENT, Family.ZONED),
    Hours: (Family.DATE, Family.MOMENT, Family.ZONED),
    Referenced: (Family.TEXT, *_NUMBERS),
}
_UNITS = (
    Family.INTEGER,
    Family.TEXT,
    Family.WRITTEN,
    Family.TRUTH,
    Family.DATE,
    Family.MOMENT,
    Family.ZONED,
    Family.DECIMAL,
)
_COARSE = (
    "its Parquet file keeps times in milliseconds, and a single row may hold a time that no database can convert. "
    "Write the file with times in microseconds"
)
# Each band is one case in the statement.
_MOST_BANDS = 1000
_LARGEST_BOUND = 2**62


def relation_of(table: Table | PublicDeclaration) -> str:
    """Return the name of a table in the catalogue."""
    return table.name if table.file is not None else table.relation or table.name


def check_tables(
    declarations: Declarations, catalogue: Mapping[str, Sequence[PhysicalColumn]], relations: Mapping[str, str]
) -> None:
    """Refuse declarations that do not fit the catalogue; `relations` is the SQL of each of its tables."""
    for name, public in declarations.public_tables.items():
        _present(f"public_tables.{name}", relation_of(public), catalogue)
    for name, table in declarations.tables.items():
        place = f"tables.{name}"
        found = {column.name: column for column in _present(place, relation_of(table), catalogue)}
        for column in table.columns.values():
            _check_column(f"{place}.columns.{column.name}", column, table, found)
        if table.contribution is not None:
            _check_unit(f"{place}.unit", table.contribution.unit, found)
    _refuse_twins(declarations, relations)


def _refuse_twins(declarations: Declarations, relations: Mapping[str, str]) -> None:
    """Refuse a private table whose rows another declaration names too, such as `visits` and `public.visits`."""
    taken = {
        relations[relation_of(public)]: f"[public_tables.{name}]" for name, public in declarations.public_tables.items()
    }
    for name, table in declarations.tables.items():
        twin = taken.setdefault(relations[relation_of(table)], f"[tables.{name}]")
        if twin != f"[tables.{name}]":
            raise DeclarationError(
                f"tables.{name}", f"{twin} names the same rows, and rows are declared once. Keep one of the two"
            )


def _check_unit(place: str, unit: str, found: Mapping[str, PhysicalColumn]) -> None:
    """Refuse a unit whose equal values have several forms: 0 and -0, or a day and 24 hours, would be two persons."""
    if unit not in found:
        raise DeclarationError(place, f"there is no column {unit} in the source{_nearly(unit, found)}")
    physical = found[unit]
    if physical.family is Family.COARSE:
        raise DeclarationError(place, _COARSE)
    if physical.family not in _UNITS:
        raise DeclarationError(
            place,
            f"{unit} is {physical.type} ({physical.family}), and a unit needs {' or '.join(_UNITS)}. Name another "
            "column, or a view that converts it: table = ...",
        )


def _present(place: str, relation: str, catalogue: Mapping[str, Sequence[PhysicalColumn]]) -> Sequence[PhysicalColumn]:
    if relation not in catalogue:
        raise DeclarationError(place, f"the source has no table {relation}{_nearly(relation, catalogue)}")
    return catalogue[relation]


def _check_column(place: str, column: Column, table: Table, found: Mapping[str, PhysicalColumn]) -> None:
    kind = column.kind
    if isinstance(kind, Bands):
        if len(kind.edges) - 1 > _MOST_BANDS:
            raise DeclarationError(
                place,
                f"it has {len(kind.edges) - 1} bands, and at most {_MOST_BANDS} are allowed. Make them wider, or give "
                f"{kind.of} a larger step and group by that",
            )
        return  # the column that the bands are cut from is checked itself
    if isinstance(kind, Grid):
        _check_grid(place, kind)
    if column.name not in found:
        raise DeclarationError(place, f"the table in the source has no such column{_nearly(column.name, found)}")
    physical = found[column.name]
    fitting = _FITTING[type(kind)]
    if physical.family is Family.WRITTEN or physical.family in fitting:
        return
    if physical.family is Family.COARSE and Family.MOMENT in fitting:
        raise DeclarationError(place, _COARSE)
    raise DeclarationError(
        place,
        f"in the source of {table.name} it is {physical.type} ({physical.family}), and this declaration needs "
        f"{' or '.join(fitting)}. Declare another kind, or name a view that converts it: table = ...",
    )


def _check_grid(place: str, kind: Grid) -> None:
    if max(abs(kind.minimum), abs(kind.maximum)) > _LARGEST_BOUND or not ends_fit(kind):
        raise DeclarationError(
            place,
            "doubles cannot hold its bounds exactly. Use a larger step, or bounds at most 2^53 steps from zero",
        )


def _nearly(name: str, known: Mapping[str, object]) -> str:
    near = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f". Did you mean {near[0]}?" if near else ". Check the name, with its capitals"
