"""Events: what each is charged, where, and that settlements never exceed their worst case."""

import itertools
import json
from fractions import Fraction

import numpy as np
import pytest
from accounting.test_regions import columns as column_names
from accounting.test_regions import numbers, regions, texts
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from thresher.accounting import (
    CombinedSpending,
    CommonSpending,
    Grouping,
    GroupSpending,
    Region,
    account_loss,
    added,
    coarsened,
    settled,
    spending_from_json,
)
from thresher.amounts import Epsilon
from thresher.errors import ArgumentError, BugError

EVERYTHING = Region.everything()


def groups(grouping, amounts):
    return GroupSpending(grouping, tuple((key, Epsilon(amount)) for key, amount in amounts.items()))


def loss(*events):
    return account_loss(CombinedSpending(events).losses()).loss


@st.composite
def groupings(draw):
    names = st.lists(column_names, max_size=3, unique=True).map(tuple)
    return Grouping(draw(names), draw(regions), draw(st.integers(1, 9)), draw(names))


@st.composite
def spendings(draw):
    grouping = draw(groupings())
    amounts = st.integers(0, 10**10).map(Epsilon.from_nano)
    if draw(st.booleans()):
        return CommonSpending(grouping, draw(amounts))
    key = st.tuples(*(draw(st.sampled_from([numbers, texts])) for _ in grouping.columns))
    listed = draw(st.dictionaries(key, amounts, min_size=1, max_size=4))
    inside = {k: a for k, a in listed.items() if grouping.where.within(Region.at(grouping.columns, k)) is not None}
    assume(inside)
    return GroupSpending(grouping, tuple(inside.items()))


events = st.one_of(
    spendings(), st.lists(spendings(), min_size=1, max_size=3).map(lambda parts: CombinedSpending(tuple(parts)))
)


@settings(deadline=None)
@given(events)
def test_json_round_trip(event):
    text = json.dumps(event.to_json())
    again = spending_from_json(json.loads(text))
    assert again == event
    assert json.dumps(again.to_json()) == text
    assert settled(event, again) == event


def test_a_unit_in_two_groups_pays_the_two_largest():
    five = dict(zip([(name,) for name in "abcde"], [".5", ".1", ".3", ".3", ".05"], strict=True))
    assert loss(groups(Grouping(("d",), EVERYTHING, 2, ()), five)) == Epsilon("0.8")
    assert loss(groups(Grouping(("d",), EVERYTHING, 1, ()), five)) == Epsilon("0.5")
    assert loss(groups(Grouping(("d",), EVERYTHING, 9, ()), five)) == Epsilon("1.25")
    assert loss(groups(Grouping(("d",), EVERYTHING, 2, ("d",)), five)) == Epsilon("0.5")


def test_groups_apart_on_a_fixed_column_only():
    amounts = {("A", "1"): "0.1", ("A", "2"): "0.2", ("A", "3"): "0.4", ("B", "1"): "0.5"}
    event = groups(Grouping(("building", "hour"), EVERYTHING, 2, ("building",)), amounts)
    assert {key: str(amount) for key, amount in event.losses()[0].amounts} == {("A",): "0.6", ("B",): "0.5"}
    assert event.losses()[0].columns == ("building",)


def test_a_person_in_two_buildings_pays_for_both():
    a, b = (Region.where([("building", "=", name)]) for name in "AB")
    half = Epsilon("0.5")
    people = [CommonSpending(Grouping(("disease",), where, 1, ()), half) for where in (a, b)]
    assert loss(*people) == Epsilon(1)
    residents = [CommonSpending(Grouping(("disease",), where, 1, ("building",)), half) for where in (a, b)]
    assert loss(*residents) == half
    rows = [CommonSpending(Grouping.of_rows(("disease",), where), half) for where in (a, b)]
    assert loss(*rows) == half


def test_a_common_amount_is_paid_once_for_each_group_a_unit_may_be_in():
    assert loss(CommonSpending(Grouping(("d",), EVERYTHING, 3, ()), Epsilon("0.2"))) == Epsilon("0.6")
    assert loss(CommonSpending(Grouping(("d",), EVERYTHING, 3, ("d",)), Epsilon("0.2"))) == Epsilon("0.2")
    assert loss(CommonSpending(Grouping((), EVERYTHING, 1, ()), Epsilon("0.2"))) == Epsilon("0.2")


def test_charges_cover_every_possible_unit():
    """A unit with fixed home and any rows: whatever groups bounding keeps, the account covers the sum."""
    rng = np.random.default_rng(31)
    homes, hours = "AB", "123"
    for _ in range(300):
        released, parts = [], []
        for _ in range(int(rng.integers(1, 4))):
            most = int(rng.integers(1, 4))
            amounts = {
                key: str(int(rng.integers(0, 9))) for key in itertools.product(homes, hours) if rng.random() < 0.8
            }
            where = EVERYTHING if rng.random() < 0.5 else Region.where([("home", "=", "A"), ("hour", "in", ["1", "2"])])
            amounts = {key: amount for key, amount in amounts.items() if _inside(where, key)}
            if amounts:
                released.append((where, most, amounts))
                parts.append(groups(Grouping(("home", "hour"), where, most, ("home",)), amounts))
        charged = account_loss([loss for part in parts for loss in part.losses()]).loss
        worst = 0
        for home in homes:
            total = 0
            for where, most, amounts in released:
                mine = [int(a) for k, a in amounts.items() if k[0] == home and _inside(where, k)]
                total += sum(sorted(mine, reverse=True)[:most])
            worst = max(worst, total)
        assert charged >= Epsilon(worst)


def _inside(where, key):
    return where == EVERYTHING or (key[0] == "A" and key[1] in "12")


