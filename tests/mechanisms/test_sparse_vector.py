"""The right sparse vector: its exact loss over all neighbours, the law of what comes out, the stop, and refusals."""

import copy
import itertools
import math
import os
import pickle
import threading
import warnings
from dataclasses import replace

import numpy as np
import pytest
from laws import assert_fits, assert_rejected, largest_loss
from scipy import stats

from thresher.amounts import Epsilon
from thresher.audit.laws.comparison_laws import log_probability, one_sided, transcript_law, two_sided
from thresher.errors import ArgumentError, BugError
from thresher.mechanisms.sparse_terms import GENERAL, Setting, sparse_terms
from thresher.mechanisms.sparse_vector import (
    BOTTOM,
    TOP,
    UNASKED,
    SparseVector,
    sparse_vector,
    sparse_vector_runs,
)
from thresher.noise import NOT_PRIVATE, SeededEntropy, SystemEntropy

# Rounding of the exact laws.
ROUNDING = 1e-9
TWO_SIDED = Setting(noise="two-sided")


def noises(terms, times=1.0):
    law = one_sided if terms.one_sided else two_sided
    return law(float(terms.threshold_rate) * times), law(float(terms.query_rate) * times)


def moves(kind, queries, sensitivity):
    """All ways in which one unit may move the margins."""
    steps = range(-sensitivity, sensitivity + 1)
    if kind == "general":
        return itertools.product(steps, repeat=queries)
    if kind == "monotone":
        return itertools.product(range(sensitivity + 1), repeat=queries)
    return ((0,) * k + (step,) * (queries - k) for k in range(queries) for step in steps)


def worst_loss(terms, bases, times=1.0, kind=None):
    """The largest loss over all rows of answers, all bases, all moves; either way."""
    worst, laws = 0.0, noises(terms, times)
    for base in bases:
        here = [margin - terms.offset for margin in base]
        for move in moves(kind or terms.setting.kind, len(base), terms.setting.sensitivity):
            there = [margin + step for margin, step in zip(here, move, strict=True)]
            worst = max(worst, largest_loss(here, there, terms.most, *laws))
    return worst


# Where one-sided noise reaches its epsilon, and some others.
CASES = [
    (1, GENERAL, [(2, -2), (0, 0), (1, 0, -1)]),
    (2, GENERAL, [(2, -2, -2), (0, 1, 0)]),
    (1, Setting(kind="monotone"), [(0, 0), (2, -1, 1)]),
    (2, Setting(kind="monotone"), [(4, 4, 4), (0, 1, 0)]),
    (1, Setting(kind="nested"), [(-4, -2, 0, 0), (1, 0, 2)]),
    (1, Setting(sensitivity=2), [(3, -3), (0, 0)]),
    (1, TWO_SIDED, [(2, -2), (0, 0), (1, 0, -1)]),
    (1, Setting(kind="nested", noise="two-sided"), [(0, 0, 0, 14), (1, 0, 2)]),
]


@pytest.mark.parametrize(("most", "setting", "bases"), CASES)
@pytest.mark.parametrize("epsilon", ["1", "0.3"])
def test_the_loss_over_all_neighbours_is_at_most_epsilon(most, setting, bases, epsilon):
    terms = sparse_terms(most, epsilon, setting)
    assert worst_loss(terms, bases) <= float(epsilon) + ROUNDING


@pytest.mark.parametrize(("most", "setting", "bases"), CASES[:6])
def test_one_sided_noise_reaches_epsilon_so_a_rate_two_percent_larger_breaks_it(most, setting, bases):
    terms = sparse_terms(most, 1, setting)
    assert worst_loss(terms, bases[:1]) == pytest.approx(1, abs=1e-6)
    assert worst_loss(terms, bases[:1], times=1.02) > 1.019


def test_two_sided_noise_comes_near_too():
    """Six queries up by one, one down, by enumeration of the one row that matters."""
    terms = sparse_terms(1, 1, TWO_SIDED)
    row, laws = [False] * 6 + [True], noises(terms)
    here, there = (log_probability(row, side, *laws) for side in ([6] * 6 + [-2], [7] * 6 + [-3]))
    assert 0.9999 < here - there <= 1 + ROUNDING


def test_what_a_kind_promises_is_needed():
    """General queries under a monotone price, and two tops under the nested one, lose more than is charged."""
    monotone = sparse_terms(1, 1, Setting(kind="monotone"))
    assert worst_loss(monotone, [(2, -2)], kind="general") > 1.3
    nested = replace(sparse_terms(1, 1, Setting(kind="nested")), most=2)
    assert worst_loss(nested, [(-1, -1, -1)]) > 1.5


