"""Values through the engine: priced without data, charged, stored, read back, and shown in the table."""

from fractions import Fraction

import pytest
from engine.clinics import DECLARATIONS, ROWS, clinic

import thresher
from thresher.codec import decoded, encoded
from thresher.decisions import ConstantPlan
from thresher.decisions.decision_options import options_of
from thresher.decisions.values.values_plan import ValuesPlan, plan_values, price
from thresher.noise import NOT_PRIVATE, SeededEntropy
from thresher.release import Release, ShownNumber
from thresher.sql.read_question import ask

CLEAR = "SELECT ward FROM patients GROUP BY ward HAVING COUNT(*) > 30 AND AVG(age) > 65"
SIX = """SELECT ward FROM patients GROUP BY ward HAVING (COUNT(*) > 30 AND AVG(age) > 65 AND SUM(age) > 100)
OR (COUNT(*) FILTER (WHERE age < 5) > 20 AND AVG(age) < 5 AND NOT COUNT(*) FILTER (WHERE age >= 100) > 3)"""


def planned(engine, sql, **wishes):
    return plan_values(ask(sql, engine._declarations, engine._desk.public), options_of(wishes))


@pytest.fixture
def engine(tmp_path):
    with thresher.open(clinic(tmp_path)) as opened:
        yield opened


def test_an_answer_with_its_numbers(engine):
    plan = planned(engine, CLEAR, uncertain_region=1, miss_rate="0.0001", false_alarm_rate="0.0001")
    assert isinstance(plan, ValuesPlan)
    answer = engine.answer(plan)
    assert answer.verdicts == ("above", "below", "below", "below")
    assert answer.table.column_names == [
        "ward", "verdict", "epsilon", "half_width", "(AVG(age) - 65) x rows", "AVG(age)", "COUNT(*)",
    ]  # fmt: skip
    shown = {value.text: value for value in answer.values}
    counts, width = shown["COUNT(*)"].numbers, float(shown["COUNT(*)"].half_widths[0])
    for number, true in zip(counts, (60, 40, 5, 0), strict=True):
        assert abs(float(number) - true) <= width, "but for one in ten thousand"
    ages = shown["AVG(age)"]
    assert abs(float(ages.numbers[0]) - 80) <= float(ages.half_widths[0]) < 5
    assert abs(float(shown["(AVG(age) - 65) x rows"].numbers[0]) - 60 * 15) < 200
    assert answer.spent_epsilon == plan.epsilon == engine.ledger.balance("patients").spent
    assert "lies within its half width" in answer.guarantee.sentence


def test_it_is_stored_and_given_again_across_a_restart(tmp_path):
    path = clinic(tmp_path)
    with thresher.open(path) as engine:
        plan = planned(engine, SIX, uncertain_region={"COUNT(*)": 10})
        answer = engine.answer(plan, entropy=SeededEntropy(5))
        assert answer.stamp == NOT_PRIVATE
        spent = engine.ledger.balance("patients").spent
    with thresher.open(path) as engine:
        again = engine.answer(planned(engine, SIX, uncertain_region={"COUNT(*)": 10}))
        assert again == answer
        assert again.repeated
        assert again.values == answer.values
        assert again.table.equals(answer.table)
        assert engine.ledger.balance("patients").spent == spent == plan.epsilon
        other = planned(engine, SIX, uncertain_region={"COUNT(*)": 11})
        assert other.identity.question != plan.identity.question


def test_a_release_without_values_is_read_as_it_is(engine):
    answer = engine.decide(CLEAR, uncertain_region=10)
    assert answer.values == ()
    kept = Release.from_bytes(answer.to_bytes(), answer.key)
    assert kept == answer


def test_numbers_that_are_not_known_are_empty_in_the_table():
    shown = ShownNumber("AVG(x)", ("2.5", ""), ("1", "3"))
    assert decoded(ShownNumber, encoded(shown)) == shown


def test_values_cost_more_than_the_verdict_and_less_than_each_by_itself(engine):
    six = planned(engine, SIX, uncertain_region={"COUNT(*)": 10})
    verdict = engine.plan(SIX, uncertain_region={"COUNT(*)": 10})
    assert verdict.epsilon < six.epsilon
    assert six.epsilon.fraction < 6 * verdict.epsilon.fraction
    assert six.need.aggregates
    assert len(set(six.need.aggregates)) == len(six.need.aggregates)


def test_a_question_that_needs_no_data_is_answered_for_nothing(engine):
    plan = planned(engine, "SELECT ward FROM patients GROUP BY ward HAVING COUNT(*) >= 0")
    assert isinstance(plan, ConstantPlan)
    assert engine.answer(plan).values == ()
    assert not engine.ledger.balance("patients").spent


def test_thresholds_may_differ_by_group(tmp_path):
    folder = tmp_path / "public"
    declared = DECLARATIONS + '\n[public_tables.wards]\nfile = "wards.csv"\n'
    path = clinic(folder, ROWS, declared)
    (folder / "wards.csv").write_text("name,beds\nA,50\nB,90\nC,1\nD,2\n")
    text = (
        "SELECT ward FROM patients JOIN wards ON patients.ward = wards.name GROUP BY ward "
        "HAVING COUNT(*) > wards.beds AND COUNT(*) FILTER (WHERE age > 20) > 3"
    )
    with thresher.open(path) as engine:
        plan = planned(engine, text, uncertain_region=1, miss_rate="0.0001", false_alarm_rate="0.0001")
        answer = engine.answer(plan)
    assert answer.verdicts[0] == "above"
    assert answer.verdicts[1] == "below"


def test_what_would_fit_a_smaller_budget(tmp_path):
    with thresher.open(clinic(tmp_path, declarations=DECLARATIONS.replace('"10"', '"0.3"'))) as engine:
        plan = planned(engine, CLEAR, uncertain_region=10)
        with pytest.raises(thresher.errors.BudgetError, match="times the half width it would cost"):
            engine.answer(plan)
        assert price(plan.asked.scaled(Fraction(4))) < plan.epsilon
