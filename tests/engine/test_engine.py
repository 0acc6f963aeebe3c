"""The way of a question: priced without data, charged before reading, stored before it is handed out."""

import asyncio
import threading
from fractions import Fraction

import duckdb
import pytest
from engine.clinics import DECLARATIONS, ROWS, clinic
from plan_text import in_full

import thresher
from thresher.amounts import Epsilon
from thresher.errors import (
    ArgumentError,
    BudgetError,
    BugError,
    DeclarationError,
    KeyReusedError,
    LostAnswerError,
    SourceFailedError,
    SourceUnavailableError,
    TooDearError,
)
from thresher.noise import NOT_PRIVATE, SeededEntropy

COUNT = "SELECT ward FROM patients GROUP BY ward HAVING COUNT(*) > 30"
SIX = """SELECT ward FROM patients GROUP BY ward HAVING (COUNT(*) > 30 AND AVG(age) > 65 AND SUM(age) > 100)
OR (COUNT(*) FILTER (WHERE age < 5) > 20 AND AVG(age) < 5 AND NOT COUNT(*) FILTER (WHERE age >= 100) > 3)"""


@pytest.fixture
def engine(tmp_path):
    with thresher.open(clinic(tmp_path)) as opened:
        yield opened


def spent(engine):
    return str(engine.ledger.balance("patients").spent)


def test_the_contract(engine):
    plan = engine.plan(COUNT, miss_rate=0.05, false_alarm_rate=0.10, uncertain_region=10, mechanism="tslm")
    assert plan.epsilon == Epsilon("0.218725417")
    assert "cost       0.219 (epsilon)" in str(plan)
    assert "epsilon    0.218725417" in in_full(plan)
    assert spent(engine) == "0"
    answer = engine.decide(
        COUNT, miss_rate=0.05, false_alarm_rate=0.10, mechanism="tslm", key=None, uncertain_region=10
    )
    shown = dict(zip(answer.groups, answer.verdicts, strict=True))
    assert answer.positives == [group for group in (("A",), ("B",), ("C",), ("D",)) if shown[group] != "below"]
    assert answer.table.column_names == ["ward", "verdict", "epsilon", "half_width"]
    assert answer.table.num_rows == 4
    assert set(answer.table["verdict"].to_pylist()) <= {"above", "below", "uncertain"}
    assert answer.planned_epsilon == answer.spent_epsilon == plan.epsilon
    assert "with probability at least 95 %" in str(answer.guarantee)
    assert engine.ledger.balance("patients").spent == plan.epsilon
    assert [entry.kind for entry in engine.ledger.entries()] == ["book", "account", "reserve", "settle"]
    assert answer.stamp == ""


def test_clear_groups_are_told_apart(engine):
    answer = engine.decide(SIX, uncertain_region=1, miss_rate="0.001", false_alarm_rate="0.001")
    assert answer.positives == [("A",), ("B",)]
    assert answer.verdicts == ("above", "above", "below", "below")


def test_six_conditions_are_charged_what_one_is(engine):
    one, six = (engine.plan(sql, uncertain_region={"COUNT(*)": 10}, mechanism="tslm") for sql in (COUNT, SIX))
    assert one.epsilon == six.epsilon == Epsilon("0.218725417")


def test_a_repeat_is_free_however_it_is_written(engine):
    first = engine.decide(COUNT, uncertain_region=10, mechanism="tslm")
    again = engine.decide(
        "select  WARD from patients p group by p.ward having 30 < count(*)".replace("WARD", "ward"),
        uncertain_region="10",
        mechanism="tslm",
    )
    assert again == first
    assert (first.repeated, again.repeated) == (False, True)
    assert spent(engine) == str(first.spent_epsilon)
    other = engine.decide(COUNT, uncertain_region=10, mechanism="tslm", miss_rate="0.04")
    assert not other.repeated


def test_a_key_names_an_answer(engine):
    first = engine.decide(COUNT, uncertain_region=10, mechanism="tslm", key="monday")
    assert engine.decide(COUNT, uncertain_region=10, mechanism="tslm", key="monday") == first
    with pytest.raises(KeyReusedError):
        engine.decide(COUNT, uncertain_region=11, mechanism="tslm", key="monday")
    fresh = engine.decide(COUNT, uncertain_region=10, mechanism="tslm", key="tuesday")
    assert not fresh.repeated
    assert spent(engine) == str(2 * first.spent_epsilon)


