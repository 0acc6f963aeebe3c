"""Nothing about the rows is told before noise: not by a refusal, a price, a message, a log or a file.

Fifty unlike databases get the same workload; every price, refusal and message must be the same bytes. Canaries are
planted in the rows of one; none may appear in anything that Thresher prints, raises, logs or stores.
"""

import io
import logging
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import duckdb
import pytest
from cli.running import thresher as command

import thresher
from thresher.errors import ThresherError
from thresher.noise import SeededEntropy

HOSTILE = Path(__file__).parents[1] / "sql" / "hostile"

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
    *[("SELECT g FROM t GROUP BY g HAVING COUNT(*) > %d" % n, {"uncertain_region": 20}) for n in range(12)],
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
    **{f"sized {n}": f"SELECT i::VARCHAR, chr(65 + i::INT % 3), i % 17, 'secret' FROM range({n * n * 7}) r(i)" for n in range(42)},
}


def place(folder, select, rows=None):
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
                told.append(str(engine.plan(sql, **options)))
                answer = engine.decide(sql, **options, entropy=SeededEntropy(1))
                told.append((answer.groups, str(answer.guarantee), answer.planned_epsilon, answer.spent_epsilon, answer.notes))
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


CANARIES = [f"canary{n}xq" for n in range(50)]
NUMBERS = [104_729 + 7919 * n for n in range(20)]


@pytest.fixture
def planted(tmp_path):
    """Rows that hold canaries wherever text or a number may be; each number is also the count of some group."""
    listed = ", ".join(f"('{canary}')" for canary in CANARIES)
    path = place(tmp_path, f"SELECT w, 'A', {NUMBERS[0]}, w FROM (VALUES {listed}) v(w)")
    with duckdb.connect(str(tmp_path / "data.duckdb")) as connection:
        connection.execute(f"INSERT INTO t SELECT 'canary0xq' || i, 'canary1xq', {NUMBERS[1]}.5, 'canary2xq' FROM range(997) r(i)")
        connection.executemany("INSERT INTO t VALUES ('canary3xq', 'B', ?, 'canary4xq')", [[n] for n in NUMBERS])
    return path


def hits(text):
    return [word for word in [*CANARIES, *map(str, NUMBERS)] if word in text]


def hostile_statements():
    """The corpus of the SQL room: statements between lines that begin with `-- rule:`."""
    texts = [path.read_text(encoding="utf-8") for path in sorted(HOSTILE.glob("*.sql"))]
    return [part.partition("\n")[2].strip("\n") for text in texts for part in text.split("-- rule:")[1:]]


def test_no_canary_leaves(planted, tmp_path, monkeypatch, capfd):
    log = io.StringIO()
    handler = logging.StreamHandler(log)
    logging.getLogger().addHandler(handler)
    monkeypatch.setattr(logging.getLogger(), "level", logging.DEBUG)
    told, out = [], io.StringIO()
    statements = hostile_statements()
    assert len(statements) >= 200
    with redirect_stdout(out), redirect_stderr(out), thresher.open(planted) as engine:
        for sql, options in [*WORKLOAD, *((sql, {}) for sql in statements)]:
            try:
                told.append(str(engine.decide(sql, **options).document()))
            except ThresherError as refused:
                told.append(f"{refused!r} {refused} {refused.__cause__} {refused.__context__}")
        told += [str(engine.ledger.entries()), str(engine.ledger.balances()), repr(engine)]
    logging.getLogger().removeHandler(handler)
    captured = capfd.readouterr()
    statement_words = "\n".join(statements)
    for text in (*told, out.getvalue(), log.getvalue(), captured.out, captured.err):
        assert not [word for word in hits(text) if word not in statement_words]
    for path in tmp_path.rglob("*"):
        if path.is_file() and path.name not in ("data.duckdb", "thresher.toml"):
            body = path.read_bytes()
            assert not hits(body.decode("latin-1")), path.name
            for number in NUMBERS:
                assert number.to_bytes(8, "little") not in body, path.name


def test_no_hostile_statement_is_answered_and_none_is_charged(planted):
    with thresher.open(planted) as engine:
        for sql in hostile_statements():
            with pytest.raises(ThresherError) as refused:
                engine.decide(sql)
            assert refused.value.exit_code == 2, sql[:80]
        assert str(engine.ledger.balance("t").spent) == "0"
        assert len(engine.ledger.entries()) == 2


def test_failures_of_the_database_are_told_in_our_words(planted, tmp_path):
    """The table loses a column between the check and the question: an engine would print it, with a row perhaps."""
    with thresher.open(planted) as engine:
        engine._source.close()
        with duckdb.connect(str(tmp_path / "data.duckdb")) as connection:
            connection.execute("ALTER TABLE t RENAME COLUMN x TO canary5xq")
        with pytest.raises(ThresherError) as failed:
            engine.decide(WORKLOAD[0][0].replace("COUNT(*)", "SUM(x)"), uncertain_region=10)
        assert not hits(f"{failed.value} {failed.value.__cause__} {failed.value.__context__} {failed.value.__notes__}")
        assert "Charged" in failed.value.__notes__[0]


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
    assert sys.getsizeof(shown) > 0
