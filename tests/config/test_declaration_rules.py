"""Every rule of the declarations: its refusal names the field, the value, the rule, the fix, and the right line."""

import re

import pytest

from thresher.config import read
from thresher.errors import DeclarationError

# Line 7 is where a setting of the table goes, line 10 a column, line 13 a public table.
FILE = """\
# line 1
[source]
url = "duckdb:///clinic.duckdb"

[tables.patients]
budget = "3"
{setting}

[tables.patients.columns]
{column}

[public_tables.diseases]
{public}
"""
AGE = "age = { min = 0, max = 110 }"


def refusal(setting="", column=AGE, public="", whole=None):
    text = FILE.format(setting=setting, column=column, public=public) if whole is None else whole
    with pytest.raises(DeclarationError) as refused:
        read(text, ".")
    error = refused.value
    assert error.place == "thresher.toml"
    assert str(error).startswith("thresher.toml")
    assert len(str(error)) < 500
    assert str(error).isprintable()
    assert str(error).endswith(".")
    return error


def check(error, line, *words):
    assert error.line == line, str(error)
    for word in words:
        assert word in str(error)


def test_the_file_itself_is_right():
    read(FILE.format(setting="", column=AGE, public=""), ".")


COLUMN = "tables.patients.columns.age"


@pytest.mark.parametrize(
    ("column", "words"),
    [
        # Row 39: bounds.
        ("{ min = 10, max = 2 }", [f"{COLUMN}.max = 2", "below min = 10", "Exchange"]),
        ("{ min = 5, max = 5 }", [f"{COLUMN}.max = 5", "every value would be the same", "Declare a range"]),
        ("{ min = 5, max = 5.0 }", ["max = 5.0", "every value would be the same"]),
        ("{ min = nan, max = 5 }", [f"{COLUMN}.min = nan", "finite number", "Write a plain number"]),
        ("{ min = 0, max = inf }", [f"{COLUMN}.max = inf", "finite number"]),
        ("{ min = -inf, max = 0 }", [f"{COLUMN}.min = -inf", "finite number"]),
        ("{ min = 0, max = 1e300 }", [f"{COLUMN}.max = 1e+300", "too large or too fine"]),
        ("{ min = 0, max = 1e99999999999999999999 }", [f"{COLUMN}.max = ", "finite number"]),
        ("{ min = 0, max = 5, step = 1e-300 }", [f"{COLUMN}.step = 1e-300", "too large or too fine"]),
        ("{ min = false, max = true }", [f"{COLUMN}.min = false", "finite number"]),
        ('{ min = 0, max = "1,5" }', [f'{COLUMN}.max = "1,5"', "finite number"]),
        ('{ min = 0, max = "９" }', [f'{COLUMN}.max = "９"', "finite number"]),
        ("{ min = 0, max = 0x" + "f" * 4000 + " }", [f"{COLUMN}.max = a huge number", "too large"]),
        ("{ min = 0, max = [1] }", [f"{COLUMN}.max = [1]", "finite number"]),
        ("{ min = 0, max = 2024-01-01 }", [f"{COLUMN}.max = 2024-01-01", "finite number"]),
        ("{ min = 0 }", ["`max` is missing in [tables.patients.columns.age]", "public bounds"]),
        ("{ max = 0 }", ["`min` is missing"]),
        ("{ step = 1 }", ["`min` is missing"]),
        # The grid.
        ("{ min = 0, max = 10, step = 0 }", [f"{COLUMN}.step = 0", "above zero", "distance of the grid"]),
        ("{ min = 0, max = 10, step = -1 }", [f"{COLUMN}.step = -1", "above zero"]),
        ("{ min = 0, max = 10, step = 3 }", [f"{COLUMN}.max = 10", "not a multiple of step = 3", "finer step"]),
        ("{ min = 0.05, max = 10, step = 0.1 }", [f"{COLUMN}.min = 0.05", "not a multiple of step = 0.1"]),
        ("{ min = 0, max = 9007199254740993 }", [f"{COLUMN}.max = 9007199254740993", "2^53 steps"]),
        ("{ min = -1e10, max = 0, step = 1e-6 }", [f"{COLUMN}.min = -1e+10", "2^53 steps", "larger step"]),
        ("{ min = 0, max = 9, missing = 10 }", [f"{COLUMN}.missing = 10", "outside min and max", "from min to max"]),
        ("{ min = 0, max = 9, missing = 0.5 }", [f"{COLUMN}.missing = 0.5", "not a multiple of step = 1"]),
        ('{ min = 0, max = 9, missing = "" }', [f'{COLUMN}.missing = ""', "finite number"]),
        # Row 42: lists.
        ("{ values = [] }", [f"{COLUMN}.values = []", "empty list", "List the public values"]),
        ('{ values = ["a", "b", "a"] }', [f'{COLUMN}.values = "a"', "listed twice", "Remove one"]),
        ("{ values = [1, 2, 1] }", [f"{COLUMN}.values = 1", "listed twice"]),
        ("{ values = [1, 0x1] }", [f"{COLUMN}.values = 1", "listed twice"]),
        (
            '{ values = ["a", 1] }',
            [
                f"{COLUMN}.values = 1",
                '"a", and all values have one type',
                "List text in quotes only",
            ],
        ),
        ("{ values = [1, true] }", [f"{COLUMN}.values = true", "1, and all values have one type"]),
        ("{ values = [true] }", [f"{COLUMN}.values = [true]", "both values", "[true, false]"]),
        ("{ values = [true, true] }", [f"{COLUMN}.values = true", "listed twice"]),
        ("{ values = [1.0, 2.5] }", [f"{COLUMN}.values = 1.0", "text, whole numbers, or true and false"]),
        ("{ values = [[1]] }", [f"{COLUMN}.values = [1]", "text, whole numbers"]),
        ("{ values = [2024-01-01] }", [f"{COLUMN}.values = 2024-01-01", "text, whole numbers"]),
        ('{ values = "a" }', [f'{COLUMN}.values = "a"', "must be a list"]),
        ('{ values = ["a\\u0000b"] }', [f'{COLUMN}.values = "a\\x00b"', "NUL", "Remove it"]),
        ("{ values = [9223372036854775808] }", [f"{COLUMN}.values = 9223372036854775808", "64 bits", "as text"]),
        # Public tables.
        (
            '{ public_table = "diseasess", column = "name" }',
            [f'{COLUMN}.public_table = "diseasess"', "did you mean `diseases`?", "[public_tables.NAME]"],
        ),
        ('{ public_table = "zzz", column = "name" }', ['"zzz"', "no such public table is declared. Declare it"]),
        ('{ public_table = "diseases" }', ["`column` is missing", 'column = "name"']),
        ('{ column = "name" }', ["`public_table` is missing"]),
        ('{ public_table = 3, column = "name" }', [f"{COLUMN}.public_table = 3", "text in quotes"]),
        ('{ public_table = "diseases", column = "" }', [f'{COLUMN}.column = ""', "must not be empty"]),
        # Dates.
        ("{ first = 2024-02-01, last = 2024-01-01 }", [f"{COLUMN}.last = 2024-01-01", "before first = 2024-02-01"]),
        ("{ first = 2024-01-01 }", ["`last` is missing", "first and last day"]),
        ("{ last = 2024-01-01 }", ["`first` is missing"]),
        ('{ first = "2024-02-30", last = 2024-12-31 }', [f'{COLUMN}.first = "2024-02-30"', "no such day"]),
        ('{ first = "20240201", last = 2024-12-31 }', [f'{COLUMN}.first = "20240201"', "must be a day", "2024-01-31"]),
        ('{ first = "２０２４-02-01", last = 2024-12-31 }', ["must be a day"]),
        (
            "{ first = 2024-01-01T10:00:00, last = 2024-12-31 }",
            [f"{COLUMN}.first = 2024-01-01T10:00:00", "without a time of day"],
        ),
        ("{ first = 10:00:00, last = 2024-12-31 }", [f"{COLUMN}.first = 10:00:00", "must be a day"]),
        ("{ first = 2024, last = 2025 }", [f"{COLUMN}.first = 2024", "must be a day"]),
        (
            '{ first = 2024-01-01, last = 2024-12-31, by = "month" }',
            [f'{COLUMN}.by = "month"', '"day" or "hour"', 'by = "day"'],
        ),
        # Other kinds.
        ("{ text = false }", [f"{COLUMN}.text = false", "true, or be left out"]),
        ('{ text = "yes" }', [f'{COLUMN}.text = "yes"', "true, or be left out"]),
        ("{}", [f"{COLUMN} = {{}}", "no field says what the column may hold", "{ min = 0, max = 110 }"]),
        ("{ fixed = false }", [f"{COLUMN} = {{ fixed }}", "no field says what the column may hold"]),
        ("{ min = 0, max = 5, values = [1] }", [f"{COLUMN}.min = 0", "`values` and `min` declare two kinds"]),
        ("{ text = true, by = 'day' }", [f"{COLUMN}.text = true", "two kinds", "first, last, by, or text"]),
        ("{ min = 0, maks = 5 }", ["unknown field `maks` in [tables.patients.columns.age]", "did you mean `max`?"]),
        ("5", [f"{COLUMN} = 5", "must be a table", "{ min = 0, max = 110 }"]),
        ('"int"', [f'{COLUMN} = "int"', "must be a table"]),
        # `fixed`.
        (
            "{ min = 0, max = 5, fixed = true }",
            [f"{COLUMN}.fixed = true", "a different person", "Remove it"],
        ),
        ("{ min = 0, max = 5, fixed = 1 }", [f"{COLUMN}.fixed = 1", "true or false"]),
    ],
)
def test_rules_of_columns(column, words):
    check(refusal(column=f"age = {column}"), 10, *words)


