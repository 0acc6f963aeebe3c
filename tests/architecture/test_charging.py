"""Every charge is reserved and settled in one module: questions and steps of streams alike."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "thresher"
CHARGES = {"reserve", "settle", "forfeit", "cancel"}
# The one module that charges, and the ledger itself.
CHARGING, LEDGER = "charging.py", "ledger"


def charging(folder: Path) -> set[str]:
    """The modules that call, or pass on, a method that reserves or ends a reservation."""
    found = set()
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute) and node.attr in CHARGES:
                found.add(str(path.relative_to(folder)))
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "getattr" and len(node.args) > 1:
                name = node.args[1]
                if isinstance(name, ast.Constant) and name.value in CHARGES:
                    found.add(str(path.relative_to(folder)))
    return found


def test_only_one_module_reserves_and_settles():
    outside = {name for name in charging(SOURCE) if Path(name).parts[0] != LEDGER}
    assert outside == {CHARGING}


@pytest.mark.parametrize(
    "text",
    [
        "book.reserve(charge)",
        "self._engine.ledger.settle(held, cost, body)",
        "end = book.forfeit",
        "getattr(book, 'cancel')(held)",
        "with_book(lambda book: book.settle(held, cost, body))",
    ],
)
def test_the_search_has_teeth(tmp_path, text):
    (tmp_path / "live").mkdir()
    (tmp_path / "live" / "other.py").write_text(text)
    assert charging(tmp_path) == {"live/other.py"}
