"""Identities, keys and stored bytes of some 200 questions stay what they are, unless somebody means to change them.

    UPDATE_GOLDEN=1 python -m pytest -q tests/golden

writes `golden.txt` anew. Say in the changelog what the change means for books that exist; each message below does.
"""

import os
from pathlib import Path

import pytest
from golden.golden_cases import cases

FIXTURE = Path(__file__).with_name("golden.txt")
UPDATE = "UPDATE_GOLDEN=1 python -m pytest -q tests/golden"
# What it means if a fact is another one, by the first word of its name.
MEANINGS = {
    "family": "the ledger holds such charges under another kind, and may not know those of earlier books",
    "account": "another budget pays: what was lost before is no longer counted together with it",
    "price": "the same question costs something else",
    "key": "stored answers are not found again: questions cost again; a step of a stream could be drawn twice",
    "question": "the question is another one: answers that were paid for are no longer free",
    "measurement": "the measurement is another one: earlier answers can no longer be refined",
    "stored": "other bytes for the same seed: noise is drawn differently, other rows are read, or the codec changed",
    "state": "a stream that runs cannot go on, or goes on differently",
    "refused": "a question is refused that was answered, or the other way round; or this test asks other questions",
}


def test_nothing_that_books_depend_on_changed_unnoticed(tmp_path):
    now = {case.name: case.facts for case in cases(tmp_path)}
    assert len(now) >= 200
    if os.environ.get("UPDATE_GOLDEN"):
        FIXTURE.write_text(written(now))
        return
    problem = differences(read(FIXTURE.read_text()), now)
    assert not problem, problem


def written(found):
    """One paragraph a case, one line a thing, the whole of it first: `question = 12ab | text = 34cd`."""
    paragraphs = []
    for name, facts in found.items():
        lines = {}
        for fact in sorted(facts):
            about, _, part = fact.partition(".")
            lines.setdefault(about, []).append(f"{part or about} = {facts[fact]}")
        paragraphs.append("\n".join([name, *("    " + " | ".join(line) for line in lines.values())]))
    return "\n\n".join(paragraphs) + "\n"


def read(text):
    found = {}
    for paragraph in text.strip().split("\n\n"):
        name, *lines = paragraph.split("\n")
        found[name] = {}
        for line in lines:
            pairs = [fact.split(" = ", 1) for fact in line.strip().split(" | ")]
            about = pairs[0][0]
            found[name] |= {about if part == about else f"{about}.{part}": value for part, value in pairs}
    return found


def differences(then, now):
    """What changed, grouped by fact, with what that means; empty if nothing did."""
    changed = {}
    for name in then.keys() | now.keys():
        before, after = then.get(name, {}), now.get(name, {})
        before, after = ({"refused": "answered" if facts else "not asked", **facts} for facts in (before, after))
        # A question that is new, gone, or refused now has no facts to be compared.
        alike = before["refused"] == after["refused"]
        for fact in before.keys() | after.keys() if alike else ["refused"]:
            if before.get(fact) != after.get(fact):
                changed.setdefault(fact, []).append((name, before.get(fact), after.get(fact)))
    if not changed:
        return ""
    lines = []
    for fact in sorted(changed):
        (name, before, after), *more = sorted(changed[fact])
        lines.append(f"{fact}: {MEANINGS[fact.partition('.')[0]]}.")
        lines.append(f"    {name}\n    was {before}, is {after}{f'; and {len(more)} more' if more else ''}")
    return "\n".join([*lines, f"If all of it is meant: {UPDATE}"])


EXAMPLE = {"decision: one": {"key": "a", "question": "b", "question.options": "b", "stored": "c"}}


@pytest.mark.parametrize(
    ("now", "words"),
    [
        (
            {"decision: one": {"key": "a", "question": "x", "question.options": "x", "stored": "c"}},
            "question.options: the question is",
        ),
        (
            {"decision: one": {"key": "z", "question": "b", "question.options": "b", "stored": "c"}},
            "could be drawn twice",
        ),
        ({"decision: one": {"key": "a", "question": "b", "question.options": "b", "stored": "x"}}, "was c, is x"),
        ({"decision: one": {"refused": "bound: no"}}, "was answered, is bound: no"),
        ({}, "was answered, is not asked"),
    ],
)
def test_a_difference_is_told_with_what_it_means(now, words):
    told = differences(EXAMPLE, now)
    assert words in told
    assert UPDATE in told


def test_what_is_written_is_read_back():
    assert read(written(EXAMPLE)) == EXAMPLE
    assert differences(EXAMPLE, EXAMPLE) == ""
