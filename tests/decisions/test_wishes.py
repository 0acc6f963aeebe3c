"""What the asker may wish for, and how every other wish is refused."""

from fractions import Fraction

import pytest

from thresher.amounts import Epsilon
from thresher.config import Column, Contribution, Grid, Table
from thresher.decisions import UncertainRegion, wish
from thresher.errors import ArgumentError
from thresher.question import Aggregate, Atom

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


def test_defaults():
    made = wish()
    assert (made.miss_rate, made.false_alarm_rate, made.mechanism) == (Fraction(1, 20), Fraction(1, 10), "certified")
    assert made.max_epsilon is None
    assert made.region == UncertainRegion(share=Fraction(3, 10))


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
    made = wish(uncertain_region=region).region
    assert made.slack_of(COUNT, TABLE) == count
    assert made.slack_of(AVERAGE, TABLE) == average


def test_a_share_counts_rows_not_people():
    persons = Table("p", TABLE.columns, Epsilon(1), contribution=Contribution("id", 1, 4), count_range=1000)
    assert UncertainRegion().slack_of(COUNT, persons) == 300


def test_what_needs_a_range_says_so():
    bare = Table("patients", TABLE.columns, Epsilon(1))
    assert wish(uncertain_region=20).region.slack_of(COUNT, bare) == 20
    for region, atom in ((None, COUNT), (20, AVERAGE)):
        with pytest.raises(ArgumentError, match="count_range"):
            wish(uncertain_region=region).region.slack_of(atom, bare)


@pytest.mark.parametrize(
    "rate", [0, -0.1, "0", float("nan"), "0.05x", True, "1,5", "０.1", None.__class__, float("inf")]
)
def test_miss_rates_that_are_none(rate):
    with pytest.raises(ArgumentError) as refused:
        wish(miss_rate=rate)
    assert refused.value.field == "miss_rate"


@pytest.mark.parametrize("rate", [0.5, "0.7", 1])
def test_a_rate_of_half_or_more_is_free_if_it_is_the_one_to_bound(rate):
    assert wish(miss_rate=rate).terms.free
    assert not wish(miss_rate="0.499").terms.free
    assert wish(false_alarm_rate=rate, bound="false-alarms").terms.free
    with pytest.raises(ArgumentError, match="it must be above 0"):
        wish(miss_rate="1.01")


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
        ("bound", "both", "names the error to bound"),
        ("levels", 4, "certified has no use for it"),
        ("first_epsilon", "0.1", "certified has no use for it"),
        ("best_effort", True, "certified has no use for it"),
    ],
)
def test_other_wishes_that_are_refused(field, value, says):
    with pytest.raises(ArgumentError, match=says) as refused:
        wish(**{field: value})
    assert refused.value.field == field


def test_options_of_the_text_are_the_same_wishes_and_may_not_be_said_twice():
    written = {"miss_rate": "0.01", "uncertain_region": "COUNT(*)=5", "key": "monday"}
    assert wish(written=written) == wish(miss_rate="0.01", uncertain_region={"COUNT(*)": 5})
    with pytest.raises(ArgumentError, match=r"says 0\.01 already"):
        wish(miss_rate="0.02", written=written)


def test_half_widths_for_aggregates_that_are_not_asked_about():
    with pytest.raises(ArgumentError, match=r"Name one of COUNT\(\*\), AVG\(age\)"):
        wish(uncertain_region={"SUM(age)": 3}).region.check(["COUNT(*)", "AVG(age)"])


def test_what_stands_in_quotes_is_told_apart():
    upper, lower = "COUNT(*) FILTER (WHERE g = 'A')", "count(*) filter(where g='a')"
    made = wish(uncertain_region={upper: 5, lower: 100}).region
    assert dict(made.by_aggregate) == {"count(*)filter(whereg='A')": 5, "count(*)filter(whereg='a')": 100}
    with pytest.raises(ArgumentError, match="one half width"):
        wish(uncertain_region={"COUNT(*)": 5, "count( * )": 100})


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("levels", 0, "1 to 32 looks"),
        ("levels", -1, "1 to 32 looks"),
        ("levels", 10**6, "1 to 32 looks"),
        ("levels", 2.5, "must be an integer"),
        ("levels", "4.0", "must be an integer"),
        ("levels", True, "must be an integer"),
        ("first_epsilon", 0, "above zero"),
        ("first_epsilon", -1, "above zero"),
        ("first_epsilon", float("nan"), "finite number"),
        ("first_epsilon", "1e-10", "ledger's unit"),
        ("best_effort", "perhaps", "true or false"),
    ],
)
def test_ladders_that_cannot_be_climbed(field, value, says):
    with pytest.raises(ArgumentError, match=says) as refused:
        wish(mechanism="dppwlm", **{field: value})
    assert refused.value.field == field


def test_best_effort_is_for_levels_that_are_chosen():
    assert wish(mechanism="dppwlm", best_effort=True).terms.best_effort
    with pytest.raises(ArgumentError, match="mechanism=dppwlm"):
        wish(mechanism="ppwlm", best_effort=True)


def test_the_bounded_rate_comes_first():
    assert wish(miss_rate="0.01", false_alarm_rate="0.2").terms.rates == (Fraction(1, 100), Fraction(1, 5))
    mirrored = wish(miss_rate="0.01", false_alarm_rate="0.2", bound="false-alarms")
    assert mirrored.terms.rates == (Fraction(1, 5), Fraction(1, 100))
    assert wish(written={"bound": "false_alarms", "mechanism": "ppwlm", "levels": "2"}).terms.levels == 2


def test_numbers_too_long_to_read_are_refused_by_name():
    with pytest.raises(ArgumentError) as refused:
        wish(mechanism="ppwlm", written={"levels": "9" * 5000})
    assert refused.value.field == "levels"
    with pytest.raises(ArgumentError, match="below 2"):
        wish(uncertain_region="1e59")


def test_a_confidence_is_for_mechanisms_that_certify():
    assert wish(confidence="0.95").terms.delta == Fraction(1, 20)
    assert wish(confidence="0.95").terms.insists
    with pytest.raises(ArgumentError, match="makes no statement about all groups together"):
        wish(mechanism="tslm", confidence="0.95")
