"""A file with every setting; and random declarations with their text, the other direction of `read`."""

import json
from datetime import date, timedelta
from fractions import Fraction
from pathlib import Path

from hypothesis import assume
from hypothesis import strategies as st

from thresher.amounts import Epsilon
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
    decimal_text,
)

FULL = """\
[source]
url = "duckdb:///clinic.duckdb"
timeout_seconds = 30

[ledger]
url = "sqlite:///books/ledger.db"
anchor = "/safe/anchor"

[limits]
max_groups = 50

[tables.patients]
unit = "patient_id"
max_groups_per_unit = 3
max_rows_per_group = 2
count_range = 5000
budget = "3.0"
max_epsilon_per_question = 0.5
version = 2
table = "clinic.patients"

[tables.patients.columns]
patient_id = { text = true }
disease = { public_table = "diseases", column = "name", fixed = true }
ward = { values = ["A", "B ", "b", "é", "e\\u0301", "it's \\"x\\""] }
floor = { values = [3, -1, 0] }
urgent = { values = [false, true] }
age = { min = 0, max = 110 }
weight = { min = "-0.5", max = 250.5, step = 0.1, missing = 70 }
day = { first = 2024-01-01, last = "2024-12-31" }
hour = { first = 2024-02-29, last = 2024-02-29, by = "hour" }
"age band" = { bands_of = "age", edges = [0, 18, 65, 111], fixed = false }

[tables."odd.name"]
budget = 1
file = "data/odd.parquet"
[tables."odd.name".columns.note]
text = true

[public_tables.diseases]
[public_tables.wards]
file = "/public/wards.csv"
[public_tables.places]
table = "geo.places"
"""

FOLDER = Path("/declared/here")
letters = st.characters(exclude_categories=["Cs"], exclude_characters="\x00")
# Names differ by more than capitals.
names = st.one_of(
    st.sampled_from(["a", "b.c", "unit", 'x"y', "é", "e\u0301", " "]), st.text(letters, min_size=1, max_size=6)
)
texts = st.text(letters, max_size=6)
printable = st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1, max_size=6)
days = st.dates(date(1900, 1, 1), date(2200, 1, 1))
epsilons = st.integers(1, 10**12).map(Epsilon.from_nano)


def mapping_of(keys, values, smallest=0, most=4):
    return st.lists(
        st.tuples(keys, values), min_size=smallest, max_size=most, unique_by=lambda pair: pair[0].casefold()
    )


@st.composite
def grids(draw):
    step = Fraction(draw(st.integers(1, 1000)), 10 ** draw(st.integers(0, 6)))
    low = draw(st.integers(-(2**53), 2**53 - 1))
    high = draw(st.integers(low + 1, 2**53))
    missing = draw(st.none() | st.integers(low, high))
    return Grid(low * step, high * step, step, None if missing is None else missing * step)


@st.composite
def kinds(draw, public):
    first = draw(days)
    last = first + timedelta(days=draw(st.integers(0, 400)))
    choices = [
        st.lists(texts, min_size=1, max_size=4, unique=True).map(lambda values: Listed(tuple(values))),
        st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=4, unique=True).map(
            lambda v: Numbered(tuple(v))
        ),
        st.just(Truth()),
        grids(),
        st.just(Days(first, last)),
        st.just(Hours(first, last)),
        st.just(Text()),
    ]
    if public:
        choices.append(st.builds(Referenced, st.sampled_from(sorted(public)), names))
    return draw(st.one_of(choices))


@st.composite
def tables(draw, name, public):
    columns = dict(draw(mapping_of(names, kinds(public), smallest=1)))
    unit = draw(st.none() | names)
    gridded = [one for one, kind in columns.items() if isinstance(kind, Grid)]
    if gridded and unit != "in bands":
        grid = columns[gridded[0]]
        edges = draw(st.lists(st.integers(-(2**53), 2**53), min_size=2, max_size=4, unique=True))
        columns["in bands"] = Bands(gridded[0], tuple(edge * grid.step for edge in sorted(edges)))
    whereabouts = draw(st.sampled_from(["own", "relation", "file"]))
    small = st.integers(1, 1_000_000)
    return Table(
        name=name,
        columns={one: Column(one, kind, unit is not None and draw(st.booleans())) for one, kind in columns.items()},
        budget=draw(epsilons),
        max_epsilon_per_question=draw(st.none() | epsilons),
        contribution=None if unit is None else Contribution(unit, draw(small), draw(small)),
        count_range=draw(st.none() | st.integers(1, 10**12)),
        relation=draw(names) if whereabouts == "relation" else None,
        file=FOLDER / draw(printable) if whereabouts == "file" else None,
        version=draw(st.text(letters, min_size=1, max_size=5)),
    )


