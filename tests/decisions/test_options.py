"""Every option of a decision: what it means, its one normal form, and how what is unclear is refused."""

from dataclasses import replace
from fractions import Fraction

import pytest

from thresher.amounts import Epsilon
from thresher.asks.merging import merged
from thresher.config import Column, Contribution, Grid, Table
from thresher.decisions import Options, UncertainRegion
from thresher.decisions.decision_options import NAMES, DecisionOptions, options_of
from thresher.decisions.mechanisms import MECHANISMS, mechanism_for
from thresher.decisions.uncertain_region import region_of
from thresher.errors import ArgumentError
from thresher.question import Aggregate, Atom, sensitivity

GRID = Grid(Fraction(0), Fraction(110), Fraction(1, 2))
TABLE = Table("patients", {"age": Column("age", GRID)}, Epsilon(1), count_range=1000)
COUNT = Atom(((Aggregate("rows"), 1),), 501, "COUNT(*)", "COUNT(*) > 500", Fraction(1))
# AVG(age) > 65 in half years: total - 130 present >= 1.
AVERAGE = Atom(
    ((Aggregate("total", "age"), 1), (Aggregate("present", "age"), -130)),
    1,
    "AVG(age)",
    "AVG(age) > 65",
    Fraction(2),
    True,
)


def options(**said):
    """Checked, and of a mechanism that they apply to."""
    made = options_of(said)
    mechanism_for(made)
    return made


def slack_of(region, atom, table):
    return region_of(region).slack_of(atom, table, sensitivity(atom, table))


def test_defaults():
    made = options()
    assert (made.miss_rate, made.false_alarm_rate, made.mechanism) == (Fraction(1, 20), Fraction(1, 10), "certified")
    assert made.max_epsilon is None
    assert made.region is None
    assert region_of(None) == UncertainRegion(share=Fraction(3, 10))
    assert made == options(miss_rate=None, bound=None) == Options()
    assert made.given == {}


def test_every_option_is_checked_and_is_a_field():
    assert set(NAMES) == set(DecisionOptions.__annotations__)
    for name in NAMES:
        with pytest.raises(ArgumentError) as refused:
            options_of({"mechanism": "ppwlm", name: [1]})
        assert refused.value.field == name


@pytest.mark.parametrize(
    ("region", "count", "average"),
    [
        (None, 300, 300 * 130),  # 30 % of 1,000 rows, each counting for at most |0 - 130| half years
        ("10%", 100, 100 * 130),
        (20, 20, 20 * 2 * 1000),  # 20 years at a group of 1,000
        ("20", 20, 40_000),
        ({"COUNT(*)": 25, "AVG(age)": "0.5"}, 25, 1000),
        ("count( * )=25, avg(age) = 0.5", 25, 1000),
        ({"COUNT(*)": 25}, 25, 300 * 130),
        ("0.4", 0, 800),
    ],
)
def test_half_widths_in_the_aggregates_own_units(region, count, average):
    assert slack_of(region, COUNT, TABLE) == count
    assert slack_of(region, AVERAGE, TABLE) == average
    assert options(uncertain_region=region).region == (None if region is None else region_of(region))


def test_a_share_counts_rows_not_people():
    persons = Table("p", TABLE.columns, Epsilon(1), contribution=Contribution("id", 1, 4), count_range=1000)
    assert slack_of(None, COUNT, persons) == 300


def test_what_needs_a_range_says_so():
    bare = Table("patients", TABLE.columns, Epsilon(1))
    assert slack_of(20, COUNT, bare) == 20
    for region, atom in ((None, COUNT), (20, AVERAGE)):
        with pytest.raises(ArgumentError, match="count_range"):
            slack_of(region, atom, bare)


@pytest.mark.parametrize(
    ("region", "atoms", "by_range"),
    [
        (None, [COUNT], True),
        ("10%", [COUNT], True),
        (20, [COUNT], False),
        (20, [COUNT, AVERAGE], True),
        ({"COUNT(*)": 20}, [COUNT], False),
        ({"AVG(age)": 1}, [COUNT], True),
    ],
)
def test_which_regions_are_measured_by_the_range(region, atoms, by_range):
    """What must be in a question's identity: with another `count_range` they mean another half width."""
    wider = replace(TABLE, count_range=2000)
    moved = any(slack_of(region, atom, TABLE) != slack_of(region, atom, wider) for atom in atoms)
    assert region_of(region).measured_by_range(atoms) == moved == by_range


