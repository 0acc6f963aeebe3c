"""`docs/streams.md` names every field, and its examples are right."""

import re
from pathlib import Path

import pytest

from thresher.config import read
from thresher.config.streams import ALARM_FIELDS, ALARM_KINDS, MECHANISMS, PRUNINGS, SMOOTHERS, STREAM_FIELDS
from thresher.errors import DeclarationError
from thresher.streams.stream_plan import plan_stream

PAGE = (Path(__file__).parents[2] / "docs" / "streams.md").read_text()
EXAMPLES = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
PROSE = re.sub(r"```.*?```", "", PAGE, flags=re.DOTALL)
FIELDS = sorted({*STREAM_FIELDS, *ALARM_FIELDS})


@pytest.mark.parametrize("example", EXAMPLES, ids=range(len(EXAMPLES)))
def test_examples_load_and_can_be_planned(example):
    (declared,) = read(example, ".").streams.values()
    assert f"stream     {declared.name}:" in str(plan_stream(declared))


@pytest.mark.parametrize("field", FIELDS)
def test_every_field_has_a_row_and_is_shown(field):
    assert re.search(rf"^\| `{field}` \| \S", PROSE, re.MULTILINE), "documented"
    shown = rf"^{field} = |\.{field}(\.\w+)?\]$"
    assert any(re.search(shown, example, re.MULTILINE) for example in EXAMPLES), "shown in an example"


def test_no_row_is_about_a_field_that_is_not_there():
    assert set(re.findall(r"^\| `(\w+)` \|", PROSE, re.MULTILINE)) - {"protect"} <= set(FIELDS)


@pytest.mark.parametrize("word", sorted({*MECHANISMS, *SMOOTHERS, *PRUNINGS, *ALARM_KINDS} - {""}))
def test_every_choice_is_named(word):
    assert f'`"{word}"`' in PROSE


def test_a_setting_of_an_example_is_refused_once_it_is_misspelt():
    for example in EXAMPLES:
        for field in FIELDS:
            if re.search(rf"^{field} = ", example, re.MULTILINE):
                spoilt = re.sub(rf"^{field} = ", f"{field}x = ", example, count=1, flags=re.MULTILINE)
                with pytest.raises(DeclarationError, match=f"unknown field `{field}x`"):
                    read(spoilt, ".")


def test_the_figures_of_the_modes_are_those_of_the_plans():
    example = EXAMPLES[0]
    for mode, step, day in (('"event"', "1", "288"), ("288", "0.003472222", "0.999999936"), ('"unit"', "1", "1")):
        (declared,) = read(example.replace("protect = 288", f"protect = {mode}"), ".").streams.values()
        plan = plan_stream(declared)
        assert (str(plan.step_epsilon), str(plan.lost_within(288))) == (step, day)
