"""Every mechanism through the engine: what is reserved, shown, given back, stored, repeated and refused."""

from collections import Counter
from fractions import Fraction

import pyarrow
import pytest
from clinics import COLUMNS, DECLARATIONS, ROWS, clinic
from plan_text import in_full

import thresher
from thresher.amounts import Epsilon
from thresher.decisions import decision_plan
from thresher.errors import ArgumentError, BudgetError, TooDearError
from thresher.noise import SeededEntropy
from thresher.release import Release

COUNT = "SELECT ward FROM patients GROUP BY ward HAVING COUNT(*) > 30"
LADDERS = ("ppwlm", "dppwlm")
MECHANISMS = ("certified", "three-way", "tslm", "tslm-zone", "ppwlm", "dppwlm")


@pytest.fixture
def engine(tmp_path):
    with thresher.open(clinic(tmp_path)) as opened:
        yield opened


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_the_answer_carries_all_that_may_be_known(engine, mechanism):
    plan = engine.plan(COUNT, uncertain_region=2, mechanism=mechanism)
    answer = engine.answer(plan, entropy=SeededEntropy(3))
    assert answer.mechanism == mechanism
    assert dict(zip(answer.groups, answer.verdicts, strict=True)) == {
        ("A",): "above",
        ("B",): "above",
        ("C",): "below",
        ("D",): "below",
    }
    assert answer.planned_epsilon == plan.epsilon
    assert answer.spent_epsilon == max(answer.epsilons) <= plan.epsilon
    assert len(answer.half_widths) == len(answer.groups)
    assert answer.table.column_names == ["ward", "verdict", "epsilon", "half_width"]
    # One row is a unit here and ward keeps regions apart: what was not needed is given back, group by group.
    assert engine.balance(plan).spent == answer.spent_epsilon
    assert Release.from_bytes(answer.to_bytes(), answer.key) == answer


@pytest.mark.parametrize("mechanism", LADDERS)
def test_a_group_decided_early_keeps_the_rest_of_its_budget(tmp_path, mechanism):
    declarations = DECLARATIONS.replace('budget = "10"', 'budget = "2"')
    with thresher.open(clinic(tmp_path, ROWS + [("D", 1)] * 30, declarations)) as engine:
        plan = engine.plan(COUNT, uncertain_region=2, mechanism=mechanism)
        answer = engine.answer(plan, entropy=SeededEntropy(1))
        lost = dict(zip((ward for (ward,) in answer.groups), answer.epsilons, strict=True))
        assert lost["D"] > lost["C"], "D lies at the line, C far below"
        remaining = Epsilon("2") - lost["C"]
        # A question about C alone may spend all that C has left, and not a nano more.
        only = "SELECT ward FROM patients WHERE ward = 'C' GROUP BY ward HAVING COUNT(*) > 30"
        dear = engine.plan(only, uncertain_region=1, mechanism="tslm")
        assert lost["D"] + dear.epsilon > Epsilon("2") > lost["C"] + dear.epsilon
        engine.answer(dear, entropy=SeededEntropy(1))
        with pytest.raises(BudgetError) as refused:
            engine.decide(only, uncertain_region="0.9", miss_rate="0.04", mechanism="tslm")
        assert refused.value.remaining == remaining - dear.epsilon


def test_many_groups_are_charged_the_largest_level(engine, monkeypatch):
    monkeypatch.setattr(decision_plan, "MOST_LISTED", 3)
    plan = engine.plan(COUNT, uncertain_region=2, mechanism="ppwlm")
    answer = engine.answer(plan, entropy=SeededEntropy(1))
    assert len(answer.levels) > 1
    assert engine.balance(plan).spent == max(answer.epsilons)


