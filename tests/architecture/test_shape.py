"""The tree keeps its shape: small files, short functions, proofs beside what they prove, words that are ours."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "thresher"
MODULES = sorted(SOURCE.rglob("*.py"))
LONGEST_FILE, LONGEST_FUNCTION = 400, 60


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_files_and_functions_stay_short_and_explain_themselves(path):
    text = path.read_text()
    tree = ast.parse(text)
    assert text.count("\n") <= LONGEST_FILE
    assert ast.get_docstring(tree), "a module says what it is for"
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            assert node.end_lineno - node.lineno < LONGEST_FUNCTION, node.name
            assert node.args.kwarg is None or ast.unparse(node.args.kwarg.annotation).startswith("Unpack["), (
                f"{node.name} takes **{node.args.kwarg.arg}: a misspelt argument would pass"
            )


def test_no_module_is_a_drawer_for_everything():
    assert not {path.stem for path in MODULES} & {"utils", "helpers", "common", "manager", "core", "misc"}


def test_every_proof_a_module_names_lies_beside_it():
    for path in MODULES:
        for note in re.findall(r"`(\w+\.md)`", path.read_text()):
            assert (path.parent / note).exists(), f"{path.name} names {note}"
    proofs = {note.stem for note in (SOURCE / "noise").glob("*.md")}
    assert proofs >= {"coins", "enclosure", "draw_tables", "laplace", "gradual", "tails"}


def test_proofs_name_tests_that_exist():
    for note in SOURCE.rglob("*.md"):
        named = re.findall(r"`(tests/[\w/]+\.py)`", note.read_text())
        assert named, f"{note.name} names no test"
        for test in named:
            assert (ROOT / test).exists(), f"{note.name} names {test}"
