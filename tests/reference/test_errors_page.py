"""The page of errors lists each class with its exit code and its arguments, and says truly what is charged."""

import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import pyarrow as pa
import pytest

import thresher
from thresher import errors
from thresher.amounts import Epsilon
from thresher.cli import _EXIT_CODES, _INTERRUPTED
from thresher.errors import BugError, CuratorError, SourceUnavailableError, ThresherError

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference" / "errors.md").read_text()
NOTHING, WORST = ("", "nothing", "nothing more"), "the worst case, if private rows may have been read"
CLASSES = {
    name: kind
    for name, kind in inspect.getmembers(errors, inspect.isclass)
    if issubclass(kind, ThresherError) and kind.__module__ == errors.__name__
}


def rows_of(page: str) -> list[tuple[str, str, str, str]]:
    """Return depth and name, exit code, when and charge of each row of the table of classes."""
    return re.findall(r"^\| (◦* ?)`(\w+Error)[^`]*` \| (\d+) \| [^|]+ \| ([^|]*?) ?\|$", page, re.MULTILINE)


def wrong_rows(page: str) -> set[str]:
    """Return the classes that are missing, invented, out of place, or have another exit code."""
    listed: dict[str, tuple[str | None, int]] = {}
    above: list[str] = []
    for depth, name, code, _ in rows_of(page):
        above = [*above[: len(depth.strip())], name]
        listed[name] = (above[-2] if len(above) > 1 else None, int(code))
    known = {name: (_parent(kind), kind.exit_code) for name, kind in CLASSES.items()}
    return {name for name in listed.keys() | known.keys() if listed.get(name) != known.get(name)}


def _parent(kind: type) -> str | None:
    return None if kind is ThresherError else kind.__mro__[1].__name__


def test_every_class_has_a_row_with_its_exit_code():
    assert not wrong_rows(PAGE)
    assert len(rows_of(PAGE)) == len(CLASSES)


@pytest.mark.parametrize(
    ("right", "wrong", "name"),
    [
        (
            "`BudgetError(account, requested, remaining, short_by, affordable=None)` | 3",
            "`BudgetError()` | 2",
            "BudgetError",
        ),
        ("| ◦◦ `PendingError`", "| ◦◦ `WaitingError`", "PendingError"),
        ("| ◦◦◦ `NoLedgerError`", "| ◦◦ `NoLedgerError`", "NoLedgerError"),
    ],
)
def test_a_planted_mistake_is_found(right, wrong, name):
    assert name in wrong_rows(PAGE.replace(right, wrong))


def test_no_other_module_defines_an_error_that_leaves_thresher():
    """What other modules raise is theirs: it is caught, and turned into an error of the page."""
    for module in pkgutil.walk_packages(thresher.__path__, "thresher."):
        if module.name.endswith("__main__") or ".spark" in module.name:
            continue
        members = vars(importlib.import_module(module.name)).values()
        own = {kind for kind in members if inspect.isclass(kind) and kind.__module__ == module.name}
        assert module.name == errors.__name__ or not any(issubclass(kind, ThresherError) for kind in own), module.name


def test_the_exit_codes_are_those_of_the_classes_and_of_the_command_line():
    listed = {int(code) for code in re.findall(r"^\| (\d+) \| ", PAGE, re.MULTILINE)}
    raised = {kind.exit_code for kind in CLASSES.values()}
    assert listed == raised | {0, _INTERRUPTED}
    for text in ((ROOT / "README.md").read_text(), _EXIT_CODES):
        (sentence,) = re.findall(r"Exit codes: ([^.]*)\.", text)
        sentence = re.sub(r"\s*\(\[.*$", "", sentence)
        assert {int(code) for code in re.findall(r"(?:^|, )(\d+) ", sentence)} == listed
        assert " ".join(sentence.split()) == " ".join(_EXIT_CODES.removeprefix("Exit codes: ").rstrip(".").split())


def test_every_charge_is_one_of_those_that_the_page_explains():
    assert {charge for *_, charge in rows_of(PAGE)} <= {*NOTHING, WORST}


DECLARED = """
[source]
url = "memory://"
[tables.stays]
budget = "1"
[tables.stays.columns]
ward = { values = ["eye", "stroke"] }
"""
SQL = "SELECT ward FROM stays GROUP BY ward HAVING COUNT(*) > 100"


@pytest.fixture
def engine(tmp_path):
    path = tmp_path / "thresher.toml"
    path.write_text(DECLARED)
    with thresher.open(path, tables={"stays": pa.table({"ward": ["eye"] * 120})}) as opened:
        yield opened


@pytest.mark.parametrize("name", [name for _, name, _, charge in rows_of(PAGE) if charge == WORST])
def test_an_error_while_rows_are_read_charges_the_worst_case(name, engine, monkeypatch):
    error = CLASSES[name]("it failed")
    monkeypatch.setattr(engine._source, "fetch", _raising(error))
    plan = engine.plan(SQL, mechanism="tslm", uncertain_region=20)
    with pytest.raises(CLASSES[name]) as raised:
        engine.answer(plan)
    assert engine.ledger.balance("stays").spent == plan.epsilon
    assert any(str(plan.epsilon) in note for note in raised.value.__notes__)


@pytest.mark.parametrize("kind", [SourceUnavailableError, ValueError])
@pytest.mark.parametrize("place", ["connect", "fetch"])
def test_a_source_that_was_not_reached_charges_nothing(kind, place, engine, monkeypatch):
    monkeypatch.setattr(engine._source, place, _raising(kind("secret")))
    with pytest.raises((CuratorError, BugError)) as raised:
        engine.decide(SQL, mechanism="tslm", uncertain_region=20)
    charged = place == "fetch" and kind is ValueError
    assert (engine.ledger.balance("stays").spent > Epsilon(0)) == charged == isinstance(raised.value, BugError)
    assert kind is SourceUnavailableError or "secret" not in str(raised.value)


@pytest.mark.parametrize(
    ("sql", "options", "name"),
    [
        (SQL, {"miss_rate": 0}, "ArgumentError"),
        ("SELECT ward FROM stays", {}, "QuestionError"),
        (SQL, {"mechanism": "tslm", "uncertain_region": 1}, "BudgetError"),
        (SQL, {"mechanism": "tslm", "uncertain_region": 20, "max_epsilon": "0.01"}, "TooDearError"),
    ],
)
def test_a_refusal_charges_nothing(sql, options, name, engine):
    with pytest.raises(ThresherError) as refused:
        engine.decide(sql, **options)
    assert type(refused.value).__name__ == name
    assert engine.ledger.balances() == [] or engine.ledger.balance("stays").spent == Epsilon(0)


def _raising(error):
    def raised(*_, **__):
        raise error

    return raised
