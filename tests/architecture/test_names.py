"""One name has one meaning: no file stem stands twice, and no public name is defined in two modules."""

import ast
from collections import defaultdict
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "thresher"
# Lists of plug-ins: each module of these folders gives the same few names to whoever collects them.
PLUG_INS = ("audit/mutants", "audit/shipped")
# Why a name may be defined twice.
TWICE = {
    "open_stream": "the package hands out the function of `live`, which takes a ledger as well",
    "uniform": "both are documented: numbers below a bound (`noise`), and the flat histogram (`mechanisms.histograms`)",
    "laplace": "both are documented: a law to compare with (`audit.laws`), and the histogram (`mechanisms.histograms`)",
    "Table": "a declared table (`config`), and rows on a page (`pages`): no module needs both",
}
STEMS_TWICE: dict[str, str] = {}


def _is_command(node: ast.stmt) -> bool:
    """Whether click holds the function: its name is then that of the command, which belongs to its group."""
    decorators = getattr(node, "decorator_list", [])
    return any(
        isinstance(one, ast.Call) and ast.unparse(one.func).endswith((".command", ".group")) for one in decorators
    )


def public_names(folder: Path) -> dict[str, list[str]]:
    """Return the modules in which each public function and class is defined."""
    found = defaultdict(list)
    for path in sorted(folder.rglob("*.py")):
        module = path.relative_to(folder).as_posix()
        if module.startswith(PLUG_INS):
            continue
        for node in ast.parse(path.read_text()).body:
            if (
                isinstance(node, ast.FunctionDef | ast.ClassDef)
                and not node.name.startswith("_")
                and not _is_command(node)
            ):
                found[node.name].append(module)
    return found


def stems(folder: Path) -> dict[str, list[str]]:
    """Return the files of each stem."""
    found = defaultdict(list)
    for path in sorted(folder.rglob("*.py")):
        if not path.stem.startswith("__"):
            found[path.stem].append(path.relative_to(folder).as_posix())
    return found


def twice(found: dict[str, list[str]], allowed: dict[str, str]) -> dict[str, list[str]]:
    return {name: modules for name, modules in found.items() if len(modules) > 1 and name not in allowed}


def test_no_public_name_is_defined_in_two_modules():
    """Give the less public one a name that says what it is, or make it private to its module."""
    assert twice(public_names(SOURCE), TWICE) == {}


def test_file_stems_are_unique():
    assert twice(stems(SOURCE), STEMS_TWICE) == {}


def test_a_name_and_a_stem_that_stand_twice_are_caught(tmp_path):
    for room in ("one", "other", "audit/mutants"):
        (tmp_path / room).mkdir(parents=True)
        (tmp_path / room / "checks.py").write_text(
            "def checked(): ...\ndef _own(): ...\n@click.command()\ndef show(): ..."
        )
    assert twice(public_names(tmp_path), {}) == {"checked": ["one/checks.py", "other/checks.py"]}
    assert twice(stems(tmp_path), {}).keys() == {"checks"}
    assert twice(stems(tmp_path), {"checks": "allowed"}) == {}
