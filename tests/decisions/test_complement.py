"""Bounding false alarms instead of misses: the finished formula is negated once, and the answer is turned back.

Both directions cost the same and look at the same levels, with opposite verdicts; and the negation is two-valued, so
that a group without rows is either a group that qualifies or one that does not.
"""

import math
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest
from decisions.promises import too_often
from hypothesis import given, settings
from hypothesis import strategies as st
from sql.row_by_row import value

from thresher.config import read
from thresher.decisions import aim, plan_decision, slack
from thresher.decisions.aim import asked_of
from thresher.decisions.decision_options import options_of
from thresher.decisions.decision_plan import truth_of
from thresher.decisions.margin import margins
from thresher.decisions.shift import look, shift_of
from thresher.decisions.values.values_plan import plan_values
from thresher.decisions.verdicts import opposite
from thresher.errors import ArgumentError
from thresher.noise import SeededEntropy
from thresher.question import Aggregate, Atom, Every, Exact, Some, Within, negated
from thresher.sql.read_question import ask

F = Fraction
GRID = 10**4
GROUPS = 20_000
OPPOSITE = {"above": "below", "uncertain": "uncertain", "below": "above"}
DECLARED = """
[source]
url = "memory://"
[limits]
max_groups = 1000000
[tables.t]
count_range = 100
budget = "1000"
max_epsilon_per_question = "5"
[tables.t.columns]
g = { min = 0, max = LAST }
x = { min = 0, max = 9 }
"""


@lru_cache
def question(having, groups):
    declared = read(DECLARED.replace("LAST", str(groups - 1)), Path())
    return ask(f"SELECT g FROM t GROUP BY g HAVING {having}", declared, {})


def rows_of(*codes):
    return [{"g": 0, "x": code} for code in codes]


def held_by(plan, *groups):
    """What would be read of groups with these rows, one after another and over again."""
    held = [[value(aggregate, rows) for aggregate in plan.need.aggregates] for rows in groups]
    size = len(plan.question.groups)
    return Exact(np.array(held, dtype=np.int64)[np.arange(size) % len(held)])


ATOMS = [
    Atom(((Aggregate("rows", None, Within("x", i, None)), weight),), at_least, f"{i}", f"{i}", F(1))
    for i, (weight, at_least) in enumerate([(1, 3), (-1, -2), (2, 1), (-3, 5)])
]


def joined(inner):
    parts = st.lists(inner, min_size=2, max_size=3).map(tuple)
    return parts.map(Every) | parts.map(Some)


formulas = st.recursive(st.sampled_from(ATOMS), joined, max_leaves=6)


class TestTheNegatedFormula:
    @settings(max_examples=150)
    @given(formulas, st.integers(1, 16), st.lists(st.integers(1, 9), min_size=4, max_size=4), st.booleans())
    def test_it_holds_exactly_where_the_formula_does_not(self, formula, scale, spreads, added_up):
        """At every scale and sensitivity, for ANDs and ORs whose parts are added up, too."""
        size = np.random.default_rng(scale).integers(-40, 40, (4, 200))
        slacks = {atom: size[i] * atom.weights[0][1] - atom.at_least for i, atom in enumerate(ATOMS)}
        other = {negated(atom): -1 - held for atom, held in slacks.items()}
        known = dict(zip(ATOMS, spreads, strict=True))
        turned = {negated(atom): spread for atom, spread in known.items()}
        apart = (formula,) if added_up and not isinstance(formula, Atom) else ()
        here = margins(formula, slacks, known, scale, apart)
        there = margins(negated(formula), other, turned, scale, tuple(map(negated, apart)))
        assert ((here >= 0) != (there >= 0)).all()
        assert negated(negated(formula)) == formula
        if scale == 1:
            assert (there == opposite(here)).all()

    def test_a_margin_and_its_opposite_are_never_both_met(self):
        held = np.arange(-5, 6)
        assert ((held >= 0) != (opposite(held) >= 0)).all()
        assert (opposite(opposite(held)) == held).all()


FORMULAS = [
    "COUNT(*) > 30",
    "COUNT(*) < 30",
    "AVG(x) > 4",
    "AVG(x) <= 4 AND COUNT(*) >= 5",
    "SUM(x) > 90 OR COUNT(*) BETWEEN 10 AND 20",
    "COUNT(*) FILTER (WHERE x < 4) > 10 AND COUNT(*) FILTER (WHERE x >= 4) > 10",
    "NOT (AVG(x) > 4) OR (COUNT(*) > 10 AND SUM(x) < 300)",
]
# One look at few groups; verdicts by themselves; fixed levels; a certificate.
SIZES = [("certified", 4), ("certified", 12), ("certified", 60), ("certified", 2000)]
SIZES += [(name, 300) for name in ("three-way", "tslm", "tslm-zone", "ppwlm", "dppwlm")]


