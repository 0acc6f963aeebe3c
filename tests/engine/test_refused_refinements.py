"""What may not be refined: refused before any data is touched, with nothing charged, by what is wrong with it."""

from dataclasses import replace
from fractions import Fraction

import pytest
from engine.many_groups import declared, table_of
from ledger.spendings import charge

import thresher
from thresher.accounting import CommonSpending, Grouping
from thresher.amounts import Epsilon
from thresher.decisions.decision_options import options_of
from thresher.decisions.refinement import plan_refinement
from thresher.errors import AnalystError, ArgumentError, DeclarationError, LedgerStoppedError, PendingError
from thresher.release import Release

COUNT = "SELECT g FROM t GROUP BY g HAVING COUNT(*) > 30"
OPTIONS = COUNT.replace("SELECT", "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS({})")
TABLES = table_of([33] * 4)
SHARPER = {"of": "k", "uncertain_region": 5}


@pytest.fixture
def path(tmp_path):
    """Declarations of a table that was asked about once."""
    made = declared(tmp_path, 4)
    with thresher.open(made, tables=TABLES) as engine:
        engine.decide(COUNT, uncertain_region=10, mechanism="tslm", key="k")
    return made


@pytest.fixture
def engine(path):
    with thresher.open(path, tables=TABLES) as opened:
        yield opened


def refuse(engine, sql=COUNT, match="", error=ArgumentError, field="of", **wished):
    """Both calls refuse alike, the source is not touched, and the ledger has no new line."""
    before = engine.ledger.entries()
    fetch, engine._source.fetch = engine._source.fetch, None
    try:
        for call in (engine.plan_refinement, engine.refine):
            with pytest.raises(error, match=match) as refused:
                call(sql, **{**SHARPER, **wished})
    finally:
        engine._source.fetch = fetch
    if error is ArgumentError:
        assert refused.value.field == field
    assert isinstance(refused.value, AnalystError)
    assert engine.ledger.entries() == before


@pytest.mark.parametrize("key", ["l", "k/2", "K"])
def test_a_key_that_names_no_answer(engine, key):
    refuse(engine, of=key, match="no answer of yours about t is stored")


@pytest.mark.parametrize("key", ["", 7, None, "x" * 201])
def test_a_key_that_is_none(engine, key):
    refuse(engine, of=key, field="key", match="text of 1 to 200 characters")


def test_the_key_of_another_analyst(path):
    with thresher.open(path, tables=TABLES, analyst="ada") as engine:
        refuse(engine, match="no answer of yours about t is stored")
        engine.decide(COUNT, uncertain_region=10, mechanism="tslm", key="hers")
        engine.refine(COUNT, of="hers", uncertain_region=5)
    with thresher.open(path, tables=TABLES) as engine:
        refuse(engine, of="hers", match="no answer of yours")


def test_the_key_of_another_table(path):
    text = path.read_text()
    path.write_text(text + text[text.index("[tables.t]") :].replace("tables.t", "tables.u"))
    with thresher.open(path, tables={**TABLES, "u": TABLES["t"].slice(0)}) as engine:
        refuse(engine, COUNT.replace("FROM t", "FROM u"), match="no answer of yours about u")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("count_range", 'version = "2"\ncount_range'),
        ("x = { min = 0, max = 9 }", "x = { min = 0, max = 10 }"),
        ("g = { min = 0, max = 3 }", "g = { min = 0, max = 4 }"),
        ("x = { min = 0, max = 9 }", "x = { min = 0, max = 9, missing = 0 }"),
    ],
    ids=["version", "bounds", "groups", "missing"],
)
def test_another_version_of_the_rows_or_other_declarations(tmp_path, old, new):
    made = declared(tmp_path, 4)
    sums = COUNT.replace("COUNT(*) > 30", "SUM(x) > 30")
    with thresher.open(made, tables=TABLES) as engine:
        engine.decide(sums, uncertain_region=10, mechanism="tslm", key="k")
    made.write_text(made.read_text().replace(old, new))
    with thresher.open(made, tables=TABLES) as engine:
        told = (
            "that answer is about other groups"
            if "g = " in old
            else "the declarations of t, or the version of its rows, have changed"
        )
        refuse(engine, sums, match=told)


def test_a_column_that_is_not_used_is_not_part_of_the_measurement_where_every_row_counts(path):
    """With a unit it would be: which rows of a person are kept may follow from any column."""
    path.write_text(path.read_text().replace("x = { min = 0, max = 9 }", "x = { min = 0, max = 10 }"))
    with thresher.open(path, tables=TABLES) as engine:
        assert engine.refine(COUNT, **SHARPER).refines == "k"


def test_another_privacy_unit(path, engine):
    """The budget itself refuses first; a ledger of somebody else's making would be refused here."""
    release = Release.from_bytes(engine.ledger.recalled("t", "k").body, "k")
    parts = {**release.measured.parts, "unit": "another"}
    other = replace(release, measured=replace(release.measured, parts=parts))
    with pytest.raises(ArgumentError, match="another privacy unit"):
        plan_refinement(engine.plan(COUNT).question, options_of({"uncertain_region": 5}), "k", other)
    path.write_text(path.read_text().replace("count_range", 'unit = "x"\ncount_range'))
    with thresher.open(path, tables=TABLES) as other, pytest.raises(DeclarationError, match="began with a row"):
        other.refine(COUNT, **SHARPER)