@pytest.mark.parametrize("key", ["", 5, b"x", "stream/42c97db3df4b1373/0"])
def test_keys_that_name_no_answer_are_refused(engine, key):
    """An empty key once let a text take the key of a stream's step, which could then never be released."""
    for sql in (COUNT, COUNT.replace("SELECT", "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(key='stream/a/0')", 1)):
        with pytest.raises(ArgumentError, match="key"):
            engine.decide(sql, uncertain_region=10, mechanism="tslm", key=key)
    assert engine.ledger.balance("patients").spent == Epsilon(0)


def test_what_a_driver_says_is_never_forwarded(engine, monkeypatch):
    """Not while connecting, when nothing is charged; and progress that fails after reading gives nothing back."""

    def told(*_):
        raise ValueError("SECRET")

    def unavailable(step):
        if step.startswith("drawing"):
            raise SourceUnavailableError("not now")

    with monkeypatch.context() as patched:
        patched.setattr(type(engine._source), "connect", told)
        with pytest.raises(SourceUnavailableError) as refused:
            engine.decide(COUNT, uncertain_region=10, mechanism="tslm")
    assert "SECRET" not in str(refused.value)
    assert engine.ledger.balance("patients").spent == Epsilon(0)
    with pytest.raises(SourceUnavailableError):
        engine.decide(COUNT, uncertain_region=10, mechanism="tslm", progress=unavailable)
    assert engine.ledger.balance("patients").spent > Epsilon(0)


def test_options_may_ride_in_the_text(engine):
    text = COUNT.replace(
        "SELECT",
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(miss_rate=0.05, uncertain_region=10, mechanism='tslm', key='k')",
    )
    answer = engine.decide(text)
    assert answer.key == "k"
    assert answer.spent_epsilon == Epsilon("0.218725417")
    with pytest.raises(ArgumentError, match="Write it in one of the two places"):
        engine.decide(text, miss_rate="0.05")


def test_answers_survive_the_engine(tmp_path):
    path = clinic(tmp_path)
    with thresher.open(path) as first:
        answer = first.decide(COUNT, uncertain_region=10, mechanism="tslm")
    with thresher.open(path) as second:
        assert second.decide(COUNT, uncertain_region=10, mechanism="tslm") == answer
        assert len(second.ledger.entries()) == 4


@pytest.mark.parametrize(
    ("having", "says", "reported"),
    [
        ("COUNT(*) > 100 AND COUNT(*) < 50", "Always false", 0),
        ("COUNT(*) > 10 OR COUNT(*) <= 10", "Always true", 4),
        ("COUNT(*) >= 0", "Always true", 4),
    ],
)
def test_constant_formulas_need_no_data_and_no_budget(engine, having, says, reported):
    sql = f"SELECT ward FROM patients GROUP BY ward HAVING {having}"
    answer = engine.decide(sql)
    assert says in answer.guarantee.sentence
    assert len(answer.positives) == reported
    assert [entry.kind for entry in engine.ledger.entries()] == ["book", "account"]


def test_a_question_beyond_the_budget_is_refused_with_what_would_fit(tmp_path):
    with thresher.open(clinic(tmp_path, declarations=DECLARATIONS.replace('"10"', '"0.3"'))) as engine:
        engine.decide(COUNT, uncertain_region=10, mechanism="tslm")
        with pytest.raises(
            BudgetError, match=r"short\. Nothing was read or paid\. With 4 times the half width it would cost 0\.0"
        ) as refused:
            engine.decide(COUNT, uncertain_region=9, mechanism="tslm")
        assert refused.value.exit_code == 3
        assert spent(engine) == "0.218725417"


