"""The ProBE family: what is drawn and charged, denials, skipping, shares handed on; and what print would have done."""

import math
from fractions import Fraction

import numpy as np
import pytest
from formula_shapes import DISTRIBUTED, GROUPED, MAJORITY, SHAPES
from laws import DRAWS, assert_fits, assert_rejected, laplace_p

from papers.probe.outliers import at_threshold, bimodal, occ_like, uci_like
from thresher.amounts import Epsilon
from thresher.decisions.probe.probe import METHODS, answered, naive, prices_of, probe, probe_ent, probe_naive
from thresher.decisions.probe.probe_answer import ConditionLook, DeniedError
from thresher.decisions.probe.probe_conditions import checked_conditions
from thresher.decisions.probe.probe_phases import Phases, narrower
from thresher.errors import ArgumentError
from thresher.noise import SeededEntropy, smallest_epsilon
from thresher.noise.entropy import NotPrivate
from thresher.question.trees import every, occurrences, some

FAR = 10**6
FAMILY = {"naive": naive, "probe-naive": probe_naive, "probe": probe, "probe-ent": probe_ent}
TWO_PHASES = {"probe-naive": probe_naive, "probe": probe}
BETA = Fraction(1, 20)


def total(looks):
    return Epsilon.total(look.epsilon for look in looks)


class Forbidden:
    """Entropy that must not be read."""

    stamp = "NOT PRIVATE"

    def read(self, count):
        raise AssertionError("drawn")


class Counted(SeededEntropy):
    """Entropy that counts how often it is read."""

    def __init__(self, seed):
        super().__init__(seed)
        self.reads = 0

    def read(self, count):
        self.reads += 1
        return super().read(count)


class TestPrices:
    @pytest.mark.parametrize(
        ("method", "region", "share"),
        [
            ("naive", "0.12", BETA / 3),
            ("probe-naive", "0.3", BETA / 6),
            ("probe", "0.3", None),
            ("probe-ent", "0.3", None),
        ],
    )
    def test_the_first_looks_are_known_beforehand_and_are_those_taken(self, method, region, share, entropy):
        asked = bimodal().first(3).arguments(GROUPED)
        looks = prices_of(method, *asked[1:])
        assert [look.atom for look in looks] == [0, 1, 2]
        for look, reach in zip(looks, asked[3], strict=True):
            assert look.steps == math.floor(Fraction(region) * reach)
            assert look.epsilon == smallest_epsilon(look.share, look.steps + 1)
            assert share in (None, look.share)
        options = {"redistribute": False} if method == "probe-ent" else {}
        answer = FAMILY[method](asked, entropy=entropy, **options)
        assert [look for look in answer.looks if look.phase == 1] == list(looks)

    def test_shares_of_a_condition_that_is_written_twice(self):
        """Each leaf adds to the misses: paid by the leaf (Theorem 4.5), or once (Algorithm 5)."""
        spreads, ranges, levels = [1, 2, 3], [1000, 500, 2000], 4
        for method, rate in (("probe", BETA / 2), ("probe-ent", BETA / levels)):
            looks = prices_of(method, DISTRIBUTED, spreads, ranges)
            assert sum(occurrences(DISTRIBUTED)[look.atom] * look.share for look in looks) == rate
        by_leaf, once = (prices_of(method, DISTRIBUTED, spreads, ranges)[0].share for method in ("probe", "probe-ent"))
        weights = [Fraction(spread, reach) for spread, reach in zip(spreads, ranges, strict=True)]
        assert by_leaf == BETA / 2 * weights[0] / (weights[0] + sum(weights))
        assert once == pytest.approx(float(BETA / levels * weights[0] / (2 * sum(weights))))

    @pytest.mark.parametrize("method", METHODS)
    def test_a_rate_of_one_half_needs_no_data(self, method):
        answer = FAMILY[method](([[-FAR, FAR]], 0, [1], [1000]), ("0.5", "0.1"), entropy=Forbidden())
        assert answer.reported.all()
        assert answer.epsilon == Epsilon(0)
        assert prices_of(method, 0, [1], [1000], "0.5") == ()


