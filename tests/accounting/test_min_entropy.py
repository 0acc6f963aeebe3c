"""Min-entropy against the vectors of the specification, the paper's recursion, and brute force."""

import math
import time

import numpy as np
import pytest
from accounting.brute_force import box_least, box_least_by_counts, cone_least, cone_least_by_counts
from accounting.paper_recursion import paper_min_entropy

from papers.mide.cone_min_entropy import cone_min_entropy
from thresher.accounting import box_min_entropy
from thresher.accounting import min_entropy as room
from thresher.amounts import Epsilon
from thresher.errors import ArgumentError

FORMS = {box_min_entropy: box_least, cone_min_entropy: cone_least}
BY_COUNTS = {box_min_entropy: box_least_by_counts, cone_min_entropy: cone_least_by_counts}


def cases(seed, number, most):
    """Losses of every scale, with and without ties."""
    rng = np.random.default_rng(seed)
    for _ in range(number):
        k = int(rng.integers(1, most + 1))
        top = float(rng.choice([1e-3, 0.1, 0.5, 1.0, 3.0, 6.0]))
        losses = rng.uniform(0, top, k)
        yield np.round(losses / top * 3) / 3 * top if rng.random() < 0.4 else losses


@pytest.mark.parametrize(
    ("losses", "box", "cone"),
    [
        ([math.log(10)] * 420, 1.595605, 3.926118),
        ([0.1, 0.5, 1], 0.6822248, 0.8925388),
        ([0.2, 0.4, 1], 0.6602200, 0.8933949),
    ],
)
def test_vectors_in_nats(losses, box, cone):
    assert box_min_entropy(losses).low == pytest.approx(box, abs=5e-7)
    assert cone_min_entropy(losses).low == pytest.approx(cone, abs=5e-7)


@pytest.mark.parametrize(
    ("losses", "box", "cone"),
    [
        ([math.log(10)] * 420, 0.264162, 0.649992),
        ([0.5] * 574, 0.927396, 0.980591),
        ([0.0514] * 400 + [3.689] * 20, 0.631746, 0.759681),
    ],
)
def test_vectors_normalised(losses, box, cone):
    for least, expected in ((box_min_entropy(losses), box), (cone_min_entropy(losses), cone)):
        assert least.exact
        assert least.normalised_low == least.normalised_high == pytest.approx(expected, abs=5e-7)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("k", [1, 2, 7, 1000])
def test_no_loss_leaves_everything_open(form, k):
    least = form([0.0] * k)
    assert least.low == pytest.approx(math.log(k), abs=1e-12)
    assert least.normalised_low == pytest.approx(1)


@pytest.mark.parametrize("form", FORMS)
def test_one_group_is_one_whatever_it_lost(form):
    assert (form([7]).low, form([7]).normalised_low) == (0, 1)


@pytest.mark.parametrize("form", FORMS)
def test_order_of_groups_does_not_matter(form):
    rng = np.random.default_rng(5)
    for losses in cases(5, 50, 30):
        assert form(losses) == form(rng.permutation(losses))


@pytest.mark.parametrize("form", FORMS)
def test_equals_brute_force(form):
    for losses in cases(11, 600, 8):
        least = form(losses)
        assert least.exact
        assert least.low == pytest.approx(FORMS[form](losses.tolist()), abs=1e-9), losses


@pytest.mark.parametrize("form", FORMS)
def test_equals_brute_force_over_counts(form):
    rng = np.random.default_rng(17)
    for _ in range(250):
        top = float(rng.choice([0.1, 0.5, 1.0, 3.0]))
        levels = np.unique(rng.uniform(0, top, int(rng.integers(2, 5)))).tolist()
        counts = rng.integers(1, 7, len(levels)).tolist()
        least = form(levels, counts)
        assert least.exact
        assert least.low == pytest.approx(BY_COUNTS[form](levels, counts), abs=1e-9), (levels, counts)


def test_a_finished_state_may_be_worse_than_both_neighbours():
    """The best count of the second level is 0; at count 1, nearest to the relaxed optimum, the value is too high."""
    losses = [0.0] * 3 + [1 / 30] * 3 + [1 / 15] * 4 + [0.1]
    assert box_min_entropy(losses).low == pytest.approx(2.39373018367, abs=1e-10)