def test_limits_for_one_question(tmp_path):
    limited = DECLARATIONS.replace("count_range", 'max_epsilon_per_question = "0.2"\ncount_range')
    with thresher.open(clinic(tmp_path, declarations=limited)) as engine:
        with pytest.raises(TooDearError, match="max_epsilon_per_question of patients"):
            engine.decide(COUNT, uncertain_region=10, mechanism="tslm")
        with pytest.raises(TooDearError, match=r"more than 0\.01, the max_epsilon"):
            engine.decide(COUNT, uncertain_region=20, max_epsilon="0.01")
        assert len(engine.ledger.entries()) == 2


def test_seeded_answers_are_stamped_for_ever(tmp_path):
    path = clinic(tmp_path)
    with thresher.open(path) as engine:
        answer = engine.decide(COUNT, uncertain_region=10, mechanism="tslm", entropy=SeededEntropy(1))
        assert answer.stamp == NOT_PRIVATE
    with thresher.open(path) as engine:
        assert engine.decide(COUNT, uncertain_region=10, mechanism="tslm").stamp == NOT_PRIVATE


def test_a_source_that_is_never_reached_costs_nothing(engine, monkeypatch):
    def gone():
        raise SourceUnavailableError("the source cannot be reached")

    monkeypatch.setattr(engine._source, "connect", gone)
    with pytest.raises(SourceUnavailableError):
        engine.decide(COUNT, uncertain_region=10, mechanism="tslm", key="k")
    assert spent(engine) == "0"
    assert [entry.kind for entry in engine.ledger.entries()] == ["book", "account"]
    monkeypatch.undo()
    assert not engine.decide(COUNT, uncertain_region=10, mechanism="tslm", key="k").repeated


@pytest.mark.parametrize(
    ("stop", "raised"),
    [
        (SourceFailedError("lost"), SourceFailedError),
        (KeyboardInterrupt(), KeyboardInterrupt),
        (asyncio.CancelledError(), asyncio.CancelledError),
        (MemoryError("canary"), BugError),
        (OverflowError("canary"), BugError),
    ],
    ids=lambda value: getattr(value, "__name__", type(value).__name__),
)
def test_whatever_stops_a_scan_is_charged_and_said(engine, monkeypatch, stop, raised):
    def fail(need):
        raise stop

    monkeypatch.setattr(engine._source, "fetch", fail)
    with pytest.raises(raised) as stopped:
        engine.decide(COUNT, uncertain_region=10, mechanism="tslm", key="k")
    assert stopped.value.__notes__ == ["Charged 0.218725417: data may have been read. No answer is stored for key k"]
    assert "canary" not in f"{stopped.value} {stopped.value.__cause__} {stopped.value.__context__}"
    assert spent(engine) == "0.218725417"
    monkeypatch.undo()
    with pytest.raises(LostAnswerError):
        engine.decide(COUNT, uncertain_region=10, mechanism="tslm", key="k")


def test_interrupted_after_the_answer_was_stored(engine, monkeypatch):
    settle = engine.ledger.settle

    def settle_then_stop(*arguments, **named):
        settle(*arguments, **named)
        raise KeyboardInterrupt

    monkeypatch.setattr(engine.ledger, "settle", settle_then_stop)
    with pytest.raises(KeyboardInterrupt) as stopped:
        engine.decide(COUNT, uncertain_region=10, mechanism="tslm", key="k")
    assert stopped.value.__notes__ == ["Charged 0.218725417; the answer is stored: ask again with key k"]
    monkeypatch.undo()
    assert engine.decide(COUNT, uncertain_region=10, mechanism="tslm", key="k").repeated


def test_a_source_that_finds_a_lock_before_it_reads_costs_nothing(engine, monkeypatch):
    def locked(need):
        raise SourceUnavailableError("a table is locked; nothing was read and nothing is charged")

    monkeypatch.setattr(engine._source, "fetch", locked)
    with pytest.raises(SourceUnavailableError):
        engine.decide(COUNT, uncertain_region=10, mechanism="tslm")
    assert spent(engine) == "0"