@pytest.mark.parametrize(
    ("bands", "words"),
    [
        ('{ bands_of = "agee", edges = [0, 5] }', ['bands.bands_of = "agee"', "did you mean `age`?", "Declare it"]),
        ('{ bands_of = "bands", edges = [0, 5] }', ['bands_of = "bands"', "with min and max"]),
        ('{ bands_of = "age", edges = [5] }', ["bands.edges = [5]", "at least two numbers", "[0, 18, 65, 111]"]),
        ('{ bands_of = "age", edges = 5 }', ["bands.edges = 5", "list of at least two numbers"]),
        (
            '{ bands_of = "age", edges = [0, 18, 18] }',
            ["bands.edges = 18", "larger than the edge before", "Sort them"],
        ),
        ('{ bands_of = "age", edges = [0, 18, 5] }', ["bands.edges = 5", "which is 18"]),
        ('{ bands_of = "age", edges = [0, 0.5] }', ["bands.edges = 0.5", "multiples of the step of age, which is 1"]),
        ('{ bands_of = "age", edges = [0, 1e20] }', ["bands.edges = 1e+20", "multiples of the step"]),
        ('{ bands_of = "age", edges = [0, true] }', ["bands.edges = true", "finite number"]),
        ('{ bands_of = "age", edges = [nan, 1] }', ["bands.edges = nan", "finite number"]),
        ('{ bands_of = "age" }', ["`edges` is missing"]),
        ("{ edges = [0, 5] }", ["`bands_of` is missing"]),
        ("{ bands_of = 5, edges = [0, 5] }", ["bands.bands_of = 5", "text in quotes"]),
    ],
)
def test_rules_of_bands(bands, words):
    check(refusal(column=f"{AGE}\nbands = {bands}"), 11, *words)


