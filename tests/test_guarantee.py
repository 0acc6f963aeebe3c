"""Promises in words: no probability is stated that is better than the one that is kept."""

from fractions import Fraction

import pytest

from thresher.guarantee import CountedRows, Guarantee, least_percent, percent

NEARLY_SURE = Fraction(10**9 - 1, 10**9)


@pytest.mark.parametrize(
    ("share", "most", "least"),
    [
        ("0.95", "95 %", "95 %"),
        ("0.000001", "0.0001 %", "0.0001 %"),
        ("1/3", "33.334 %", "33.333 %"),
        ("999999999/1000000000", "100 %", "99.999 %"),
        ("1/1000000000", "0.001 %", "0 %"),
    ],
)
def test_a_probability_is_rounded_to_the_side_that_promises_less(share, most, least):
    assert percent(Fraction(share)) == most
    assert least_percent(Fraction(share)) == least


@pytest.mark.parametrize("reached", [{}, {"share": "0.05"}])
def test_a_confidence_below_one_is_never_shown_as_certainty(reached):
    facts = {"aim": "0.1", "confidence": str(NEARLY_SURE), **reached}
    promise = Guarantee("labels", Fraction(1, 20), Fraction(1, 100), facts=facts)
    assert "with confidence 99.999 %" in promise.sentence.lower()
    weighted = {"confidence": str(NEARLY_SURE), "aggregate": "count", "share": "0.1", "budget": "their budget"}
    number = Guarantee("weighted count", half_width=Fraction(5), facts=weighted)
    assert "with probability at least 99.999 %" in number.sentence


@pytest.mark.parametrize(("clear", "shown"), [(1, "1 patient or more"), (2, "2 patients or more")])
def test_one_person_is_not_several(clear, shown):
    rates = Fraction(1, 20), Fraction(1, 10)
    promise = Guarantee("line", *rates, Fraction(1), Fraction(clear), rows=CountedRows("patient_id"))
    assert f"A group that is {shown} short of its condition" in promise.sentence
