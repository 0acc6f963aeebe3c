"""A corpus of hostile statements: each is refused by the rule that stands above it, and quickly."""

import time
from pathlib import Path

import pytest
from sql.declared_clinic import DECLARATIONS, PUBLIC, ask

from thresher.errors import QuestionError
from thresher.sql import RULES

MARK = "-- rule: "


def corpus() -> list[tuple[str, str, str]]:
    """File, rule and statement; a statement goes on until the next rule."""
    found = []
    for path in sorted(Path(__file__).parent.glob("hostile/*.sql")):
        _, *blocks = ("\n" + path.read_text()).split("\n" + MARK)
        for block in blocks:
            rule, statement = block.split("\n", 1)
            found.append((path.stem, rule.strip(), statement.removesuffix("\n")))
    return found


CORPUS = corpus()


def test_the_corpus_is_large_and_names_known_rules():
    assert len({statement for _, _, statement in CORPUS}) >= 250
    assert {rule for _, rule, _ in CORPUS} <= set(RULES)


@pytest.mark.parametrize(
    ("rule", "statement"), [pytest.param(r, s, id=f"{f}-{i}") for i, (f, r, s) in enumerate(CORPUS)]
)
def test_a_hostile_statement_is_refused_by_its_rule(rule, statement):
    started = time.perf_counter()
    with pytest.raises(QuestionError) as caught:
        ask(statement, DECLARATIONS, PUBLIC)
    assert caught.value.rule == rule, caught.value
    assert time.perf_counter() - started < 2
    lines = statement.split("\n")
    if caught.value.line is not None:
        assert 1 <= caught.value.line <= len(lines)
        assert 1 <= caught.value.column <= len(lines[caught.value.line - 1]) + 1