def known_by(table):
    """What may not be declared twice."""
    if table.file is None:
        return {(table.relation or table.name).casefold()}
    return {table.file.resolve(), table.name.casefold()}


@st.composite
def declarations(draw):
    called = [name for name, _ in draw(mapping_of(names, st.none(), smallest=1, most=5))]
    private = draw(st.integers(1, len(called)))
    public = called[private:]
    found = Declarations(
        source=draw(st.sampled_from(["duckdb:////declared/here/x.db", "postgresql://u:p@h/d", "spark://local[2]"])),
        ledger=draw(st.sampled_from(["sqlite:////declared/here/ledger.db", "postgresql://u:p@h/d"])),
        tables={name: draw(tables(name, public)) for name in called[:private]},
        public_tables={
            name: draw(
                st.sampled_from(
                    [
                        PublicDeclaration(name),
                        PublicDeclaration(name, "a.b"),
                        PublicDeclaration(name, None, FOLDER / "p"),
                    ]
                )
            )
            for name in public
        },
        folder=FOLDER,
        anchor=draw(st.none() | st.just(FOLDER / "anchor")),
        timeout_seconds=draw(st.integers(1, 86_400)),
        max_groups=draw(st.integers(1, 1_000_000)),
    )
    places = [known_by(table) for table in found.tables.values()]
    public_places = set().union(*map(known_by, found.public_tables.values()))
    assume(sum(map(len, places)) + len(public_places) == len(public_places.union(*places)))
    return found


def quoted(text):
    escaped = "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in json.dumps(text, ensure_ascii=False)[1:-1])
    return f'"{escaped}"'


def written(value):
    """A value in TOML. Fractions are decimals here, and numbers may be quoted or not."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Fraction):
        return decimal_text(value)
    if isinstance(value, Epsilon | Path):
        return quoted(str(value))
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, list | tuple):
        return f"[{', '.join(written(one) for one in value)}]"
    return quoted(value) if isinstance(value, str) else str(value)


def fields(**settings):
    return [f"{name} = {written(value)}" for name, value in settings.items() if value is not None]


def column_text(column):
    kind = column.kind
    if isinstance(kind, Listed | Numbered):
        parts = fields(values=kind.values)
    elif isinstance(kind, Truth):
        parts = fields(values=[True, False])
    elif isinstance(kind, Grid):
        parts = fields(min=kind.minimum, max=kind.maximum, step=kind.step, missing=kind.missing)
    elif isinstance(kind, Days | Hours):
        parts = fields(first=kind.first, last=kind.last, by="day" if isinstance(kind, Days) else "hour")
    elif isinstance(kind, Bands):
        parts = fields(bands_of=kind.of, edges=kind.edges)
    elif isinstance(kind, Referenced):
        parts = fields(public_table=kind.table, column=kind.column)
    else:
        parts = fields(text=True)
    return f"{quoted(column.name)} = {{ {', '.join([*parts, *fields(fixed=column.fixed or None)])} }}"


def as_text(found):
    """The declarations as a file that would be read as them."""
    lines = ["[source]", *fields(url=found.source, timeout_seconds=found.timeout_seconds)]
    lines += ["[ledger]", *fields(url=found.ledger, anchor=found.anchor)]
    lines += ["[limits]", *fields(max_groups=found.max_groups)]
    for name, table in found.tables.items():
        bounded = table.contribution or Contribution(None, None, None)
        lines.append(f"[tables.{quoted(name)}]")
        lines += fields(
            unit=bounded.unit,
            max_groups_per_unit=bounded.max_groups,
            max_rows_per_group=bounded.max_rows,
            count_range=table.count_range,
            budget=table.budget,
            max_epsilon_per_question=table.max_epsilon_per_question,
            version=table.version,
            file=table.file,
            table=table.relation,
        )
        lines.append(f"[tables.{quoted(name)}.columns]")
        lines += [column_text(column) for column in table.columns.values()]
    for name, public in found.public_tables.items():
        lines += [f"[public_tables.{quoted(name)}]", *fields(file=public.file, table=public.relation)]
    return "\n".join(lines) + "\n"
