"""Phrases that a reader stumbled over do not come back: in messages, help, docs or docstrings."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# Found in the product once, and rewritten. Parts of texts, in lower case, with single spaces.
UNCLEAR = """
for nothing
it is no file
it is no whole
it is no multiple
it is no arrow
which is no text
which is no sum
what is no tree
that is no whole number
that are no utf-8
has no use for
a person of its own
so many steps may
than not at all
nobody can be asked
who has none is
stopped by the others
of knowing nothing
either verdict will do
by so much the line
keeps losses apart
would look less closely
where this question looks
was paid for before (
lost in a crash: only
no epsilon is wasted
the line left where it is
nothing is shared out
by its looks a key
calls the table otherwise
seen from this file's folder
the book is whole
budgets of people's own
looks at one margin
one that nobody wrote
there is no one epsilon
if nothing were learnt
cannot be counted anew
nearer than that to the line
what is seen by +-
""".strip().splitlines()
# Advice to spend twice on the same people.
TWICE = ("another name and a budget", "a name and a budget of its own", "give the table another name")


def texts_of_code(path):
    """Every text in a module, f-strings with their holes left out."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.JoinedStr):
            yield "".join(part.value for part in node.values if isinstance(part, ast.Constant))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def found_in(texts, phrases):
    joined = [re.sub(r"\s+", " ", text).lower() for text in texts]
    return [phrase for phrase in phrases if any(phrase in text for text in joined)]


def pages():
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("phrases", [UNCLEAR, TWICE], ids=["unclear", "twice"])
def test_unclear_phrases_do_not_come_back(phrases):
    code = {path: found_in(texts_of_code(path), phrases) for path in sorted((ROOT / "src").rglob("*.py"))}
    docs = {path: found_in([path.read_text(encoding="utf-8")], phrases) for path in pages()}
    stumbled = [f"{path.relative_to(ROOT)}: {', '.join(found)}" for path, found in {**code, **docs}.items() if found]
    assert not stumbled, "\n".join(["Write the English of a good technical manual:", *stumbled])


def test_the_search_finds_what_it_should(tmp_path):
    path = tmp_path / "module.py"
    path.write_text('"""Draws\n   for nothing."""\nraise ValueError(f"{1} has no use\\n for it")\n')
    assert found_in(texts_of_code(path), UNCLEAR) == ["for nothing", "has no use for"]
