"""Lists of codes too long to be written into a statement mean the same as short ones."""

import pytest
from sources.places import HERE
from sources.plain_rows import evaluate
from sources.test_catalogue import table

from thresher.config import Contribution, Numbered, Table, Text
from thresher.question import ALWAYS, Aggregate, AllOf, AnyOf, Need, NoneOf, OneOf
from thresher.sources.bounding import raw_rows
from thresher.sources.codes import RelationColumns
from thresher.sources.duckdb_dialect import DuckDBDialect
from thresher.sources.postgres_dialect import PostgresDialect
from thresher.sources.protocol import Family, PhysicalColumn
from thresher.sources.scan_statements import statement

MADE = table(n=Numbered((1, 2)), w=Text())
ODD = tuple(range(1, 6000, 2))
WORDS = tuple(sorted(f"it's {n} ☃" for n in ODD))
ROWS = [
    {"pid": n % 50, "n": None if n % 7 == 0 else n, "w": None if n % 11 == 0 else f"it's {n} ☃"} for n in range(300)
]


@pytest.mark.parametrize("place", [*HERE, "postgres", "spark"])
@pytest.mark.parametrize("units", [False, True])
def test_long_lists(place, units, put):
    bounds = Contribution("pid", 2, 3) if units else None
    made = Table(MADE.name, MADE.columns, MADE.budget, contribution=bounds)
    source = put(place, ROWS, made, {"pid": "big", "n": "big", "w": "text"})
    made = source._declarations.tables["patients"]
    asked = (OneOf("n", ODD), NoneOf("n", ODD), OneOf("w", WORDS), NoneOf("w", WORDS))
    counted = tuple(Aggregate("rows", None, condition) for condition in (*asked, AllOf(asked[::2]), AnyOf(asked[1:])))
    for keys, groups in (((), ((),)), ((made.columns["n"],), ((1,), (2,)))):
        for where in (ALWAYS, asked[0], asked[3]):
            need = Need(made, keys, groups, where, (*counted, Aggregate("units", None, asked[2])))
            assert source.fetch(need).unseal().tolist() == evaluate(need, ROWS)


@pytest.mark.parametrize("dialect", [DuckDBDialect(), PostgresDialect()])
def test_a_long_list_is_brought_along_once(dialect):
    """However many codes there are, the statement stays short."""
    physical = {"n": PhysicalColumn("n", "BIGINT", Family.INTEGER), "w": PhysicalColumn("w", "text", Family.TEXT)}
    rows = raw_rows(MADE, "patients", RelationColumns(physical, dialect))
    many = tuple(range(0, 2_000_000, 2))
    counted = tuple(Aggregate("rows", None, condition) for condition in (OneOf("n", many), NoneOf("n", many)))
    made = statement(Need(MADE, (), ((),), OneOf("w", WORDS), counted), rows, dialect)
    assert len(made.sql) < 1000
    assert made.parameters == (many, WORDS)
