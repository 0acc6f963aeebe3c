"""`thresher init`: from a source to a file that answers the first question, without an editor, without rows."""

import json
import os
import pty
import re
import subprocess
import sys
from fractions import Fraction

import duckdb
import pandas as pd
import psycopg
import pyarrow as pa
import pyarrow.parquet
import pytest
from cli.running import thresher
from sources.conftest import postgres_server  # noqa: F401 - one way to start PostgreSQL

from thresher.config import Grid, Listed, Numbered, load


def parquet(folder, select, name="stays"):
    with duckdb.connect() as connection:
        connection.execute(f"COPY ({select}) TO '{folder / f'{name}.parquet'}'")


WARDS = "SELECT ['eye', 'stroke', 'surgery'][1 + i::INT % 3] AS ward, i % 500 AS person_id FROM range(6000) r(i)"


def test_from_an_unknown_file_with_one_text_column_to_a_promised_decision_in_three_commands(tmp_path):
    parquet(tmp_path, WARDS)
    said = ("--budget", "1", "--unit", "person_id", "--limits", "1,1", "--values", "ward=eye,stroke,surgery")
    made = thresher("init", "stays.parquet", *said, cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    (sql,) = re.findall(r'thresher plan "(.*)"', made.stdout)
    assert sql == "SELECT ward FROM stays GROUP BY ward HAVING COUNT(*) > 500"
    sql = sql.replace("500", "100")
    how = ("--uncertain-region", "50")
    planned = thresher("plan", sql, *how, cwd=tmp_path)
    assert planned.returncode == 0, planned.stderr
    asked = thresher("ask", sql, *how, "--yes", "--json", cwd=tmp_path)
    assert asked.returncode == 0, asked.stderr
    answer = json.loads(asked.stdout)
    assert answer["groups"] == [{"ward": "eye"}, {"ward": "stroke"}, {"ward": "surgery"}]
    assert 0 < Fraction(answer["budget"]["spent"]) <= Fraction(1, 10), "a tenth of the budget"


def test_it_prints_what_is_on_who_is_protected_and_what_to_do_next(tmp_path):
    parquet(
        tmp_path,
        "SELECT i::UTINYINT AS kind, DATE '2024-01-01' AS day, i > 3 AS by_card, 'x' AS zone, 0.5::DOUBLE AS fare,"
        " i AS rider_id FROM range(9) r(i)",
    )
    made = thresher("init", "stays.parquet", "--budget", "1", "--unit", "rider_id", "--limits", "10,3", cwd=tmp_path)
    lines = made.stdout.splitlines()
    assert lines[0] == "Wrote thresher.toml: 1 table, 6 columns. No row was read."
    assert lines[1] == "  on    kind (whole number, 0 to 255), day (date), by_card (true or false)"
    assert "  off   2 columns whose values or bounds the catalogue does not say. Switch one on with" in lines
    assert "          --values zone=east,west   or   --bounds fare=0:100:0.01" in lines
    text = " ".join(made.stdout.split())
    assert "Protected: all rows of one rider_id. Each rider counts in at most 10 groups, with at most 3 rows in" in text
    assert "Too small: rows are left out. Too large: more noise, or a higher cost." in text
    assert lines[-1] == 'Next:  thresher plan "SELECT kind FROM stays GROUP BY kind HAVING COUNT(*) > 500"'
    assert max(map(len, lines)) <= 100
    assert len((tmp_path / "thresher.toml").read_text().splitlines()) <= 21
    day = ("SELECT kind FROM stays WHERE day >= '2024-01-01' GROUP BY kind HAVING COUNT(*) > 500", "--uncertain-region")
    assert thresher("plan", *day, "400", cwd=tmp_path).returncode == 0, "days have the range of their type"


def test_without_answers_the_blanks_are_refused_by_every_command(tmp_path):
    parquet(tmp_path, WARDS)
    made = thresher("init", "stays.parquet", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    assert "fill in the 4 lines with ___" in made.stdout
    lines = (tmp_path / "thresher.toml").read_text().splitlines()
    assert [line.split(" = ")[0] for line in lines if " = ___" in line and not line.startswith("#")] == [
        "budget",
        "unit",
        "max_groups_per_unit",
        "max_rows_per_group",
    ]
    for command in (["plan", "SELECT 1"], ["ask", "SELECT 1", "--yes"], ["ledger", "show"]):
        refused = thresher(*command, cwd=tmp_path)
        assert refused.returncode == 2
        assert "fill in ___" in refused.stderr


@pytest.mark.parametrize(
    ("flags", "why"),
    [
        (("--budget", "0"), "it must be above zero"),
        (("--unit", "rider"), "--unit = 'rider' is refused: the source has no such column. It has: ward, person_id."),
        (("--unit", "fare_id"), "Did you mean"),
        (("--unit", "weight"), "equal values of this type have several forms"),
        (("--unit", "person_id", "--rows-are-people"), "Give one of the two"),
        (("--limits", "1,1", "--rows-are-people"), "everybody counts once"),
        (("--limits", "10"), "two whole numbers"),
        (("--limits", "0,3"), "two whole numbers"),
        (("--values", "wart=eye"), "Did you mean ward?"),
        (("--values", "ward"), "it must be COLUMN=..."),
        (("--values", "ward=eye,"), "none of them empty"),
        (("--values", "ward=a", "--values", "ward=b"), "each column once"),
        (("--bounds", "person_id=0"), "two ends"),
        (("--bounds", "ward=0:9"), "which does not have bounds"),
        (("--bounds", "weight=0:9"), "Write the step too"),
        (("--public-table", "wards"), "the source has no such table"),
        (("--table-version", ""), "1 to 200 characters"),
    ],
)
def test_a_wrong_answer_is_refused_by_its_flag_and_writes_nothing(flags, why, tmp_path):
    parquet(tmp_path, "SELECT 'eye' AS ward, 1 AS person_id, 1 AS fares_id, 0.5::DOUBLE AS weight")
    refused = thresher("init", "stays.parquet", *flags, cwd=tmp_path)
    assert refused.returncode == 2
    assert why in refused.stderr or (flags[1] == "rider" and "no such column" in refused.stderr), refused.stderr
    assert flags[0] in refused.stderr
    assert not (tmp_path / "thresher.toml").exists()


def test_a_version_is_on_only_if_a_person_says_so_and_never_for_many_files(tmp_path):
    parquet(tmp_path, WARDS)
    rows = ("--budget", "1", "--rows-are-people", "--values", "ward=eye")
    for source in (".", "st*.parquet"):
        refused = thresher("init", source, *rows, "--table-version", "1", cwd=tmp_path)
        assert refused.returncode == 2
        assert "may hold other files tomorrow" in refused.stderr
    assert thresher("init", "stays.parquet", *rows, cwd=tmp_path).returncode == 0
    assert load(tmp_path / "thresher.toml").tables["stays"].version is None
    thresher("init", "stays.parquet", *rows, "--table-version", "1", "-o", "new.toml", cwd=tmp_path)
    assert load(tmp_path / "new.toml").tables["stays"].version == "1"


def on_a_terminal(folder, *arguments, typed):
    """Run `init` in a process with a terminal, and type the answers when it asks."""
    leader, follower = pty.openpty()
    command = [sys.executable, "-m", "thresher", "init", *arguments]
    with subprocess.Popen(
        command, stdin=follower, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder, text=True
    ) as running:
        os.write(leader, typed.encode())
        shown, prompts = running.communicate(timeout=60)
    os.close(follower)
    os.close(leader)
    return running.returncode, shown, prompts


def test_on_a_terminal_it_asks_for_what_only_a_person_knows(tmp_path):
    parquet(tmp_path, WARDS)
    code, shown, prompts = on_a_terminal(tmp_path, "stays.parquet", typed="-1\n2\n\nnobody\nperson_id\n10,3\n")
    assert code == 0, prompts
    table = load_filled(tmp_path, "stays")
    assert (str(table.budget), table.contribution.unit) == ("2", "person_id")
    assert (table.contribution.max_groups, table.contribution.max_rows) == (10, 3)
    assert "Each person counts in at most 10 groups" in shown
    for text in ("More reveals more.", "1  each row is a different person", "(person_id?)", "may one person count"):
        assert text in prompts
    assert "no such column" in prompts


def test_on_a_terminal_it_asks_only_for_what_the_flags_leave_out(tmp_path):
    parquet(tmp_path, WARDS)
    code, _, prompts = on_a_terminal(tmp_path, "stays.parquet", "--budget", "1", typed="1\n")
    assert code == 0
    assert "Budget" not in prompts
    assert load_filled(tmp_path, "stays").contribution is None


def load_filled(folder, table):
    """Load the file after switching a column on, as a person would."""
    path = folder / "thresher.toml"
    path.write_text(path.read_text().replace("# ward = { values = [___] }", 'ward = { values = ["eye"] }'))
    return load(path).tables[table]


SCHEMA = """
DROP SCHEMA IF EXISTS clinic CASCADE; CREATE SCHEMA clinic; SET search_path = clinic;
CREATE TYPE urgency AS ENUM ('low', 'it''s high');
CREATE DOMAIN years AS int CHECK (VALUE >= 0 AND VALUE <= 110);
CREATE TABLE people (person_id int PRIMARY KEY, age years);
CREATE TABLE wards (name text PRIMARY KEY, floor int2 CHECK (floor BETWEEN 0 AND 9));
CREATE TABLE visits (
    visit_id bigserial, person_id int REFERENCES people, ward text REFERENCES wards, urgent urgency,
    score numeric(5,1) CHECK (score >= 0 AND score < 100), kind int CHECK (kind IN (1, 2)), day date, note text,
    place varchar CHECK (place IN ('north', 'south'))
) PARTITION BY RANGE (day);
CREATE TABLE visits_2024 PARTITION OF visits FOR VALUES FROM ('2024-01-01') TO ('2025-01-01');
CREATE VIEW recent AS SELECT * FROM visits WHERE day > '2024-06-01';
CREATE MATERIALIZED VIEW per_ward AS SELECT ward, count(*) FROM visits GROUP BY ward;
INSERT INTO people SELECT i, i % 100 FROM generate_series(1, 50) i;
INSERT INTO wards VALUES ('canary7xq', 1);
INSERT INTO visits SELECT i, i, 'canary7xq', 'low', i, 1, '2024-03-01', 'canary7xq' FROM generate_series(1, 50) i;
ANALYZE;
"""


@pytest.fixture
def clinic_url(postgres_server):  # noqa: F811
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(SCHEMA)
    yield f"{postgres_server}{'&' if '?' in postgres_server else '?'}options=-csearch_path%3Dclinic"
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute("DROP SCHEMA clinic CASCADE")


def test_a_postgresql_catalogue_says_enumerations_checks_and_references(clinic_url, tmp_path):
    said = ("--budget", "1", "--unit", "person_id", "--limits", "2,1")
    made = thresher("init", clinic_url, *said, cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    text = (tmp_path / "thresher.toml").read_text()
    declared = load(tmp_path / "thresher.toml")
    visits, people = (declared.tables[name] for name in ("visits", "people"))
    assert set(declared.tables) == {"visits", "people"}, "no partition, view or lookup table has a budget"
    assert visits.columns["urgent"].kind == Listed(("low", "it's high"))
    assert visits.columns["place"].kind == Listed(("north", "south"))
    assert visits.columns["kind"].kind == Numbered((1, 2))
    assert visits.columns["score"].kind == Grid(Fraction(0), Fraction(100), Fraction(1, 10))
    assert people.columns["age"].kind == Grid(Fraction(0), Fraction(110), Fraction(1))
    assert people.contribution.unit == visits.contribution.unit == "person_id"
    assert "# [public_tables.wards]" in text
    assert "canary" not in text + made.stdout, "what rows hold"
    assert "per_ward, recent, visits_2024" in " ".join(made.stdout.split())
    public = thresher("init", clinic_url, *said, "--public-table", "wards", "-o", "p.toml", cwd=tmp_path)
    assert public.returncode == 0, public.stderr
    declared = load(tmp_path / "p.toml")
    assert declared.tables["visits"].columns["ward"].kind.table == "wards"
    assert list(declared.public_tables) == ["wards"]


def test_a_table_of_people_is_not_asked_for_by_the_key_of_its_rows(clinic_url, tmp_path):
    code, _, prompts = on_a_terminal(tmp_path, clinic_url, typed="1\n2\nperson_id\n2,1\n")
    assert code == 0, prompts
    assert "(person_id?)" in prompts
    assert "visit_id" not in prompts


def test_a_duckdb_catalogue_says_checks_and_references_and_draws_no_label_from_rows(tmp_path):
    with duckdb.connect(str(tmp_path / "c.duckdb")) as connection:
        connection.execute("CREATE TABLE wards (name VARCHAR PRIMARY KEY)")
        connection.execute(
            "CREATE TABLE visits (person_id INT, ward VARCHAR REFERENCES wards (name), age INT CHECK (age BETWEEN 0 AND"
            " 110), kind VARCHAR CHECK (kind IN ('a', 'b')), mood VARCHAR)"
        )
        connection.execute(
            "CREATE TABLE moods AS SELECT x::ENUM('canary7xq') AS mood, true AS b FROM (VALUES ('canary7xq')) t(x)"
        )
        connection.execute("CREATE VIEW old AS SELECT * FROM visits WHERE age > 60")
    said = ("--budget", "1", "--unit", "person_id", "--limits", "2,1", "--json")
    made = thresher("init", "c.duckdb", *said, cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    found = json.loads(made.stdout)
    assert found["tables"] == ["moods", "visits"]
    assert found["not_drafted"] == ["old", "wards"]
    assert found["on"] == ["moods.b", "visits.age", "visits.kind"]
    assert found["units"] == {"moods": None, "visits": "person_id"}
    assert found["blanks"] == 1
    assert "canary" not in (tmp_path / "thresher.toml").read_text()


def test_nothing_is_taken_from_dictionaries_or_statistics(tmp_path):
    """The dictionary of a pandas category, its metadata and Parquet statistics are made from rows."""
    frame = pd.DataFrame({"mood": pd.Categorical(["canary7xq", "b"]), "age": [3, 87], "ok": [True, False]})
    pa.parquet.write_table(pa.Table.from_pandas(frame), tmp_path / "t.parquet")
    made = thresher("init", "t.parquet", "--budget", "1", "--rows-are-people", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    text = (tmp_path / "thresher.toml").read_text() + made.stdout
    for taken in ("canary", "87"):
        assert taken not in text
