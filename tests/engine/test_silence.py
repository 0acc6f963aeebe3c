"""Nothing about the rows is told before noise: not by a refusal, a price, a message, a log or a file.

Fifty unlike databases get the same workload; every price, refusal and message must be the same bytes. Canaries are
planted in the rows of one; none may appear in anything that Thresher prints, raises, logs or stores.
"""

import io
import logging

import duckdb
import pytest
from cli.running import thresher as command
from engine.hostile_clinic import CANARIES, NUMBERS, PLACES, hits
from ledger.conftest import postgres_server  # noqa: F401 - one way to start PostgreSQL
from sources.conftest import spark  # noqa: F401 - and one to start Spark
from sql.test_hostile_statements import CORPUS

import thresher
from thresher.errors import QuestionError, SourceUnavailableError, ThresherError
from thresher.noise import SeededEntropy

DECLARATIONS = """
[source]
url = "duckdb:///data.duckdb"
timeout_seconds = 20
[tables.t]
unit = "person"
max_groups_per_unit = 1
max_rows_per_group = 3
count_range = 100
budget = "2"
[tables.t.columns]
g = { values = ["A", "B"] }
x = { min = 0, max = 10 }
note = { text = true }
"""

WORKLOAD = [
    ("SELECT g FROM t GROUP BY g HAVING COUNT(*) > 10", {"uncertain_region": 10}),
    ("SELECT g FROM t GROUP BY g HAVING COUNT(*) > 10", {"uncertain_region": 10, "miss_rate": "0.4"}),
    ("SELECT g FROM t GROUP BY g HAVING AVG(x) > 3 AND COUNT(*) > 10", {"uncertain_region": 5, "miss_rate": "0.01"}),
    ("SELECT g FROM t WHERE note = 'secret' GROUP BY g HAVING SUM(x) < 7", {"uncertain_region": 60}),
    ("SELECT g FROM t GROUP BY g HAVING COUNT(*) > 3", {"uncertain_region": "0.01"}),
    ("SELECT g FROM t GROUP BY g HAVING COUNT(*) > 10", {"uncertain_region": 10, "max_epsilon": "0.001"}),
    ("SELECT g, x FROM t", {}),
    ("SELECT g FROM t GROUP BY g HAVING MAX(x) > 3", {}),
    ("SELECT g FROM t GROUP BY g HAVING SUM(CAST(note AS INT)) > 3", {}),
    ("SELECT note FROM t GROUP BY note HAVING COUNT(*) > 3", {}),
    ("SELECT g FROM t GROUP BY g HAVING 1/0 > COUNT(*)", {}),
    ("SELECT g FROM t GROUP BY g HAVING COUNT(*) > 2 OR COUNT(*) <= 2", {}),
    *[(f"SELECT g FROM t GROUP BY g HAVING COUNT(*) > {n}", {"uncertain_region": 20}) for n in range(12)],
]

ROWS = {
    "empty": "SELECT NULL::VARCHAR, NULL::VARCHAR, NULL::DOUBLE, NULL::VARCHAR WHERE false",
    "nulls": "SELECT NULL, NULL, NULL, NULL FROM range(50)",
    "one person": "SELECT 'p', 'A', i % 11, 'n' || i FROM range(5000) r(i)",
    "not numbers": "SELECT i::VARCHAR, 'A', 'nan'::DOUBLE, '' FROM range(100) r(i)",
    "infinite": "SELECT i::VARCHAR, 'B', '-inf'::DOUBLE, '' FROM range(100) r(i)",
    "huge": "SELECT i::VARCHAR, 'B', 1e308, repeat('x', 1000) FROM range(100) r(i)",
    "strangers": "SELECT i::VARCHAR, 'Z' || i, i, 'secret' FROM range(3000) r(i)",
    "quotes": "SELECT '''; DROP TABLE t; --', 'A', 3, chr(10) || '\\' || '\"' FROM range(20)",
    **{
        f"sized {n}": f"SELECT i::VARCHAR, chr(65 + i::INT % 3), i % 17, 'secret' FROM range({n * n * 7}) r(i)"
        for n in range(42)
    },
}


def place(folder, select):
    folder.mkdir(parents=True, exist_ok=True)
    with duckdb.connect(str(folder / "data.duckdb")) as connection:
        connection.execute("CREATE TABLE t (person VARCHAR, g VARCHAR, x DOUBLE, note VARCHAR)")
        connection.execute(f"INSERT INTO t {select}")
    (folder / "thresher.toml").write_text(DECLARATIONS)
    return folder / "thresher.toml"


def trace(path):
    """Everything the workload shows before noise: prices, refusals with their text, codes, balances."""
    told = []
    with thresher.open(path) as engine:
        for sql, options in WORKLOAD:
            try:
                # One look costs the same whatever was seen.
                told.append(str(engine.plan(sql, **options, mechanism="tslm")))
                answer = engine.decide(sql, **options, mechanism="tslm", entropy=SeededEntropy(1))
                shown = (answer.groups, str(answer.guarantee), answer.planned_epsilon, answer.spent_epsilon)
                told.append((*shown, answer.notes))
            except ThresherError as refused:
                told.append((type(refused).__name__, str(refused), refused.exit_code, str(refused.__cause__)))
            told.append(str(engine.ledger.balance("t").spent))
    return told


