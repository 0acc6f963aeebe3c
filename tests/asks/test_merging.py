import pytest

from thresher.asks.merging import merged
from thresher.errors import ArgumentError

ALLOWED = ("miss_rate", "false_alarm_rate", "share")


def test_options_of_the_text_and_of_arguments_are_merged_and_none_is_left_out():
    found = merged({"miss_rate": "0.05"}, {"share": 0.25, "false_alarm_rate": None}, ALLOWED, "a count")
    assert found == {"miss_rate": "0.05", "share": 0.25}


def test_false_and_zero_are_given():
    assert merged({}, {"share": 0, "miss_rate": False}, ALLOWED, "a count") == {"share": 0, "miss_rate": False}


@pytest.mark.parametrize("passed", ["0.05", "0.1", 0.05, False])
def test_an_option_in_both_places_is_refused_even_if_both_agree(passed):
    with pytest.raises(ArgumentError, match=r"the question's text says 0\.05 already") as refused:
        merged({"miss_rate": "0.05"}, {"miss_rate": passed}, ALLOWED, "a count")
    assert refused.value.field == "miss_rate"


@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize(
    ("written", "near"),
    [("mis_rate", "miss_rate"), ("missrate", "miss_rate"), ("false_alarms_rate", "false_alarm_rate")],
)
def test_a_misspelt_option_is_refused_with_the_nearest_name(written, near, place):
    given = [{}, {}]
    given[place] = {written: "0.05"}
    with pytest.raises(ArgumentError, match=f"Did you mean {near}") as refused:
        merged(*given, ALLOWED, "a count")
    assert refused.value.field == written


@pytest.mark.parametrize("known", [(), ("max_epsilon", "miss_rates")])
def test_an_option_of_another_question_does_not_apply(known):
    with pytest.raises(ArgumentError, match=r"it does not apply to a count.*false_alarm_rate, miss_rate, share"):
        merged({}, {"max_epsilon": 1}, ALLOWED, "a count", known)


def test_a_known_option_is_not_called_misspelt():
    with pytest.raises(ArgumentError, match="does not apply"):
        merged({}, {"miss_rates": 1}, ALLOWED, "a count", ("miss_rates",))


def test_a_very_long_name_is_refused_at_once():
    with pytest.raises(ArgumentError):
        merged({}, {"m" * 10**6: 1}, ALLOWED, "a count")
