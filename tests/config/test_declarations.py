"""What may be declared, what it becomes, and how files that cannot be read are refused."""

import os
import pickle
import re
from datetime import date
from fractions import Fraction

import pytest
from config.written_declarations import FULL

from thresher.amounts import Epsilon
from thresher.config import (
    Bands,
    Contribution,
    Days,
    Grid,
    Hours,
    Listed,
    Numbered,
    PublicDeclaration,
    Referenced,
    Text,
    Truth,
    load,
    read,
)
from thresher.errors import ArgumentError, DeclarationError
from thresher.ledger.stores import store_for


def test_every_setting_becomes_its_declaration(tmp_path):
    found = read(FULL, tmp_path)
    assert found.source == f"duckdb:///{tmp_path}/clinic.duckdb"
    assert found.ledger == f"sqlite:///{tmp_path}/books/ledger.db"
    assert str(found.anchor) == "/safe/anchor"
    assert (found.timeout_seconds, found.max_groups, found.folder) == (30, 50, tmp_path)
    table = found.tables["patients"]
    assert table.contribution == Contribution("patient_id", 3, 2)
    assert (table.budget, table.max_epsilon_per_question) == (Epsilon(3), Epsilon("0.5"))
    assert (table.count_range, table.version, table.relation, table.file) == (5000, "2", "clinic.patients", None)
    assert {name: column.kind for name, column in table.columns.items()} == {
        "patient_id": Text(),
        "disease": Referenced("diseases", "name"),
        "ward": Listed(("A", "B ", "b", "é", "e\u0301", 'it\'s "x"')),
        "floor": Numbered((3, -1, 0)),
        "urgent": Truth(),
        "age": Grid(Fraction(0), Fraction(110), Fraction(1)),
        "weight": Grid(Fraction(-1, 2), Fraction(501, 2), Fraction(1, 10), Fraction(70)),
        "day": Days(date(2024, 1, 1), date(2024, 12, 31)),
        "hour": Hours(date(2024, 2, 29), date(2024, 2, 29)),
        "age band": Bands("age", (Fraction(0), Fraction(18), Fraction(65), Fraction(111))),
    }
    assert table.fixed_columns == ("disease",)
    assert all(name == column.name for name, column in table.columns.items())
    odd = found.tables["odd.name"]
    assert odd.file == tmp_path / "data" / "odd.parquet"
    assert odd.contribution is None
    assert odd.fixed_columns == ("note",)
    assert found.public_tables == {
        "diseases": PublicDeclaration("diseases"),
        "wards": PublicDeclaration("wards", file=found.public_tables["wards"].file),
        "places": PublicDeclaration("places", relation="geo.places"),
    }
    assert str(found.public_tables["wards"].file) == "/public/wards.csv"


SMALL = """\
[source]
url = "postgresql://curator:hunter2@host/clinic"
[tables.visits]
budget = "1"
[tables.visits.columns]
age = { min = 0, max = 9 }
"""


def test_defaults(tmp_path):
    found = read(SMALL, tmp_path)
    assert found.source == "postgresql://curator:hunter2@host/clinic"
    assert found.ledger == f"sqlite:///{tmp_path}/ledger.db"
    assert (found.anchor, found.timeout_seconds, found.max_groups) == (None, 600, 10_000)
    table = found.tables["visits"]
    assert (table.contribution, table.count_range, table.max_epsilon_per_question) == (None, None, None)
    assert (table.version, table.relation, table.file, found.public_tables) == (None, None, None, {})
    with_unit = read(SMALL.replace("budget", 'unit = "person"\nbudget', 1), tmp_path)
    assert with_unit.tables["visits"].contribution == Contribution("person", 1, 1)


def test_declarations_are_the_same_from_every_working_folder(tmp_path, monkeypatch):
    (tmp_path / "inner").mkdir()
    (tmp_path / "thresher.toml").write_text(FULL)
    monkeypatch.chdir(tmp_path / "inner")
    (tmp_path / "link").symlink_to(tmp_path)
    by_relative, by_link = load("../thresher.toml"), load(tmp_path / "link" / "thresher.toml")
    assert load(tmp_path / "thresher.toml") == by_relative == by_link
    monkeypatch.chdir(tmp_path)
    assert load("thresher.toml") == by_relative
    assert pickle.loads(pickle.dumps(by_relative)) == by_relative  # noqa: S301


def test_the_ledger_room_understands_the_default_address(tmp_path):
    _, anchor = store_for(read(SMALL, tmp_path).ledger)
    assert anchor == tmp_path / "ledger.db.anchor"


def test_early_hours_are_written_with_four_digits_of_the_year():
    hours = Hours(date(999, 1, 1), date(999, 1, 1))
    assert [hours.label(code) for code in list(hours.codes())[:2]] == ["0999-01-01T00:00", "0999-01-01T01:00"]


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("duckdb:///clinic.duckdb", "duckdb:///{}/clinic.duckdb"),
        ("duckdb:////data/clinic.duckdb", "duckdb:////data/clinic.duckdb"),
        ("duckdb:///", "duckdb:///"),
        ("visits.parquet", "visits.parquet"),
        ("data/year=2024", "data/year=2024"),
        ("memory://", "memory://"),
        ("duckdb://", "duckdb://"),
        ("spark://local[2]", "spark://local[2]"),
    ],
)
def test_files_of_addresses_lie_beside_the_declarations(url, shown, tmp_path):
    text = SMALL.replace("postgresql://curator:hunter2@host/clinic", url)
    assert read(text, tmp_path).source == shown.format(tmp_path)


