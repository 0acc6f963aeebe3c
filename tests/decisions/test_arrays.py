"""The mechanisms as calls on plain arrays: what is free, refused, too dear; edges; and margins from comparisons."""

import operator
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.amounts import Epsilon
from thresher.decisions import adaptive, naive_laplace, progressive, slack, threshold_shift, threshold_zone
from thresher.errors import ArgumentError, TooDearError
from thresher.noise import SeededEntropy

MECHANISMS = [naive_laplace, threshold_shift, threshold_zone, progressive, adaptive]
CLIMBING = [progressive, adaptive]
every = pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda function: function.__name__)
climbing = pytest.mark.parametrize("mechanism", CLIMBING, ids=lambda function: function.__name__)
MARGINS = np.array([-300, -2, 0, 1, 300])


class Untouchable:
    """Entropy that must not be read."""

    stamp = ""

    def read(self, count):
        raise AssertionError(f"{count} bytes were read")


class TestFree:
    """A rate of one half or more needs no data."""

    @pytest.mark.parametrize("mechanism", [naive_laplace, threshold_shift, progressive, adaptive])
    @pytest.mark.parametrize("rate", ["0.5", 0.75, 1])
    def test_nothing_is_read_and_nothing_lost(self, mechanism, rate):
        for margins in (MARGINS, -MARGINS):
            seen = mechanism(margins, 5, rate, entropy=Untouchable())
            assert seen.verdict.tolist() == seen.noisy.tolist() == [0] * 5, "the same, whatever the margins"
            assert seen.reported.all()
            assert seen.worst == seen.loss == Epsilon(0)
            assert seen.epsilons == (Epsilon(0),) * 5
            assert not seen.certain.any()

    @pytest.mark.parametrize("rates", [{"miss_rate": "0.5"}, {"false_alarm_rate": "0.5"}])
    def test_a_zone_promises_on_both_sides_and_is_never_free(self, rates):
        with pytest.raises(ArgumentError, match="must be below one half"):
            threshold_zone(MARGINS, 5, **rates, entropy=Untouchable())

    @pytest.mark.parametrize("mechanism", [naive_laplace, threshold_shift, progressive, adaptive])
    def test_the_other_rate_alone_does_not_make_it_free(self, mechanism, entropy):
        assert mechanism(MARGINS, 5, false_alarm_rate="0.6", entropy=entropy).worst > Epsilon(0)


REFUSED = [
    ("miss_rate", {"miss_rate": 0}),
    ("miss_rate", {"miss_rate": "-0.1"}),
    ("miss_rate", {"miss_rate": "1.01"}),
    ("miss_rate", {"miss_rate": float("nan")}),
    ("miss_rate", {"miss_rate": True}),
    ("miss_rate", {"miss_rate": None}),
    ("false_alarm_rate", {"false_alarm_rate": 0}),
    ("false_alarm_rate", {"false_alarm_rate": "1"}),
    ("max_epsilon", {"max_epsilon": -1}),
    ("max_epsilon", {"max_epsilon": float("nan")}),
    ("max_epsilon", {"max_epsilon": "lots"}),
    ("max_epsilon", {"max_epsilon": "0.0000000001"}),
]
CLIMBS_REFUSED = [
    ("levels", {"levels": 0}),
    ("levels", {"levels": -1}),
    ("levels", {"levels": 33}),
    ("levels", {"levels": 10**6}),
    ("levels", {"levels": 2.5}),
    ("levels", {"levels": True}),
    ("levels", {"levels": "4"}),
    ("first_epsilon", {"first_epsilon": 0}),
    ("first_epsilon", {"first_epsilon": -1}),
    ("first_epsilon", {"first_epsilon": float("nan")}),
    ("first_epsilon", {"first_epsilon": float("inf")}),
    ("first_epsilon", {"first_epsilon": "1e-10"}),
    ("first_epsilon", {"first_epsilon": "0.01234567891"}),
    ("first_epsilon", {"first_epsilon": 10**7}),
    ("first_epsilon", {"first_epsilon": "small"}),
]