def test_noise_for_one_top_does_not_pay_for_two():
    assert worst_loss(replace(sparse_terms(1, 1), most=2), [(2, -2, -2)]) > 1.3


@pytest.mark.parametrize(
    ("most", "setting"), [(1, GENERAL), (2, GENERAL), (2, Setting(kind="monotone")), (1, TWO_SIDED)]
)
def test_the_answers_have_the_law(most, setting, entropy, trials):
    """Chi-square over all rows; false failure 1e-6. A rate 10 % off and an offset one off are rejected."""
    queries, runs = [0, 2, -1, 1], trials(200_000, 2_000_000)
    terms = sparse_terms(most, 1, setting)
    rows = sparse_vector_runs(queries, 0, most, 1, runs, setting, entropy).answers
    assert_fits(rows_p(rows, _law(queries, terms, terms.offset)))
    assert_rejected(rows_p(rows, _law(queries, terms, terms.offset + 1)))
    assert_rejected(rows_p(rows, _law(queries, terms, terms.offset, 1.1)))


def _law(queries, terms, offset, times=1.0):
    return transcript_law([q - offset for q in queries], terms.most, *noises(terms, times))


def rows_p(rows, law):
    """The chi-square p-value of rows of answers, padded with UNASKED, against an enumerated law."""
    width = rows.shape[1]
    keys = [tuple(map(int, row)) + (UNASKED,) * (width - len(row)) for row in law]
    codes = {key: i for i, key in enumerate(keys)}
    weights = 3 ** np.arange(width)
    number = {int(np.dot(np.array(key) + 1, weights)): i for key, i in codes.items()}
    found, counts = np.unique((rows.astype(np.int64) + 1) @ weights, return_counts=True)
    assert set(found.tolist()) <= number.keys(), "a row came out that cannot"
    observed = np.zeros(len(keys))
    observed[[number[code] for code in found.tolist()]] = counts
    expected = np.array(list(law.values())) * len(rows)
    assert expected.min() > 5
    return float(stats.chi2.sf(((observed - expected) ** 2 / expected).sum(), len(keys) - 1))


def test_one_at_a_time_has_the_same_law(entropy, trials):
    """Streams against the enumerated law; a rate a third off is rejected at this size."""
    queries, terms = [0, 2, -1], sparse_terms(2, 1)
    rows = np.array([_streamed(queries, entropy) for _ in range(trials(6_000, 60_000))], dtype=np.int8)
    assert_fits(rows_p(rows, _law(queries, terms, terms.offset)))
    assert rows_p(rows, _law(queries, terms, terms.offset, 1.35)) < 1e-9


def _streamed(queries, entropy):
    vector, row = SparseVector(2, 1, entropy=entropy), [UNASKED] * len(queries)
    for i, query in enumerate(queries):
        answer = vector.ask(query + 7, threshold=7)
        row[i] = TOP if answer.top else BOTTOM
        if answer.last:
            break
    return row


def test_single_calls_have_the_same_law(entropy, trials):
    queries, terms = [0, 2, -1], sparse_terms(1, 1)
    rows = np.full((trials(6_000, 60_000), 3), UNASKED, dtype=np.int8)
    for row in rows:
        tops = sparse_vector(queries, [0, 0, 0], 1, 1, entropy=entropy).tops
        row[: tops.size] = tops
    assert_fits(rows_p(rows, _law(queries, terms, terms.offset)))
    assert rows_p(rows, _law(queries, terms, terms.offset, 1.35)) < 1e-9


def test_below_is_above_turned_over(entropy):
    """The rare answer is query <= threshold; the law is that of the negated margins."""
    setting, queries = Setting(side="below"), np.array([0, 2, -1, 1])
    rows = sparse_vector_runs(5 - queries, 5, 2, 1, 100_000, setting, entropy).answers
    terms = sparse_terms(2, 1)
    assert_fits(rows_p(rows, _law(queries.tolist(), terms, terms.offset)))
    assert_rejected(rows_p(rows, _law((-queries).tolist(), terms, terms.offset)))
    vector = SparseVector(1, 500, setting, entropy)
    assert not vector.ask(11, 10).top
    assert vector.ask(9, 10).top


def test_thresholds_of_their_own(entropy):
    queries, thresholds = [10, -5, 103], [9, -5, 104]
    rows = sparse_vector_runs(queries, thresholds, 1, 1, 100_000, GENERAL, entropy).answers
    terms = sparse_terms(1, 1)
    assert_fits(rows_p(rows, _law([1, 0, -1], terms, terms.offset)))