@pytest.mark.parametrize(
    "sql",
    [
        COUNT.replace("COUNT(*) > 30", "COUNT(*) < 30"),
        COUNT.replace("COUNT(*) > 30", "COUNT(*) > 30 AND SUM(x) > 3"),
        COUNT.replace("COUNT(*) > 30", "SUM(x) > 30"),
        COUNT.replace("COUNT(*)", "COUNT(*) FILTER (WHERE x > 3)"),
        COUNT.replace("GROUP", "WHERE x > 3 GROUP"),
    ],
)
def test_another_question(engine, sql):
    refuse(engine, sql, match="that answer is to another question")


@pytest.mark.parametrize("sql", [COUNT.replace("GROUP", "WHERE g > 1 GROUP"), COUNT.replace("> 30", ">= 0")])
def test_other_groups_or_none_that_need_data(engine, sql):
    refuse(engine, sql, match="other groups")


def test_a_threshold_between_the_steps(path):
    with thresher.open(path, tables=TABLES) as engine:
        sql = "SELECT g FROM t GROUP BY g HAVING SUM(x) > {}"
        first = engine.decide(sql.format(30), uncertain_region=9, mechanism="tslm", key="s")
        assert first.scale == 1, "one step is what one unit adds at most: 9"
        for threshold in (31, 29, 38, 30 + 9 * 2**41):
            refuse(engine, sql.format(threshold), of="s", match="whole multiples of 9 only")
        assert engine.refine(sql.format(48), of="s").noisy == tuple(margin - 2 for margin in first.noisy)


def test_an_average_has_no_threshold_to_move(path):
    with thresher.open(path, tables=TABLES) as engine:
        sql = "SELECT g FROM t GROUP BY g HAVING AVG(x) > {}"
        engine.decide(sql.format(3), uncertain_region=1, mechanism="tslm", key="a")
        refuse(engine, sql.format(4), of="a", match="that answer is to another question")


@pytest.mark.parametrize(
    ("written", "field"),
    [
        ("bound='false_alarms'", "bound"),
        ("mechanism='certified'", "mechanism"),
        ("key='other'", "key"),
        ("levels=3", "levels"),
    ],
)
def test_what_a_refinement_keeps_cannot_be_written_otherwise(engine, written, field):
    refuse(engine, OPTIONS.format(written), field=field, match=f"keeps the {field} of the answer")


def test_what_is_written_as_it_was_is_no_contradiction(engine):
    same = OPTIONS.format("bound='misses', mechanism='tslm', key='k', miss_rate=0.02")
    assert engine.refine(same, of="k").guarantee.miss_rate == Fraction("0.02")


@pytest.mark.parametrize(
    ("wished", "field", "match"),
    [
        ({"uncertain_region": None}, "within", "a refinement must change something"),
        ({"uncertain_region": 0}, "uncertain_region", "above zero"),
        ({"uncertain_region": {"SUM(x)": 3}}, "uncertain_region", "no such aggregate"),
        ({"miss_rate": 0}, "miss_rate", "above 0"),
        ({"miss_rate": "0.5"}, "miss_rate", "half or more"),
        ({"false_alarm_rate": 1}, "false_alarm_rate", "below 1"),
        ({"max_epsilon": 0}, "max_epsilon", "above zero"),
        ({"uncertain_region": None, "max_epsilon": "0.000001"}, "max_epsilon", "no smaller half width than 10"),
        ({"given_seen": 1}, "given_seen", "True or False"),
    ],
)
def test_wishes_that_are_none(engine, wished, field, match):
    refuse(engine, field=field, match=match, **wished)


def test_a_wish_said_twice(engine):
    refuse(
        engine,
        OPTIONS.format("uncertain_region=5"),
        field="uncertain_region",
        match="one of the two places",
    )


def test_answers_without_noisy_margins(engine):
    """Such as those of a rule that needs no data, if it were stored, or of another family."""
    cost = CommonSpending(Grouping.of_rows(["g"]), Epsilon("0.1"))
    answer = engine.decide(COUNT.replace("> 30", ">= 0"))
    identity = engine.ledger.recalled("t", "k").question
    stored = [("none", identity, answer.to_bytes()), ("text", "which wards?", b"these"), ("list", "[1]", b"these")]
    for key, question, body in stored:
        engine.ledger.settle(engine.ledger.reserve(charge("t", cost, key, question)), cost, body)
        refuse(engine, of=key, match="noisy margins")


def test_numbers_that_are_not_margins(engine):
    """Values are sums of several noises."""
    engine.decide(COUNT.replace("> 30", "> 30 AND SUM(x) > 5"), uncertain_region=9, show="values", key="v")
    refuse(engine, COUNT.replace("> 30", "> 30 AND SUM(x) > 5"), of="v", match="no noisy margins")


def test_an_answer_that_is_still_awaited(engine):
    identity = engine.ledger.recalled("t", "k").question
    engine.ledger.reserve(charge("t", CommonSpending(Grouping.of_rows(["g"]), Epsilon("0.1")), "slow", identity))
    refuse(engine, of="slow", error=PendingError, match="another process is answering")


def test_a_stopped_ledger_recalls_nothing(engine):
    engine.ledger.close()
    with pytest.raises(LedgerStoppedError):
        engine.refine(COUNT, **SHARPER)


def test_one_table_in_memory_has_one_name(path):
    text = path.read_text()
    path.write_text(text + text[text.index("[tables.t]") :].replace("tables.t", "tables.u"))
    with pytest.raises(DeclarationError, match="second budget"):
        thresher.open(path, tables={**TABLES, "u": TABLES["t"]})
