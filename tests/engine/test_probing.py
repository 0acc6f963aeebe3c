"""The ProBE family through the engine: reserved, charged, denied, stored, and never sold as what it is not."""

import json
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from clinics import DECLARATIONS, clinic

import thresher
from papers.probe.outliers import at_threshold
from thresher.amounts import Epsilon
from thresher.decisions.margin import slacks_of
from thresher.decisions.probe.looks import MECHANISMS, ConditionLooks
from thresher.decisions.probe.probe import probe, probe_ent, probe_naive
from thresher.errors import ArgumentError, BudgetError, TooDearError
from thresher.noise import SeededEntropy
from thresher.release import Release
from thresher.views.terminal import drawn

TWO = "SELECT ward FROM patients GROUP BY ward HAVING COUNT(*) > 30 AND AVG(age) > 50"
PROBE = tuple(MECHANISMS)
PHASED = tuple(name for name in PROBE if name != "naive")
every = pytest.mark.parametrize("mechanism", PROBE)
phased = pytest.mark.parametrize("mechanism", PHASED)


@pytest.fixture
def engine(tmp_path):
    with thresher.open(clinic(tmp_path)) as opened:
        yield opened


@pytest.fixture
def unread(engine, monkeypatch):
    monkeypatch.setattr(type(engine._source), "fetch", lambda *_: pytest.fail("data were read"))
    return engine


def crowd(folder, at=92, above=10, groups=574):
    """Groups by number: the first far above 500 rows, the next exactly at 500, which is not above, the rest empty."""
    sizes = at_threshold(groups, at, above).counts[0].astype(int)
    declarations = f"""
[source]
url = "memory://"
[ledger]
url = "sqlite:///ledger.db"
[tables.crowd]
count_range = 1000
budget = "1000"
max_epsilon_per_question = "5"
[tables.crowd.columns]
g = {{ min = 0, max = {groups - 1} }}
"""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "thresher.toml"
    path.write_text(declarations)
    return thresher.open(path, tables={"crowd": pa.table({"g": np.repeat(np.arange(groups), sizes)})}), sizes > 500


CROWD = "SELECT g FROM crowd GROUP BY g HAVING COUNT(*) > 500"


@every
def test_two_conditions_are_answered_reserved_and_settled(engine, mechanism):
    plan = engine.plan(TWO, uncertain_region="COUNT(*)=5, AVG(age)=10", mechanism=mechanism, max_epsilon=9)
    assert isinstance(plan.look, ConditionLooks)
    answer = engine.answer(plan, key="0", entropy=SeededEntropy(0))
    assert not answer.denied
    assert answer.positives == [("A",)]
    assert answer.verdicts == ("above", "below", "below", "below")
    assert answer.mechanism == mechanism
    assert answer.planned_epsilon == plan.epsilon
    assert Epsilon(0) < answer.spent_epsilon == max(answer.epsilons) <= plan.epsilon
    # One row is a unit and ward keeps regions apart: what was not needed is given back.
    assert engine.balance(plan).spent == answer.spent_epsilon
    assert Release.from_bytes(answer.to_bytes(), answer.key) == answer
    again = engine.answer(plan, key="0")
    assert again == answer
    assert again.repeated
    assert engine.balance(plan).spent == answer.spent_epsilon
    engine.ledger.verify()


@every
def test_nobody_can_take_it_for_a_promise(engine, mechanism):
    plan = engine.plan(TWO, uncertain_region="COUNT(*)=5, AVG(age)=10", mechanism=mechanism, max_epsilon=9)
    answer = engine.answer(plan, entropy=SeededEntropy(0))
    assert str(plan).startswith("WARNING    for comparison only. ")
    assert plan.document()["comparison_only"] is True
    # Each condition keeps the half width that was asked for, not that of the widest.
    assert "COUNT(*) > 30: within 5 rows" in str(plan)
    assert json.loads(json.dumps(plan.document())) == plan.document()
    assert "for comparison only" in answer.notes[0]
    for guarantee in (plan.guarantee, answer.guarantee):
        assert guarantee.sentence.startswith("FOR COMPARISON ONLY")
        assert guarantee.false_alarm_rate == 1
        assert guarantee.miss_rate == Fraction("0.05")
        if mechanism != "naive":
            assert "bound on false alarms does not hold" in guarantee.sentence
            assert "docs/mechanisms.md" in guarantee.sentence


def test_naive_is_priced_by_what_it_takes_and_the_others_by_their_limit(engine):
    plan = engine.plan(TWO, mechanism="naive")
    assert plan.epsilon == Epsilon.total(look.epsilon for look in plan.look.firsts)
    assert {look.share for look in plan.look.firsts} == {plan.asked.options.miss_rate / len(plan.look.firsts)}
    # 12 % of 100 rows for naive, 30 % for the others.
    assert plan.document()["looks"][-1]["half_width"] == "12"
    assert engine.plan(TWO, mechanism="probe").document()["looks"][-1]["half_width"] == "30"
    for mechanism in PHASED:
        assert engine.plan(TWO, mechanism=mechanism).epsilon == Epsilon("1"), "a tenth of the budget"
        assert engine.plan(TWO, mechanism=mechanism, max_epsilon="0.7").epsilon == Epsilon("0.7")


