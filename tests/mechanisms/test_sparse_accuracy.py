"""How wrong answers may be: an upper bound, and tight."""

import mpmath
import numpy as np
import pytest

from thresher.errors import ArgumentError
from thresher.mechanisms.sparse_accuracy import failure, within
from thresher.mechanisms.sparse_terms import GENERAL, Setting, sparse_terms
from thresher.mechanisms.sparse_vector import BOTTOM, TOP, SparseVector, sparse_vector, sparse_vector_runs

TWO_SIDED = Setting(noise="two-sided")


@pytest.mark.parametrize("setting", [GENERAL, TWO_SIDED, Setting(kind="nested")])
@pytest.mark.parametrize("most", [1, 3])
def test_what_is_promised_is_far_less_than_in_print(setting, most):
    """In print: 8 c D (log k + log(2/b)) / epsilon."""
    most = 1 if setting.kind == "nested" else most
    printed = 8 * most * (np.log(100) + np.log(2 / 0.05))
    assert within(sparse_terms(most, 1, setting), 100, "0.05") < printed / 2


@pytest.mark.parametrize("setting", [GENERAL, TWO_SIDED])
@pytest.mark.parametrize(("queries", "width"), [(1, 0), (1, 5), (30, 15), (30, 40), (1000, 60)])
def test_the_bound_is_the_sum_in_forty_digits(setting, queries, width):
    terms = sparse_terms(2, 2, setting)
    with mpmath.workdps(40):
        truth = _failure(terms, queries, width)
    assert truth <= failure(terms, queries, width) <= truth * (1 + 1e-6) + 1e-11


def _failure(terms, queries, width):
    p, q = (mpmath.exp(-mpmath.mpf(r.numerator) / r.denominator) for r in (terms.threshold_rate, terms.query_rate))

    def from_(x):
        if terms.one_sided:
            return q ** max(x, 0)
        return q**x / (1 + q) if x >= 1 else 1 - q ** (1 - x) / (1 + q)

    total = mpmath.mpf(0)
    for z in range(0 if terms.one_sided else -150, 151):
        mass = (1 - p) * p**z if terms.one_sided else (1 - p) / (1 + p) * p ** abs(z)
        wrong = 1 - from_(z + terms.offset - width - 1) + from_(z + terms.offset + width + 1)
        total += mass * (1 - (1 - wrong) ** queries)
    return float(total)


@pytest.mark.parametrize("setting", [GENERAL, TWO_SIDED])
def test_one_step_less_cannot_be_promised(setting):
    terms = sparse_terms(2, "0.5", setting)
    width = within(terms, 50, "0.05")
    assert failure(terms, 50, width) <= 0.05 < failure(terms, 50, width - 1)


def test_wide_noise_is_judged_in_blocks_and_never_too_well():
    """The width grows with the scale; blocks cost less than one in a thousand."""
    narrow, wide = (within(sparse_terms(1, epsilon), 100, "0.05") for epsilon in ("0.01", "0.00001"))
    assert narrow * 1000 * 0.999 < wide < narrow * 1000 * 1.01


@pytest.mark.parametrize("setting", [GENERAL, TWO_SIDED])
def test_the_promise_is_kept_at_the_worst_case(setting, entropy, trials):
    """All queries just beyond the width. At the promised rate, more than expected + 5 deviations has chance < 1e-6."""
    queries, runs = 20, trials(40_000, 400_000)
    far = within(sparse_terms(1, 1, setting), queries, "0.05") + 1
    limit = 0.05 * runs + 5 * (0.05 * 0.95 * runs) ** 0.5
    for margin, wrong in ((-far, TOP), (far, BOTTOM)):
        rows = sparse_vector_runs([margin] * queries, 0, 1, 1, runs, setting, entropy).answers
        assert (rows == wrong).any(axis=1).sum() < limit
    # Power: queries a quarter nearer break it.
    rows = sparse_vector_runs([-far * 3 // 4] * queries, 0, 1, 1, runs, setting, entropy).answers
    assert (rows == TOP).any(axis=1).sum() > limit


def test_how_many_were_answered_does_not_choose_the_promise(entropy):
    answers = sparse_vector([10**6, *[0] * 99], 0, 1, 1, entropy=entropy)
    assert answers.tops.size == 1
    assert answers.within("0.05") == within(answers.terms, 100, "0.05") > within(answers.terms, 1, "0.05")
    assert SparseVector(1, 1).within(100, "0.05") == answers.within("0.05")


@pytest.mark.parametrize("queries", [0, -1, 1.5, None])
def test_queries_are_counted(queries):
    with pytest.raises(ArgumentError, match=r"^queries = "):
        within(sparse_terms(1, 1), queries, "0.05")


@pytest.mark.parametrize("rate", [0, 1, -1, "1e-10", np.nan, "x"])
def test_a_rate_is_a_sane_probability(rate):
    with pytest.raises(ArgumentError, match=r"^miss_rate = "):
        within(sparse_terms(1, 1), 10, rate)
