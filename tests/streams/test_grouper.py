"""The grouper: its exact law and loss on small streams, what is drawn, blocks, lockstep, secrets, refusals."""

import copy
import itertools
import math
import os
import pickle
import warnings
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from laws import assert_fits, assert_rejected
from scipy import integrate, stats

from papers.streams.printed_grouper import printed_terms
from thresher.amounts import Epsilon
from thresher.audit.laws.comparison_laws import laplace, log_probability
from thresher.audit.shipped.stream_subjects import marks_law
from thresher.errors import ArgumentError, BugError, EntropyError
from thresher.noise import NOT_PRIVATE, SeededEntropy, SystemEntropy
from thresher.streams import grouper as module
from thresher.streams.grouper import Grouper, group, grouper_terms
from thresher.streams.step_release import ALONE, JOINS, OPENS

ROUNDING = 1e-9
TERMS = {"ours": grouper_terms, "printed": printed_terms}


def narrowed(terms, times):
    sparse = terms.sparse
    rates = sparse.threshold_rate * times, sparse.query_rate * times
    return replace(terms, sparse=replace(sparse, threshold_rate=rates[0], query_rate=rates[1]))


def loss(here, there, terms):
    return largest_ratio(marks_law(here, terms), marks_law(there, terms))


def largest_ratio(one, other):
    assert one.keys() == other.keys()
    assert sum(one.values()) == pytest.approx(1, abs=1e-9)
    return max(abs(math.log(one[row] / other[row])) for row in one)


HARD = [((4, 0, 10, 31, 12), 33), ((1, 0, 0, 28, 5, 5), 35), ((0, 7, 8, 7, 6, 16, 18, 0), 0), ((9, 4, 4, 0, 5), 0)]


@pytest.mark.parametrize(("epsilon", "kind"), [("1", "ours"), ("3", "ours"), ("1", "printed")])
def test_the_loss_over_all_neighbours_of_small_streams_is_at_most_epsilon(epsilon, kind):
    """All streams of four counts 0 or 1, every count moved; and longer ones, the hardest that a search found."""
    worst, small = 0.0, [(stream, 1) for stream in itertools.product(range(2), repeat=4)]
    for stream, theta in small + HARD:
        terms = TERMS[kind](epsilon, theta)
        law = marks_law(stream, terms)
        for place in range(len(stream)):
            more = (*stream[:place], stream[place] + 1, *stream[place + 1 :])
            worst = max(worst, largest_ratio(law, marks_law(more, terms)))
    assert 0.4 * float(epsilon) < worst <= float(epsilon) + ROUNDING


def test_noise_for_a_sensitivity_of_one_loses_more_than_is_charged():
    here, there = (4, 0, 10, 31, 12), (4, 0, 10, 32, 12)
    assert loss(here, there, grouper_terms(1, 33)) < 0.6
    assert loss(here, there, narrowed(grouper_terms(1, 33), 2)) > 1.079


def test_each_step_is_in_one_run():
    """Whatever the marks, a step that is alone is followed by one that opens, and the first opens."""
    for row in marks_law((0, 3, 1, 0, 2, 2), grouper_terms(1, 2)):
        assert row[0] == OPENS
        assert all(after == OPENS for before, after in itertools.pairwise(row) if before == ALONE)
        assert all(after != OPENS for before, after in itertools.pairwise(row) if before != ALONE)


@pytest.mark.parametrize(
    ("deviations", "kept", "second", "third"),
    [((0, 4), 0.409670, 0.309090, 0.281240), ((0, 0), 0.510150, 0.309090, 0.180760)],
)
def test_laws_of_the_specification(deviations, kept, second, third):
    """In print, noise is continuous: epsilon 1, theta 5, scales 4 and 8."""
    margins, noises = [deviation - 5.0 for deviation in deviations], (laplace(4), laplace(8))
    for answers, expected in (([False, False], kept), ([True], second), ([False, True], third)):
        found = math.exp(log_probability(answers, margins[: len(answers)], *noises))
        assert found == pytest.approx(expected, abs=1e-6)


def test_printed_terms_are_those_in_print():
    terms = printed_terms("0.1", 50)
    assert (1 / terms.sparse.threshold_rate, 1 / terms.sparse.query_rate, terms.sparse.offset) == (40, 80, 0)
    assert terms.epsilon == Epsilon("0.1")
    assert terms.theta == 50