def test_an_element_is_refused_on_its_own_line():
    check(refusal(column='age = { values = [\n  "a",\n  "b", # two\n\n  "a",\n] }'), 14, "listed twice")
    check(
        refusal(column=f'{AGE}\nb.bands_of = "age"\nb.edges = [\n0,\n1,\n0.5]'),
        15,
        "larger than the edge before",
    )


TABLE = "tables.patients"


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        # Row 40: the unit.
        ('unit = ""', [f'{TABLE}.unit = ""', "must not be empty", "each row is a different person"]),
        ("unit = 5", [f"{TABLE}.unit = 5", "text in quotes"]),
        ('unit = "a\\u0000"', [f'{TABLE}.unit = "a\\x00"', "NUL"]),
        (f'unit = "{"x" * 201}"', [f"{TABLE}.unit = ", "1 to 200 characters"]),
        ("max_groups_per_unit = 2", [f"{TABLE}.max_groups_per_unit = 2", "without `unit`", 'unit = "patient_id"']),
        ("max_rows_per_group = 2", [f"{TABLE}.max_rows_per_group = 2", "without `unit`"]),
        # Counts and amounts.
        ("count_range = 0", [f"{TABLE}.count_range = 0", "from 1 to", "public guess"]),
        ("count_range = 5.5", [f"{TABLE}.count_range = 5.5", "whole number"]),
        ("count_range = true", [f"{TABLE}.count_range = true", "whole number"]),
        ("max_epsilon_per_question = 0", [f"{TABLE}.max_epsilon_per_question = 0", "above zero"]),
        ('max_epsilon_per_question = "x"', [f'{TABLE}.max_epsilon_per_question = "x"', "finite number"]),
        # Names and whereabouts.
        ('file = ""', [f'{TABLE}.file = ""', "must not be empty", 'file = "data/patients.parquet"']),
        ('file = "a\\u0000"', [f'{TABLE}.file = "a\\x00"', "NUL"]),
        ("file = 3", [f"{TABLE}.file = 3", "text in quotes"]),
        ('file = "s3://key:secret@bucket/x"', [f'{TABLE}.file = "s3://..."', "not an address"]),
        ("table = 3", [f"{TABLE}.table = 3", "text in quotes", "clinic.patients"]),
        ('version = ""', [f'{TABLE}.version = ""', "must not be empty"]),
        ("version = 1.10", [f"{TABLE}.version = 1.10", "text, a whole number or a day"]),
        ("version = true", [f"{TABLE}.version = true", "text, a whole number or a day"]),
        (f'version = "{"x" * 201}"', [f"{TABLE}.version = ", "200 characters"]),
        # Row 43: unknown fields.
        ("boundz = 3", ["unknown field `boundz` in [tables.patients]; did you mean `budget`?", "max_groups_per_unit"]),
        ("max_group_per_unit = 3", ["did you mean `max_groups_per_unit`?"]),
        ('"\\u001b[31mred" = 3', ["unknown field `\\x1b[31mred` in [tables.patients]. The fields here are unit"]),
        ("columns2 = 3", ["did you mean `columns`?"]),
    ],
)
def test_rules_of_tables(setting, words):
    check(refusal(setting=setting), 7, *words)