def test_windows_line_ends_and_a_byte_order_mark_are_welcome(tmp_path):
    (tmp_path / "thresher.toml").write_bytes(b"\xef\xbb\xbf" + SMALL.replace("\n", "\r\n").encode())
    assert load(tmp_path / "thresher.toml") == read(SMALL, tmp_path)


def test_amounts_count_as_they_are_written(tmp_path):
    for written in ('"0.1"', "0.1", "0.100", "1e-1"):
        assert read(SMALL.replace('"1"', written), tmp_path).tables["visits"].budget == Epsilon("0.1")


@pytest.mark.parametrize("written", ["2024-06-01", '"2024-06-01"'])
def test_a_version_may_be_a_day(written, tmp_path):
    text = SMALL.replace("budget", f"version = {written}\nbudget", 1)
    assert read(text, tmp_path).tables["visits"].version == "2024-06-01"


def test_a_million_numbers_are_declared_without_being_listed(tmp_path):
    text = SMALL.replace("max = 9 ", "max = 9e15, step = 1")
    kind = read(text, tmp_path).tables["visits"].columns["age"].kind
    assert len(kind.codes()) == 9 * 10**15 + 1


# Files that are no declarations at all.


def refusal_of(path):
    with pytest.raises(DeclarationError) as refused:
        load(path)
    return refused.value


def test_a_missing_file_points_to_init(tmp_path):
    error = refusal_of(tmp_path / "thresher.toml")
    assert str(error) == "thresher.toml: this file does not exist. Run thresher init to make one, or name another file."
    assert refusal_of(tmp_path / "no folder" / "x.toml").place == "x.toml"


def test_a_folder_is_no_file(tmp_path):
    assert "folder" in str(refusal_of(tmp_path))
    assert "folder" in str(refusal_of("."))


@pytest.fixture
def nobody():
    """A user who may not read everything, as the one who runs the tests perhaps may."""
    if os.geteuid():
        yield
        return
    os.seteuid(65534)
    yield
    os.seteuid(0)


def test_a_file_without_permission(tmp_path, nobody):
    path = tmp_path / "thresher.toml"
    if os.access(tmp_path, os.W_OK, effective_ids=True):
        path.write_text(SMALL)
        path.chmod(0)
    assert "may not read it" in str(refusal_of(path))


@pytest.mark.parametrize("name", ["a\x00b", "x" * 5000, "loop", "thresher.toml/inner"])
def test_names_that_no_file_can_have(name, tmp_path):
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "thresher.toml").write_text(SMALL)
    error = refusal_of(tmp_path / name)
    assert "cannot be read" in str(error)
    assert len(str(error)) < 200
    assert "\x00" not in str(error)


def test_text_that_is_not_utf_8_is_refused_by_line(tmp_path):
    (tmp_path / "thresher.toml").write_bytes(SMALL.encode() + b"# caf\xe9\n[limits]\n")
    error = refusal_of(tmp_path / "thresher.toml")
    assert (error.line, "UTF-8" in str(error)) == (7, True)


@pytest.mark.parametrize(("character", "word"), [("\x00", "NUL"), ("\ud800", "surrogate")])
def test_nul_and_surrogates_are_refused_by_line(character, word, tmp_path):
    with pytest.raises(DeclarationError, match=word) as refused:
        read(SMALL + f"# {character}", tmp_path)
    assert refused.value.line == 7


def test_a_megabyte_is_the_limit(tmp_path):
    path = tmp_path / "thresher.toml"
    path.write_bytes(SMALL.encode().ljust(1_000_000, b"#"))
    assert load(path).tables
    path.write_bytes(SMALL.encode().ljust(1_000_001, b"#"))
    assert "1000000 bytes" in str(refusal_of(path))
    with pytest.raises(DeclarationError, match="1000000 bytes"):
        read(SMALL + "#" + "é" * 500_000, tmp_path)


@pytest.mark.parametrize("path", [None, 5, b"thresher.toml"])
def test_what_names_no_file_is_refused(path):
    with pytest.raises(ArgumentError, match=r"^path = "):
        load(path)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", None, "`source` is missing"),
        ("# only a comment\n", None, "`source` is missing"),
        ("[source\n", 1, "not TOML"),
        ("a = 1\nb = = 2\n", 2, "not TOML"),
        ("\ta = 'x\n", 1, "not TOML"),
        ("a = 1\n\nb = [1,\n2\n", 4, "not TOML"),
        ('a = "x\n\n\n', 1, "not TOML"),
        ("a = 1\nb = 2\na = 3\n", 3, "a is set twice, first on line 1"),
        ("[tables.x]\nbudget = 1\n[tables.x]\n", 3, "tables.x is set twice, first on line 1"),
        ("[t]\na = { b = 1, b = 2 }\n", 2, "t.a.b is set twice, first on line 2"),
        ("a = " + "9" * 5000, 1, "thousands of digits"),
        ("\na = " + "[" * 5000, 2, "nested too deeply"),
        ("a = " + "[" * 5000 + "]" * 5000, 1, "nested too deeply"),
        ("\n\na" + ".a" * 450_000 + " = 1", 3, "nested too deeply"),
        ("[" + "'a'." * 200_000 + "a]", 1, "nested too deeply"),
        ("a = " + "{ a = " * 1000, 1, "nested too deeply"),
        ("a = 1\rb = 2", 1, "not TOML"),
        ("%YAML 1.2\na: &x [*x, *x]\n", 1, "not TOML"),
        ("<<<<<<< HEAD\n", 1, "not TOML"),
    ],
)
def test_what_is_not_toml_is_refused_by_line(text, line, words, tmp_path):
    with pytest.raises(DeclarationError, match=re.escape(words)) as refused:
        read(text, tmp_path)
    assert refused.value.line == line
    assert len(str(refused.value)) < 300