@pytest.mark.parametrize("most", [1, 2, 5])
def test_nothing_is_answered_after_the_last_top(most, entropy):
    """Also for two tops and thresholds that depend on data, where the text forgets to count."""
    rows = sparse_vector_runs([1000] * 8, [0] * 8, most, 1, 1000, GENERAL, entropy).answers
    assert (rows[:, :most] == TOP).all()
    assert (rows[:, most:] == UNASKED).all()
    answers = sparse_vector([1000] * 8, 0, most, 1, entropy=entropy)
    assert answers.tops.tolist() == [True] * most
    assert answers.stopped
    vector = SparseVector(most, 1, entropy=entropy)
    for left in range(most, 0, -1):
        assert vector.left == left
        assert not vector.stopped
        assert vector.ask(1000).last == (left == 1)
    assert vector.stopped
    with pytest.raises(ArgumentError, match="A new sparse vector costs its epsilon again") as refusal:
        vector.ask(-1000)
    assert refusal.value.field == "most"
    assert "1000" not in str(refusal.value)


def test_bottoms_are_free(entropy):
    vector = SparseVector(1, 1, entropy=entropy)
    assert not any(vector.ask(-100).top for _ in range(2000))
    assert vector.left == 1
    assert vector.epsilon == Epsilon(1)
    answers = sparse_vector([-1000] * 50, 0, 3, 1, entropy=entropy)
    assert answers.tops.tolist() == [False] * 50
    assert not answers.stopped
    assert answers.epsilon == Epsilon(1)


def test_threads_share_the_last_top(entropy):
    """Eight threads ask at once; exactly three tops are given."""
    vector, tops, refused = SparseVector(3, 1, entropy=entropy), [], []

    def ask():
        for _ in range(40):
            try:
                tops.append(vector.ask(1000).top)
            except ArgumentError:
                refused.append(1)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert tops == [True] * 3
    assert len(refused) == 317


