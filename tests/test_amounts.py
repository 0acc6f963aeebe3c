import copy
import json
import pickle
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.amounts import MAX_NANO, NANO, Epsilon, exact_fraction, whole_number
from thresher.errors import AnalystError, ArgumentError

nanos = st.integers(0, MAX_NANO // 4)
epsilons = nanos.map(Epsilon.from_nano)


def test_ten_tenths_are_one():
    assert 10 * Epsilon("0.1") == Epsilon(1)
    assert Epsilon.total([Epsilon(0.1)] * 10) == Epsilon("1.0")


@pytest.mark.parametrize(
    "value", ["0.1", "0.100", "1e-1", ".1", "+0.1", 0.1, Decimal("0.1"), Fraction(1, 10), np.float64(0.1)]
)
def test_all_exact_forms_of_one_tenth_agree(value):
    assert Epsilon(value).nano == 100_000_000


def test_integers_of_numpy_are_integers():
    assert Epsilon(np.int64(2)) == Epsilon(2)


@pytest.mark.parametrize(
    "value",
    [
        True,
        np.True_,
        None,
        float("nan"),
        float("inf"),
        Decimal("NaN"),
        Decimal("Infinity"),
        "",
        "x",
        "1,5",
        "１",
        "1_0",
        " 1",
        "0x1",
        "1/3",
        "inf",
        "nan",
        "0.05x",
        b"1",
        [1],
        1 + 0j,
        np.float32(0.1),
        -1,
        "-0.1",
        -0.5,
        0.1 + 0.2,
        Fraction(1, 3),
        "0.0000000001",
        5e-324,
        1e-320,
        1e308,
        "1e9999",
        "1e-9999",
        Decimal("1e999999999"),
        Decimal("1e-999999999"),
        10**400,
        Fraction(1, 10**400),
        1_000_001,
        "9" * 200,
    ],
)
def test_what_is_not_an_exact_amount_is_refused_by_name(value):
    with pytest.raises(ArgumentError, match=r"^epsilon = .* is refused: .+\. .+\.$") as refusal:
        Epsilon(value)
    assert len(str(refusal.value)) < 400


def test_a_spend_rounds_up():
    assert Epsilon.covering(Fraction(1, 3)).nano == 333_333_334
    assert Epsilon.covering("0.1") == Epsilon("0.1")
    assert Epsilon.covering(Fraction(1, 10**30)).nano == 1


@pytest.mark.parametrize("other", [0.1, "0.1", 1, Decimal("0.1"), None])
def test_amounts_mix_with_amounts_only(other):
    with pytest.raises(TypeError):
        Epsilon("0.1") + other
    with pytest.raises(TypeError):
        Epsilon("0.1") - other
    with pytest.raises(TypeError):
        assert Epsilon("0.1") < other
    assert Epsilon("0.1") != other


@pytest.mark.parametrize("times", [0.5, "2", True, Fraction(1, 2)])
def test_multiples_are_whole(times):
    with pytest.raises(TypeError):
        Epsilon("0.1") * times


def test_results_that_are_no_amounts_are_refused():
    with pytest.raises(AnalystError, match="below zero"):
        Epsilon("0.1") - Epsilon("0.100000001")
    with pytest.raises(AnalystError, match="million"):
        Epsilon(1_000_000) + Epsilon.from_nano(1)
    with pytest.raises(AnalystError, match="below zero"):
        Epsilon(1) * -1
    with pytest.raises(AnalystError, match="too large"):
        Epsilon(1) * 10**5000


def test_a_refused_result_is_shown_as_a_decimal():
    with pytest.raises(ArgumentError, match=r"^epsilon = '-1' is refused"):
        Epsilon(1) - Epsilon(2)
    with pytest.raises(ArgumentError, match=r"^epsilon = '-0\.000000001' is refused"):
        Epsilon("0.1") - Epsilon("0.100000001")


@pytest.mark.parametrize("value", [2.0, (2, 3), 0.5, "x", None, True, np.True_])
def test_an_integer_field_asks_for_an_integer(value):
    with pytest.raises(ArgumentError, match=r"^seed = .* it must be an integer\. Pass an int such as 5\.$"):
        whole_number(value, "seed")


@pytest.mark.parametrize("text", ["1e-100000000", "1e99999999999999999999", "9" * 200])
def test_a_number_out_of_bounds_is_not_called_infinite(text):
    with pytest.raises(ArgumentError, match="too large or too fine"):
        exact_fraction(text, "miss_rate")


def test_amounts_are_frozen_hashable_and_survive_copying():
    amount = Epsilon("0.25")
    with pytest.raises(AttributeError):
        amount.nano = 0
    assert {amount: 1}[Epsilon(Fraction(1, 4))] == 1
    assert pickle.loads(pickle.dumps(amount)) == copy.deepcopy(amount) == amount  # noqa: S301
    assert repr(amount) == "Epsilon('0.25')"
    assert float(amount) == 0.25
    assert bool(amount)
    assert not Epsilon(0)


@given(epsilons)
def test_text_json_and_decimal_round_trip(amount):
    assert Epsilon(str(amount)) == amount
    assert Epsilon(amount.decimal) == amount
    assert Epsilon(amount.fraction) == amount
    assert Epsilon.from_json(json.loads(json.dumps(amount.to_json()))) == amount


@pytest.mark.parametrize("text", [0.1, 1, None, ["0.1"]])
def test_json_amounts_are_strings(text):
    with pytest.raises(ArgumentError, match="decimal string"):
        Epsilon.from_json(text)


@given(epsilons, epsilons)
def test_sums_and_differences_never_lose_a_unit(a, b):
    assert (a + b).nano == a.nano + b.nano
    assert (a + b) - b == a
    assert (a < b) == (a.nano < b.nano)
    assert (a <= b) == (a.fraction <= b.fraction)
    assert max(a, b).nano == max(a.nano, b.nano)


@given(epsilons, st.integers(1, 1000))
def test_splitting_gives_all_of_it(amount, parts):
    shares = amount.split(parts)
    assert len(shares) == parts
    assert Epsilon.total(shares) == amount
    assert max(shares).nano - min(shares).nano <= 1


def test_fractions_of_numpys_integers_do_not_wrap():
    assert Epsilon(Fraction(np.int64(1), 10)) == Epsilon("0.1")


@pytest.mark.parametrize("value", [Decimal("sNaN"), np.array([1]), np.array(True), np.array(0.5), "-0.0000000001"])
def test_other_ways_to_be_no_amount_are_refused(value):
    with pytest.raises(ArgumentError, match=r"^epsilon = "):
        Epsilon(value)
    with pytest.raises(ArgumentError, match=r"^epsilon = "):
        Epsilon.covering(value)


@pytest.mark.parametrize("amounts", [[1], ["0.1"], None])
def test_a_total_adds_amounts_only(amounts):
    with pytest.raises(TypeError):
        Epsilon.total(amounts)


@pytest.mark.parametrize("parts", [0, -1, 1.5, True, 10**9])
def test_splitting_into_nothing_is_refused(parts):
    with pytest.raises(ArgumentError, match="parts"):
        Epsilon(1).split(parts)


@given(st.fractions(0, 1000))
def test_covering_is_the_least_amount_above(number):
    amount = Epsilon.covering(number)
    assert amount.fraction >= number
    assert amount.fraction - number < Fraction(1, NANO)


@given(st.floats(min_value=1e-30, max_value=1e30))
def test_a_float_means_what_it_prints(number):
    assert exact_fraction(number, "x") == Fraction(repr(number))


@given(st.decimals(0, 1000, places=9))
def test_nine_decimals_are_always_exact(number):
    assert Epsilon(str(number)).fraction == Fraction(number)
