"""A small declared world for the SQL room's tests: one private table with a unit, one without, three public tables."""

from datetime import date
from fractions import Fraction
from functools import partial

from thresher.amounts import Epsilon
from thresher.asks.merging import IN_TEXT
from thresher.config import (
    Bands,
    Column,
    Contribution,
    Days,
    Declarations,
    Grid,
    Hours,
    Listed,
    Numbered,
    PublicDeclaration,
    Referenced,
    Table,
    Text,
    Truth,
)
from thresher.question import PublicTable
from thresher.sql import read_question

F = Fraction


def columns(*found: Column) -> dict[str, Column]:
    return {column.name: column for column in found}


PATIENTS = Table(
    name="patients",
    columns=columns(
        Column("disease", Referenced("diseases", "name")),
        Column("ward", Numbered((1, 2, 3))),
        Column("age", Grid(F(0), F(110), F(1))),
        Column("amount", Grid(F(-50), F(50), F(1, 100))),
        Column("score", Grid(F(0), F(10), F(1, 2), missing=F(0))),
        Column("smoker", Truth()),
        Column("admitted", Days(date(2024, 1, 1), date(2024, 12, 31))),
        Column("seen", Hours(date(2024, 1, 1), date(2024, 1, 3))),
        Column("age_band", Bands("age", (F(0), F(18), F(65), F(111)))),
        Column("gender", Listed(("f", "m"))),
        Column("zip", Text()),
        Column("select", Listed(("a; drop", "x"))),
    ),
    budget=Epsilon("3"),
    contribution=Contribution("patient_id", 1, 1),
)
VISITS = Table(
    name="visits",
    columns=columns(
        Column("building", Numbered((10, 20, 30))),
        Column("minutes", Grid(F(0), F(600), F(1))),
        Column("Floor", Listed(("low", "high"))),
        Column("wide", Grid(F(0), F(10**9), F(1, 100))),
    ),
    budget=Epsilon("1"),
)
DECLARATIONS = Declarations(
    source="duckdb:///clinic.duckdb",
    ledger="sqlite:///ledger.db",
    tables={"patients": PATIENTS, "visits": VISITS},
    public_tables={name: PublicDeclaration(name) for name in ("diseases", "buildings", "wards")},
)
PUBLIC = {
    "diseases": PublicTable(
        "diseases",
        {
            "name": ("flu", "measles", "gout"),
            "kind": ("viral", "viral", None),
            "severity": (F(2), F(3), F(1)),
            "notifiable": (False, True, None),
        },
    ),
    "buildings": PublicTable(
        "buildings", {"number": (F(10), F(20), F(30)), "capacity": (F(3), F(5, 2), F(4)), "name": ("A", "B", "C")}
    ),
    "wards": PublicTable("wards", {"number": (F(1), F(2), F(2)), "beds": (F(7), F(5), None), "id": (None, F(1), F(2))}),
}

# Questions as the engine reads them: with all its options.
ask = partial(read_question.ask, options=IN_TEXT)