@pytest.mark.parametrize("epsilon", ["0.1", "0.02", "1", "7.5"])
@pytest.mark.parametrize("kind", TERMS)
def test_both_parts_of_a_split_add_up_to_epsilon(epsilon, kind):
    sparse = TERMS[kind](epsilon, 50).sparse
    assert 2 * sparse.threshold_rate + 4 * sparse.query_rate == Fraction(epsilon)
    means = [1 / math.expm1(float(rate)) for rate in (sparse.query_rate, sparse.threshold_rate)]
    assert abs((means[0] - means[1] if sparse.one_sided else 0) - sparse.offset) <= 0.5


def test_theta_is_sixty_over_epsilon_unless_said():
    assert grouper_terms("0.02").theta == 3000
    assert grouper_terms("0.7").theta == 86
    assert grouper_terms("0.02", "12.4").theta == 12


@pytest.mark.parametrize(("factor", "mean"), [(5, 5.0), (10, 9.3), (20, 32.5), (40, 396)])
def test_how_long_groups_of_a_silent_stream_are(factor, mean):
    """Closed form, continuous noise as printed: the mean over the cutoff of one over the chance to end there."""

    def integrand(z):
        above = stats.laplace.sf(factor + z, scale=8)
        return stats.laplace.pdf(z, scale=4) / above

    found = sum(integrate.quad(integrand, *ends)[0] for ends in ((-150, -factor), (-factor, 0), (0, 250)))
    assert found == pytest.approx(mean, rel=0.01)


def test_the_example_in_print():
    """Noise off: epsilon 1000 leaves none, with probability above 1 - 1e-60."""
    assert group([5, 5, 6, 9, 10], 1000, 2).tolist() == [OPENS, JOINS, JOINS, ALONE, OPENS]
    marks = Grouper(1, printed_terms(1000, 2)).steps(np.array([5, 5, 6, 9, 10])[:, None])
    assert marks[:, 0].tolist() == [OPENS, JOINS, JOINS, ALONE, OPENS]


@pytest.mark.parametrize("kind", TERMS)
def test_the_marks_have_the_law(kind, entropy, trials):
    """Chi-square over all rows of marks; false failure 1e-6. A rate 10 % off and a theta one off are rejected."""
    stream, runs = (0, 2, 1, 4, 4), trials(300_000, 3_000_000)
    terms = TERMS[kind](1, 4)
    rows = Grouper(runs, terms, entropy).steps(np.repeat(np.array(stream)[:, None], runs, axis=1)).T
    assert_fits(rows_p(rows, marks_law(stream, terms)))
    assert_rejected(rows_p(rows, marks_law(stream, narrowed(terms, 1.1))))
    assert_rejected(rows_p(rows, marks_law(stream, replace(terms, theta=5))))


def rows_p(rows, law):
    weights = 3 ** np.arange(rows.shape[1])
    number = {int(np.dot(row, weights)): place for place, row in enumerate(law)}
    found, counts = np.unique(rows.astype(np.int64) @ weights, return_counts=True)
    assert set(found.tolist()) <= number.keys(), "a row came out that cannot"
    observed = np.zeros(len(law))
    observed[[number[code] for code in found.tolist()]] = counts
    expected = np.array(list(law.values())) * len(rows)
    assert expected.min() > 5
    return float(stats.chi2.sf(((observed - expected) ** 2 / expected).sum(), len(law) - 1))


class ByStep:
    """Entropy from which nothing may be drawn ahead."""

    by_step = True

    def __init__(self, entropy):
        self.stamp, self.read = entropy.stamp, entropy.read


def test_few_steps_at_a_time_have_the_same_law(entropy, trials):
    """One step a call, one series: draws come from coins, not from tables. False failure 1e-6."""
    stream, terms = (0, 2, 1), grouper_terms(1, 4)
    rows = np.empty((trials(4_000, 40_000), 3), dtype=np.int8)
    for row in rows:
        one = Grouper(1, terms, ByStep(entropy))
        row[:] = [one.steps(np.array([[count]]))[0, 0] for count in stream]
    assert_fits(rows_p(rows, marks_law(stream, terms)))
    assert rows_p(rows, marks_law(stream, narrowed(terms, 1.35))) < 1e-9


class Recorded(Grouper):
    """A grouper whose noise is given, a row for each step."""

    def record(self, cutoffs, noise):
        self.rows = iter(zip(cutoffs, noise, strict=True))
        return self

    def _drawn(self, steps):
        rows = [next(self.rows) for _ in range(steps)]
        return np.array([row[0] for row in rows]), np.array([row[1] for row in rows])


def recorded(seed, steps, series):
    generator = np.random.default_rng(seed)
    counts = generator.poisson(generator.choice([0.1, 4, 30], series), (steps, series))
    noise = generator.geometric(0.05, (steps, series)) + 20, generator.geometric(0.05, (steps, series)) - 20
    return counts, noise


