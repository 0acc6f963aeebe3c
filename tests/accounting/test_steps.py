"""Steps of streams: what accounts that protect events, windows and units have lost, and in how few lines."""

import pytest

from thresher.accounting import Region, RegionLosses, account_loss, added, step_spending
from thresher.amounts import Epsilon
from thresher.errors import ArgumentError

TENTH = Epsilon("0.1")


def after(steps, protected, epsilon=TENTH):
    """The losses of an account to which these steps were charged, kept in its shortest form all along."""
    losses = ()
    for step in steps:
        losses = added([*losses, *step_spending(step, epsilon, protected).losses()])
    return losses


@pytest.mark.parametrize(("protected", "loss"), [(1, "0.1"), (12, "1.2"), (None, "50")])
def test_five_hundred_steps_cost_their_largest_a_window_or_their_sum(protected, loss):
    losses = after(range(500), protected)
    assert account_loss(losses).loss == Epsilon(loss)
    assert len(losses) == 1


def test_a_window_is_never_charged_less_than_it_lost():
    amounts = [Epsilon(text) for text in ("0.1", "0.3", "0.2", "0.3", "0.05", "0.3")]
    for length in (1, 2, 3, 4):
        charged = [loss for t, e in enumerate(amounts) for loss in step_spending(t, e, length).losses()]
        worst = max(Epsilon.total(amounts[i : i + length]) for i in range(len(amounts)))
        assert account_loss(charged).loss >= worst


def test_streams_about_the_same_people_add_up_where_they_meet():
    first = after(range(100), 1)
    second = [loss for t in range(90, 120) for loss in step_spending(t, Epsilon("0.25"), 1).losses()]
    assert account_loss([*first, *second]).loss == Epsilon("0.35")
    assert account_loss(added([*first, *second])).loss == Epsilon("0.35")
    apart = [loss for t in range(100, 120) for loss in step_spending(t, Epsilon("0.25"), 1).losses()]
    assert account_loss(added([*first, *apart])).loss == Epsilon("0.25")


def test_gaps_and_other_amounts_stay_apart_and_nothing_is_lost_by_joining():
    steps = [*range(10), *range(20, 30)]
    losses = after(steps, 1)
    assert len(losses) == 2
    everywhere = [loss for step in steps for loss in step_spending(step, TENTH, 1).losses()]
    for t in range(35):
        here = Region.where([("(step)", ">=", t), ("(step)", "<", t + 1)])
        assert account_loss(losses, here) == account_loss(everywhere, here)
    assert len(added([*losses, *step_spending(10, Epsilon("0.2"), 1).losses()])) == 3


def test_the_same_step_charged_twice_is_charged_twice():
    twice = after([0, 1, 2, 1], 1)
    assert account_loss(twice).loss == Epsilon("0.2")


def test_columns_of_tables_are_never_joined():
    ages = [RegionLosses.of_region(Region.where([("age", ">=", a), ("age", "<", a + 10)]), TENTH) for a in (0, 10)]
    assert added(ages) == tuple(ages)


@pytest.mark.parametrize(("step", "protected"), [(-1, 1), (0, 0), (0, -3), (0.5, 1), (0, True)])
def test_what_is_no_step_is_refused(step, protected):
    with pytest.raises(ArgumentError):
        step_spending(step, TENTH, protected)


@pytest.mark.parametrize(
    "intervals",
    [
        [("<", 3), (">=", 3)],
        [(">", 3), (">=", 3)],
    ],
)
def test_only_whole_steps_are_joined(intervals):
    losses = [RegionLosses.of_region(Region.where([("(step)", *said)]), TENTH) for said in intervals]
    assert added(losses) == tuple(losses)
    inclusive = [Region.where([("(step)", ">=", a), ("(step)", "<=", b)]) for a, b in ((0, 3), (3, 5))]
    both = [RegionLosses.of_region(region, TENTH) for region in inclusive]
    assert account_loss(added(both)).loss == account_loss(both).loss == Epsilon("0.2")


def test_many_gaps_are_charged_too_and_keep_the_account_short():
    steps = range(0, 1000, 2)
    losses = after(steps, 1)
    assert len(losses) <= 64
    assert account_loss(losses).loss == TENTH
    for step in steps:
        here = Region.where([("(step)", ">=", step), ("(step)", "<", step + 1)])
        assert account_loss(losses, here).loss == TENTH
    other = [loss for step in range(3, 900, 2) for loss in step_spending(step, Epsilon("0.3"), 1).losses()]
    mixed = added([*after(range(0, 100, 2), 1), *other])
    assert account_loss(mixed).loss <= Epsilon("0.4")