class TestTheLimit:
    """Tested before every draw; what was spent until then is charged and told."""

    @pytest.mark.parametrize("method", METHODS)
    def test_below_the_first_price_nothing_is_drawn_and_nothing_charged(self, method):
        asked = bimodal().first(3).arguments(GROUPED)
        price = total(prices_of(method, *asked[1:]))
        below = price - Epsilon("0.000000001")
        if method == "probe-ent":
            below = prices_of(method, *asked[1:])[0].epsilon - Epsilon("0.000000001")
        answer = FAMILY[method](asked, max_epsilon=below, entropy=Forbidden())
        assert (answer.denied, answer.reported, answer.epsilon) == (True, None, Epsilon(0))
        assert answer.denial.reason == "budget"
        assert "nothing is charged" in answer.denial.text

    @pytest.mark.parametrize("method", TWO_PHASES)
    def test_a_second_phase_beyond_it_is_not_begun_and_the_first_is_charged(self, method):
        asked = occ_like().first(3).arguments(SHAPES["AND3"])
        price = total(prices_of(method, *asked[1:]))
        entropy, whole = Counted(1), Counted(1)
        answer = TWO_PHASES[method](asked, max_epsilon=price, entropy=entropy)
        assert (answer.denial.reason, answer.denial.phase, answer.epsilon) == ("budget", 2, price)
        assert str(price) in answer.denial.text
        assert answer.phases == 1
        TWO_PHASES[method](asked, entropy=whole)
        assert 0 < entropy.reads < whole.reads

    def test_a_climb_whose_end_is_beyond_it_is_not_begun(self):
        asked = occ_like().first(1).arguments(0)
        first = prices_of("probe-ent", *asked[1:])[0].epsilon
        answer = probe_ent(asked, max_epsilon=first, entropy=SeededEntropy(1))
        assert (answer.denial.reason, answer.denial.phase, answer.epsilon) == ("budget", 2, first)

    @pytest.mark.parametrize("method", METHODS)
    @pytest.mark.parametrize("limit", ["0.05", "0.1", "0.3", "1"])
    def test_it_is_never_passed(self, method, limit):
        for seed in range(3):
            for shape in ("AND3", "OR3", "(Q0|Q1)&(Q0|Q2)"):
                asked = occ_like(seed).first(3).arguments(SHAPES[shape])
                answer = FAMILY[method](asked, max_epsilon=limit, entropy=SeededEntropy(seed))
                assert answer.epsilon <= Epsilon(limit)
                assert answer.denied == (answer.reported is None)


class TestWhatIsCharged:
    @pytest.mark.parametrize("method", ["naive", *TWO_PHASES])
    def test_every_group_pays_for_every_look(self, method):
        answer = FAMILY[method](occ_like().first(3).arguments(GROUPED), entropy=SeededEntropy(3))
        assert answer.epsilon == total(answer.looks)
        assert set(answer.epsilons) == {answer.epsilon}
        assert answer.phases == (1 if method == "naive" else 2)

    def test_refined_looks_are_paid_by_the_last_one_group_by_group(self):
        asked = occ_like().first(2).arguments(every(0, 1))
        answer = probe_ent(asked, entropy=SeededEntropy(3))
        levels = [[look.epsilon for look in answer.looks if look.atom == atom] for atom in (0, 1)]
        assert all(found == sorted(found) for found in levels)
        assert len(set(answer.epsilons)) > 1, "groups far from the line stop early"
        assert min(answer.epsilons) == levels[0][0] + levels[1][0]
        assert answer.epsilon <= levels[0][-1] + levels[1][-1] < total(answer.looks)

    @pytest.mark.parametrize("method", [*TWO_PHASES, "probe-ent"])
    def test_a_denial_after_looking_is_charged_and_says_why(self, method):
        """Ranges far above the thresholds, and an OR: few groups are far enough below to count as negatives."""
        asked = uci_like().first(3).arguments(SHAPES["OR3"])
        found = [FAMILY[method](asked, entropy=SeededEntropy(seed)) for seed in range(4)]
        denied = [answer for answer in found if answer.denied and answer.denial.reason == "estimate"]
        assert denied
        for answer in denied:
            assert answer.epsilon == max(answer.epsilons) > Epsilon(0)
            assert f"{answer.epsilon} is spent and charged" in answer.denial.text
            if method in TWO_PHASES:
                assert answer.epsilon == total(prices_of(method, *asked[1:]))