@pytest.mark.parametrize("field", ["max_groups_per_unit", "max_rows_per_group"])
@pytest.mark.parametrize("value", ["0", "-1", "1000000000", "1.5", "true", '"2"'])
def test_row_41_contributions_from_1_to_a_million(field, value):
    error = refusal(setting=f'{field} = {value}\nunit = "id"')
    check(error, 7, f"{TABLE}.{field} = {value}", "whole number from 1 to 1000000", "the noise grows with it")


@pytest.mark.parametrize(
    ("value", "rule"),
    [
        ("0", "above zero"),
        ('"0.0"', "above zero"),
        ("-1", "never below zero"),
        ('"-0.5"', "never below zero"),
        ("true", "finite number"),
        ("nan", "finite number"),
        ("inf", "finite number"),
        ('"1,5"', "finite number"),
        ('"１"', "finite number"),
        ('""', "finite number"),
        ("[1]", "finite number"),
        ("0.30000000000000004", "nine decimals"),
        ("1e-10", "nine decimals"),
        ("1e-320", "too large or too fine"),
        ("1e308", "too large or too fine"),
        ("1000001", "at most a million"),
    ],
)
def test_rules_of_budgets(value, rule):
    text = FILE.format(setting="", column=AGE, public="").replace('budget = "3"', f"budget = {value}")
    check(refusal(whole=text), 6, f"{TABLE}.budget = ", rule, 'decimal in quotes such as "0.5"')