def test_a_unit_in_several_groups_pays_for_the_dearest_of_them(tmp_path):
    declarations = DECLARATIONS.replace(
        "count_range", 'unit = "age"\nmax_groups_per_unit = 2\nmax_rows_per_group = 1\ncount_range'
    ).replace("age = { min = 0, max = 110, step = 1 }", "")
    rows = [("A", i) for i in range(60)] + [("B", i) for i in range(31)] + [("C", i) for i in range(5)]
    with thresher.open(clinic(tmp_path, rows, declarations)) as engine:
        plan = engine.plan(COUNT, uncertain_region=2, mechanism="ppwlm")
        answer = engine.answer(plan, entropy=SeededEntropy(2))
        assert "all groups are charged the sum of the 2 largest levels that they reach" in in_full(plan)
        assert "only if ward is declared fixed" in in_full(plan)
        largest = sorted(answer.epsilons)[-2:]
        assert answer.spent_epsilon == largest[0] + largest[1] == engine.balance(plan).spent
        assert plan.epsilon == plan.look.epsilon * 2


def test_asked_again_it_is_the_stored_answer(engine):
    first = engine.decide(COUNT, uncertain_region=2, mechanism="dppwlm", entropy=SeededEntropy(5))
    again = engine.decide(COUNT, uncertain_region=2, mechanism="dppwlm")
    assert again == first
    assert again.repeated
    others = [
        {"mechanism": "ppwlm"},
        {"mechanism": "dppwlm", "levels": 3},
        {"mechanism": "dppwlm", "bound": "false_alarms"},
        {"mechanism": "dppwlm", "first_epsilon": "0.01"},
        {"mechanism": "tslm"},
        {"mechanism": "tslm", "bound": "false_alarms"},
        {"mechanism": "tslm-zone"},
    ]
    identities = [engine.plan(COUNT, uncertain_region=2, **options).identity.question for options in others]
    identities.append(engine.plan(COUNT, uncertain_region=2, mechanism="dppwlm").identity.question)
    assert Counter(identities).most_common(1)[0][1] == 1


def test_false_alarms_first_reports_the_certain_only(tmp_path):
    # D meets its condition by one row, which no look at this price can tell.
    with thresher.open(clinic(tmp_path, ROWS + [("D", 1)] * 31)) as engine:
        answers = {
            bound: engine.decide(COUNT, uncertain_region=5, bound=bound, entropy=SeededEntropy(1))
            for bound in ("misses", "false_alarms")
        }
    assert ("D",) in answers["misses"].positives
    assert ("D",) not in answers["false_alarms"].positives
    assert "Uncertain groups are not reported" in str(answers["false_alarms"].guarantee)


@pytest.mark.parametrize(
    ("options", "reported"),
    [({"miss_rate": "0.5"}, 4), ({"miss_rate": 1}, 4), ({"false_alarm_rate": "0.5", "bound": "false_alarms"}, 0)],
)
def test_half_or_more_is_answered_without_data_and_without_charge(engine, options, reported):
    plan = engine.plan(COUNT, uncertain_region=2, **options)
    answer = engine.decide(COUNT, uncertain_region=2, **options)
    assert not plan.epsilon
    assert plan.need is None
    assert len(answer.positives) == reported
    assert set(answer.verdicts) == {"uncertain"}
    assert "needs no data" in str(answer.guarantee)
    assert not engine.balance(plan).spent


def test_what_cannot_be_paid_is_refused_before_data_with_what_could_be(engine, monkeypatch):
    monkeypatch.setattr(type(engine._source), "fetch", lambda *_: pytest.fail("data were read"))
    for mechanism in set(MECHANISMS) - {"three-way"}:
        limit = "0.5" if mechanism not in LADDERS else "1.2"
        with pytest.raises(TooDearError, match=r"times the half width it would cost .*, or with a miss_rate of"):
            engine.decide(COUNT, uncertain_region=2, max_epsilon=limit, mechanism=mechanism)
    with pytest.raises(TooDearError, match="false_alarm_rate of"):
        engine.decide(COUNT, uncertain_region=2, max_epsilon="0.5", bound="false_alarms", false_alarm_rate="0.05")


