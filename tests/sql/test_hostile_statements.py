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


def fault(rule: str, statement: str) -> str:
    """Return what is wrong about the answer to a statement that a rule must refuse, or nothing."""
    started = time.perf_counter()
    try:
        ask(statement, DECLARATIONS, PUBLIC)
    except QuestionError as refused:
        seconds, error = time.perf_counter() - started, refused
    except Exception as error:  # noqa: BLE001 - listed with the others
        return f"raised {error!r}"
    else:
        return "accepted"
    if error.rule != rule:
        return f"refused by {error.rule}: {error}"
    if seconds >= 2:
        return f"refused after {seconds:.1f} seconds"
    lines = statement.split("\n")
    if error.line is not None and not (
        1 <= error.line <= len(lines) and 1 <= error.column <= len(lines[error.line - 1]) + 1
    ):
        return f"refused at line {error.line}, column {error.column}, where it has no text"
    return ""


@pytest.mark.parametrize("file", sorted({file for file, _, _ in CORPUS}))
def test_hostile_statements_are_refused_by_their_rules(file):
    faults = [(statement, rule, fault(rule, statement)) for stem, rule, statement in CORPUS if stem == file]
    assert [faulty for faulty in faults if faulty[-1]] == []


def test_each_fault_of_a_refusal_is_named(monkeypatch):
    _, rule, statement = CORPUS[0]
    assert fault(rule, statement) == ""
    assert fault("another rule", statement).startswith(f"refused by {rule}: ")
    assert fault(rule, "SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) > 5") == "accepted"
    monkeypatch.setitem(globals(), "ask", lambda *_: 1 / 0)
    assert fault(rule, statement).startswith("raised ZeroDivisionError")