@pytest.mark.parametrize(
    "rate", [0, -0.1, "0", float("nan"), "0.05x", True, "1,5", "０.1", None.__class__, float("inf")]
)
def test_miss_rates_that_are_none(rate):
    with pytest.raises(ArgumentError) as refused:
        options(miss_rate=rate)
    assert refused.value.field == "miss_rate"


@pytest.mark.parametrize("rate", [0.5, "0.7", 1])
def test_a_rate_of_half_or_more_is_free_if_it_is_the_one_to_bound(rate):
    assert options(miss_rate=rate).free
    assert not options(miss_rate="0.499").free
    assert options(false_alarm_rate=rate, bound="false-alarms").free
    assert not options(miss_rate="0.7", bound="false-alarms").free
    with pytest.raises(ArgumentError, match="it must be above 0"):
        options(miss_rate="1.01")


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("false_alarm_rate", 0, "infinite epsilon"),
        ("false_alarm_rate", 1, "below 1"),
        ("uncertain_region", 0, "above zero"),
        ("uncertain_region", -3, "above zero"),
        ("uncertain_region", "0%", "above zero"),
        ("uncertain_region", "wide", "finite number"),
        ("uncertain_region", {"COUNT(*)": 0}, "above zero"),
        ("uncertain_region", "COUNT(*)=1, count(*)=2", "one half width"),
        ("uncertain_region", True, "finite number"),
        ("max_epsilon", 0, "above zero"),
        ("max_epsilon", -1, "above zero"),
        ("max_epsilon", float("nan"), "finite number"),
        ("max_epsilon", 1e308, "too large"),
        ("max_epsilon", 1e-320, "too fine"),
        ("max_epsilon", "1e-10", "below 1e-9, the ledger's unit"),
        ("max_epsilon", "1,5", "finite number"),
        ("confidence", 1, "below 1"),
        ("confidence", "0.4", "0.5 or more"),
        ("mechanism", "magic", "no such mechanism"),
        ("bound", "both", "the error that is bounded first"),
        ("mechanism", 7, "the name of a mechanism"),
        ("show", "numbers", "what is released"),
        ("levels", 4, "does not apply to mechanism certified.*mechanism=ppwlm or dppwlm"),
        ("first_epsilon", "0.1", "does not apply to mechanism certified.*mechanism=ppwlm or dppwlm"),
    ],
)
def test_other_options_that_are_refused(field, value, says):
    with pytest.raises(ArgumentError, match=says) as refused:
        options(**{field: value})
    assert refused.value.field == field


def test_a_misspelt_mechanism_is_refused_with_the_nearest_name():
    for written, near in (("certifed", "certified"), ("tsml", "tslm"), ("pplwm", "ppwlm"), ("probe_ent", "probe-ent")):
        with pytest.raises(ArgumentError, match=rf"Did you mean {near}\? Pass one of") as refused:
            options(mechanism=written)
        assert all(name in str(refused.value) for name in MECHANISMS)
    with pytest.raises(ArgumentError, match="no such mechanism"):
        options(mechanism="m" * 10**6)


def test_options_of_the_text_are_the_same_options_and_may_not_be_given_twice():
    written = {"miss_rate": "0.01", "uncertain_region": "COUNT(*)=5", "max_epsilon": "0.50"}
    assert options_of(merged(written, {}, NAMES, "a decision")) == options(
        miss_rate="0.01", uncertain_region={"COUNT(*)": 5}, max_epsilon="0.5"
    )
    with pytest.raises(ArgumentError, match=r"says 0\.01 already"):
        merged(written, {"miss_rate": "0.02"}, NAMES, "a decision")


