"""The starter text: right TOML, blanks where only people know, and complete once they are filled in."""

import re
from dataclasses import dataclass, replace

import duckdb
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from thresher.config import (
    Contribution,
    Days,
    Declarations,
    Family,
    Grid,
    Listed,
    Text,
    Truth,
    read,
    starter,
)
from thresher.errors import DeclarationError
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
        C("photo", "BLOB", "other"),
        C("mood", "ENUM('alice', 'bob')", "text"),
    ],
    "odd table": [C("quoted.name", "TEXT", "text"), C('"; drop', "BOOL", "truth")],
}


BY_KIND = {
    "budget = ": '"1"',
    "count_range = ": "500",
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
            block = range(i + 1, lines.index("", i))
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
    assert len(blanks) == 10
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
    kinds = {name: type(column.kind) for name, column in found.tables["patients"].columns.items()}
    assert kinds == {"age": Grid, "price": Grid, "weight": Grid, "urgent": Truth, "day": Days, "seen": Days}
    assert str(found.tables["patients"].columns["price"].kind.step) == "1/100"
    assert list(found.tables["odd table"].columns) == ['"; drop']
    assert found.tables["patients"].contribution == Contribution("person", 1, 1)
    assert found.tables["odd table"].contribution is None
    assert found.tables["patients"].count_range == 500


def test_every_choice_that_is_switched_off_is_right_once_it_is_on(tmp_path):
    text = starter("postgresql://u:p@h/d", CLINIC)
    choices = re.findall(r"^# (\w+ = .*)$", text.partition("# Public tables")[0], re.MULTILINE)
    assert len(choices) == 18
    for choice in choices:
        rows = filled(text).split("\n")
        place = rows.index(by_kind(f"# {choice}"))
        rows[place] = rows[place][2:]
        if choice.startswith(("max_groups_per", "max_rows_per")):
            rows.insert(place, 'unit = "household"')
        assert read("\n".join(rows), tmp_path).tables, choice


def test_who_is_protected_must_be_decided_where_a_column_looks_like_an_id(tmp_path):
    text = starter("duckdb://", CLINIC)
    named = r'who is protected: "patient_id" \(unique in each row, as if there were no unit\) or "household_id"\?'
    assert re.search(rf"^unit = ___ +# {named}", text, re.MULTILINE)
    assert len(re.findall("^unit = ___", text, re.MULTILINE)) == 1, "the other table has no such column"
    assert re.search(r"^# patient_id = \{", text, re.MULTILINE)
    unit = text.index("\nunit = ___")
    blank = by_kind(text[:unit]) + "\nunit = ___" + by_kind(text[unit + len("\nunit = ___") :])
    with pytest.raises(DeclarationError, match="fill in ___") as refused:
        read(blank, tmp_path)
    assert refused.value.line == text[: unit + 1].count("\n") + 1


def test_without_the_lines_of_the_unit_every_row_is_one(tmp_path):
    lines = filled(starter("duckdb://", CLINIC)).split("\n")
    place = lines.index(next(line for line in lines if line.startswith("unit = ")))
    assert "Remove this line and the next two only if each row is a different person" in lines[place]
    assert "left out of every count" in lines[place + 1]
    assert "raise both limits to count visits" in lines[place + 2]
    declared = read("\n".join(lines[:place] + lines[place + 3 :]), tmp_path)
    assert declared.tables["patients"].contribution is None


def test_text_comes_with_its_two_choices(tmp_path):
    text = filled(starter("duckdb://", CLINIC))
    listed = text.replace('# disease = { values = ["a"] }', 'disease = { values = ["a"] }')
    plain = text.replace("# disease = { text = true }", "disease = { text = true }")
    assert read(listed, tmp_path).tables["patients"].columns["disease"].kind == Listed(("a",))
    assert read(plain, tmp_path).tables["patients"].columns["disease"].kind == Text()


def test_labels_of_an_enum_are_not_repeated():
    assert "alice" not in starter("duckdb://", CLINIC)


def test_columns_that_keep_losses_apart_are_mentioned():
    assert "add fixed = true to it" in starter("duckdb://", CLINIC)


def test_every_setting_that_is_written_is_explained():
    for line in starter("duckdb://", CLINIC).split("\n"):
        if line and not line.startswith(("# ", "[")):
            assert re.search(r"  # \w", line), line


def test_a_column_without_a_type_comes_with_two_choices(tmp_path):
    text = starter("duckdb://", {"t": [C("x", "VARCHAR", "written")]})
    with pytest.raises(DeclarationError, match="fill in ___"):
        read(text, tmp_path)
    with pytest.raises(DeclarationError, match="or remove the # before one"):
        read(by_kind(text), tmp_path)
    kinds = []
    for choice in re.findall(r"^# x = .*$", text, re.MULTILINE):
        assert "remove the # to use it" in choice
        chosen = by_kind(text.replace(choice, choice[2:]))
        kinds.append(type(read(chosen, tmp_path).tables["t"].columns["x"].kind))
    assert kinds == [Grid, Listed]


@pytest.mark.parametrize("family", ["text", "written"])
def test_what_looks_like_a_key_takes_one_line(family):
    text = starter("duckdb://", {"t": [C("person_id", "VARCHAR", family), C("b", "BOOLEAN", "truth")]})
    lines = [line for line in text.split("\n") if line.startswith("# person_id")]
    note = "VARCHAR in the source, looks like a key; remove the # only if people ask about it"
    assert [re.sub(" {2,}", "  ", line) for line in lines] == [f"# person_id = {{ text = true }}  # {note}"]


def test_a_real_catalogue_becomes_declarations_that_its_source_accepts(tmp_path):
    """Two tables of DuckDB and a CSV file: catalogue, starter, filled in, loaded, checked by the source."""
    with duckdb.connect(str(tmp_path / "clinic.duckdb")) as database:
        database.execute(
            "CREATE TABLE patients (patient_id BIGINT PRIMARY KEY, age INTEGER, price DECIMAL(10, 2), weight DOUBLE,"
            " disease VARCHAR, urgent BOOLEAN, day DATE, seen TIMESTAMP, zoned TIMESTAMPTZ, photo BLOB)"
        )
        database.execute('CREATE TABLE "odd ""name""" ("a.b" INTEGER, "é" BOOLEAN)')
    (tmp_path / "visits.csv").write_text("ward,age\nA,5\n")
    blank = Declarations("duckdb:///clinic.duckdb", "sqlite:///x", {}, folder=tmp_path)
    catalogue = open_source(blank).catalogue()
    text = starter("duckdb:///clinic.duckdb", catalogue)
    assert re.search('^unit = ___ +# who is protected: "patient_id"', text, re.MULTILINE)
    declared = read(filled(text).replace('"person"', '"patient_id"'), tmp_path)
    assert set(declared.tables) == {"patients", 'odd "name"'}
    assert list(declared.tables["patients"].columns) == ["age", "price", "weight", "urgent", "day", "seen", "zoned"]
    open_source(declared).check(declared)
    of_file = open_source(replace(blank, source="visits.csv")).catalogue()
    declared = read(filled(starter("visits.csv", of_file)), tmp_path)
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