@pytest.mark.parametrize("compiled_from", [0, 300, 1 << 60])
def test_blocks_lockstep_and_restarts_give_the_same_marks(compiled_from, monkeypatch):
    """Also when it is compiled in the middle of a stream."""
    monkeypatch.setattr(module, "_COMPILED_FROM", compiled_from)
    counts, noise = recorded(3, 120, 5)
    terms = grouper_terms(1)
    whole = Recorded(5, terms).record(*noise).steps(counts)
    assert {OPENS, JOINS, ALONE} == set(np.unique(whole).tolist())
    split = Recorded(5, terms).record(*noise)
    assert (np.concatenate([split.steps(block) for block in np.split(counts, [1, 2, 50, 51, 90])]) == whole).all()
    for series in range(5):
        alone = Recorded(1, terms).record(*(array[:, [series]] for array in noise))
        assert (alone.steps(counts[:, series]) == whole[:, [series]]).all()
    for stop in (1, 13, 77):
        first = Recorded(5, terms).record(*noise)
        before, secrets = first.steps(counts[:stop]), first.secrets()
        second = Recorded(5, terms).record(*(array[stop:] for array in noise))
        second.restore(secrets)
        assert second.secrets() == secrets or compiled_from == 0
        assert (np.concatenate([before, second.steps(counts[stop:])]) == whole).all()


def test_the_same_entropy_gives_the_same_marks_in_blocks_and_one_by_one():
    """Over several refills of what is drawn ahead."""
    counts = np.random.default_rng(6).poisson(2, (12_000, 10))
    whole, split = (Grouper(10, grouper_terms(1, 30), SeededEntropy(6)) for _ in range(2))
    sizes = [1, 1, 5000, 3277, 1, 3276]
    parts = [split.steps(block) for block in np.split(counts, np.cumsum(sizes))]
    assert np.array_equal(np.concatenate(parts), whole.steps(counts))
    assert split.secrets() == whole.secrets()


@pytest.mark.parametrize("compiled_from", [0, 1 << 60])
def test_a_step_that_is_not_looked_at_leaves_everything_as_it_was(compiled_from, monkeypatch):
    monkeypatch.setattr(module, "_COMPILED_FROM", compiled_from)
    counts, noise = recorded(8, 90, 1)
    present = np.random.default_rng(8).random((90, 1)) < 0.6
    kept = present[:, 0]
    some = Recorded(1, grouper_terms(1)).record(*noise)
    marks = some.steps(counts, present)
    assert (marks[~kept] == JOINS).all()
    few = Recorded(1, grouper_terms(1)).record(*(array[kept] for array in noise))
    assert np.array_equal(few.steps(counts[kept]), marks[kept])
    assert few.secrets() == some.secrets()


def test_reading_secrets_changes_nothing():
    counts, noise = recorded(4, 60, 3)
    quiet, asked = (Recorded(3, grouper_terms(1)).record(*noise) for _ in range(2))
    marks = []
    for row in counts:
        assert asked.secrets() == asked.secrets()
        marks.append(asked.steps(row[None]))
    assert (np.concatenate(marks) == quiet.steps(counts)).all()
    assert asked.secrets() == quiet.secrets()


def test_secrets_hold_the_cutoff_and_the_counts_of_open_groups_and_nothing_else():
    one = Recorded(2, grouper_terms(1)).record([[50, 60], [51, 61]], [[0, 0], [0, 200]])
    assert one.secrets() == bytes(16)
    one.steps(np.array([[7919, 1], [7919, 2]]))
    numbers = np.frombuffer(one.secrets(), dtype="<i8").tolist()
    # Two places for two steps, whatever they hold: the length tells what the marks tell.
    assert numbers == [2, 50, 7919, 0, 2, 0, 0]


def test_after_close_every_series_opens_a_group_with_a_cutoff_of_its_own(entropy):
    one = Grouper(4, grouper_terms("0.1"), entropy)
    assert (one.steps(np.zeros((3, 4), dtype=np.int64))[1:] == JOINS).all()
    one.close()
    assert one.secrets() == bytes(32)
    assert (one.steps(np.zeros((1, 4), dtype=np.int64)) == OPENS).all()


def test_a_group_ends_at_the_longest():
    marks = group(np.zeros((7, 2), dtype=np.int64), 1000, 10)
    assert (marks[1:] == JOINS).all()
    short = Grouper(2, grouper_terms(1000, 10, longest=3)).steps(np.zeros((7, 2), dtype=np.int64))
    assert short[:, 0].tolist() == [OPENS, JOINS, JOINS, OPENS, JOINS, JOINS, OPENS]