def refusal(call):
    with pytest.raises(ArgumentError) as refused:
        call()
    return refused.value


class TestRefusals:
    """Each names its argument, and comes before any entropy is read."""

    @every
    @pytest.mark.parametrize(("field", "options"), REFUSED)
    def test_options(self, mechanism, field, options):
        assert refusal(lambda: mechanism(MARGINS, 5, **options, entropy=Untouchable())).field == field

    @climbing
    @pytest.mark.parametrize(("field", "options"), CLIMBS_REFUSED)
    def test_options_of_a_climb(self, mechanism, field, options):
        assert refusal(lambda: mechanism(MARGINS, 5, **options, entropy=Untouchable())).field == field

    @pytest.mark.parametrize("mechanism", [naive_laplace, threshold_shift, threshold_zone])
    @pytest.mark.parametrize("name", ["levels", "first_epsilon", "confidence"])
    def test_options_of_other_mechanisms_are_not_ignored(self, mechanism, name):
        with pytest.raises(TypeError, match=f"no option {name}"):
            mechanism(MARGINS, 5, **{name: 4}, entropy=Untouchable())

    @every
    @pytest.mark.parametrize("width", [0, -1, 2.5, True, "5", None, 1 << 40])
    def test_widths(self, mechanism, width):
        refused = refusal(lambda: mechanism(MARGINS, width, entropy=Untouchable()))
        assert refused.field == ("width" if mechanism is threshold_zone else "half_width")

    @every
    @pytest.mark.parametrize(
        "margins",
        [
            np.array([1.5, 2.5]),
            [1.0, 2.0],
            np.zeros((2, 2), int),
            np.array(5),
            5,
            "7919",
            [True, False],
            [[1], [2, 3]],
            [10**30, 0.5],
            [None],
            np.ma.array([1, 7919], mask=[False, True]),
        ],
        ids=lambda value: f"{type(value).__name__} {value}"[:40],
    )
    def test_margins(self, mechanism, margins):
        refused = refusal(lambda: mechanism(margins, 5, entropy=Untouchable()))
        assert refused.field == "margins"
        assert "7919" not in str(refused), "no element is shown"

    @pytest.mark.parametrize("field", ["miss_rate", "false_alarm_rate"])
    def test_a_zone_names_the_rate_that_is_too_large(self, field):
        assert refusal(lambda: threshold_zone(MARGINS, 5, **{field: "0.7"})).field == field

    @every
    def test_misspelt_options_are_refused(self, mechanism):
        with pytest.raises(TypeError):
            mechanism(MARGINS, 5, epsilon=1)
        with pytest.raises(TypeError):
            mechanism(MARGINS, 5, "0.05", "0.1", "misses")
        with pytest.raises(TypeError, match="bound"):
            mechanism(MARGINS, 5, bound="false_alarms")


@every
def test_what_is_too_dear_is_refused_before_anything_is_drawn(mechanism, entropy):
    price = mechanism(MARGINS, 5, entropy=entropy).worst
    with pytest.raises(TooDearError) as refused:
        mechanism(MARGINS, 5, max_epsilon=price - Epsilon("0.000000001"), entropy=Untouchable())
    assert refused.value.cost == price
    assert refused.value.limit_name == "max_epsilon"
    assert mechanism(MARGINS, 5, max_epsilon=price, entropy=entropy).worst == price
    with pytest.raises(TooDearError):
        mechanism(-MARGINS, 5, max_epsilon=0, entropy=Untouchable())


