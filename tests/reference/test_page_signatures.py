"""Every name and every signature on a page of the reference is that of the code, defaults included."""

import importlib
import inspect
import re
from pathlib import Path
from typing import TypedDict

import pytest
from reference.page_entries import (
    OPTIONS,
    Entry,
    UnknownNameError,
    cells_of,
    entries_of,
    holder_of,
    is_abbreviated,
    member_of,
    modules_in,
    problem_of,
    unknown_paths,
)

from thresher.decisions import Verdicts, arrays
from thresher.diagnostics.displays import DisplayOptions
from thresher.release import Release

ROOT = Path(__file__).parents[2]
PAGES = {path.stem: path.read_text() for path in sorted((ROOT / "docs" / "reference").glob("*.md"))}
SOURCE = ROOT / "src" / "thresher"
ARRAYS = {
    "adaptive",
    "certified_verdicts",
    "naive_laplace",
    "progressive",
    "three_way_verdicts",
    "threshold_shift",
    "threshold_zone",
}
# Rooms that the engine is made of: nobody calls them who uses Thresher.
INNER_ROOMS = {"sql", "question", "sources", "asks", "demo", "pages"}
ROOMS = {
    ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")
    for path in SOURCE.rglob("*.py")
    if re.search(r"^__all__ = ", path.read_text(), re.MULTILINE)
}


def problems_of(page: str) -> list[str]:
    problems = [f"line {entry.line}: {problem}" for entry in entries_of(page) if (problem := problem_of(entry))]
    problems += [f"{path} does not exist" for path in unknown_paths(page)]
    return problems + [
        f"line {entry.line}: {entry.code}: write all parameters" for entry in entries_of(page) if is_abbreviated(entry)
    ]


def unlisted(room: str, pages: list[str]) -> set[str]:
    """Return the exported names of a room that no table of these pages lists."""
    module = importlib.import_module(f"thresher.{room}")
    listed = [_member(entry) for page in pages for entry in entries_of(page) if entry.listed]
    return {name for name in module.__all__ if not any(getattr(module, name) is member for member in listed)}


def _member(entry: Entry) -> object:
    try:
        return member_of(entry)
    except UnknownNameError:
        return None


def options_tables(page: str) -> list[tuple[tuple[type, ...], list[list[str]]]]:
    """Return the typed options that the head of each table of options names, and the cells of its rows."""
    tables: list[tuple[tuple[type, ...], list[list[str]]]] = []
    rows: list[list[str]] | None = None
    for line in page.split("\n"):
        if not line.startswith("|"):
            rows = None
        elif line.startswith(f"| {OPTIONS} of "):
            head, rows = cells_of(line)[0], []
            (module,) = modules_in(head)
            names = [name for name in re.findall(r"`(\w+)`", head) if name != "thresher"]
            tables.append((tuple(getattr(module, name) for name in names), rows))
        elif rows is not None and not line.startswith("|--"):
            rows.append(cells_of(line))
    return tables


def typed_options(member: object) -> str:
    """Return the name of the typed dictionary of a callable's `**options`; nothing if it has none."""
    parameters = inspect.signature(member).parameters.values() if callable(member) else ()
    for parameter in parameters:
        if parameter.kind is parameter.VAR_KEYWORD:
            return re.search(r"(\w+)\W*$", str(parameter.annotation))[1]
    return ""


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES.keys())
def test_every_name_and_signature_is_that_of_the_code(page):
    assert not problems_of(page)


def test_there_are_entries_on_all_pages_but_those_of_amounts_and_of_generated_tables():
    bare = {name for name, page in PAGES.items() if not list(entries_of(page))}
    assert bare <= {"amounts", "commands", "errors"}
    assert sum(len(list(entries_of(page))) for page in PAGES.values()) > 300


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES.keys())
def test_a_table_of_options_lists_each_typed_option_once(page):
    for types, rows in options_tables(page):
        assert not wrong_options(types, rows)


def wrong_options(types: tuple[type, ...], rows: list[list[str]]) -> set[str]:
    """Return the options that are missing, invented or listed twice."""
    listed = [name for cells in rows for name in re.findall(r"`(\w+)`", cells[0])]
    twice = {name for name in listed if listed.count(name) > 1}
    return twice | (set(listed) ^ {name for kind in types for name in kind.__annotations__})


def test_the_options_of_each_call_stand_in_a_table():
    kinds = {kind for page in PAGES.values() for kinds, _ in options_tables(page) for kind in kinds}
    documented = {kind.__name__ for kind in kinds}
    # Pictures take the choices of the functions that make their releases.
    assert set(DisplayOptions.__annotations__) <= {name for kind in kinds for name in kind.__annotations__}
    documented |= {"DisplayOptions"}
    entries = [entry for page in PAGES.values() for entry in entries_of(page) if entry.arguments]
    asked = {entry.code: typed_options(_member(entry)) for entry in entries}
    assert {kind for kind in asked.values() if kind} == documented
    assert asked["Engine.plan(sql, **options)"] == "DecisionOptions"