def test_two_groups_at_the_cap_defeat_largest_first():
    """Both posteriors may reach 1. Filling the larger loss first would claim at least 0.0049; the truth is lower."""
    least = box_min_entropy([3, 4])
    assert least.low == pytest.approx(box_least([3, 4]), abs=1e-12)
    assert least.low < 0.0024


def test_equals_the_recursion_of_the_paper():
    for losses in cases(12, 400, 11):
        assert box_min_entropy(losses).low == pytest.approx(paper_min_entropy(losses.tolist()), abs=1e-9), losses


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("looks", [0, 1, 3, 10])
def test_a_cut_search_still_brackets(form, looks, monkeypatch):
    monkeypatch.setattr(room, "_MAX_LOOKS", looks)
    open_ones = 0
    for losses in cases(13, 150, 8):
        least, truth = form(losses), FORMS[form](losses.tolist())
        assert least.low - 1e-9 <= truth <= least.high + 1e-9, losses
        open_ones += not least.exact
    assert looks > 3 or open_ones > 0


@pytest.mark.parametrize("form", FORMS)
def test_many_distinct_losses_give_a_narrow_bracket(form):
    losses = np.random.default_rng(14).uniform(0.01, 3, 100_000)
    least = form(losses)
    assert 0 <= least.normalised_high - least.normalised_low < 1e-4


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("levels", [np.geomspace(1e-5, 4, 16), np.linspace(0.25, 4, 16)])
def test_a_million_groups_on_sixteen_levels(form, levels):
    losses = np.random.default_rng(15).permutation(np.resize(levels, 10**6))
    started = time.perf_counter()
    least = form(losses)
    assert least.exact
    # The promise is a tenth of a second; a busy machine gets ten times that before the test complains.
    assert time.perf_counter() - started < 1.0
    assert form(levels, [62_500] * 16) == least


def test_near_equal_levels_are_bracketed_closely():
    least = box_min_entropy(np.linspace(0.5, 0.52, 16), [62_500] * 16)
    assert least.high - least.low < 1e-6


def test_the_two_forms_may_rank_differently():
    first, second = [0.1, 0.5, 1], [0.2, 0.4, 1]
    assert box_min_entropy(first).low > box_min_entropy(second).low
    assert cone_min_entropy(first).low < cone_min_entropy(second).low


@pytest.mark.parametrize("form", FORMS)
def test_the_box_is_never_above_the_cone_and_larger_losses_never_help(form):
    for losses in cases(16, 100, 12):
        assert box_min_entropy(losses).low <= cone_min_entropy(losses).high + 1e-12
        assert cone_min_entropy(losses * 1.1).low <= cone_min_entropy(losses).high + 1e-12


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("losses", [[1e5, 0, 3], [800, 801, 2], [300.0] * 5, [1e-300, 1e-9], [1e308, 1e308]])
def test_extreme_losses_stay_finite(form, losses):
    least = form(losses)
    assert 0 <= least.low <= least.high <= math.log(len(losses))


def test_amounts_and_integers_are_taken():
    assert cone_min_entropy([Epsilon("0.5"), Epsilon("1")]) == cone_min_entropy([0.5, 1.0])
    assert box_min_entropy(np.array([1, 2])) == box_min_entropy([1.0, 2.0])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("losses", "field"),
    [
        ([], "losses"),
        ([0.1, -0.1], "losses[1]"),
        ([math.nan], "losses[0]"),
        ([math.inf, 1], "losses[0]"),
        ([True, False], "losses"),
        (["0.1"], "losses"),
        ([None], "losses"),
        ([[0.1]], "losses"),
        (0.1, "losses"),
    ],
)
def test_bad_losses_are_refused(form, losses, field):
    with pytest.raises(ArgumentError) as refusal:
        form(losses)
    assert refusal.value.field == field
    assert refusal.value.rule
    assert refusal.value.fix


@pytest.mark.parametrize("counts", [[1], [1, 0], [1, -1], [1.0, 2.0], [True, True], [[1, 1]], [10**12, 10**12]])
def test_bad_counts_are_refused(counts):
    with pytest.raises(ArgumentError, match="counts"):
        box_min_entropy([0.1, 0.2], counts)


def test_text_says_whether_it_is_a_bracket():
    assert str(box_min_entropy([0.1, 0.5, 1])) == "0.6210 of ln 3"
    assert "between" in str(room.MinEntropy(0.1, 0.2, 3))