@pytest.mark.parametrize(
    ("public", "words"),
    [
        ("filee = 3", ["unknown field `filee` in [public_tables.diseases]; did you mean `file`?"]),
        ('file = "ftp://u:secret@h/x"', ['public_tables.diseases.file = "ftp://..."', "not an address"]),
        ("table = []", ["public_tables.diseases.table = []", "text in quotes"]),
    ],
)
def test_rules_of_public_tables(public, words):
    check(refusal(public=public), 13, *words)


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("[source]", "[sauce]", 2, ["unknown field `sauce` in the file; did you mean `source`?"]),
        ('url = "duckdb:///clinic.duckdb"', "", 2, ["`url` is missing in [source]", 'url = "duckdb:///clinic.duckdb"']),
        ('url = "duckdb:///clinic.duckdb"', "url = 5", 3, ["source.url = 5", "text in quotes", "postgresql://"]),
        ('url = "duckdb:///clinic.duckdb"', 'url = ""', 3, ['source.url = ""', "must not be empty"]),
        ('url = "duckdb:///clinic.duckdb"', 'url = "host=h password=hunter2"', 3, ['"..."', "is an address"]),
        ('url = "duckdb:///clinic.duckdb"', 'url = "postgresql://u:hunter2@h/\\n"', 3, ['"..."', "control codes"]),
        (
            "[tables.patients]",
            "timeout_seconds = 0\n[tables.patients]",
            5,
            ["source.timeout_seconds = 0", "1 to 86400"],
        ),
        ("[tables.patients]", "timeout = 5\n[tables.patients]", 5, ["did you mean `timeout_seconds`?"]),
        ("[tables.patients]", "[limits]\nmax_groups = 1000001\n[tables.patients]", 6, ["from 1 to 1000000"]),
        ("[tables.patients]", "[limits]\nmax_groups = 0\n[tables.patients]", 6, ["limits.max_groups = 0"]),
        ("[tables.patients]", "[limits]\nmax_rows = 0\n[tables.patients]", 6, ["did you mean `max_groups`?"]),
        ("[tables.patients]", '[ledger]\nurl = ""\n[tables.patients]', 6, ['ledger.url = ""', "must not be empty"]),
        ("[tables.patients]", '[ledger]\nurl = "sqlite:///"\n[tables.patients]', 6, ["sqlite:///FILE"]),
        ("[tables.patients]", '[ledger]\nurl = "x.db"\n[tables.patients]', 6, ["sqlite:///FILE"]),
        ("[tables.patients]", '[ledger]\nurl = "mysql://u:hunter2@h"\n[tables.patients]', 6, ['"mysql://..."']),
        ("[tables.patients]", "[ledger]\nanchor = 3\n[tables.patients]", 6, ["ledger.anchor = 3", "text in quotes"]),
        ("[tables.patients]", "[ledger]\nlock = 3\n[tables.patients]", 6, ["unknown field `lock` in [ledger]"]),
        ("# line 1", "ledger = 'sqlite:///x'", 1, ['ledger = "sqlite://..."', "must be a table", "[ledger]"]),
        ("# line 1", "tables = 5", 5, ["set twice", "first on line 1"]),
        ("[tables.patients]", "[[tables.patients]]", 5, ["tables.patients = [{...}]", "must be a table"]),
        ("[tables.patients]", '[tables.""]\nbudget=1\n[tables.patients]', 5, ["name has 1 to 200 characters"]),
        ("[tables.patients]", '[tables."a\\u0000"]\nbudget=1\n[tables.patients]', 5, ["no NUL", "a\\x00"]),
        ("[tables.patients]", "[tables.Patients]\nbudget=1\n[tables.patients]", 7, ["Patients by capitals only"]),
        ('budget = "3"', "", 5, ["`budget` is missing in [tables.patients]", 'budget = "3.0"']),
        ("[tables.patients.columns]\n" + AGE, "", 5, ["`columns` is missing in [tables.patients]", "age = {"]),
        (AGE, "", 9, ["tables.patients.columns = {}", "without columns nothing can be asked"]),
        (AGE, '"" = { text = true }', 10, ["name has 1 to 200 characters"]),
        (AGE, '"a\\u0000" = { text = true }', 10, ["no NUL"]),
        (AGE, f"{AGE}\nAGE = {{ text = true }}", 11, ["differs from age by capitals only", "Keep one"]),
        (
            "[public_tables.diseases]",
            "[public_tables.patients]",
            5,
            ["tables.patients = ", "is private or public"],
        ),
        ("[public_tables.diseases]", "[public_tables.PATIENTS]", 5, ["a table is private or public"]),
        ("[tables.patients]", "[tables.DISEASES]\nbudget=1\n[tables.patients]", 5, ["a table is private or public"]),
        ("# line 1", 'public_tables = ["a"]', 12, ["set twice"]),
    ],
)
def test_rules_of_the_file(old, new, line, words):
    text = FILE.format(setting="", column=AGE, public="")
    assert old in text
    error = refusal(whole=text.replace(old, new, 1))
    check(error, line, *words)
    assert "hunter2" not in str(error)
    assert "secret" not in str(error)