def test_options_of_functions_on_arrays_stand_beside_the_functions_that_take_them():
    (table,) = options_tables(PAGES["decisions"])
    takes = {name: getattr(arrays, typed_options(getattr(arrays, name))) for name in ARRAYS}
    for names, functions, _ in table[1]:
        for option in re.findall(r"`(\w+)`", names):
            right = {name for name, kind in takes.items() if option in kind.__annotations__}
            assert set(re.findall(r"`(\w+)`", functions) or ARRAYS) == right


@pytest.mark.parametrize("room", sorted(ROOMS - INNER_ROOMS))
def test_every_exported_name_is_listed(room):
    assert not unlisted(room, list(PAGES.values()))


# Classes whose members users call: a page lists all of them. Members that only the engine calls are left out.
WHOLE = {
    "engine.Engine": set(),
    "ledger.Book": set(),
    "release.Release": {"from_bytes", "handed_out"},
    "live.running_stream.RunningStream": set(),
    "live.table_feed.TableFeed": set(),
    "decisions.Verdicts": {"latest", "denied"},
    "mechanisms.sparse_vector.SparseVector": set(),
    "personal.parts.Parts": set(),
    "personal.roster.Roster": set(),
    "streams.Alarm": set(),
    "streams.Aggregates": set(),
    "streams.Hierarchy": set(),
    "streams.Tree": set(),
    "streams.TreeWindows": set(),
    "streams.step_buffer.StepBuffer": set(),
    "streams.step_clock.StepClock": set(),
}


# Classes whose fields are listed too: users read them, and never make one.
ANSWERS = (Release, Verdicts)


def unlisted_members(kind: type, pages: list[str]) -> set[str]:
    """Return the public members of a class that no page names."""
    listed = {entry.name.rpartition(".")[2] for page in pages for entry in entries_of(page) if kind is holder_of(entry)}
    fields = getattr(kind, "__dataclass_fields__", ()) if kind in ANSWERS else ()
    members = {name for name, _ in inspect.getmembers(kind, _is_member)} | set(fields)
    return {name for name in members if not name.startswith("_")} - listed


def _is_member(member: object) -> bool:
    return inspect.isfunction(member) or inspect.ismethod(member) or isinstance(member, property)


@pytest.mark.parametrize("name", WHOLE)
def test_every_member_of_a_class_that_users_call_is_listed(name):
    module, _, kind = name.rpartition(".")
    kind = getattr(importlib.import_module(f"thresher.{module}"), kind)
    assert unlisted_members(kind, list(PAGES.values())) == WHOLE[name]


def test_the_rooms_that_no_page_lists_exist():
    assert INNER_ROOMS < ROOMS


PAGE = """# `thresher.accounting`

| Name | Is |
|---|---|
| `overlaps(first, second)` | right |
| `account_loss(entries, within=None, work_limit=50000)` | right |
| `Subject(kind, unit, start=None, step_seconds=None, protected_steps=None)` | right |
| `Region`, `.where(conditions)` | right |
"""


@pytest.mark.parametrize(
    ("right", "wrong", "problem"),
    [
        ("work_limit=50000", "work_limit=50001", "the signature is (entries, within=None, work_limit=50000)"),
        ("within=None, ", "", "the signature is (entries, within=None, work_limit=50000)"),
        ("within=None", "within", "the signature is"),
        ("within=None, work", "within=None, *, work", "the signature is"),
        ("first, second", "second, first", "the signature is (first, second)"),
        ("protected_steps=None)", "protected_steps=False)", "the signature is"),
        ("conditions)", "condition)", "the signature is (conditions)"),
        ("overlaps(", "overlap(", "there is no overlap in thresher.accounting"),
        (".where(", ".were(", "Region has no member were"),
        ("`overlaps(", "`regions.overlap(", "thresher.accounting.regions has no member overlap"),
        ("within=None, work_limit=50000)", "...)", "write all parameters"),
        ("thresher.accounting", "thresher.accountings", "there is no overlaps in no module"),
        ("right", "see `thresher.noise.tial`", "thresher.noise.tial does not exist"),
    ],
)
def test_a_planted_mistake_is_found(right, wrong, problem):
    assert not problems_of(PAGE)
    assert any(problem in found for found in problems_of(PAGE.replace(right, wrong)))


def test_a_planted_gap_is_found():
    page = PAGES["noise"]
    assert not unlisted("noise", [page])
    assert unlisted("noise", [page.replace("| `pick(weights, entropy=None)`", "| pick")]) == {"pick"}


class Planted(TypedDict, total=False):
    share: int
    rows: int


@pytest.mark.parametrize(
    ("names", "wrong"),
    [
        (["share", "rows"], set()),
        (["share"], {"rows"}),
        (["share", "rows", "row"], {"row"}),
        (["rows"] * 2, {"rows", "share"}),
    ],
)
def test_a_planted_option_is_found(names, wrong):
    assert wrong_options((Planted,), [[f"`{name}`", "means"] for name in names]) == wrong
