"""`docs/declarations.md` names every field, and its examples are right."""

import re
from pathlib import Path

import pytest

from thresher.config import load, read
from thresher.config.kinds import COLUMN_FIELDS
from thresher.config.loading import (
    FILE_FIELDS,
    LEDGER_FIELDS,
    LIMITS_FIELDS,
    PUBLIC_FIELDS,
    SOURCE_FIELDS,
    TABLE_FIELDS,
)
from thresher.config.own_budgets import ROSTER_FIELDS
from thresher.errors import DeclarationError

PAGE = (Path(__file__).parents[2] / "docs" / "declarations.md").read_text()
EXAMPLES = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
FIELDS = sorted(
    {*SOURCE_FIELDS, *LEDGER_FIELDS, *LIMITS_FIELDS, *PUBLIC_FIELDS, *TABLE_FIELDS, *COLUMN_FIELDS, *ROSTER_FIELDS}
)
AROUND = '[source]\nurl = "duckdb://"\n[tables.visits]\nbudget = 1\nunit = "patient_id"\n'


def whole(example):
    """An example as a file: what it leaves out is added."""
    if "[source]" in example:
        return example
    return AROUND + ("" if ".columns]" in example else "columns.x = { text = true }\n") + example


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.split("\n")[1])
def test_examples_load(example, tmp_path):
    path = tmp_path / "thresher.toml"
    path.write_text(whole(example))
    assert load(path).tables["visits"]


@pytest.mark.parametrize("field", FIELDS)
def test_every_field_is_documented_and_shown(field):
    prose = re.sub(r"```.*?```", "", PAGE, flags=re.DOTALL)
    assert re.search(rf"`{field}( = [^`]*)?`", prose) or re.search(rf"\*\*`{field} = ", prose), "documented"
    assert any(re.search(rf"\b{field}( =|\])", example) for example in EXAMPLES), "shown in an example"


@pytest.mark.parametrize("section", FILE_FIELDS)
def test_every_section_is_documented(section):
    assert re.search(rf"`\[{section}(\.NAME)?\]`", PAGE)


def test_a_setting_of_an_example_is_refused_once_it_is_misspelt():
    """What the examples show is what is read: no setting is passed over."""
    for example in EXAMPLES:
        for line in whole(example).split("\n"):
            if (setting := re.match(r"(\w+) = ", line)) and setting[1] in FIELDS:
                spoilt = whole(example).replace(line, line.replace(setting[1], f"{setting[1]}x", 1), 1)
                with pytest.raises(DeclarationError, match=f"unknown field `{setting[1]}x`"):
                    read(spoilt, ".")


def test_the_whole_example_uses_every_setting_of_a_table():
    text = EXAMPLES[0]
    assert all(
        re.search(rf"^{field} = ", text, re.MULTILINE)
        for field in TABLE_FIELDS
        if field not in ("file", "columns", "budget_column", "budget_roster", "account", "snapshot")
    )
