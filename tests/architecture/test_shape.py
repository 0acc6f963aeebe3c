"""The tree keeps its shape: small files, short functions, proofs beside what they prove, words that are ours."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "thresher"
MODULES = sorted(SOURCE.rglob("*.py"))
LONGEST_FILE, LONGEST_FUNCTION = 400, 60


def faults(text: str) -> list[str]:
    """Return what is too long, unexplained or too open in a module's text."""
    tree = ast.parse(text)
    found = [f"it has more than {LONGEST_FILE} lines"] if text.count("\n") > LONGEST_FILE else []
    if not ast.get_docstring(tree):
        found.append("it does not say what it is for")
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            if node.end_lineno - node.lineno >= LONGEST_FUNCTION:
                found.append(f"{node.name} has more than {LONGEST_FUNCTION} lines")
            rest = node.args.kwarg
            if rest is not None and not ast.unparse(rest.annotation or ast.Constant("")).startswith("Unpack["):
                found.append(f"{node.name} takes **{rest.arg}: a misspelt argument would pass")
    return found


def test_files_and_functions_stay_short_and_explain_themselves():
    found = {path.relative_to(SOURCE).as_posix(): faults(path.read_text()) for path in MODULES}
    assert len(found) > 200
    assert {name: faulty for name, faulty in found.items() if faulty} == {}


def test_each_fault_of_shape_is_caught():
    long = "\n".join(["def long():", *["    1"] * LONGEST_FUNCTION])
    texts = ["x = 1", '"""Text."""' + "\n" * 401, f'"""Text."""\n{long}', '"""Text."""\ndef open(**more): ...']
    assert [len(faults(text)) for text in texts] == [1, 1, 1, 1]
    assert faults('"""Text."""\ndef narrow(**more: Unpack[Wishes]): ...') == []


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