def both_ways(having, groups, mechanism, **more):
    """The plan that bounds false alarms, and the one that bounds as many misses of the negated formula."""
    asked = question(having, groups)
    here = options_of(
        {"miss_rate": "0.1", "false_alarm_rate": "0.05", "bound": "false_alarms", "mechanism": mechanism, **more}
    )
    there = options_of({"miss_rate": "0.05", "false_alarm_rate": "0.1", "mechanism": mechanism, **more})
    return plan_decision(asked, here), plan_decision(replace(asked, formula=negated(asked.formula)), there)


@pytest.mark.parametrize(("mechanism", "groups"), SIZES)
@pytest.mark.parametrize("having", FORMULAS)
def test_false_alarms_are_misses_of_the_negated_formula(having, mechanism, groups):
    """The same price and the same levels; and from the same seed the same looks, with opposite verdicts."""
    here, there = both_ways(having, groups, mechanism)
    assert here.epsilon == there.epsilon
    assert here.cost == there.cost
    assert here.need == there.need
    assert here.look == there.look
    assert here.look.ladder() == there.look.ladder()
    held = held_by(here, [], rows_of(*[9] * 25), rows_of(*[2] * 40), rows_of(*[1] * 6, *[9] * 12), rows_of(*[4] * 31))
    (mine, lost), (theirs, as_lost) = (plan.run(held, SeededEntropy(3)) for plan in (here, there))
    assert mine.verdicts == tuple(OPPOSITE[verdict] for verdict in theirs.verdicts)
    assert mine.noisy == tuple(-1 - seen for seen in theirs.noisy)
    assert mine.latest == tuple(-1 - seen for seen in theirs.latest)
    assert (mine.epsilons, mine.spent_epsilon, mine.certificate) == (
        theirs.epsilons,
        theirs.spent_epsilon,
        theirs.certificate,
    )
    assert lost == as_lost
    # What is promised is promised of the other error.
    assert (here.guarantee.miss_rate, here.guarantee.false_alarm_rate) == (
        there.guarantee.false_alarm_rate,
        there.guarantee.miss_rate,
    )
    assert (mine.guarantee.half_width, mine.guarantee.clear_distance) == (
        theirs.guarantee.half_width,
        theirs.guarantee.clear_distance,
    )


@pytest.mark.parametrize("having", FORMULAS)
def test_numbers_too(having):
    asked, rates = question(having, 5), {"miss_rate": "0.2", "false_alarm_rate": "0.03"}
    here = plan_values(asked, options_of({**rates, "bound": "false_alarms"}))
    there = plan_values(
        replace(asked, formula=negated(asked.formula)),
        options_of({"miss_rate": "0.03", "false_alarm_rate": "0.2"}),
    )
    assert (here.epsilon, here.need) == (there.epsilon, there.need)
    held = held_by(here, [], rows_of(*[9] * 25), rows_of(*[2] * 40), rows_of(*[1] * 6, *[9] * 12), rows_of(*[4] * 31))
    mine, theirs = (plan.run(held, SeededEntropy(3))[0] for plan in (here, there))
    assert mine.verdicts == tuple(OPPOSITE[verdict] for verdict in theirs.verdicts)


@pytest.mark.parametrize("mechanism", ["certified", "three-way", "tslm", "ppwlm"])
def test_a_question_and_its_complement_never_share_stored_bytes(mechanism):
    """Equal rates, so that nothing but the direction tells them apart; and the negation written out by hand."""
    rates = {"miss_rate": "0.05", "false_alarm_rate": "0.05", "mechanism": mechanism}
    written = [("COUNT(*) > 30", "misses"), ("COUNT(*) > 30", "false_alarms"), ("COUNT(*) <= 30", "misses")]
    plans = [plan_decision(question(having, 300), options_of({**rates, "bound": bound})) for having, bound in written]
    assert len({plan.identity.question for plan in plans}) == 3
    assert len({plan.epsilon for plan in plans}) == 1
    held = [held_by(plan, rows_of(*[9] * 25), rows_of(*[2] * 40)) for plan in plans]
    answers = [plan.run(one, SeededEntropy(3))[0] for plan, one in zip(plans, held, strict=True)]
    assert len({answer.to_bytes() for answer in answers}) == 3
    # By hand it is the same formula, so what is seen is the same.
    assert answers[1].verdicts == tuple(OPPOSITE[verdict] for verdict in answers[2].verdicts)


@pytest.mark.parametrize("mechanism", ["tslm", "ppwlm", "dppwlm", "three-way", "certified"])
def test_uncertain_groups_are_reported_only_where_misses_are_bounded(mechanism, entropy):
    for bound, reported in (("misses", {"above", "uncertain"}), ("false_alarms", {"above"})):
        plan = plan_decision(
            question("COUNT(*) > 30", 300),
            options_of({"false_alarm_rate": "0.05", "bound": bound, "mechanism": mechanism}),
        )
        held = held_by(plan, *(rows_of(*[9] * count) for count in range(61)))
        answer = plan.run(held, entropy)[0]
        assert "uncertain" in answer.verdicts
        keys = zip(answer.groups, answer.verdicts, strict=True)
        assert answer.positives == [group for group, verdict in keys if verdict in reported]