def test_a_zone_has_two_rates(engine):
    with pytest.raises(ArgumentError, match="must be below one half") as refused:
        engine.plan(COUNT, mechanism="tslm-zone", false_alarm_rate="0.6")
    assert refused.value.field == "false_alarm_rate"


def test_a_region_wider_than_the_range_is_warned_about(engine):
    plan = engine.plan(COUNT, uncertain_region=150)
    assert any("larger than count_range" in note for note in plan.notes)
    assert "larger than count_range" in str(plan)


@pytest.mark.parametrize("mechanism", LADDERS)
def test_the_plan_shows_the_ladder_and_what_groups_would_lose(engine, mechanism):
    plan = engine.plan(COUNT, uncertain_region=2, mechanism=mechanism)
    told, document = in_full(plan), plan.document()
    assert "look 1: epsilon" in told
    assert "a group is decided if its noisy distance from the threshold is at least this many rows" in told
    assert ("levels are chosen by what was seen" in told) == (mechanism == "dppwlm")
    assert "each digit is a look, and 5 % of such groups" in told
    assert "away" in told
    assert "a group that is decided early gets back what it did not need" in told
    assert [level["epsilon"] for level in document["ladder"]][-1] == plan.look.epsilon.to_json()
    means = [row["mean_epsilon_if_short"] for row in document["outlook"]]
    assert means[0] > means[-1], "a group far from the line loses less"
    assert all(abs(sum(row["share_stopping_at_look"]) - 1) < 1e-3 for row in document["outlook"])
    assert document == plan.document(), "the same every time: it is simulated with a public seed"


def test_one_level_or_a_first_look_that_is_no_coarser_is_a_threshold_shift(engine):
    shift = engine.plan(COUNT, uncertain_region=2, mechanism="tslm")
    last = engine.plan(COUNT, uncertain_region=2, mechanism="ppwlm").epsilon
    for options in ({"levels": 1}, {"first_epsilon": "5"}):
        for mechanism in LADDERS:
            plan = engine.plan(COUNT, uncertain_region=2, mechanism=mechanism, **options)
            assert plan.epsilon == shift.epsilon
            told = in_full(plan)
            assert "threshold shift" in told
            why = "levels = 1, so" if "levels" in options else f"first_epsilon = 5 is not below {last}, the last of 4"
            assert why in told
            for word in ("look 1", "at worst", "outlook", "shared out between"):
                assert word not in told
            assert plan.document()["outlook"] == []


def test_keys_that_are_no_constants_are_charged_alike(tmp_path):
    declarations = DECLARATIONS.replace(
        COLUMNS,
        """
[tables.patients.columns]
ward = { values = ["A", "B"] }
age = { first = 2024-01-01, last = 2024-01-01, by = "hour" }
""",
    )
    path = clinic(tmp_path, [], declarations)
    import duckdb  # noqa: PLC0415

    with duckdb.connect(str(tmp_path / "clinic.duckdb")) as connection:
        connection.execute("DROP TABLE patients")
        connection.execute("CREATE TABLE patients AS SELECT 'A' AS ward, TIMESTAMP '2024-01-01 05:10:00' AS age")
    with thresher.open(path) as engine:
        sql = "SELECT age FROM patients GROUP BY age HAVING COUNT(*) > 30"
        plan = engine.plan(sql, uncertain_region=2, mechanism="ppwlm")
        answer = engine.answer(plan, entropy=SeededEntropy(1))
        assert "all groups are charged the largest level that a group reaches" in in_full(plan)
        assert len(answer.groups) == 24
        assert engine.balance(plan).spent == max(answer.epsilons)


def test_the_condition_that_binds_is_named(engine):
    sql = "SELECT ward FROM patients GROUP BY ward HAVING COUNT(*) > 30 AND AVG(age) > 50"
    plan = engine.plan(sql, uncertain_region="COUNT(*)=2, AVG(age)=30")
    note = "COUNT(*) > 30 sets how finely all conditions are measured; finer than asked is AVG(age) > 50"
    assert f"{note} (1.2 instead of 30)" in in_full(plan)
    assert plan.document()["half_widths"] == [
        {"condition": "AVG(age) > 50", "asked_for": "30", "kept": "1.2"},
        {"condition": "COUNT(*) > 30", "asked_for": "2", "kept": "2"},
    ]
    alike = engine.plan(sql, uncertain_region="10%")
    assert "narrower" not in str(alike)