def test_public_tables_are_sections_not_a_list():
    text = FILE.format(setting="", column=AGE, public="").replace("[public_tables.diseases]\n", "")
    check(refusal(whole='public_tables = ["a"]\n' + text), 1, 'public_tables = ["a"]', "[public_tables.diseases]")


def test_no_table_at_all():
    check(refusal(whole='[source]\nurl = "duckdb://"\n'), None, "`tables` is missing in the file", "[tables.patients]")
    check(refusal(whole='[source]\nurl = "duckdb://"\n[tables]\n'), 3, "tables = {}", "no table to ask about")


def test_file_and_table_are_one_choice():
    check(refusal(setting='table = "a"\nfile = "b"'), 8, f'{TABLE}.file = "b"', "`table` already says", "Keep one")
    check(refusal(public='table = "a"\nfile = "b"'), 14, "public_tables.diseases.file")


SECOND = "\n[tables.visits]\n{}\nbudget = 9\n[tables.visits.columns]\nx = {{ text = true }}\n"


@pytest.mark.parametrize(
    ("first", "second", "line", "words"),
    [
        ("", 'table = "patients"', 16, ['tables.visits.table = "patients"', "[tables.patients]", "second budget"]),
        ("", 'table = "PATIENTS"', 16, ["second budget", "Keep one of the two"]),
        (
            'table = "visits"',
            "",
            15,
            ["tables.visits = { budget, columns }", "[tables.patients] declares the same rows"],
        ),
        ('table = "a.b"', 'table = "a.b"', 16, ["tables.visits.table"]),
        ('file = "x.csv"', 'file = "./y/../x.csv"', 16, ["tables.visits.file"]),
        ('file = "x.csv"', 'table = "patients"', 16, ["tables.visits.table"]),
    ],
)
def test_rows_have_one_budget(first, second, line, words):
    check(refusal(whole=FILE.format(setting=first, column=AGE, public="") + SECOND.format(second)), line, *words)


@pytest.mark.parametrize("url", ["visits.csv", "file://visits.csv", "csv:///visits.csv", "parquet://visits.csv"])
def test_the_file_of_the_source_has_one_budget(url):
    whole = (
        f'[source]\nurl = "{url}"\n[tables.visits]\nbudget = 1\n[tables.visits.columns]\nx = {{ text = true }}\n'
        '[tables.other]\nbudget = 1\nfile = "visits.csv"\n[tables.other.columns]\nx = { text = true }\n'
    )
    check(refusal(whole=whole), 9, "[tables.visits] declares the same rows")


STREAM = """
[streams.campus]
start = {start}
step_seconds = 300
epsilon = "0.1"
budget = "1"
{settings}
"""


@pytest.mark.parametrize(
    ("start", "settings", "line", "words"),
    [
        ("0001-01-01T00:00:00+05:00", 'states = ["a"]', 3, ["start", "years 1 to 9999"]),
        ("9999-12-31T23:00:00-05:00", 'states = ["a"]', 3, ["start", "years 1 to 9999"]),
        ("2026-01-01T00:00:00Z", 'states = ["a"]\nstrictness = 0', 8, ["strictness = 0", "above 0"]),
        ("2026-01-01T00:00:00Z", 'states = ["a"]\nstrictness = 1001', 8, ["strictness = 1001", "at most 1000"]),
        ("2026-01-01T00:00:00Z", '[streams.campus.tree]\n"" = ["a"]', 7, ["streams.campus.tree", "1 to 200"]),
    ],
)
def test_rules_of_a_stream(start, settings, line, words):
    check(refusal(whole=STREAM.format(start=start, settings=settings)), line, *words)


