"""Questions about people with budgets of their own: read by class, charged as shares, answered once."""

import numpy as np
import pyarrow as pa
import pytest

import thresher
from thresher.amounts import Epsilon
from thresher.errors import ArgumentError, BudgetError, DeclarationError
from thresher.noise import SeededEntropy, tail

DECLARED = """
[source]
url = "memory://"
[tables.patients]
{unit}
budget_column = "privacy_budget"
budget_roster = {{ table = "roster", column = "eps" }}
[tables.patients.columns]
privacy_budget = {{ min = 0, max = 1, step = 0.1, missing = 0{fixed} }}
ward = {{ values = ["eye", "ear"] }}
age = {{ min = 0, max = 100 }}
[public_tables.roster]
"""
COUNT = "SELECT ward, COUNT(*) FROM patients GROUP BY ward"
LEVELS = (0.0, 0.1, 0.2, 0.4, 1.0)
EACH = 2_000


def people(levels=LEVELS, each=EACH):
    """Half of each level in each ward."""
    return pa.table(
        {
            "id": np.arange(len(levels) * each),
            "privacy_budget": np.repeat(np.array(levels), each),
            "ward": ["eye", "ear"] * (len(levels) * each // 2),
            "age": np.full(len(levels) * each, 50),
        }
    )


@pytest.fixture
def opened(tmp_path):
    engines = []

    def open_(table=None, roster=None, *, unit="", analyst=""):
        path = tmp_path / "thresher.toml"
        path.write_text(DECLARED.format(unit=unit, fixed=", fixed = true" if unit else ""))
        rows = people() if table is None else table
        listed = pa.table({"eps": rows["privacy_budget"]}) if roster is None else roster
        engines.append(thresher.open(path, tables={"patients": rows, "roster": listed}, analyst=analyst))
        return engines[-1]

    yield open_
    for engine in engines:
        engine.close()


def test_a_count_is_near_the_truth_and_stored(opened):
    """Four classes of 1,000 in each ward; a half width at confidence 1 - 1e-7 fails once in 5e6 runs."""
    engine = opened()
    found = engine.personal_count(COUNT, share="0.5", confidence="0.9999999")
    for estimate in found.estimates:
        assert abs(float(estimate) - 4 * EACH / 2) <= float(found.half_width)
    again = engine.personal_count(COUNT, share="0.5", confidence="0.9999999")
    assert again == found
    assert (found.repeated, again.repeated) == (False, True)
    assert engine.ledger.balance("personal:patients").spent <= Epsilon("0.5")


def test_who_has_no_budget_is_never_read(opened):
    """Only the 2,000 people of budget 0 are there: the counts are those of an empty table, and so they stay."""
    roster = pa.table({"eps": list(LEVELS) * 100})
    empty = opened(people().slice(0, 0), roster).personal_count(COUNT, key="none", entropy=SeededEntropy(1))
    zeros = opened(people((0.0,)), roster).personal_count(COUNT, key="zeros", entropy=SeededEntropy(1))
    assert empty.estimates == zeros.estimates
    assert empty.stamp
    some = opened(people((0.1,)), roster).personal_count(COUNT, key="some", entropy=SeededEntropy(1))
    assert some.estimates != zeros.estimates


def test_shares_are_charged_class_by_class(opened):
    """Classes above the cap lose less of their budget, so they have more left."""
    engine = opened()
    plan = engine.plan_personal(COUNT, share="1")
    shares = dict(plan.cost.amounts)
    losses = [weight * plan.read.weights.grid * 10**9 for weight in plan.read.weights.weights]
    for nano, loss, share in zip(plan.read.weights.nano, losses, shares.values(), strict=True):
        assert loss <= nano
        assert loss <= share.fraction * nano
    # Weights are whole, so that hardly anything of the largest share is left over.
    assert Epsilon("0.99999") <= max(shares.values()) <= Epsilon(1)
    assert min(shares.values()) < Epsilon("0.999")


def test_the_whole_is_never_passed_and_leftovers_draw_on_the_rest(opened):
    engine = opened()
    for key in ("one", "two", "three", "four"):
        engine.personal_count(COUNT, key=key)
    with pytest.raises(BudgetError):
        engine.personal_count(COUNT, key="five")
    plan = engine.plan_personal(COUNT, share="1", leftovers=True)
    spent = [share.fraction for share in engine.plan_personal(COUNT).read.weights.shares]
    nano = plan.read.weights.nano
    for before, budget, weight in zip(spent, nano, plan.read.weights.weights, strict=True):
        assert weight * plan.read.weights.grid * 10**9 <= budget * (1 - 4 * before)
    assert not plan.read.weights.weights[0]
    engine.personal_count(COUNT, share="1", leftovers=True)
    assert engine.ledger.balance("personal:patients").spent <= Epsilon(1)
    again = engine.personal_count(COUNT, share="1", leftovers=True)
    assert again.repeated


def test_the_price_of_leftovers_is_a_share_of_the_whole_budget(opened):
    """At most half is spent, so half of what is left is less than half of the whole, and the price says so."""
    engine = opened()
    engine.personal_count(COUNT, share="0.5")
    plan = engine.plan_personal(COUNT, share="0.5", leftovers=True)
    assert plan.epsilon == max(plan.read.weights.shares) < Epsilon("0.499")
    assert plan.price_in_words == f"each person up to {plan.epsilon} of their own budget"
    assert "at most 0.5 of what they have left of their own budget" in dict(plan.explanation())["share"]
    assert "leftovers=True" not in plan.affordable(Epsilon("0.1"))
    assert "leftovers=True" in engine.plan_personal(COUNT).affordable(Epsilon("0.1"))


def test_a_decision_reports_what_is_far_above(opened):
    engine = opened()
    sql = "SELECT ward FROM patients GROUP BY ward HAVING COUNT(*) > {}"
    low = engine.decide(sql.format(2_000), personal=True, share="0.5", miss_rate="1e-7", false_alarm_rate="1e-7")
    high = engine.decide(sql.format(6_000), personal=True, share="0.5", miss_rate="1e-7", false_alarm_rate="1e-7")
    assert low.verdicts == ("above", "above")
    assert high.verdicts == ("below", "below")
    assert low.positives == [("eye",), ("ear",)]
    assert "weighted COUNT(*)" in low.guarantee.sentence
    assert low.spent_epsilon == Epsilon("0.5")


@pytest.mark.parametrize("sign", [">", "<"])
def test_verdicts_keep_their_rates_exactly(opened, sign):
    """Margins are the least whose exact tails keep the rates, and verdicts change where they should."""
    engine = opened(people(each=10))
    sql = f"SELECT ward FROM patients GROUP BY ward HAVING COUNT(*) {sign} 20"
    plan = engine.plan_personal(sql, miss_rate="0.03", false_alarm_rate="0.2")
    grid, reach = plan.read.weights.grid, plan.read.weights.reach
    for margin, rate in ((plan.miss_margin, 0.03), (plan.alarm_margin, 0.2)):
        assert tail(grid, margin, reach).high <= rate < tail(grid, margin - 1, reach).low
    line = plan.thresholds[0]
    assert line - 1 < plan.read.atom.at_least * plan.read.weights.mean <= line
    seen = [-plan.miss_margin, 1 - plan.miss_margin, plan.alarm_margin - 2, plan.alarm_margin - 1]
    verdicts = [plan.verdicts([line + by] * 2)[0] for by in seen]
    assert verdicts == ["below", "uncertain", "uncertain", "above"]
    far = line - plan.clear
    assert plan.verdicts([far + plan.alarm_margin - 1] * 2)[0] == "below"
    assert plan.verdicts([far + plan.alarm_margin] * 2)[0] == "uncertain"


def test_a_sum_goes_the_same_way(opened):
    found = opened().personal_count(
        "SELECT ward, SUM(age) FROM patients GROUP BY ward", share="0.5", confidence="0.9999999"
    )
    assert abs(float(found.estimates[0]) - 50 * 4 * EACH / 2) <= float(found.half_width)


def test_the_lowest_of_a_persons_budgets_counts(opened):
    """One person writes 1.0 and 0; the rows with 1.0 are left out, so nothing of theirs is read."""
    rows = pa.table({"id": [1, 1], "privacy_budget": [1.0, 0.0], "ward": ["eye", "eye"], "age": [1, 1]})
    roster = pa.table({"eps": list(LEVELS) * 100})
    unit = 'unit = "id"\nmax_rows_per_group = 2'
    mixed = opened(rows, roster, unit=unit).personal_count(COUNT, key="a", entropy=SeededEntropy(1))
    nobody = opened(rows.slice(0, 0), roster, unit=unit).personal_count(COUNT, key="b", entropy=SeededEntropy(1))
    assert mixed.estimates == nobody.estimates


def test_an_odd_budget_is_no_budget(opened):
    """Not a number, negative, missing (declared as 0), or below half a step: nobody is read, and nothing is said."""
    roster = pa.table({"eps": LEVELS})
    odd = pa.array([float("nan"), -3.0, None, 0.049], pa.float64())
    rows = pa.table({"id": [1, 2, 3, 4], "privacy_budget": odd, "ward": ["eye"] * 4, "age": [1] * 4})
    found = opened(rows, roster).personal_count(COUNT, key="odd", entropy=SeededEntropy(1))
    nobody = opened(rows.slice(0, 0), roster).personal_count(COUNT, key="nobody", entropy=SeededEntropy(1))
    assert found.estimates == nobody.estimates


def test_a_huge_budget_is_the_declared_most(opened):
    roster = pa.table({"eps": list(LEVELS) * 100})
    keyed = {}
    for odd in (1e9, 1.0):
        rows = pa.table({"id": [1], "privacy_budget": [odd], "ward": ["eye"], "age": [1]})
        keyed[odd] = opened(rows, roster).personal_count(COUNT, key=str(odd), entropy=SeededEntropy(1))
    assert keyed[1e9].estimates == keyed[1.0].estimates


@pytest.mark.parametrize("level", [0.0, 0.1, 1.0])
def test_neighbours_are_as_far_apart_as_the_person_allows(opened, level):
    """One person of each class more, in two groups, under the same noise: the sums move by what that class pays."""
    roster = pa.table({"eps": list(LEVELS) * 100})
    unit = 'unit = "id"\nmax_groups_per_unit = 2'
    rows = people(each=10)
    more = pa.table({"id": [-1, -1], "privacy_budget": [level] * 2, "ward": ["eye", "ear"], "age": [5, 5]})
    engine = opened(rows, roster, unit=unit)
    plan = engine.plan_personal(COUNT)
    here = engine.personal_count(COUNT, key="here", entropy=SeededEntropy(3))
    there = opened(pa.concat_tables([rows, more]), roster, unit=unit).personal_count(
        COUNT, key="there", entropy=SeededEntropy(3)
    )
    weights = plan.read.weights
    assert weights.reach == 2
    moved = [abs(float(b) - float(a)) for a, b in zip(here.estimates, there.estimates, strict=True)]
    loss = sum(moved) * float(weights.mean * weights.grid / weights.reach)
    # Estimates are rounded to thousandths, each of which is worth a thousandth of the mean weight's loss.
    rounding = 4e-3 * float(weights.mean * weights.grid)
    assert loss <= 0.25 * level + rounding
    assert (loss > rounding) == (level > 0)


REFUSED = {
    "ordinary": lambda engine: engine.decide("SELECT ward FROM patients GROUP BY ward HAVING COUNT(*) > 5"),
    "plan": lambda engine: engine.plan("SELECT ward FROM patients GROUP BY ward HAVING COUNT(*) > 5"),
    "refine": lambda engine: engine.refine("SELECT ward FROM patients GROUP BY ward HAVING COUNT(*) > 5", of="x"),
    "diagnose": lambda engine: engine.diagnose("roc", table="patients", label="age", score="age", epsilon="1"),
    "budgets": lambda engine: engine.personal_count(
        "SELECT ward FROM patients WHERE privacy_budget > 0.5 GROUP BY ward"
    ),
    "keys": lambda engine: engine.personal_count("SELECT privacy_budget FROM patients GROUP BY privacy_budget"),
    "filter": lambda engine: engine.personal_count(
        "SELECT ward, COUNT(*) FILTER (WHERE privacy_budget > 0.5) FROM patients GROUP BY ward"
    ),
    "own sum": lambda engine: engine.personal_count("SELECT ward, SUM(privacy_budget) FROM patients GROUP BY ward"),
    "two": lambda engine: engine.decide(
        "SELECT ward FROM patients GROUP BY ward HAVING COUNT(*) > 5 AND SUM(age) > 5", personal=True
    ),
    "average": lambda engine: engine.decide(
        "SELECT ward FROM patients GROUP BY ward HAVING AVG(age) > 5", personal=True
    ),
    "no having": lambda engine: engine.decide(COUNT, personal=True),
    "having": lambda engine: engine.personal_count("SELECT ward FROM patients GROUP BY ward HAVING COUNT(*) > 5"),
    "share alone": lambda engine: engine.decide(
        "SELECT ward FROM patients GROUP BY ward HAVING COUNT(*) > 5", share="0.1"
    ),
    "options": lambda engine: engine.decide(
        "SELECT ward FROM patients GROUP BY ward HAVING COUNT(*) > 5", personal=True, mechanism="tslm"
    ),
    "large share": lambda engine: engine.personal_count(COUNT, share="1.1"),
    "no share": lambda engine: engine.personal_count(COUNT, share="0"),
    "sure": lambda engine: engine.personal_count(COUNT, confidence="1"),
}


def test_what_is_refused_charges_nothing(opened):
    engine = opened(people(each=10))
    for case, ask in REFUSED.items():
        with pytest.raises(ArgumentError):
            pytest.fail(f"{case}: {ask(engine)}")
    assert engine.ledger.balance("personal:patients").spent == Epsilon(0)


@pytest.mark.parametrize("bad", [[-0.1], [1e9], ["much"]])
def test_a_bad_roster_is_refused_by_its_row(opened, bad):
    engine = opened(roster=pa.table({"eps": bad}))
    with pytest.raises(DeclarationError, match="row 1 of roster"):
        engine.personal_count(COUNT)


def test_one_class_is_ordinary_privacy(opened):
    """Everybody allows the same, and no other class can be told apart: whole counts with noise at that epsilon."""
    engine = opened(people((1.0,)))
    weights = engine.plan_personal(COUNT, share="1").read.weights
    only = {weight for weight, size in zip(weights.weights, weights.sizes, strict=True) if size}
    assert len(only) == 1
    assert only == {max(weights.weights)}


def test_the_kind_of_budget_cannot_change_under_a_ledger(opened, tmp_path):
    opened().personal_count(COUNT)
    path = tmp_path / "thresher.toml"
    text = DECLARED.format(unit="", fixed="").replace('budget_column = "privacy_budget"', 'budget = "3"')
    path.write_text("\n".join(line for line in text.split("\n") if not line.startswith("budget_roster")))
    tables = {"patients": people(), "roster": pa.table({"eps": [1.0]})}
    refused = pytest.raises(DeclarationError, match="began with a budget for each person")
    with thresher.open(path, tables=tables) as engine, refused:
        engine.ledger  # noqa: B018 - opened when it is first looked at