def test_what_to_change_fits_the_budget_as_well_as_the_limit(tmp_path):
    declarations = DECLARATIONS.replace('budget = "10"', 'budget = "2"\nmax_epsilon_per_question = "1.5"')
    with thresher.open(clinic(tmp_path, declarations=declarations)) as engine:
        dear = engine.plan(COUNT, uncertain_region="0.5", mechanism="tslm")
        with pytest.raises(TooDearError, match="With 2 times the half width it would cost"):
            engine.answer(dear)
        engine.decide(COUNT, uncertain_region=1, miss_rate="0.06", mechanism="tslm")
        remaining = engine.balance(dear).remaining
        with pytest.raises(TooDearError, match="With 8 times the half width it would cost") as refused:
            engine.answer(dear)
        cost = Epsilon(refused.value.affordable.split("it would cost ")[1].split(",")[0])
        assert cost <= remaining < Epsilon("1.5")


def test_a_zone_is_never_free(engine):
    with pytest.raises(ArgumentError, match="must be below one half") as refused:
        engine.plan(COUNT, mechanism="tslm-zone", miss_rate="0.5")
    assert refused.value.field == "miss_rate"


def test_free_answers_promise_only_what_holds(engine):
    said = engine.decide(COUNT, uncertain_region=2, miss_rate="0.5").guarantee
    assert (said.miss_rate, said.false_alarm_rate) == (0, 1)
    mirrored = engine.decide(COUNT, uncertain_region=2, false_alarm_rate="0.5", bound="false_alarms").guarantee
    assert (mirrored.miss_rate, mirrored.false_alarm_rate) == (1, 0)


def test_a_tiny_first_level_can_be_planned_printed_and_refused(tmp_path):
    declarations = DECLARATIONS.replace(
        "count_range", 'unit = "age"\nmax_groups_per_unit = 1\nmax_rows_per_group = 10\ncount_range'
    ).replace("age = { min = 0, max = 110, step = 1 }", "")
    with thresher.open(clinic(tmp_path, ROWS, declarations)) as engine:
        options = {"mechanism": "ppwlm", "first_epsilon": "0.000000003", "uncertain_region": 1}
        assert "look 1" in in_full(engine.plan(COUNT, **options))
        with pytest.raises(TooDearError):
            engine.plan(COUNT, max_epsilon="0.01", **options)


def test_the_distance_of_the_promise_counts_units_as_the_margin_does(tmp_path):
    """Both conditions are 12 rows short, and one row helps with one of them only: 24 must change, the margin is 12."""
    declarations = DECLARATIONS
    rows = [("A", 10)] * 88 + [("A", 90)] * 88
    with thresher.open(clinic(tmp_path, rows, declarations)) as engine:
        young, old = "COUNT(*) FILTER (WHERE age < 50) >= 100", "COUNT(*) FILTER (WHERE age >= 50) >= 100"
        sql = f"SELECT ward FROM patients GROUP BY ward HAVING {young} AND {old}"
        plan = engine.plan(sql, uncertain_region=10, mechanism="tslm")
    assert plan.guarantee.clear_distance == 18
    assert "18 rows or more short of its condition (one row stands for the most that one row can change)" in str(
        plan.guarantee
    )


