"""The page about questions is true: its examples are asked, its rules are the rules."""

import re
from pathlib import Path

import pytest
from sql.declared_clinic import DECLARATIONS, PUBLIC, ask
from test_hostile_statements import CORPUS

import thresher.sql
from thresher.asks.merging import IN_TEXT
from thresher.sql import RULES
from thresher.sql.known_words import FUNCTIONS
from thresher.sql.tokens import DEEPEST, MOST_BYTES, MOST_CONDITIONS, MOST_WORDS

PAGE = (Path(__file__).parents[2] / "docs" / "questions.md").read_text()
EXAMPLES = re.findall(r"```sql\n(.*?)```", PAGE, re.DOTALL)
SOURCE = Path(thresher.sql.__file__).parent


def test_there_are_examples():
    assert len(EXAMPLES) >= 5


@pytest.mark.parametrize("example", EXAMPLES)
def test_examples_are_questions(example):
    assert not isinstance(ask(example, DECLARATIONS, PUBLIC).formula, bool)


def test_the_table_lists_every_rule_once():
    listed = re.findall(r"^\| `([a-z-]+)` \|", PAGE, re.MULTILINE)
    assert sorted(listed) == sorted(RULES)


def test_every_rule_is_used_and_no_other():
    used = set()
    for path in SOURCE.glob("*.py"):
        if path.name != "refusals.py":
            used |= set(re.findall(r'(?:Refusal|QuestionError)\(\s*"([a-z-]+)"', path.read_text()))
    from_lists = set(re.findall(r'^    \("([a-z-]+)", _', (SOURCE / "known_words.py").read_text(), re.MULTILINE))
    from_lists |= set(re.findall(r'^        "([a-z-]+)",$', (SOURCE / "known_words.py").read_text(), re.MULTILINE))
    assert used | from_lists == set(RULES)


def test_the_corpus_breaks_every_rule_that_text_alone_can_break():
    elsewhere = {"query-size", "too-many-conditions"}
    assert {rule for _, rule, _ in CORPUS} == set(RULES) - elsewhere


def test_the_numbers_on_the_page_are_the_limits():
    assert f"{MOST_BYTES // 1024} kB, {MOST_WORDS:,} words, or {DEEPEST} levels" in PAGE
    assert f"more than {MOST_CONDITIONS} comparisons" in PAGE
    assert f"{DECLARATIONS.max_groups:,} of them" in PAGE
    assert all(f"`{option}`" in PAGE for option in IN_TEXT)
    assert all(f"`{function}(" in PAGE for function in FUNCTIONS)