@pytest.mark.parametrize("write", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_copy_would_answer_for_nothing(write):
    with pytest.raises(BugError):
        write(SparseVector(1, 1))


def test_the_noisy_threshold_is_not_shown():
    assert "noisy" not in repr(SparseVector(1, 1))
    assert not [name for name in vars(SparseVector(1, 1)) if "nois" in name and not name.startswith("_")]


def test_seeded_answers_are_stamped():
    seeded = SeededEntropy(1)
    assert sparse_vector([1], 0, 1, 1, entropy=seeded).stamp == NOT_PRIVATE
    assert sparse_vector_runs([1], 0, 1, 1, 3, entropy=seeded).stamp == NOT_PRIVATE
    assert SparseVector(1, 1, entropy=seeded).ask(1).stamp == NOT_PRIVATE
    assert sparse_vector([1], 0, 1, 1).stamp == SparseVector(1, 1).ask(1).stamp == ""


def test_answers_cannot_be_changed():
    answers = sparse_vector([1, 2], 0, 1, 1)
    with pytest.raises(ValueError, match="read-only"):
        answers.tops[0] = False


FAR = 1 << 63
HUGE = [
    (np.array([FAR - 1], dtype=np.int64), np.array([-FAR], dtype=np.int64), True),
    (np.array([-FAR], dtype=np.int64), np.array([FAR - 1], dtype=np.int64), False),
    ([2**80], 2**79, True),
    ([-(2**80)], 5, False),
    (np.array([2**64 - 1], dtype=np.uint64), 0, True),
    ([0], [2**64 - 1], False),
]


@pytest.mark.parametrize(("queries", "thresholds", "top"), HUGE)
def test_numbers_beyond_the_machines_are_numbers_all_the_same(queries, thresholds, top):
    """An error, or a sum that wraps around, would tell how large they are."""
    assert sparse_vector(queries, thresholds, 1, 1).tops.tolist() == [top]
    line = int(np.asarray(thresholds, dtype=object).ravel()[0])
    assert SparseVector(1, 1).ask(int(queries[0]), line).top == top


def test_huge_numbers_that_differ_by_little_are_close(entropy):
    tops = [sparse_vector([2**90], [2**90], 1, 1, entropy=entropy).stopped for _ in range(300)]
    assert 50 < sum(tops) < 250  # about half: more than nine deviations either way


SECRET = 424_242
BAD = [
    ("queries", lambda: sparse_vector([float("nan")], 0, 1, 1)),
    ("queries", lambda: sparse_vector([float(SECRET)], 0, 1, 1)),
    ("queries", lambda: sparse_vector([[SECRET]], 0, 1, 1)),
    ("queries", lambda: sparse_vector([SECRET, None], 0, 1, 1)),
    ("queries", lambda: sparse_vector([SECRET, [1]], 0, 1, 1)),
    ("queries", lambda: sparse_vector([True], 0, 1, 1)),
    ("queries", lambda: sparse_vector(["424242"], 0, 1, 1)),
    ("queries", lambda: sparse_vector(np.ma.array([SECRET], mask=[True]), 0, 1, 1)),
    ("queries", lambda: sparse_vector([], 0, 1, 1)),
    ("thresholds", lambda: sparse_vector([1, 2], [SECRET], 1, 1)),
    ("thresholds", lambda: sparse_vector([1, 2], [SECRET] * 3, 1, 1)),
    ("thresholds", lambda: sparse_vector([1, 2], [[SECRET, 1]], 1, 1)),
    ("thresholds", lambda: sparse_vector([1, 2], 0.5, 1, 1)),
    ("thresholds", lambda: sparse_vector([1, 2], float("nan"), 1, 1)),
    ("most", lambda: sparse_vector([SECRET], 0, 0, 1)),
    ("most", lambda: sparse_vector([SECRET], 0, 2, 1)),
    ("queries", lambda: sparse_vector(np.empty(0, dtype=np.int64), 0, 1, 1)),
    ("thresholds", lambda: sparse_vector([SECRET], [], 1, 1)),
    ("epsilon", lambda: sparse_vector([SECRET], 0, 1, 0)),
    ("runs", lambda: sparse_vector_runs([SECRET], 0, 1, 1, -1)),
    ("runs", lambda: sparse_vector_runs([SECRET], 0, 1, 1, 1.5)),
    ("entropy", lambda: sparse_vector([SECRET], 0, 1, 1, entropy="dice")),
    ("query", lambda: SparseVector(1, 1).ask(float("nan"))),
    ("query", lambda: SparseVector(1, 1).ask(float(SECRET))),
    ("query", lambda: SparseVector(1, 1).ask("424242")),
    ("query", lambda: SparseVector(1, 1).ask(True)),
    ("query", lambda: SparseVector(1, 1).ask(None)),
    ("threshold", lambda: SparseVector(1, 1).ask(3, 424242.5)),
]


@pytest.mark.parametrize(("field", "ask"), BAD)
def test_a_refusal_names_the_field_and_no_element(field, ask):
    with pytest.raises(ArgumentError) as refusal:
        ask()
    assert refusal.value.field == field
    assert "4242" not in str(refusal.value)


def test_an_empty_list_is_said_to_be_empty():
    for empty in ([], np.empty(0, dtype=np.int64)):
        with pytest.raises(ArgumentError, match=r"^queries = 'an empty list'"):
            sparse_vector(empty, 0, 1, 1)


def test_whole_numbers_that_numpy_takes_for_floats_are_whole(entropy):
    for large in (2**63, 2**64, 10**400):
        # A million steps from the threshold: noise of scale 2 crosses it with probability below 1e-99.
        assert sparse_vector([1, large], large - 10**6, 1, 1, entropy=entropy).tops.tolist() == [False, True]
    with pytest.raises(ArgumentError, match=r"^queries = 'float64'"):
        sparse_vector([2**63, 1.0], 0, 1, 1)


def test_a_bad_argument_is_refused_before_anything_is_drawn():
    def never(count):
        raise AssertionError("entropy was read")

    silent = SystemEntropy(never)
    for bad in (lambda: sparse_vector([1.5], 0, 1, 1, entropy=silent), lambda: SparseVector(0, 1, entropy=silent)):
        with pytest.raises(ArgumentError):
            bad()


def test_a_refused_query_costs_no_top(entropy):
    vector = SparseVector(1, 1, entropy=entropy)
    with pytest.raises(ArgumentError):
        vector.ask(0.5)
    assert vector.ask(1000).last


def test_no_runs_are_no_rows():
    assert sparse_vector_runs([1, 2], 0, 1, 1, 0).answers.shape == (0, 2)


def test_recentred_noise_is_fair_to_half_a_step():
    """The mean of v - z - offset lies within half a step of zero, for every kind and many tops."""
    for most, kind, epsilon in itertools.product((1, 2, 10), ("general", "monotone"), ("0.05", "1", "3")):
        terms = sparse_terms(most, epsilon, Setting(kind=kind))
        means = [1 / math.expm1(float(rate)) for rate in (terms.query_rate, terms.threshold_rate)]
        assert abs(means[0] - means[1] - terms.offset) <= 0.5


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks are made by Unix")
def test_a_fork_gets_no_answers(entropy):
    """A child has the same noisy threshold and tops of its own: twenty would answer twenty tops for one charge."""
    vector = SparseVector(1, "1", entropy=entropy)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # newer Pythons warn of forks among threads
        child = os.fork()
    if not child:
        try:
            vector.ask(1000)
        except BugError:
            os._exit(7)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert vector.ask(1000).top


def test_an_array_is_no_query():
    with pytest.raises(ArgumentError, match="query"):
        SparseVector(1, "1").ask(np.array([1, 2]))