COMPARISONS = {">": 4, ">=": 4, "<": 5, "<=": 5}
comparisons = pytest.mark.parametrize("comparison", COMPARISONS)
directions = pytest.mark.parametrize("bound", ["misses", "false_alarms"])


class TestGroupsWithoutRows:
    """The average of nothing is NULL, so the condition does not hold, whatever the comparison."""

    def planned(self, comparison, bound, groups=GROUPS):
        """As sharp as a step of an average of two rows, so that nothing near the line hides a wrong answer."""
        asked = question(f"AVG(x) {comparison} {COMPARISONS[comparison]}", groups)
        options = {"bound": bound, "miss_rate": "0.05", "false_alarm_rate": "0.05", "mechanism": "tslm"}
        return plan_decision(asked, options_of({**options, "uncertain_region": "0.05"}))

    @comparisons
    @directions
    def test_they_do_not_qualify_by_one_row(self, comparison, bound):
        plan = self.planned(comparison, bound, 2)
        asked, empty = plan.asked, held_by(plan, [])
        assert set(truth_of(asked, empty).margins().tolist()) == {-1 if bound == "misses" else 0}
        in_the_text = negated(asked.measured) if bound == "false_alarms" else asked.measured
        assert in_the_text == plan.question.formula

    @comparisons
    @directions
    def test_they_are_marked_above_as_rarely_as_is_promised(self, comparison, bound, entropy):
        plan = self.planned(comparison, bound)
        above = plan.run(held_by(plan, []), entropy)[0].verdicts.count("above")
        assert not too_often(above, GROUPS, 0.05)

    @comparisons
    @directions
    def test_in_every_answer_they_have_one_verdict_that_noise_alone_can_change(self, comparison, bound):
        """With so much epsilon that noise is hardly ever anything but zero."""
        asked = question(f"AVG(x) {comparison} {COMPARISONS[comparison]}", 6)
        rates = {"miss_rate": "1e-12", "false_alarm_rate": "1e-12", "mechanism": "tslm-zone", "max_epsilon": 900}
        options = options_of({"bound": bound, "uncertain_region": "0.01", **rates})
        plan = plan_decision(asked, options)
        qualifies = rows_of(*[9 if comparison in (">", ">=") else 0] * 60)
        answer = plan.run(held_by(plan, [], qualifies), SeededEntropy(1))[0]
        assert answer.positives == [group for i, group in enumerate(answer.groups) if i % 2]

    @comparisons
    def test_negating_the_text_would_put_them_in_neither_list(self, comparison, entropy, monkeypatch):
        """Power: `NOT (...)` adds a guard of its own, which an empty group fails; then false alarms pass the rate."""
        of_text = question(f"NOT (AVG(x) {comparison} {COMPARISONS[comparison]})", GROUPS).formula
        monkeypatch.setattr(aim, "negated", lambda _: of_text)
        plan = self.planned(comparison, "false_alarms")
        held = held_by(plan, [])
        assert set(truth_of(plan.asked, held).margins().tolist()) == {-1}
        assert too_often(plan.run(held, entropy)[0].verdicts.count("above"), GROUPS, 0.05)


def test_widths_and_conditions_are_told_as_written():
    """The plan speaks of the question, and not of its complement."""
    having = "AVG(x) <= 4 AND COUNT(*) >= 5"
    here, there = (
        plan_decision(question(having, 4), options_of({"bound": bound, "mechanism": "tslm"}))
        for bound in ("misses", "false_alarms")
    )
    for told in ("conditions", "half_widths"):
        assert here.document()[told] == there.document()[told]
    assert {one["condition"] for one in here.document()["half_widths"]} == {"AVG(x) <= 4", "COUNT(*) >= 5"}
    with pytest.raises(ArgumentError, match=r"Name one of COUNT\(\*\), AVG\(x\)"):
        asked_of(question(having, 4), options_of({"bound": "false_alarms", "uncertain_region": {"SUM(x)": 3}}))


class TestLessThan:
    """A count below a line by half a unit, half width 10, miss rate .05, as good as continuous."""

    def seen(self, comparison, entropy, count=100_000):
        # The count is c - 0.5 with c = 0, in steps of a ten-thousandth.
        counts = np.full(count, -GRID // 2)
        shift = shift_of(Fraction(1, 20), Fraction(1, 20), 10 * GRID, GRID)
        return look(slack(counts, comparison, 0), shift, entropy)

    def test_the_line_moves_up(self, entropy):
        missed = (~self.seen("<", entropy).reported).mean()
        assert missed == pytest.approx(0.0446, abs=4.9 * math.sqrt(0.0446 / 100_000))
        assert missed <= 0.05

    def test_negating_the_answer_of_greater_than_misses_nearly_all(self, entropy):
        reported = ~self.seen(">", entropy).reported
        assert (~reported).mean() == pytest.approx(0.944, abs=0.004)