def test_a_unit_in_several_groups_keeps_to_the_limit(tmp_path):
    declarations = DECLARATIONS.replace(
        "count_range", 'unit = "age"\nmax_groups_per_unit = 2\nmax_rows_per_group = 1\ncount_range'
    ).replace("age = { min = 0, max = 110, step = 1 }", "")
    sql = "SELECT ward FROM patients GROUP BY ward HAVING COUNT(*) > 30"
    with thresher.open(clinic(tmp_path, [("A", age) for age in range(90)], declarations)) as engine:
        plan = engine.plan(sql, uncertain_region=20, mechanism="probe", max_epsilon=3)
        answer = engine.answer(plan, entropy=SeededEntropy(0))
        assert plan.look.epsilon == Epsilon("1.5")
        assert plan.epsilon == Epsilon(3)
        assert answer.spent_epsilon == 2 * max(answer.epsilons)
        assert engine.balance(plan).spent == answer.spent_epsilon


@phased
def test_a_first_phase_that_the_limit_excludes_is_refused_before_data(unread, mechanism):
    with pytest.raises(
        TooDearError, match=r"0\.01, the max_epsilon\. Nothing was read or paid\. With \d+ times the half width"
    ):
        unread.decide(TWO, uncertain_region="COUNT(*)=5, AVG(age)=10", mechanism=mechanism, max_epsilon="0.01")


def test_naive_is_refused_before_data_with_what_could_be_paid(unread):
    with pytest.raises(
        TooDearError, match=r"the max_epsilon\. Nothing was read or paid\. With \d+ times the half width"
    ):
        unread.decide(TWO, uncertain_region="COUNT(*)=5, AVG(age)=10", mechanism="naive", max_epsilon="0.1")


def test_a_budget_that_cannot_pay_the_worst_case_is_refused_before_data(unread):
    with pytest.raises(BudgetError, match="With max_epsilon=10 it may be denied more often"):
        unread.decide(TWO, mechanism="probe", max_epsilon=11)


@phased
def test_a_denial_is_charged_explained_and_stored(tmp_path, mechanism):
    """All groups lie at the line: none is seen far below it, so that no false alarm is allowed."""
    engine, _ = crowd(tmp_path, at=60, above=0, groups=60)
    with engine:
        plan = engine.plan(CROWD, mechanism=mechanism)
        answer = engine.answer(plan, entropy=SeededEntropy(1))
        assert "false alarms are estimated for COUNT(*) > 500" in answer.denied
        assert f"{answer.spent_epsilon} is charged" in answer.denied
        assert answer.positives == []
        assert set(answer.verdicts) == {"uncertain"}
        assert (answer.guarantee.miss_rate, answer.guarantee.false_alarm_rate) == (1, 1)
        assert answer.guarantee.sentence.startswith("Nothing is promised: the question was denied.")
        assert Epsilon(0) < answer.spent_epsilon < plan.epsilon
        balance = engine.balance(plan)
        assert balance.spent == answer.spent_epsilon
        again = engine.decide(CROWD, mechanism=mechanism)
        assert again == answer
        assert again.repeated
        assert engine.balance(plan).spent == answer.spent_epsilon
        assert str(again).count("Denied: ") == 1
        page = drawn(again.page(every=True))
        assert "denied" in page
        assert "no answer" in page
        assert "uncertain" not in page
        assert again.document()["denied"] == answer.denied


def test_a_second_phase_beyond_the_limit_is_denied_and_the_first_charged(tmp_path):
    engine, _ = crowd(tmp_path, at=40, above=0, groups=574)
    with engine:
        first = engine.plan(CROWD, mechanism="probe").look.firsts[0].epsilon
        plan = engine.plan(CROWD, mechanism="probe", max_epsilon=first + Epsilon("0.000001"), false_alarm_rate="0.01")
        answer = engine.answer(plan, entropy=SeededEntropy(1))
        assert f"above its limit of {plan.look.epsilon}" in answer.denied
        assert answer.spent_epsilon == first == engine.balance(plan).spent


@pytest.mark.parametrize("method", [probe_naive, probe, probe_ent])
def test_a_second_look_above_any_amount_is_denied_not_broken(method):
    """A unit moves it by 400,000 steps: a region of one value would cost more than a million, which is no amount.

    Raised in the middle of a question, an error would cost the whole reservation.
    """
    slacks = np.array([[-1] * 30 + [-1000] * 500])
    found = method((slacks, 0, [400_000], [3]), ("0.1", "0.01"), region=1, max_epsilon=10**6, entropy=SeededEntropy(1))
    assert found.denial.reason == "budget"
    assert "would cost more than a million" in found.denial.text


