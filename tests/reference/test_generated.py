"""The parts of the reference that follow from the code are what the code says.

    UPDATE_REFERENCE=1 python -m pytest -q tests/reference

writes them anew: the table of the options of a decision (`engine.md`) and all commands (`commands.md`).
"""

import os
import re
from pathlib import Path

import click
import pytest
from reference.generated_tables import (
    BROKEN,
    VALID,
    commands,
    commands_page,
    meanings_of,
    options_table,
    plain,
    split_default,
)

from thresher.cli import COMMANDS
from thresher.decisions.decision_options import NAMES, DecisionOptions
from thresher.decisions.mechanisms import MECHANISMS

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
UPDATE = "UPDATE_REFERENCE=1 python -m pytest -q tests/reference"
PARTS = {"engine": options_table, "commands": commands_page}
FIRST, LAST = "<!-- This part is generated. -->\n", "\n<!-- Here the generated part ends. -->"


def with_part(page: str, part: str) -> str:
    """Return a page with its generated part replaced."""
    before, _, rest = page.partition(FIRST)
    _, _, after = rest.partition(LAST)
    return f"{before}{FIRST}\n{part}\n{LAST}{after}"


@pytest.mark.parametrize("name", PARTS)
def test_the_generated_part_is_what_the_code_says(name):
    path = REFERENCE / f"{name}.md"
    page = path.read_text()
    assert page.count(FIRST) == page.count(LAST) == 1
    written = with_part(page, PARTS[name]())
    if os.environ.get("UPDATE_REFERENCE"):
        path.write_text(written)
        return
    assert page == written, f"If the code is right: {UPDATE}"


def test_a_planted_difference_is_seen():
    page = (REFERENCE / "engine.md").read_text()
    planted = page.replace("| 0.98 |", "| 0.99 |")
    assert planted != page
    assert with_part(planted, options_table()) == page


def test_every_option_of_a_decision_has_a_meaning_and_a_rule():
    assert list(meanings_of(DecisionOptions)) == list(NAMES)
    assert set(BROKEN) == set(VALID) == set(NAMES)
    assert "all mechanisms" in options_table()
    assert all(f"`{name}`" in options_table() for name in MECHANISMS)


def test_every_command_and_option_says_what_it_means():
    listed = dict(commands())
    assert set(COMMANDS) <= set(listed)
    assert len(listed) > len(COMMANDS)
    for name, command in listed.items():
        assert command.help, name
        for option in command.params:
            assert not isinstance(option, click.Option) or split_default(option.help or "")[0], f"{name} {option.name}"
        assert isinstance(command, click.Group) or "as_json" in {option.name for option in command.params}, name


def test_the_command_line_states_the_defaults_of_the_options():
    """Its help texts are written by hand; the table of options follows from the code."""
    rows = re.findall(r"^\| `(\w+)` .*\| ([^|]+) \|$", options_table(), re.MULTILINE)
    defaults = {name: default.strip("`") for name, default in rows}
    for command in ("plan", "ask"):
        for option in dict(commands())[command].params:
            stated = split_default(option.help or "")[1] if isinstance(option, click.Option) else ""
            if option.name in defaults and stated not in ("", "as declared"):
                assert stated.rstrip("0") == defaults[option.name].rstrip("0"), option.name


@pytest.mark.parametrize(
    ("text", "meaning", "default"),
    [
        ("How fine: 20, or 10%.", "How fine: 20, or 10%.", ""),
        ("Chance of a miss [0.05].", "Chance of a miss.", "0.05"),
        ("How to measure [certified]. tslm: once.", "How to measure. tslm: once.", "certified"),
        ("Wait this long. Default: 0.", "Wait this long.", "0"),
        ("Which steps. Default: the last 288.", "Which steps.", "the last 288"),
        ("sqlite:///FILE or postgresql://... [as declared]", "sqlite:///FILE or postgresql://...", "as declared"),
    ],
)
def test_a_default_in_a_help_text_is_found(text, meaning, default):
    assert split_default(text) == (meaning, default)


def test_signs_of_markdown_stand_for_themselves():
    assert plain("COUNT(*) `a|b` x_y|z") == r"COUNT(\*) `a|b` x\_y\|z"