def test_settlement_keeps_the_loss_and_lowers_the_account():
    grouping = Grouping.of_rows(("building",))
    cost = CommonSpending(grouping, Epsilon("0.5"))
    reached = groups(grouping, {("A",): "0.1", ("B",): "0.5"})
    assert settled(cost, reached) is reached
    assert settled(reached, groups(grouping, {("A",): "0.05"})) == groups(grouping, {("A",): "0.05"})
    both = CombinedSpending((cost, cost))
    assert loss(settled(both, CombinedSpending((reached, reached)))) == Epsilon(1)
    assert loss(reached, groups(grouping, {("A",): "0.3"})) == Epsilon("0.5")


@pytest.mark.parametrize(
    ("cost", "reached"),
    [
        ({("A",): "0.1"}, {("A",): "0.100000001"}),
        ({("A",): "0.1"}, {("A",): "0.1", ("B",): "0"}),
        ("0.1", {("A",): "0.1", ("B",): "0.2"}),
        ("0.1", "0.2"),
        ({("A",): "0.1"}, "0.1"),
    ],
)
def test_a_settlement_above_its_worst_case_is_a_bug(cost, reached):
    grouping = Grouping.of_rows(("building",))
    before, after = (
        CommonSpending(grouping, Epsilon(amount)) if isinstance(amount, str) else groups(grouping, amount)
        for amount in (cost, reached)
    )
    with pytest.raises(BugError):
        settled(before, after)
    with pytest.raises(BugError):
        settled(CombinedSpending((before, before)), CombinedSpending((before, after)))


def test_a_settlement_of_other_groups_or_parts_is_a_bug():
    one = CommonSpending(Grouping.of_rows(("building",)), Epsilon(1))
    other = CommonSpending(Grouping.of_rows(("building",), Region.where([("age", "<", 9)])), Epsilon(1))
    for cost, reached in [
        (one, other),
        (CombinedSpending((one,)), one),
        (CombinedSpending((one, one)), CombinedSpending((one,))),
    ]:
        with pytest.raises(BugError):
            settled(cost, reached)


@pytest.mark.parametrize(
    ("build", "field"),
    [
        (lambda: Grouping(("a",), EVERYTHING, 0, ()), "max_groups_per_unit"),
        (lambda: Grouping(("a",), EVERYTHING, True, ()), "max_groups_per_unit"),
        (lambda: Grouping(("a",), EVERYTHING, 1.5, ()), "max_groups_per_unit"),
        (lambda: Grouping("a", EVERYTHING, 1, ()), "columns"),
        (lambda: Grouping(("a", ""), EVERYTHING, 1, ()), "columns"),
        (lambda: Grouping(("a",), {}, 1, ()), "where"),
        (lambda: Grouping(("a",), EVERYTHING, 1, ("b", "b")), "fixed_columns"),
        (lambda: CommonSpending(Grouping.of_rows(("a",)), 0.5), "amount"),
        (lambda: CommonSpending(Grouping.of_rows(("a",)), True), "amount"),
        (lambda: GroupSpending(Grouping.of_rows(("a",)), ()), "amounts"),
        (lambda: GroupSpending(Grouping.of_rows(("a",)), (((None,), Epsilon(1)),)), "key.a"),
        (lambda: CombinedSpending((1,)), "parts"),
        (lambda: spending_from_json({"event": "gift"}), "event"),
        (lambda: spending_from_json(None), "event"),
        (lambda: spending_from_json({"event": "combined", "parts": {}}), "event"),
        (lambda: spending_from_json({"event": "common", "amount": "1"}), "event"),
    ],
)
def test_bad_events_are_refused(build, field):
    with pytest.raises(ArgumentError) as refusal:
        build()
    assert refusal.value.field == field
    assert refusal.value.rule
    assert refusal.value.fix


def test_bad_amounts_in_documents_are_refused():
    good = groups(Grouping.of_rows(("a",)), {(Fraction(1),): "0.5"}).to_json()
    for amounts in (
        [],
        [[]],
        [[[{"number": "1"}], 0.5]],
        [[[{"number": "1"}], "-1"]],
        [[["x", "y"], "1"]],
        [["x", "1"]],
    ):
        with pytest.raises(ArgumentError):
            spending_from_json({**good, "amounts": amounts})


def test_a_group_outside_the_rows_is_refused():
    old = Grouping.of_rows(("building",), Region.where([("building", "in", ["A", "B"])]))
    with pytest.raises(ArgumentError, match=r"^key = "):
        groups(old, {("A",): "0.1", ("C",): "0.2"})


def test_a_combination_of_nothing_is_refused():
    with pytest.raises(ArgumentError, match=r"^parts = "):
        CombinedSpending(())


def test_shortened_losses_never_say_less():
    """Whatever is shortened, the account loses at least as much at every place."""
    rng = np.random.default_rng(5)
    for _ in range(100):
        listed = [
            groups(
                Grouping.of_rows((column,), where), {(f"v{i}",): str(int(rng.integers(1, 9))) for i in range(int(n))}
            )
            for column in ("x", "y")
            for n in rng.integers(1, 6, 2)
            for where in (EVERYTHING, Region.where([("z", "=", "1")]))
        ]
        before = [loss for part in listed for loss in part.losses()]
        for most in (0, 3, 8):
            after = coarsened(added(before), most)
            assert sum(len(loss.amounts) for loss in after) <= max(most, 4)
            for within in (None, Region.where([("x", "=", "v0")]), Region.where([("z", "=", "2"), ("y", "=", "v1")])):
                assert account_loss(after, within=within).loss >= account_loss(before, within=within).loss