def test_sums_wider_than_64_bits_beside_counts(tmp_path):
    """One row more takes the sum beyond 64 bits; the answer must not notice."""
    declared = DECLARATIONS.replace("max = 110, step = 1", "max = 9007199254740992, step = 1")
    path = clinic(tmp_path, rows=[("A", 5)], declarations=declared)
    with duckdb.connect(str(tmp_path / "clinic.duckdb")) as connection:
        connection.execute("ALTER TABLE patients ALTER age TYPE BIGINT")
        connection.execute("INSERT INTO patients SELECT 'A', 9007199254740992 FROM range(3000)")
    with thresher.open(path) as engine:
        having = "COUNT(*) > 5 AND SUM(age) > 5 AND AVG(age) > 3"
        answer = engine.decide(COUNT.replace("COUNT(*) > 30", having), uncertain_region={"COUNT(*)": 9})
    assert answer.verdicts[0] == "above"


def test_what_an_answer_depends_on_makes_it_another_question(tmp_path):
    path = clinic(tmp_path)
    with thresher.open(path) as engine:
        engine.decide(COUNT, uncertain_region="10%")
        assert not engine.decide(COUNT, uncertain_region=10, mechanism="tslm").repeated, (
            "an option is part of it as it was given"
        )
    path.write_text(DECLARATIONS.replace("count_range = 100", "count_range = 200"))
    with thresher.open(path) as engine:
        assert not engine.decide(COUNT, uncertain_region="10%").repeated


@pytest.mark.parametrize(
    "edit",
    [
        ("count_range = 100", "count_range = 200"),
        ("count_range = 100", 'count_range = 200\nmax_epsilon_per_question = "2.9"'),
        ("[tables.patients.columns]", '[tables.patients.columns]\nunrelated = { values = ["x"] }'),
    ],
)
def test_what_an_answer_does_not_depend_on_leaves_it_free(tmp_path, edit):
    """The range, the limits and other columns may be edited: the same question costs nothing again."""
    path = clinic(tmp_path)
    with thresher.open(path) as engine:
        first = engine.decide(COUNT)
        spent = engine.ledger.balance("patients").spent
    assert edit[0] in DECLARATIONS
    path.write_text(DECLARATIONS.replace(*edit))
    con = duckdb.connect(str(next(tmp_path.glob("*.duckdb"))))
    con.execute("ALTER TABLE patients ADD COLUMN IF NOT EXISTS unrelated VARCHAR")
    con.close()
    with thresher.open(path) as engine:
        again = engine.decide(COUNT)
        assert again.repeated
        assert again.verdicts == first.verdicts
        assert str(again.guarantee) == str(first.guarantee)
        assert engine.ledger.balance("patients").spent == spent


def test_the_charge_is_durable_before_the_source_is_touched(engine, monkeypatch):
    seen = []
    fetch = engine._source.fetch

    def look(need):
        seen.append((spent(engine), engine.ledger.entries()[-1].kind))
        return fetch(need)

    monkeypatch.setattr(engine._source, "fetch", look)
    engine.decide(COUNT, uncertain_region=10, mechanism="tslm")
    assert seen == [("0.218725417", "reserve")]