@every
def test_other_options_are_another_question(engine, mechanism):
    options = {"mechanism": mechanism, "uncertain_region": "COUNT(*)=20, AVG(age)=20", "max_epsilon": 4}
    changed = [
        {},
        {"miss_rate": "0.04"},
        {"false_alarm_rate": "0.2"},
        {"uncertain_region": "COUNT(*)=21, AVG(age)=20"},
        {"uncertain_region": "COUNT(*)=20, AVG(age)=21"},
        *([] if mechanism == "naive" else [{"max_epsilon": 5}]),
        {"mechanism": next(name for name in PROBE if name != mechanism)},
    ]
    assert len({engine.plan(TWO, **{**options, **change}).identity.question for change in changed}) == len(changed)


@every
@pytest.mark.parametrize(
    ("option", "value", "says"),
    [
        ("bound", "false_alarms", "bound misses only"),
        ("levels", 3, "does not apply to mechanism"),
        ("first_epsilon", "0.1", "does not apply to mechanism"),
        ("confidence", "0.9", "does not apply to mechanism"),
        ("uncertain_region", "COUNT(*)=0.5, AVG(age)=20", r"one step of COUNT\(\*\) at least"),
    ],
)
def test_options_it_cannot_keep_are_refused(unread, mechanism, option, value, says):
    with pytest.raises(ArgumentError, match=says) as refused:
        unread.decide(TWO, mechanism=mechanism, **{option: value})
    assert refused.value.field == option


def test_sums_that_may_pass_64_bits_are_looked_at(tmp_path):
    declarations = DECLARATIONS.replace("max = 110, step = 1", "max = 1000000, step = 1")
    sql = "SELECT ward FROM patients GROUP BY ward HAVING SUM(age) > 50000000"
    with thresher.open(clinic(tmp_path, [("A", 10**6)] * 90, declarations)) as engine:
        plan = engine.plan(sql, mechanism="naive")
        (slacks,) = slacks_of(plan.need, plan.question.atoms, engine._source.fetch(plan.need)).values()
        assert slacks.dtype == object
        assert engine.answer(plan, entropy=SeededEntropy(2)).positives == [("A",)]


def test_noise_that_is_not_drawn_is_refused_before_data(tmp_path):
    declarations = DECLARATIONS.replace("max = 110, step = 1", "max = 1000000000, step = 1")
    sql = "SELECT ward FROM patients GROUP BY ward HAVING SUM(age) > 50000000000"
    not_drawn = pytest.raises(ArgumentError, match="a scale above 1e9, which is not drawn")
    with thresher.open(clinic(tmp_path, [], declarations)) as engine, not_drawn as refused:
        engine.plan(sql, mechanism="naive")
    assert refused.value.field == "within"


@pytest.mark.parametrize("mechanism", ["probe", "probe-ent"])
def test_accepted_at_a_tenth_with_sixteen_in_a_hundred_false_alarms(tmp_path, measured, mechanism):
    """92 groups exactly at the line, 10 above, 472 far below; about half of ProBE's runs are accepted.

    A group at the line is left out with probability 0.05 at most, so a run has fewer than 0.12 false alarms (25 of the
    92 left out) with probability below 1e-10; fewer than 2 of 40 runs are accepted with probability below 1e-8.
    """
    accepted, alarms = alarms_in(tmp_path / "crowded", mechanism, 40, at=92)
    measured(f"{mechanism}: {accepted} of 40 accepted at 0.10, false alarms {np.mean(alarms):.3f}")
    assert accepted >= 2
    assert min(alarms) > 0.12
    assert np.mean(alarms) == pytest.approx(0.16, abs=0.02)
    # Power: with none at the line the same measure keeps to the rate (0.07 at most on average, by one look).
    accepted, alarms = alarms_in(tmp_path / "sparse", mechanism, 10, at=0)
    assert accepted == 10
    assert np.mean(alarms) < 0.1


def alarms_in(folder, mechanism, runs, at):
    """How many of so many runs are accepted, and the share of false alarms in each; none of them misses a group."""
    engine, truth = crowd(folder, at)
    with engine:
        plan = engine.plan(CROWD, mechanism=mechanism, false_alarm_rate="0.10")
        answers = [engine.answer(plan, key=str(seed), entropy=SeededEntropy(seed)) for seed in range(runs)]
        assert engine.balance(plan).spent == Epsilon.total(answer.spent_epsilon for answer in answers)
    accepted = [answer for answer in answers if not answer.denied]
    reported = [np.array([verdict != "below" for verdict in answer.verdicts]) for answer in accepted]
    assert all(seen[truth].all() for seen in reported), "10 groups far above: never missed"
    return len(accepted), [seen[~truth].mean() for seen in reported]