class TestNoise:
    def test_looks_are_discrete_laplace_at_their_own_price(self, entropy):
        slacks = np.full((2, DRAWS // 10), FAR)
        answer = naive((slacks, every(0, 1), [1, 7], [1000, 1000]), entropy=entropy)
        for look, spread in zip(answer.looks, (1, 7), strict=True):
            noise = answer.noisy[look.atom] - FAR
            assert_fits(laplace_p(noise, spread / float(look.epsilon)))
            assert_rejected(laplace_p(noise, 1.2 * spread / float(look.epsilon)))

    def test_the_second_phase_draws_anew(self):
        """The paper's way, and why losses are added: the first phase says nothing about the noise of the second."""
        made = occ_like(groups=60_000).first(1)
        one = naive(made.arguments(0), ("0.025", "0.1"), region="0.3", entropy=SeededEntropy(4))
        two = probe(made.arguments(0), entropy=SeededEntropy(4))
        assert [look.phase for look in two.looks] == [1, 2]
        assert two.looks[0].epsilon == one.looks[0].epsilon
        first, second = ((answer.noisy[0] - made.slacks[0]).astype(float) for answer in (one, two))
        # Five standard errors: 6e-7.
        assert abs(np.corrcoef(first, second)[0, 1]) < 5 / math.sqrt(len(first))

    @pytest.mark.parametrize("method", METHODS)
    def test_seeded_answers_are_marked_and_repeat(self, method):
        asked = occ_like().first(3).arguments(MAJORITY)
        one, two = (FAMILY[method](asked, entropy=SeededEntropy(9)) for _ in range(2))
        assert isinstance(one.noisy[0], NotPrivate)
        assert np.array_equal(one.reported, two.reported)
        assert one.looks == two.looks
        assert not np.array_equal(one.noisy[0], FAMILY[method](asked, entropy=SeededEntropy(10)).noisy[0])


class TestSkipping:
    """What cannot matter is not looked at, and an empty result is a result."""

    @pytest.mark.parametrize("method", METHODS)
    def test_an_and_that_is_empty_already(self, method):
        slacks = np.array([[-FAR] * 40, [FAR] * 40])
        answer = FAMILY[method]((slacks, every(0, 1), [1, 1], [1000, 1000]), entropy=SeededEntropy(1))
        assert not answer.reported.any()
        assert {look.atom for look in answer.looks} == {0}
        assert answer.epsilon == answer.looks[0].epsilon

    @pytest.mark.parametrize("method", METHODS)
    def test_an_or_goes_on_and_so_does_what_lies_above(self, method):
        slacks = np.array([[-FAR] * 100, [FAR] * 100, [-FAR] * 50 + [FAR] * 50])
        tree = some(every(0, 1), 2)
        answer = FAMILY[method]((slacks, tree, [1] * 3, [1000] * 3), entropy=SeededEntropy(1))
        assert answer.reported.tolist() == [False] * 50 + [True] * 50
        assert {look.atom for look in answer.looks} == {0, 2}

    @pytest.mark.parametrize("method", METHODS)
    def test_an_intersection_is_taken_although_print_says_union(self, method):
        slacks = np.array([[FAR] * 10 + [-FAR] * 490, [-FAR] * 5 + [FAR] * 95 + [-FAR] * 400])
        answer = FAMILY[method]((slacks, every(0, 1), [1, 1], [1000, 1000]), entropy=SeededEntropy(1))
        assert np.flatnonzero(answer.reported).tolist() == [5, 6, 7, 8, 9]

    @pytest.mark.parametrize("limit", ["10", "9"])
    def test_what_was_skipped_is_looked_at_when_a_later_phase_needs_it(self, limit):
        """And only if the limit covers it, although no sum of a phase contained it."""
        slacks = np.array([[-5, -FAR], [FAR, FAR]])
        asked = checked_conditions(slacks, every(0, 1), [1, 1], [1000, 1000], ("0.05", "0.1"), "0.3", limit)
        phases = Phases(asked, SeededEntropy(1))
        first = [ConditionLook(atom, 1, BETA, 1, Epsilon(4)) for atom in (0, 1)]
        assert not phases.run(first).any()
        assert [look.atom for look in phases.looks] == [0], "nothing left for the second condition to decide"
        wider = [ConditionLook(0, 2, BETA, 50, Epsilon(2))]
        if limit == "9":
            with pytest.raises(DeniedError):
                phases.run(wider)
            assert phases.spent == Epsilon(6), "the second look at the first condition, which came before, is charged"
        else:
            assert phases.run(wider).tolist() == [True, False]
            assert phases.looks == [first[0], wider[0], first[1]]
            assert phases.spent == Epsilon(10)

    @pytest.mark.parametrize("method", METHODS)
    def test_nobody_at_all(self, method):
        nobody = np.empty((2, 0), dtype=np.int64)
        answer = FAMILY[method]((nobody, every(0, 1), [1, 1], [9, 9]), entropy=SeededEntropy(1))
        assert answer.epsilon == Epsilon(0)
        assert answer.reported.size == 0


class TestEstimates:
    def test_by_hand(self):
        """100 groups, of which two lie far above."""
        made = at_threshold(groups=100, at=0, above=2)
        answer = probe(made.arguments(0), entropy=SeededEntropy(2))
        (found, *_) = answer.estimates
        below = 100 - found.between - 2
        assert found.false_alarms == pytest.approx(found.between + 2 * 0.025)
        assert found.negatives == pytest.approx((below - 2.5) / 0.975)
        assert found.allowed == pytest.approx(0.1 * found.negatives)

    def test_the_allowed_rate_is_divided_by_conditions_and_by_how_often_they_are_written(self):
        """Print divides by two whatever their number; then several conditions together may exceed the rate."""
        answer = probe(occ_like().first(3).arguments(DISTRIBUTED), entropy=SeededEntropy(2))
        parts = [found.allowed / found.negatives for found in answer.estimates[:3]]
        assert parts == pytest.approx([0.1 / 6, 0.1 / 3, 0.1 / 3])
        assert sum(times * part for times, part in zip((2, 1, 1), parts, strict=True)) == pytest.approx(
            4 / 3 * 0.1 * 0.75
        )

    @pytest.mark.parametrize("steps", [1, 7, 50])
    def test_the_widest_region_with_few_enough_is_found(self, steps):
        """Against trying every one."""
        rng = np.random.default_rng(steps)
        for _ in range(50):
            noisy, answer = rng.integers(-60, 20, 80), rng.random(80) < 0.7
            look, allowed = ConditionLook(0, 1, BETA, steps, Epsilon(1)), float(rng.uniform(-1, 30))

            def alarms(width, noisy=noisy, answer=answer):
                return ((noisy >= -width) & (noisy < 0) & answer).sum() + 0.05 * ((noisy >= 0) & answer).sum()

            tried = [width for width in range(steps + 1) if alarms(width) <= allowed]
            assert narrower(noisy, look, answer, allowed) == (max(tried) if tried else None)

    def test_an_answer_that_reports_nothing_is_not_denied_for_want_of_negatives(self):
        """Three groups: the lower bound for the negatives is below none, and there is no false alarm either."""
        answer = probe((np.full((1, 3), -FAR), 0, [1], [1000]), ("0.45", "0.1"), entropy=SeededEntropy(1))
        assert not answer.denied
        assert not answer.reported.any()


class TestSharesHandedOn:
    """Appendix C with a running total; print forgets what earlier conditions used."""

    @pytest.mark.parametrize("redistribute", [True, False])
    @pytest.mark.parametrize("shape", ["AND3", "OR3", "(Q0|Q1)&(Q0|Q2)", "maj3"])
    def test_never_more_than_there_is(self, shape, redistribute):
        tree, unused = SHAPES[shape], []
        for made in (occ_like(1), bimodal(1), uci_like(1)):
            for seed in range(2):
                answer = probe_ent(
                    made.first(3).arguments(tree), redistribute=redistribute, entropy=SeededEntropy(seed)
                )
                risked = sum(occurrences(tree)[look.atom] * look.share for look in answer.looks)
                assert risked <= BETA
                unused.append(1 - risked / BETA)
        assert max(unused) > 0.1

    def test_print_would_spend_a_third_more(self):
        """First condition in full, second by one look of four, third."""
        slacks = np.full((3, 400), -FAR)
        slacks[0, :200] = np.tile([-1, 0], 100)
        slacks[1:, 0] = FAR
        asked = slacks, some(0, 1, 2), [1] * 3, [1000] * 3
        answer = probe_ent(asked, entropy=SeededEntropy(1))
        risked = [sum(look.share for look in answer.looks if look.atom == atom) for atom in range(3)]
        assert risked[0] == BETA / 3, "all four levels"
        assert risked[1] == (BETA - risked[0]) / 2 / 4, "one of them, of half of what was left"
        assert risked[2] == (BETA - risked[0] - risked[1]) / 4, "one of them, of all that was left"
        # Print: nothing is left over by the first, so the second has a third of everything again; what it leaves,
        # counted from everything, is all for the third.
        printed = [BETA / 3, BETA / 3 / 4, BETA - BETA / 3 / 4]
        assert sum(printed) == Fraction(4, 3) * BETA

    def test_what_is_left_over_makes_later_conditions_cheaper(self):
        asked = bimodal().first(4).arguments(SHAPES["AND4"])
        plain, handed = (
            probe_ent(asked, redistribute=redistribute, entropy=SeededEntropy(1)).epsilon
            for redistribute in (False, True)
        )
        assert handed < plain


@pytest.mark.parametrize(
    ("field", "changed"),
    [
        ("slacks", {"slacks": [1, 2]}),
        ("slacks", {"slacks": [[0.5]]}),
        ("slacks", {"slacks": np.empty((0, 3), dtype=np.int64)}),
        ("slacks", {"slacks": np.ma.masked_array([[1], [2]])}),
        ("tree", {"tree": 2}),
        ("tree", {"tree": "Q0"}),
        ("sensitivities", {"sensitivities": [1]}),
        ("sensitivities[1]", {"sensitivities": [1, 0]}),
        ("sensitivities[0]", {"sensitivities": [1.5, 1]}),
        ("ranges", {"ranges": [1000] * 3}),
        ("ranges[0]", {"ranges": [0, 1]}),
        ("ranges[1]", {"ranges": [1000, 10**11], "sensitivities": [1, 2]}),
        ("miss_rate", {"miss_rate": 0}),
        ("miss_rate", {"miss_rate": "1.5"}),
        ("false_alarm_rate", {"false_alarm_rate": 0}),
        ("false_alarm_rate", {"false_alarm_rate": 1}),
        ("region", {"region": 0}),
        ("region", {"region": "1.1"}),
        ("max_epsilon", {"max_epsilon": 0}),
        ("levels", {"levels": 1}),
        ("levels", {"levels": 99}),
    ],
)
def test_bad_arguments_are_named_before_anything_is_drawn(field, changed):
    given = {"slacks": [[7919], [-7919]], "tree": every(0, 1), "sensitivities": [1, 1], "ranges": [1000, 1000]}
    asked = {**given, "miss_rate": "0.05", "false_alarm_rate": "0.10", **changed}
    conditions, rates = (
        tuple(asked.pop(name) for name in names) for names in (tuple(given), ("miss_rate", "false_alarm_rate"))
    )
    with pytest.raises(ArgumentError) as refused:
        probe_ent(conditions, rates, **asked, entropy=Forbidden())
    assert refused.value.field == field
    assert "7919" not in str(refused.value)


@pytest.mark.parametrize("levels", [np.int8(3), "3"], ids=repr)
def test_levels_of_any_accepted_kind_mean_the_same_number(levels):
    asked = bimodal().first(2).arguments(every(0, 1))
    answers = [probe_ent(asked, levels=each, entropy=SeededEntropy(1)) for each in (levels, 3)]
    assert answers[0].looks == answers[1].looks
    assert prices_of("probe-ent", *asked[1:], levels=levels) == prices_of("probe-ent", *asked[1:], levels=3)


def test_an_unknown_method_is_named():
    with pytest.raises(ArgumentError, match="method"):
        prices_of("certified", 0, [1], [1000])
    with pytest.raises(ArgumentError, match="method"):
        answered("certified", ([[1]], 0, [1], [1000]), entropy=Forbidden())


@pytest.mark.parametrize("method", ["naive", *TWO_PHASES])
@pytest.mark.parametrize("name", ["levels", "redistribute", "max_epsilom"])
def test_options_of_a_climb_and_misspelt_ones_are_refused_by_name(method, name):
    with pytest.raises(TypeError, match=f"{method} has no option {name}"):
        FAMILY[method](([[1]], 0, [1], [1000]), **{name: 4}, entropy=Forbidden())