class TestEdges:
    @climbing
    def test_one_level_is_a_threshold_shift(self, mechanism):
        """The same price, promise and, from the same seed, verdicts; also if the first level is not below the last."""
        margins = np.arange(-40, 40)
        one_look = threshold_shift(margins, 5, entropy=SeededEntropy(8))
        for options in ({"levels": 1}, {"first_epsilon": 3}, {"levels": 32, "first_epsilon": "1000"}):
            seen = mechanism(margins, 5, **options, entropy=SeededEntropy(8))
            assert (seen.worst, seen.clear, seen.half_width) == (one_look.worst, one_look.clear, one_look.half_width)
            assert (seen.verdict == one_look.verdict).all()
            assert (np.asarray(seen.noisy) == np.asarray(one_look.noisy)).all()

    def test_best_effort_with_one_level_too(self):
        one_look = threshold_shift(MARGINS, 5, entropy=SeededEntropy(8))
        seen = adaptive(MARGINS, 5, levels=1, best_effort=True, entropy=SeededEntropy(8))
        assert (seen.worst, seen.clear) == (one_look.worst, one_look.clear)
        assert (seen.verdict == one_look.verdict).all()

    @climbing
    @pytest.mark.parametrize("options", [{"first_epsilon": "0.000000001"}, {"levels": 32}, {"levels": 2}])
    def test_the_ends_of_what_is_allowed(self, mechanism, options, entropy):
        seen = mechanism(np.array([-(10**11), 0, 10**11]), 5, **options, entropy=entropy)
        assert seen.verdict.tolist()[::2] == [-1, 1]
        assert list(seen.levels) == sorted(set(seen.levels))

    @every
    def test_one_group(self, mechanism, entropy):
        seen = mechanism([40_000], 5, entropy=entropy)
        assert seen.verdict.tolist() == [1]
        assert seen.loss == seen.levels[int(seen.stopped[0])] <= seen.worst

    @every
    def test_no_group(self, mechanism, entropy):
        seen = mechanism(np.empty(0, dtype=np.int64), 5, entropy=entropy)
        assert seen.verdict.size == seen.noisy.size == seen.reported.size == 0
        assert seen.loss == Epsilon(0)
        assert seen.half_width == 0

    @climbing
    def test_all_groups_decided_at_once(self, mechanism, entropy):
        seen = mechanism(np.array([-(10**9), 10**9] * 50), 5, first_epsilon="0.01", entropy=entropy)
        assert seen.levels == (Epsilon("0.01"),)
        assert seen.loss == Epsilon("0.01") < seen.worst
        assert seen.verdict.tolist() == [-1, 1] * 50

    @every
    @pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int16, np.uint32, np.int64, ">i4"])
    def test_every_kind_of_whole_number(self, mechanism, kind):
        values = [0, 1, 100]
        plain = mechanism(np.array(values), 5, entropy=SeededEntropy(2))
        assert (mechanism(np.array(values, dtype=kind), 5, entropy=SeededEntropy(2)).verdict == plain.verdict).all()
        assert (mechanism(values, 5, entropy=SeededEntropy(2)).verdict == plain.verdict).all()

    @every
    def test_the_widest_and_the_farthest(self, mechanism, entropy):
        far = np.array([-(2**62), 2**62])
        assert mechanism(far, 5, entropy=entropy).verdict.tolist() == [-1, 1]
        assert mechanism(far, (1 << 39) - 1, entropy=entropy).worst == Epsilon("0.000000001")
        assert mechanism([-(10**30), 10**30], 5, entropy=entropy).verdict.tolist() == [-1, 1]
        assert mechanism(np.array([2**63], dtype=np.uint64), 5, entropy=entropy).verdict.tolist() == [1]

    @every
    def test_rates_at_the_edges(self, mechanism, entropy):
        """Tiny rates, and one just below the half from which it would be free."""
        assert mechanism(MARGINS, 5, "1e-30", "1e-30", entropy=entropy).worst > Epsilon(5)
        assert mechanism(MARGINS, 5, "0.49999999999999999", "0.1", entropy=entropy).worst > Epsilon(0)

    @every
    def test_margins_are_left_as_they_were(self, mechanism, entropy):
        margins = MARGINS.copy()
        margins.setflags(write=False)
        mechanism(margins, 5, entropy=entropy)
        assert (margins == MARGINS).all()


