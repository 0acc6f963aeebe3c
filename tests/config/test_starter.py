"""The starter text: right TOML, blanks where only people know, and complete once they are filled in."""

import re
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction

import duckdb
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from thresher.amounts import Epsilon
from thresher.config import (
    ColumnFacts,
    Contribution,
    Days,
    Declarations,
    DraftChoices,
    Family,
    Grid,
    Hours,
    Listed,
    Numbered,
    Referenced,
    RelationFacts,
    Truth,
    drafted,
    may_name_people,
    read,
    starter,
)
from thresher.errors import ArgumentError, DeclarationError
from thresher.sources import open_source


@dataclass(frozen=True)
class C:
    """A column of a catalogue."""

    name: str
    type: str
    family: str
    is_unique_key: bool = False


CLINIC = {
    "patients": [
        C("patient_id", "BIGINT", "integer", True),
        C("household_id", "BIGINT", "integer"),
        C("age", "INTEGER", "integer"),
        C("price", "DECIMAL(10,2)", "decimal"),
        C("weight", "DOUBLE", "double"),
        C("disease", "VARCHAR", "text"),
        C("urgent", "BOOLEAN", "truth"),
        C("day", "DATE", "date"),
        C("seen", "TIMESTAMP", "timestamp"),
        C("floor", "TINYINT", "integer"),
        C("photo", "BLOB", "other"),
        C("mood", "ENUM('alice', 'bob')", "text"),
    ],
    "odd table": [C("quoted.name", "TEXT", "text"), C('"; drop', "BOOL", "truth")],
}


BY_KIND = {
    "budget = ": '"1"',
    "count_range = ": "500",
    "max_groups_per_unit = ": "1",
    "max_rows_per_group = ": "1",
    "\nunit = ": '"person"',
    "min = ": "0",
    "max = ": "10",
    "step = ": "0.5",
    "values = [": '"a"',
    "first = ": "2024-01-01",
    "last = ": "2024-12-31",
}


def filled(text):
    """What a curator would do: fill each blank by its kind, and switch one column on where all are off."""
    lines = text.split("\n")
    for i, line in enumerate(lines):
        if line.startswith("[tables.") and line.endswith(".columns]"):
            block = []
            for j in range(i + 1, len(lines)):
                if not lines[j] or lines[j].startswith("["):
                    break
                block.append(j)
            if all(lines[j].startswith("#") for j in block):
                first = next(j for j in block if " = { " in lines[j])
                lines[first] = lines[first].removeprefix("# ")
    return by_kind("\n".join(lines))


def by_kind(text):
    """Every blank filled in, in a text or on one line of it."""
    text = f"\n{text}"
    for setting, value in BY_KIND.items():
        text = text.replace(f"{setting}___", setting + value)
    return text[1:]


def test_blanks_are_refused_one_after_the_other_until_none_is_left(tmp_path):
    text = starter("duckdb:///clinic.duckdb", CLINIC)
    blanks = [i for i, line in enumerate(text.split("\n"), 1) if "___" in line and not line.startswith("#")]
    assert len(blanks) == 8
    for line in blanks:
        with pytest.raises(DeclarationError, match="fill in ___") as refused:
            read(text, tmp_path)
        assert refused.value.line == line
        assert str(refused.value).startswith(f"thresher.toml, line {line}: fill in ___")
        others = [other for other in blanks if other > line]
        assert str(others[:8]).strip("[]") in str(refused.value), "eight at most are named"
        rows = text.split("\n")
        rows[line - 1] = filled(rows[line - 1])
        text = "\n".join(rows)
    assert read(text, tmp_path).tables


def test_what_the_catalogue_says_is_filled_in(tmp_path):
    found = read(filled(starter("duckdb:///clinic.duckdb", CLINIC)), tmp_path)
    assert found.source == f"duckdb:///{tmp_path}/clinic.duckdb"
    assert found.ledger == f"sqlite:///{tmp_path}/ledger.db"
    kinds = {name: column.kind for name, column in found.tables["patients"].columns.items()}
    always = Days(date.min, date.max)
    assert kinds == {"floor": _grid(-128, 127), "urgent": Truth(), "day": always, "seen": always}
    assert list(found.tables["odd table"].columns) == ['"; drop']
    assert found.tables["patients"].contribution == Contribution("person", 1, 1)
    assert found.tables["patients"].count_range is None
    assert found.tables["patients"].version is None