@pytest.mark.parametrize(
    "ways",
    [
        [{"miss_rate": "0.05"}, {"miss_rate": 0.05}, {"miss_rate": Fraction(1, 20)}, {"miss_rate": "5e-2"}],
        [{"bound": "false_alarms"}, {"bound": "false-alarms"}],
        [{"max_epsilon": "0.5"}, {"max_epsilon": 0.5}, {"max_epsilon": Epsilon("0.50")}],
        [{"mechanism": "ppwlm", "levels": 3}, {"mechanism": "ppwlm", "levels": "3"}],
        [{"uncertain_region": 20}, {"uncertain_region": "20"}, {"uncertain_region": "20.0"}],
        [{"uncertain_region": {"COUNT(*)": 5, "AVG(age)": 1}}, {"uncertain_region": "avg(age) = 1.0, count( * )=5"}],
    ],
    ids=lambda ways: next(iter(ways[0])),
)
def test_an_option_is_part_of_the_question_in_one_form_however_it_was_written(ways):
    assert len({tuple(sorted(options(**said).given.items())) for said in ways}) == 1
    for name in ways[0]:
        assert options(**ways[0]).given[name]


def test_what_is_given_is_told_apart_from_what_is_left_out():
    """Defaults of the product are not part of a question: they may change."""
    assert set(options(miss_rate="0.05", bound="misses").given) == {"miss_rate", "bound"}
    assert options(miss_rate="0.05").miss_rate == options().miss_rate


@pytest.mark.parametrize("field", ["mechanism", "confidence", "levels", "first_epsilon"])
def test_numbers_are_measured_in_a_way_of_their_own(field):
    said = {"mechanism": "tslm", "confidence": "0.9", "levels": 3, "first_epsilon": "0.1"}
    with pytest.raises(ArgumentError, match="measures each number once") as refused:
        options_of({"show": "values", field: said[field]})
    assert refused.value.field == field


def test_half_widths_for_aggregates_that_are_not_asked_about():
    with pytest.raises(ArgumentError, match=r"Name one of COUNT\(\*\), AVG\(age\)"):
        region_of({"SUM(age)": 3}).check(["COUNT(*)", "AVG(age)"])


def test_what_stands_in_quotes_is_told_apart():
    upper, lower = "COUNT(*) FILTER (WHERE g = 'A')", "count(*) filter(where g='a')"
    made = region_of({upper: 5, lower: 100})
    assert dict(made.by_aggregate) == {"count(*)filter(whereg='A')": 5, "count(*)filter(whereg='a')": 100}
    with pytest.raises(ArgumentError, match="one half width"):
        options(uncertain_region={"COUNT(*)": 5, "count( * )": 100})


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("levels", 0, "from 1 to 32"),
        ("levels", -1, "from 1 to 32"),
        ("levels", 10**6, "from 1 to 32"),
        ("levels", 2.5, "must be an integer"),
        ("levels", "4.0", "must be an integer"),
        ("levels", True, "must be an integer"),
        ("first_epsilon", 0, "above zero"),
        ("first_epsilon", -1, "above zero"),
        ("first_epsilon", float("nan"), "finite number"),
        ("first_epsilon", "1e-10", "ledger's unit"),
    ],
)
def test_ladders_that_cannot_be_climbed(field, value, says):
    with pytest.raises(ArgumentError, match=says) as refused:
        options(mechanism="dppwlm", **{field: value})
    assert refused.value.field == field


def test_the_bounded_rate_comes_first():
    made = options(miss_rate="0.01", false_alarm_rate="0.2")
    assert (made.rates, made.first_rate_name) == ((Fraction(1, 100), Fraction(1, 5)), "miss_rate")
    made = options(miss_rate="0.01", false_alarm_rate="0.2", bound="false-alarms")
    assert (made.rates, made.first_rate_name) == ((Fraction(1, 5), Fraction(1, 100)), "false_alarm_rate")
    assert options(bound="false_alarms", mechanism="ppwlm", levels="2").levels == 2


def test_numbers_too_long_to_read_are_refused_by_name():
    with pytest.raises(ArgumentError) as refused:
        options(mechanism="ppwlm", levels="9" * 5000)
    assert refused.value.field == "levels"
    with pytest.raises(ArgumentError, match="below 2"):
        options(uncertain_region="1e59")


def test_a_confidence_is_for_mechanisms_that_certify():
    assert options(confidence="0.95").confidence == Fraction(19, 20)
    assert options(mechanism="three-way", confidence="0.95").confidence == Fraction(19, 20)
    with pytest.raises(ArgumentError, match=r"does not apply to mechanism tslm.*mechanism=certified or three-way"):
        options(mechanism="tslm", confidence="0.95")