@pytest.mark.parametrize(
    ("private", "public"),
    [
        ('table = "diseases"', ""),
        ("", 'table = "patients"'),
        ('file = "x.csv"', 'file = "x.csv"'),
        ('table = "s.t"', 'table = "S.t"'),
    ],
)
def test_rows_are_private_or_public(private, public):
    check(refusal(setting=private, public=public), 7 if private else 5, "[public_tables.diseases]", "private or public")


def test_a_link_is_no_second_table(tmp_path):
    (tmp_path / "x.csv").write_text("age\n")
    (tmp_path / "y.csv").symlink_to(tmp_path / "x.csv")
    text = FILE.format(setting='file = "x.csv"', column=AGE, public="") + SECOND.format('file = "y.csv"')
    with pytest.raises(DeclarationError, match="second budget"):
        read(text, tmp_path)


@pytest.mark.parametrize(("source", "second"), [("x.csv", ""), (".", 'table = "x"')])
def test_a_file_that_the_source_names_too_is_no_second_table(source, second, tmp_path):
    text = FILE.format(setting='file = "x.csv"', column=AGE, public="") + SECOND.format(second)
    with pytest.raises(DeclarationError, match="second budget"):
        read(text.replace("duckdb:///clinic.duckdb", source), tmp_path)


@pytest.mark.parametrize("second", ["", 'table = "b.patients"', 'file = "y.csv"'])
def test_other_rows_have_their_own_budget(second, tmp_path):
    for first in ("", 'table = "a.patients"', 'file = "x.csv"'):
        text = FILE.format(setting=first, column=AGE, public="") + SECOND.format(second)
        assert len(read(text, tmp_path).tables) == 2


def test_bands_are_few():
    edges = list(range(1001))
    column = "age = {{ min = 0, max = 5000 }}\nband = {{ bands_of = 'age', edges = {} }}"
    error = refusal(column=column.format(edges))
    check(error, 11, "tables.patients.columns.band.edges = [0, 1, 2, ...]", "1,001 edges", "at most 1,000 are allowed")
    read(FILE.format(setting="", column=column.format(edges[:1000]), public=""), ".")


def test_the_unit_is_a_column_of_the_source():
    error = refusal(setting='unit = "band"', column=f'{AGE}\nband = {{ bands_of = "age", edges = [0, 5] }}')
    check(error, 11, "made of bands", "Name another unit")
    read(FILE.format(setting='unit = "age"', column=AGE, public=""), ".")


def test_passwords_are_never_repeated():
    """Whatever is wrong around it, an address is not echoed."""
    address = "postgresql://curator:hunter2@host/clinic"
    text = FILE.format(setting="", column=AGE, public="").replace("duckdb:///clinic.duckdb", address)
    read(text, ".")
    mistakes = [
        text.replace("url =", "ulr ="),
        text.replace(f'"{address}"', f'["{address}"]'),
        text.replace(f'"{address}"', f'{{ address = "{address}" }}'),
        text.replace(f'"{address}"', address),
        text.replace(f'"{address}"', f'"{address}'),
        text.replace("url =", f'"{address}" ='),
        text.replace("url =", f'"{address}" = 1\n"{address}" ='),
        text.replace("[source]", f'["{address}"]\n["{address}"]'),
        text.replace('budget = "3"', f'budget = "{address}"'),
        text.replace('budget = "3"', f'budget = 1\nunit = "{address}"\nfile = "{address}"'),
        text.replace(AGE, f'age = {{ values = ["{address}", "{address}"] }}'),
        text.replace(AGE, f'age = {{ public_table = "{address}", column = "x" }}'),
        text.replace(AGE, f'"{address}" = {{ min = 5, max = 3 }}'),
        text.replace("[public_tables.diseases]", f'[public_tables.diseases]\nfile = "{address}"'),
        text.replace("[public_tables.diseases]", f'[ledger]\nurl = "my{address}"'),
    ]
    for mistake in mistakes:
        assert mistake != text
        error = refusal(whole=mistake)
        assert not re.search("hunter2|curator", str(error)), str(error)