def _grid(low, high, step=1):
    return Grid(Fraction(low), Fraction(high), Fraction(step))


def test_every_line_that_is_switched_off_is_right_once_it_is_on(tmp_path):
    text = starter("postgresql://u:p@h/d", CLINIC)
    choices = re.findall(r"^# (\w+ = .*)$", text, re.MULTILINE)
    assert len(choices) == 13
    for choice in choices:
        rows = filled(text).split("\n")
        place = rows.index(by_kind(f"# {choice}"))
        rows[place] = rows[place][2:]
        assert read("\n".join(rows), tmp_path).tables, choice


def test_the_file_is_short():
    lines = starter("duckdb://", {"t": CLINIC["patients"]}).splitlines()
    assert len(lines) == 6 + 9 + len(CLINIC["patients"])
    assert max(map(len, lines)) <= 120


@dataclass(frozen=True)
class Case:
    """A flag about one column, its type, and the kind that the file then declares."""

    flag: str
    type: str
    family: str
    written: tuple
    kind: object


CASES = [
    Case("values", "VARCHAR", "text", ("eye", 'str"oke'), Listed(("eye", 'str"oke'))),
    Case("values", "TEXT IN CSV", "written", ("1", "2"), Listed(("1", "2"))),
    Case("values", "BIGINT", "integer", ("3", "-1"), Numbered((3, -1))),
    Case("values", "BOOLEAN", "truth", ("true", "false"), Truth()),
    Case("bounds", "BIGINT", "integer", ("0", "110"), _grid(0, 110)),
    Case("bounds", "BIGINT", "integer", ("0", "110", "5"), _grid(0, 110, 5)),
    Case("bounds", "DECIMAL(10,2)", "decimal", ("0", "9.5"), _grid(0, "9.5", "0.01")),
    Case("bounds", "DOUBLE", "double", ("-1", "1", "0.5"), _grid(-1, 1, "0.5")),
    Case("bounds", "TEXT IN CSV", "written", ("0", "9"), _grid(0, 9)),
    Case("bounds", "TEXT IN CSV", "written", ("2024-01-01", "2024-12-31"), Days(date(2024, 1, 1), date(2024, 12, 31))),
    Case("bounds", "DATE", "date", ("2024-01-01", "2024-12-31"), Days(date(2024, 1, 1), date(2024, 12, 31))),
    Case(
        "bounds", "TIMESTAMP", "zoned", ("2024-01-01", "2024-01-31", "hour"), Hours(date(2024, 1, 1), date(2024, 1, 31))
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.flag} {case.family}")
def test_what_a_person_says_of_a_column_is_declared(case, tmp_path):
    columns = [C("x", case.type, case.family), C("person_id", "BIGINT", "integer")]
    for name in ("x", "t.x"):
        said = DraftChoices(Epsilon(1), "person_id", (10, 3), version="7", **{case.flag: {name: case.written}})
        table = read(drafted("duckdb://", {"t": columns}, said).text, tmp_path).tables["t"]
        assert table.columns["x"].kind == case.kind
        assert (table.budget, table.contribution) == (Epsilon(1), Contribution("person_id", 10, 3))
        assert table.version == "7"
    elsewhere = DraftChoices(**{case.flag: {"other.x": case.written}})
    with pytest.raises(DeclarationError, match="___"):
        read(drafted("duckdb://", {"t": columns}, elsewhere).text, tmp_path)


@pytest.mark.parametrize(
    ("flag", "type_", "family", "written", "why"),
    [
        ("values", "DATE", "date", ("2024-01-01",), "does not have values"),
        ("bounds", "VARCHAR", "text", ("0", "9"), "does not have bounds"),
        ("values", "BIGINT", "integer", ("1", "x]}"), "the column is BIGINT"),
        ("bounds", "BIGINT", "integer", ("1", "2 }\n[tables.u"), "the column is BIGINT"),
        ("bounds", "BIGINT", "integer", ("9", "0"), "min"),
        ("bounds", "DOUBLE", "double", ("0", "9"), "Write the step too, such as x=0:9:0.01"),
        ("bounds", "DATE", "date", ("2024-01-01", "2023-01-01"), "first"),
        ("bounds", "DATE", "date", ("2024-01-01", "2024-13-01"), "there is no such day"),
        ("bounds", "DATE", "date", ("2024-01-01", "2024-02-01", "week"), "the column is DATE"),
        ("values", "VARCHAR", "text", ("a", "a"), "listed twice"),
        ("values", "BOOLEAN", "truth", ("true",), "has both values"),
    ],
)
def test_what_does_not_fit_the_type_is_refused_by_its_flag(flag, type_, family, written, why):
    with pytest.raises(ArgumentError) as refused:
        drafted("duckdb://", {"t": [C("x", type_, family)]}, DraftChoices(**{flag: {"x": written}}))
    assert refused.value.field == flag
    assert why in str(refused.value)


PEOPLE = ColumnFacts(refers_to=("people", "id"))
LINKED = {
    "visits": [C("visit_id", "INT", "integer", True), C("person_id", "INT", "integer"), C("ward", "INT", "integer")],
    "people": [C("id", "INT", "integer", True), C("old", "BOOLEAN", "truth")],
    "wards": [C("number", "INT", "integer", True), C("kind", "VARCHAR", "text")],
}
FACTS = {
    "visits": RelationFacts(
        ("visits",), False, {"person_id": PEOPLE, "ward": ColumnFacts(refers_to=("wards", "number"))}
    ),
    "people": RelationFacts(("people",)),
    "wards": RelationFacts(("wards",)),
}


def test_a_table_that_others_refer_to_is_public_only_as_a_comment(tmp_path):
    said = DraftChoices(Epsilon(1), "person_id", (1, 1), bounds={"ward": ("1", "9")})
    draft = drafted("duckdb://", LINKED, said, FACTS)
    assert list(draft.tables) == ["visits", "people"], "the table of the people is private"
    assert draft.units == {"visits": "person_id", "people": "id"}
    assert draft.lookups == ("wards",)
    assert draft.text.endswith("# [public_tables.wards]\n")
    assert not read(draft.text, tmp_path).public_tables
    assert "wards" in read(draft.text.replace("# [public", "[public"), tmp_path).public_tables
    assert set(drafted("duckdb://", LINKED, said, FACTS, wanted=["wards"]).tables) == {"wards"}


def test_a_table_that_a_person_calls_public_lists_the_values_of_columns_that_refer_to_it(tmp_path):
    said = DraftChoices(Epsilon(1), "person_id", (1, 1), public_tables=frozenset({"wards"}))
    declared = read(drafted("duckdb://", LINKED, said, FACTS).text, tmp_path)
    assert list(declared.public_tables) == ["wards"]
    assert declared.tables["visits"].columns["ward"].kind == Referenced("wards", "number")


def test_rows_that_another_table_holds_are_not_drafted_twice():
    facts = {
        "b_part": RelationFacts(("visits",), True),
        "a_view": RelationFacts(("visits",), True),
        "visits": RelationFacts(("visits",)),
        "far_view": RelationFacts(("hidden",), True),
        "other_view": RelationFacts(("hidden", "more"), True),
    }
    tables = {name: [C("b", "BOOLEAN", "truth")] for name in facts}
    draft = drafted("duckdb://", tables, None, facts)
    assert set(draft.tables) == {"visits", "far_view"}, "of two views over a table out of reach, one is drafted"
    assert draft.left_out == ("a_view", "b_part", "other_view")


def test_the_key_of_a_row_is_never_suggested_as_the_person():
    names = {"trips": ["id", "trip_id", "trips_id", "rider_id", "household_id", "x"], "cities": ["city_id", "mayor_id"]}
    suggested = [n for t, listed in names.items() for n in listed if may_name_people(t, C(n, "INT", "integer"))]
    assert suggested == ["rider_id", "household_id", "mayor_id"]
    assert not may_name_people("trips", C("rider_id", "INT", "integer", is_unique_key=True))


@pytest.mark.parametrize(
    ("column", "facts", "kind"),
    [
        (C("x", "utinyint", "integer"), ColumnFacts(), _grid(0, 255)),
        (C("x", "smallint", "integer"), ColumnFacts(lowest=Fraction(0)), _grid(0, 32767)),
        (C("x", "integer", "integer"), ColumnFacts(lowest=Fraction("0.5"), highest=Fraction(110)), _grid(1, 110)),
        (C("x", "numeric(5,2)", "decimal"), ColumnFacts((), Fraction("0.005"), Fraction(9)), _grid(0, 9, "0.01")),
        (C("x", "date", "date"), ColumnFacts(lowest=date(2020, 1, 1)), Days(date(2020, 1, 1), date.max)),
        (C("x", "ward_kind", "text"), ColumnFacts(("eye", "it's")), Listed(("eye", "it's"))),
        (C("x", "integer", "integer"), ColumnFacts((1, 2)), Numbered((1, 2))),
    ],
)
def test_what_people_declared_in_the_catalogue_is_used(column, facts, kind, tmp_path):
    draft = drafted(
        "d.parquet",
        {"t": [column]},
        DraftChoices(Epsilon(1), rows_are_people=True),
        {"t": RelationFacts((), False, {"x": facts})},
    )
    assert draft.blanks == 0
    assert read(draft.text, tmp_path).tables["t"].columns["x"].kind == kind


def test_half_of_the_bounds_leave_a_blank_for_the_other():
    facts = {"t": RelationFacts((), False, {"x": ColumnFacts(lowest=Fraction(0))})}
    assert "# x = { min = 0, max = ___, step = 1 }" in drafted("d", {"t": [C("x", "int", "integer")]}, None, facts).text


def test_who_is_protected_is_a_blank_until_a_person_says_it(tmp_path):
    text = starter("duckdb://", CLINIC)
    assert len(re.findall("^unit = ___", text, re.MULTILINE)) == 2
    assert re.search(r"^# patient_id = \{", text, re.MULTILINE)
    unit = text.index("\nunit = ___")
    blank = by_kind(text[:unit]) + "\nunit = ___" + by_kind(text[unit + len("\nunit = ___") :])
    with pytest.raises(DeclarationError, match="fill in ___") as refused:
        read(blank, tmp_path)
    assert refused.value.line == text[: unit + 1].count("\n") + 1
    rows = drafted("duckdb://", CLINIC, DraftChoices(Epsilon(1), rows_are_people=True))
    assert read(filled(rows.text), tmp_path).tables["patients"].contribution is None


def test_labels_of_an_enum_are_not_repeated():
    assert "alice" not in starter("duckdb://", CLINIC)


def test_a_column_without_a_type_comes_with_two_choices(tmp_path):
    text = starter("duckdb://", {"t": [C("x", "VARCHAR", "written")]})
    with pytest.raises(DeclarationError, match="fill in ___"):
        read(text, tmp_path)
    with pytest.raises(DeclarationError, match="or remove the # before one"):
        read(by_kind(text), tmp_path)
    (line,) = re.findall(r"^# x = .*$", text, re.MULTILINE)
    listed = by_kind(line[2:])
    number = by_kind("x = " + line.partition("for numbers, ")[2])
    kinds = [
        type(read(by_kind(text.replace(line, one)), tmp_path).tables["t"].columns["x"].kind) for one in (listed, number)
    ]
    assert kinds == [Listed, Grid]


def test_a_real_catalogue_becomes_declarations_that_its_source_accepts(tmp_path):
    """Two tables of DuckDB and a CSV file: catalogue, starter, filled in, loaded, checked by the source."""
    with duckdb.connect(str(tmp_path / "clinic.duckdb")) as database:
        database.execute(
            "CREATE TABLE patients (patient_id BIGINT PRIMARY KEY, age INTEGER, price DECIMAL(10, 2), weight DOUBLE,"
            " disease VARCHAR, urgent BOOLEAN, day DATE, seen TIMESTAMP, zoned TIMESTAMPTZ, floor TINYINT, photo BLOB)"
        )
        database.execute('CREATE TABLE "odd ""name""" ("a.b" INTEGER, "é" BOOLEAN)')
    (tmp_path / "visits.csv").write_text("ward,age\nA,5\n")
    blank = Declarations("duckdb:///clinic.duckdb", "sqlite:///x", {}, folder=tmp_path)
    catalogue = open_source(blank).catalogue()
    text = starter("duckdb:///clinic.duckdb", catalogue)
    declared = read(filled(text).replace('"person"', '"a.b"', 1).replace('"person"', '"patient_id"'), tmp_path)
    assert set(declared.tables) == {"patients", 'odd "name"'}
    assert list(declared.tables["patients"].columns) == ["urgent", "day", "seen", "zoned", "floor"]
    open_source(declared).check(declared)
    of_file = open_source(replace(blank, source="visits.csv")).catalogue()
    declared = read(filled(starter("visits.csv", of_file)).replace('"person"', '"age"'), tmp_path)
    assert list(declared.tables["visits"].columns) == ["ward"]
    open_source(declared).check(declared)


def test_a_file_is_named_for_its_table(tmp_path):
    text = starter("duckdb://", {"t": [C("b", "BOOLEAN", "truth")]}, files={"t": "data/ünï \\x.parquet"})
    assert read(filled(text), tmp_path).tables["t"].file == tmp_path / "data" / "ünï \\x.parquet"


def test_any_object_that_tells_the_same_will_do(tmp_path):
    @dataclass(frozen=True, slots=True)
    class Physical:
        name: str
        type: str
        family: str
        is_unique_key: bool = False

    assert starter("duckdb://", {"t": [Physical("b", "X", "truth")]}) == starter(
        "duckdb://", {"t": [C("b", "X", "truth")]}
    )


@pytest.mark.parametrize("tables", [{}, {"blobs": [C("x", "BLOB", "other")]}, {"": [C("b", "BOOLEAN", "truth")]}])
def test_a_source_without_tables_teaches_what_one_looks_like(tables, tmp_path):
    text = starter("duckdb://", tables)
    assert "# [tables.patients]" in text
    with pytest.raises(DeclarationError, match="`tables` is missing"):
        read(text, tmp_path)


names = st.one_of(st.sampled_from(["a", "A", "id", "a_id", "___", "a.b", "unit", ""]), st.text(max_size=5))
columns = st.builds(C, names, st.text(max_size=8), st.sampled_from(Family.__args__), st.booleans())


@given(st.dictionaries(names, st.lists(columns, max_size=5), max_size=4), st.text(max_size=5))
@example({"t": [C("x", "DECIMAL(38,0)", "decimal"), C("y", "DECIMAL(3, 1)", "decimal")]}, "")
@example({"t": [C("x", "\x1b[31m\n[source]", "text"), C("x", "\x00", "truth")]}, "\x7f\x85\u2028")
def test_any_catalogue_gives_text_that_loads_once_it_is_filled_in(tables, odd):
    text = starter(f"duckdb:///{odd}x", tables)
    assert all(character.isprintable() or character == "\n" for character in text)
    expected = {}
    for name, found in tables.items():
        usable = {one.name for one in found if one.name and "\x00" not in one.name and one.family != "other"}
        if name and "\x00" not in name and usable and name.casefold() not in map(str.casefold, expected):
            expected[name] = usable
    if not expected or not odd.isprintable():
        with pytest.raises(DeclarationError, match="`tables` is missing" if odd.isprintable() else "NUL|control codes"):
            read(filled(text), "/")
        return
    declarations = read(filled(text), "/")
    assert set(declarations.tables) == set(expected)
    for name, table in declarations.tables.items():
        assert set(table.columns) <= expected[name]
        assert table.contribution in (None, Contribution("person", 1, 1))
