"""The tester of enumerated laws, and the tester of error rates: right claims stand, wrong ones are refuted."""

import math
from fractions import Fraction

import numpy as np
import pytest

from thresher.amounts import Epsilon
from thresher.audit.session import tried
from thresher.audit.subjects import Enumerated, Pair, Promised
from thresher.audit.testers.exact import tried_by_law, tried_for_errors
from thresher.errors import ArgumentError
from thresher.noise import SeededEntropy, chances

FAIR = {"a": 0.5, "b": 0.5}
LEANS = {"a": 0.75, "b": 0.25}


def law_trial(here, there, charged, missing=0.0):
    laws = {"here": here, "there": there}
    subject = Enumerated("it", "", Epsilon(charged), (Pair("", "here", "there"),), laws.__getitem__, missing)
    return tried_by_law(subject)


class TestLaws:
    def test_the_largest_ratio_counts_in_either_direction(self):
        for sides in ((FAIR, LEANS), (LEANS, FAIR)):
            found = law_trial(*sides, "0.7")
            assert found.measured == pytest.approx(math.log(2))
            assert "'b'" in found.event
            assert not found.refuted
            assert law_trial(*sides, "0.69").refuted

    def test_an_output_that_only_one_side_can_have(self):
        found = law_trial(FAIR, {"a": 1.0}, 100)
        assert found.refuted
        assert found.measured == math.inf

    def test_rounding_is_forgiven_and_no_more(self):
        loss = math.log(2)
        assert not law_trial(FAIR, LEANS, Epsilon.covering(Fraction(loss))).refuted
        assert law_trial(FAIR, LEANS, Epsilon.covering(Fraction(loss - 1e-8))).refuted

    @pytest.mark.parametrize("law", [{}, {"a": 0.5}, {"a": 1.5, "b": -0.5}])
    def test_a_law_that_is_none(self, law):
        with pytest.raises(ArgumentError, match="law"):
            law_trial(FAIR, law, 1)

    def test_what_is_left_out_must_be_said(self):
        short = {"a": 0.75, "b": 0.2499}
        with pytest.raises(ArgumentError):
            law_trial(FAIR, short, 1)
        assert not law_trial(FAIR, short, 1, missing=1e-3).refuted


def coin(data, runs, entropy):
    return chances(data, runs, entropy)


def error_trial(worst, rate, samples=50_000, seed=1):
    return tried_for_errors(Promised("it", "", rate, worst, coin, samples), SeededEntropy(seed))


class TestErrors:
    def test_a_promise_met_with_nothing_to_spare_stands(self, trials):
        """Refuted with probability at most 0.001 each; the seeds are fixed."""
        worst = (("even", Fraction(1, 4)),)
        assert not any(error_trial(worst, Fraction(1, 4), 2_000, seed).refuted for seed in range(trials(100, 1_000)))

    def test_a_twentieth_more_is_found(self):
        assert error_trial((("more", Fraction(21, 64)),), Fraction(5, 16)).refuted

    def test_the_worst_of_several_inputs_counts(self):
        inputs = (("good", Fraction(1, 64)), ("bad", Fraction(1, 2)), ("fair", Fraction(1, 4)))
        found = error_trial(inputs, Fraction(1, 4))
        assert found.refuted
        assert found.where == "bad"
        assert found.measured == pytest.approx(0.5, abs=0.03)


def test_each_subject_finds_its_tester():
    law = Enumerated("law", "", Epsilon(1), (Pair("", 0, 1),), lambda _: FAIR)
    errors = Promised("errors", "", Fraction(1, 2), (("", Fraction(1, 4)),), coin, 1_000)
    assert [tried(subject, SeededEntropy(1)).kind for subject in (law, errors)] == ["law", "errors"]
    assert np.isfinite(tried(errors, SeededEntropy(1)).measured)