COMPARISONS = {">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le}
NUMBERS = st.integers(-(10**6), 10**6)
LINES = st.one_of(
    NUMBERS, st.fractions(-(10**4), 10**4, max_denominator=60), st.floats(-1e4, 1e4).map(lambda x: round(x, 6))
)


class TestSlack:
    @given(st.lists(st.tuples(NUMBERS, LINES), min_size=1, max_size=8), st.sampled_from(list(COMPARISONS)))
    def test_it_is_zero_or_more_exactly_where_the_comparison_holds(self, pairs, comparison):
        values, thresholds = zip(*pairs, strict=True)
        margins = slack(list(values), comparison, list(thresholds))
        for margin, value, threshold in zip(margins.tolist(), values, thresholds, strict=True):
            exact = Fraction(str(threshold)) if isinstance(threshold, float) else Fraction(threshold)
            assert (margin >= 0) == COMPARISONS[comparison](value, exact)

    @given(NUMBERS, LINES, st.sampled_from(list(COMPARISONS)))
    def test_one_more_moves_it_by_one(self, value, threshold, comparison):
        low, high = slack([value, value + 1], comparison, threshold).tolist()
        assert high - low == (1 if comparison in (">", ">=") else -1)

    @pytest.mark.parametrize(
        ("comparison", "threshold", "margins"),
        [
            (">", 6, [-1, 0, 1]),
            (">=", 6, [0, 1, 2]),
            ("<", 7, [0, -1, -2]),
            ("<=", 7, [1, 0, -1]),
            (">", "6.5", [-1, 0, 1]),
            (">=", Fraction(13, 2), [-1, 0, 1]),
            ("<", 6.5, [0, -1, -2]),
            ("<=", "6.5", [0, -1, -2]),
        ],
    )
    def test_by_hand(self, comparison, threshold, margins):
        assert slack([6, 7, 8], comparison, threshold).tolist() == margins

    @pytest.mark.parametrize(
        "threshold", [5, np.int64(5), np.array(5), np.array(5.0), "5", Fraction(5), [5, 5], (5, 5)]
    )
    def test_every_way_to_write_a_threshold(self, threshold):
        assert slack([5, 6], ">", threshold).tolist() == [-1, 0]

    @pytest.mark.parametrize(
        ("field", "call"),
        [
            ("comparison", lambda: slack([1], "=", 1)),
            ("comparison", lambda: slack([1], None, 1)),
            ("values", lambda: slack([1.5], ">", 1)),
            ("values", lambda: slack([[1]], ">", 1)),
            ("thresholds", lambda: slack([1], ">", float("nan"))),
            ("thresholds", lambda: slack([1], ">", float("inf"))),
            ("thresholds", lambda: slack([1], ">", None)),
            ("thresholds", lambda: slack([1], ">", True)),
            ("thresholds", lambda: slack([1], ">", 2**40)),
            ("thresholds", lambda: slack([1], ">", -(2**40))),
            ("thresholds", lambda: slack([1], ">", 1e300)),
            ("thresholds", lambda: slack([1, 2], ">", [1, 2, 3])),
            ("thresholds", lambda: slack([1, 2], ">", [1])),
            ("thresholds", lambda: slack([1], ">", [])),
            ("thresholds", lambda: slack([1, 2], ">", [[1, 2]])),
            ("thresholds", lambda: slack([1, 2], ">", [[1], [2, 3]])),
            ("thresholds", lambda: slack([1, 2], ">", np.ma.array([1, 2], mask=[True, False]))),
            ("thresholds[1]", lambda: slack([1, 2], ">", [1, float("nan")])),
            ("thresholds[1]", lambda: slack([1, 2], ">", ["1", "x"])),
            ("thresholds[0]", lambda: slack([1, 2], ">", [2**41, 1])),
        ],
    )
    def test_bad_arguments_are_named(self, field, call):
        assert refusal(call).field == field

    def test_values_beyond_any_threshold_keep_their_side(self):
        line = 2**40 - 1
        for far in (2**50, 2**62):
            assert (slack([far, -far], ">", line) >= 0).tolist() == [True, False]
            assert (slack([far, -far], "<", -line) >= 0).tolist() == [False, True]

    def test_no_value_at_all(self):
        assert slack(np.empty(0, dtype=np.int64), ">", 5).tolist() == []
        assert slack(np.empty(0, dtype=np.int64), ">", np.empty(0)).tolist() == []