def test_many_threads_asking_one_question_pay_once(engine):
    answers = []
    threads = [
        threading.Thread(target=lambda: answers.append(engine.decide(COUNT, uncertain_region=10, mechanism="tslm")))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({answer.to_bytes() for answer in answers}) == 1
    assert len(answers) == 8
    assert spent(engine) == "0.218725417"


def test_another_version_of_the_rows_is_another_question_on_the_same_budget(tmp_path):
    path = clinic(tmp_path)
    with thresher.open(path) as engine:
        engine.decide(COUNT, uncertain_region=10, mechanism="tslm")
    path.write_text(DECLARATIONS.replace("count_range", 'version = "2"\ncount_range'))
    with thresher.open(path) as engine:
        assert spent(engine) == "0.218725417"
        assert not engine.decide(COUNT, uncertain_region=10, mechanism="tslm").repeated
        assert spent(engine) == "0.437450834"


def test_a_budget_is_never_declared_below_what_is_spent(tmp_path):
    path = clinic(tmp_path)
    with thresher.open(path) as engine:
        engine.decide(COUNT, uncertain_region=10, mechanism="tslm")
    path.write_text(DECLARATIONS.replace('"10"', '"0.1"'))
    with thresher.open(path) as engine, pytest.raises(ArgumentError, match="budget of patients"):
        engine.decide(COUNT, uncertain_region=11)
    path.write_text(DECLARATIONS.replace('"10"', '"20"'))
    with thresher.open(path) as engine:
        assert str(engine.ledger.balance("patients").cap) == "20"


def test_a_budget_keeps_the_unit_it_began_with(tmp_path):
    path = clinic(tmp_path)
    with thresher.open(path) as engine:
        engine.decide(COUNT, uncertain_region=10, mechanism="tslm")
    with duckdb.connect(str(tmp_path / "clinic.duckdb")) as connection:
        connection.execute('ALTER TABLE patients ADD COLUMN "a row" INTEGER')
    for unit in ("age", "a row"):
        path.write_text(DECLARATIONS.replace("count_range", f'unit = "{unit}"\ncount_range'))
        with (
            thresher.open(path) as engine,
            pytest.raises(DeclarationError, match="began with a row as the privacy unit"),
        ):
            engine.decide(COUNT, uncertain_region=10, mechanism="tslm")


def test_a_plan_needs_no_ledger(tmp_path):
    with thresher.open(clinic(tmp_path)) as engine:
        assert engine.plan(COUNT, uncertain_region=10, mechanism="tslm").epsilon
        with pytest.raises(TooDearError):
            engine.plan(COUNT, uncertain_region=10, mechanism="tslm", max_epsilon="0.1")
    assert not (tmp_path / "ledger.db").exists()


def test_declarations_are_checked_against_the_catalogue(tmp_path):
    path = clinic(tmp_path, declarations=DECLARATIONS.replace("age =", "agee ="))
    with pytest.raises(DeclarationError, match=r"agee.*Did you mean age"):
        thresher.open(path)
    path.write_text(DECLARATIONS.replace('["A", "B", "C", "D"]', "[1, 2]"))
    with pytest.raises(DeclarationError, match="ward"):
        thresher.open(path)


@pytest.mark.parametrize("rows", [[], [("A", 5)], ROWS, [("other", 3)], [(None, None)] * 3])
def test_every_declared_group_gets_a_verdict_and_no_other_does(tmp_path, rows):
    with thresher.open(clinic(tmp_path, rows)) as engine:
        answer = engine.decide(COUNT, uncertain_region=10, mechanism="tslm")
    assert answer.groups == (("A",), ("B",), ("C",), ("D",))


def test_the_budget_is_kept_where_questions_look(tmp_path):
    with thresher.open(clinic(tmp_path)) as engine:
        for ward in "ABCD":
            engine.decide(COUNT.replace("GROUP", f"WHERE ward = '{ward}' GROUP"), uncertain_region=10, mechanism="tslm")
        assert spent(engine) == "0.218725417"


def test_noisy_margins_follow_the_formula(tmp_path):
    """With hardly any noise the released margins are the margins: min for AND, max for OR, in whole people."""
    with thresher.open(clinic(tmp_path, declarations=DECLARATIONS.replace('"10"', '"100"'))) as engine:
        answer = engine.decide(
            COUNT.replace("> 30", "> 30 AND AVG(age) > 65"),
            uncertain_region={"COUNT(*)": 1},
            miss_rate="1e-9",
            mechanism="tslm",
        )
    slack = {"A": min(60 - 31, (60 * 15 - 1) // 65), "B": min(40 - 31, (-62 * 40 - 1) // 65), "D": min(-31, -1)}
    for name, expected in slack.items():
        assert abs(answer.noisy["ABCD".index(name)] - expected) <= 2
    assert Fraction(answer.half_width) == 1


def test_what_nobody_wrote_has_no_half_width(engine):
    """AVG(x) >= c is false in an empty group, which takes a condition on the count; it does not raise the price."""
    strict, guarded = (
        engine.plan(f"SELECT ward FROM patients GROUP BY ward HAVING AVG(age) {sign} 65", uncertain_region=1)
        for sign in (">", ">=")
    )
    assert strict.epsilon == guarded.epsilon
    written = engine.plan(
        "SELECT ward FROM patients GROUP BY ward HAVING AVG(age) >= 65 AND COUNT(age) >= 1", uncertain_region=1
    )
    assert written.epsilon == Epsilon("1.509603834")