def wards(count, ceiling, **declared):
    """So many wards with rows up to the ceiling, for questions that need many groups."""
    lines = "".join(f"{name} = {value}\n" for name, value in declared.items())
    declarations = f"""
[source]
url = "memory://"
[tables.stays]
budget = "100"
{lines}
[tables.stays.columns]
ward = {{ min = 0, max = {count - 1} }}
"""
    rows = [ward for ward in range(count) for _ in range(ceiling if ward < count // 10 else 3)]
    return declarations, {"stays": pyarrow.table({"ward": rows})}


MANY = "SELECT ward FROM stays GROUP BY ward HAVING COUNT(*) > 100"


def test_rates_told_are_those_of_each_group_and_answers_are_told_apart_by_the_aim(tmp_path):
    declarations, tables = wards(120, 900, count_range=1000, max_epsilon_per_question='"5"')
    path = tmp_path / "thresher.toml"
    path.write_text(declarations)
    with thresher.open(path, tables=tables) as engine:
        plans = [engine.plan(MANY, false_alarm_rate=rate) for rate in ("0.1", "0.2")]
        assert [plan.guarantee.false_alarm_rate for plan in plans] == [Fraction(1, 100)] * 2
        assert plans[0].identity.question != plans[1].identity.question
        answer = engine.answer(plans[0], entropy=SeededEntropy(1))
        assert answer.certificate.aim == Fraction(1, 10)
        assert "With confidence 98 %, at most" in str(answer.guarantee)
        assert answer.spent_epsilon < answer.planned_epsilon
        assert engine.balance(plans[0]).spent == answer.spent_epsilon
        mirrored = engine.plan(MANY, bound="false_alarms").guarantee
        assert (mirrored.miss_rate, mirrored.false_alarm_rate) == (Fraction(1, 100), Fraction(1, 10))


def test_without_a_declared_range_looks_are_fit_for_the_threshold(tmp_path):
    declarations, tables = wards(10, 900)
    path = tmp_path / "thresher.toml"
    path.write_text(declarations)
    with thresher.open(path, tables=tables) as engine:
        plan = engine.plan(MANY)
        assert "no further once its verdict is clear" in in_full(plan), "each of ten groups climbs alone"
        assert plan.look.half_width <= 30


@pytest.mark.parametrize(
    ("having", "rows"),
    [
        ("COUNT(*) > 100 AND AVG(age) > 50", 101),
        ("COUNT(*) > 100 AND COUNT(*) > 30 AND AVG(age) > 50", 101),
        ("COUNT(*) > 100 OR AVG(age) > 50", 100),
        ("(COUNT(*) > 70 AND AVG(age) > 50) OR COUNT(*) > 30", 71),
        ("(COUNT(*) > 70 OR COUNT(*) > 90) AND AVG(age) > 50", 71),
        ("COUNT(*) < 70 AND AVG(age) > 50", 100),
    ],
)
@pytest.mark.parametrize("bound", ["misses", "false_alarms"])
def test_the_half_width_of_an_average_is_told_for_the_fewest_rows_that_conditions_beside_it_let_through(
    engine, having, rows, bound
):
    """Conditions joined by OR let through any group; without a least number of rows, 100 are assumed."""
    sql = f"SELECT ward FROM patients GROUP BY ward HAVING {having}"
    plan = engine.plan(sql, uncertain_region={"COUNT(*)": 2, "AVG(age)": 1}, mechanism="tslm", bound=bound)
    shown = str(plan)
    assert f" in a group of {rows} rows" in shown
    assert ("lets through" in shown) == (rows != 100)


@pytest.mark.parametrize("bound", ["misses", "false_alarms"])
def test_a_limit_that_allows_only_coarser_widths_is_told_whichever_error_comes_first(tmp_path, bound):
    wards = [f"w{i}" for i in range(240)]
    declarations = DECLARATIONS.replace('["A", "B", "C", "D"]', str(wards).replace("'", '"'))
    region = {"COUNT(*)": 2, "AVG(age)": "0.1"}
    with thresher.open(clinic(tmp_path, ROWS, declarations)) as engine:
        sql = f"{COUNT} AND AVG(age) > 50"
        plan = engine.plan(sql, uncertain_region=region, max_epsilon="0.1", bound=bound)
    assert any("AVG(age) > 50 is measured within" in note and "nothing finer" in note for note in plan.notes)