def test_memory_is_bounded_by_the_longest_group():
    counts = np.arange(4000, dtype=np.int64)[:, None] * 1000
    one = Grouper(1, grouper_terms("0.000001", 10**12, longest=50))
    for block in np.split(counts, 80):
        one.steps(block)
        assert len(one.secrets()) <= 8 * (2 + 2 * 50)


WRONG = [b"", bytes(8), bytes(24), b"12345", np.array([1, 50, 3, 0, 0], dtype="<i8").tobytes()]
WRONG += [
    np.array(numbers, dtype="<i8").tobytes() for numbers in ([2, 50, 3, 3, 1, 1, 0], [-1, 5, 0], [1, 50, -3, 1, 0])
]


@pytest.mark.parametrize("secrets", WRONG)
def test_wrong_secrets_are_refused_and_change_nothing(secrets, entropy):
    one = Grouper(2, grouper_terms("0.1"), entropy)
    one.steps(np.array([[5, 6]]))
    before = one.secrets()
    with pytest.raises(BugError, match="nothing was restored"):
        one.restore(secrets)
    assert one.secrets() == before


@pytest.mark.parametrize("write", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_copy_would_answer_for_nothing(write):
    with pytest.raises(BugError):
        write(Grouper(1, grouper_terms(1)))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks are made by Unix")
def test_a_fork_gets_no_marks():
    one = Grouper(1, grouper_terms(1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if not child:
        try:
            one.steps(np.array([[1]]))
        except BugError:
            os._exit(7)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_the_stamp():
    assert Grouper(1, grouper_terms(1), SeededEntropy(1)).stamp == NOT_PRIVATE
    assert Grouper(1, grouper_terms(1)).stamp == ""


def test_no_count_is_refused_and_none_is_taken_for_another():
    """Below 0 is 0, far out is far out; a sum that wraps around would tell how large they are."""
    far = 1 << 62
    assert group([-5, 0, -(10**9), 0], 1000, 1).tolist() == [OPENS, JOINS, JOINS, JOINS]
    assert group(np.array([far, far, 2**28, 0]), 1000, 1).tolist() == [OPENS, JOINS, JOINS, ALONE]
    assert group(np.array([2**64 - 1, 0], dtype=np.uint64), 1000, 1).tolist() == [OPENS, ALONE]


SECRET = 424_242
REFUSED = [
    ("counts", lambda: group(np.array([424242.5]), 1)),
    ("counts", lambda: group(np.array(["424242"]), 1)),
    ("counts", lambda: group(np.array([True]), 1)),
    ("counts", lambda: group(np.ma.array([SECRET], mask=[True]), 1)),
    ("counts", lambda: group(np.full((2, 2, 2), SECRET), 1)),
    ("series", lambda: group(np.full((2, 0), SECRET), 1)),
    ("present", lambda: Grouper(1, grouper_terms(1)).steps(np.array([[SECRET]]), np.array([[1]]))),
    ("present", lambda: Grouper(1, grouper_terms(1)).steps(np.array([[SECRET]]), np.array([True]))),
    ("counts", lambda: group([[SECRET], [SECRET, SECRET]], 1)),
    ("counts", lambda: group("424242", 1)),
    ("counts", lambda: Grouper(3, grouper_terms(1)).steps(np.full((2, 2), SECRET))),
    ("epsilon", lambda: group([SECRET], 0)),
    ("epsilon", lambda: group([SECRET], 10**6)),
    ("theta", lambda: group([SECRET], 1, -1)),
    ("theta", lambda: group([SECRET], 1, 10**13)),
    ("longest", lambda: grouper_terms(1, longest=0)),
    ("longest", lambda: grouper_terms(1, longest=100_001)),
    ("series", lambda: Grouper(0, grouper_terms(1))),
    ("series", lambda: Grouper(1.5, grouper_terms(1))),
    ("terms", lambda: Grouper(1, "0.1")),
    ("entropy", lambda: group([SECRET], 1, entropy="dice")),
]


@pytest.mark.parametrize(("field", "ask"), REFUSED)
def test_a_refusal_names_the_field_and_no_count(field, ask):
    with pytest.raises(ArgumentError) as refusal:
        ask()
    assert refusal.value.field == field
    assert "4242" not in str(refusal.value)


def test_where_the_generator_fails_no_group_goes_on():
    broken = []

    def source(count):
        if broken:
            raise OSError
        return os.urandom(count)

    one = Grouper(3, grouper_terms("0.1"), SystemEntropy(source))
    assert one.steps(np.full((2, 3), 5))[0].tolist() == [OPENS] * 3
    broken.append(True)
    with pytest.raises(EntropyError):  # some steps are drawn ahead, but not so many
        one.steps(np.full((50_000, 3), 5))
    assert one.secrets() == bytes(24)