def test_fifty_unlike_databases_are_told_the_same(tmp_path):
    assert len(ROWS) == 50
    traces = {name: trace(place(tmp_path / str(n), select)) for n, (name, select) in enumerate(ROWS.items())}
    first = traces["empty"]
    refusals = [told for told in first if isinstance(told, tuple) and isinstance(told[0], str)]
    assert {kind for kind, *_ in refusals} >= {"QuestionError", "BudgetError", "TooDearError"}
    assert any(isinstance(told, tuple) and isinstance(told[0], tuple) for told in first), "some were answered"
    for name, told in traces.items():
        assert told == first, name


@pytest.fixture
def planted(tmp_path):
    """Rows that hold canaries wherever text or a number may be."""
    listed = ", ".join(f"('{canary}')" for canary in CANARIES)
    path = place(tmp_path, f"SELECT w, 'A', {NUMBERS[0]}, w FROM (VALUES {listed}) v(w)")
    with duckdb.connect(str(tmp_path / "data.duckdb")) as connection:
        strangers = f"SELECT 'canary0xq' || i, 'canary1xq', {NUMBERS[1]}.5, 'canary2xq' FROM range(997) r(i)"
        connection.execute(f"INSERT INTO t {strangers}")
        connection.executemany("INSERT INTO t VALUES ('canary3xq', 'B', ?, 'canary4xq')", [[n] for n in NUMBERS])
    return path


def found_in(folder, data=()):
    """Files of the folder, other than those of the data, that hold a canary as text or a number as bytes."""
    found = []
    for path in folder.rglob("*"):
        if path.is_file() and path.suffix != ".parquet" and path.name not in data:
            body = path.read_bytes()
            numbers = [number for number in NUMBERS if number.to_bytes(8, "little") in body]
            found += [path.name] if hits(body.decode("latin-1")) or numbers else []
    return found


@pytest.mark.parametrize("database", PLACES)
def test_no_hostile_statement_runs_is_charged_or_shows_a_canary(database, tmp_path, request, capfd, monkeypatch):
    log = io.StringIO()
    handler = logging.StreamHandler(log)
    logging.getLogger().addHandler(handler)
    monkeypatch.setattr(logging.getLogger(), "level", logging.INFO)
    told = []
    with PLACES[database](tmp_path, request) as engine:
        for _, rule, sql in CORPUS:
            with pytest.raises(QuestionError) as refused:
                engine.decide(sql)
            assert refused.value.rule == rule
            told.append(f"{refused.value!r} {refused.value} {refused.value.__cause__} {refused.value.__context__}")
        assert {held.spent.nano for held in engine.ledger.balances()} == {0}
        assert {entry.kind for entry in engine.ledger.entries()} == {"book", "account"}
        # And one that is asked honestly is answered, as silently.
        answer = engine.decide("SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) > 5", uncertain_region=3)
        told += [str(answer.document()), str(engine.ledger.entries()), repr(engine)]
    logging.getLogger().removeHandler(handler)
    captured = capfd.readouterr()
    for text in (*told, log.getvalue(), captured.out, captured.err):
        assert not hits(text)
    assert not found_in(tmp_path, data=("clinic.duckdb",))


def test_the_search_for_canaries_finds_them(planted, tmp_path):
    assert found_in(tmp_path) == ["data.duckdb"]


def test_no_canary_leaves_by_the_workload(planted, tmp_path):
    told = [str(part) for part in trace(planted)]
    with thresher.open(planted) as engine:
        told += [str(engine.ledger.entries()), str(engine.ledger.balances())]
    assert not [hits(text) for text in told if hits(text)]
    assert not found_in(tmp_path, data=("data.duckdb",))


def test_failures_of_the_database_are_told_in_our_words(planted, tmp_path):
    """The table loses a column between the check and the question: an engine would print it, with a row perhaps."""
    with thresher.open(planted) as engine:
        engine._source.close()
        with duckdb.connect(str(tmp_path / "data.duckdb")) as connection:
            connection.execute("ALTER TABLE t RENAME COLUMN x TO canary5xq")
        with pytest.raises(ThresherError) as failed:
            engine.decide(WORKLOAD[0][0].replace("COUNT(*)", "SUM(x)"), uncertain_region=90)
        assert isinstance(failed.value, SourceUnavailableError), "it is seen before a row is read"
        assert not hits(f"{failed.value} {failed.value.__cause__} {failed.value.__context__}")
        assert engine.ledger.balance("t").spent.nano == 0


def test_the_command_line_is_as_silent(planted, tmp_path):
    for arguments in (
        ["ask", WORKLOAD[0][0], "--yes", "--uncertain-region", "10", "--all"],
        ["ask", "SELECT g FROM t GROUP BY g HAVING SUM(CAST(note AS INT)) > 3", "--yes"],
        ["plan", WORKLOAD[2][0], "--uncertain-region", "5", "--json"],
        ["ledger", "show"],
        ["init", "duckdb:///data.duckdb", "--output", "fresh.toml"],
    ):
        shown = command(*arguments, cwd=tmp_path)
        assert not hits(shown.stdout + shown.stderr), arguments
    assert not hits((tmp_path / "fresh.toml").read_text())
