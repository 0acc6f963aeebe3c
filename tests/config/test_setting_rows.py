"""Each row of the tables of settings is true: its rule and its default are tried on files that have the setting."""

import copy
import json
import re
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from thresher.config import read
from thresher.errors import DeclarationError
from thresher.streams.stream_plan import plan_stream

DOCS = Path(__file__).parents[2] / "docs"
TABLE, STREAM, ALARM = ("tables", "visits"), ("streams", "campus"), ("streams", "campus", "alarms", "full")
BASE = {
    "source": {"url": "memory://"},
    "ledger": {},
    "limits": {},
    "accounts": {"people": {"budget": "3", "unit": "person"}},
    "public_tables": {"roster": {}},
    "tables": {
        "visits": {
            "unit": "pid",
            "budget": "1",
            "columns": {
                "ward": {"values": ["gym", "library"]},
                "at": {"min": 1792000000, "max": 1892000000},
                "allows": {"min": 0, "max": 1, "step": 0.1, "fixed": True},
            },
        }
    },
    "streams": {
        "campus": {
            "states": ["gym", "library"],
            "start": datetime(2026, 3, 2, tzinfo=UTC),
            "step_seconds": 300,
            "epsilon": "0.5",
            "budget": "1",
            "alarms": {"full": {"kind": "jump", "series": "gym", "threshold": 900, "window": 2}},
        }
    },
}
GROUPED = {"mechanism": "pegasus", "alarms": {}}
TREE = {"tree": {"campus": ["gym", "library"]}, "states": None, "alarms": {}, "smoother": "none"}
OWN = {"budget": None, "budget_column": "allows", "budget_roster": {"table": "roster", "column": "allows"}}
# What else the section needs for a setting to be allowed; None takes a setting out.
WITH = {
    (*STREAM, "theta"): GROUPED,
    (*STREAM, "grouper_share"): GROUPED,
    (*STREAM, "cutoff"): TREE | {"prune": "history"},
    (*STREAM, "tree"): TREE,
    (*STREAM, "max_states_per_unit"): {"states": [f"s{i}" for i in range(1000)], "alarms": {}},
    (*STREAM, "states"): {"alarms": {}},
    (*STREAM, "windows"): {"alarms": {}},
    (*STREAM, "state_column"): {"table": "visits", "time_column": "at"},
    (*STREAM, "time_column"): {"table": "visits", "state_column": "ward"},
    (*STREAM, "table"): {"state_column": "ward", "time_column": "at"},
    (*STREAM, "key_file"): GROUPED,
    (*STREAM, "prune"): TREE,
    (*STREAM, "unit"): {"account": "people", "protect": "unit", "budget": None},
    (*TABLE, "budget_column"): OWN,
    (*TABLE, "budget_roster"): OWN,
    (*TABLE, "account"): {"budget": None},
    (*TABLE, "unit"): {"columns": {"ward": {"values": ["gym", "library"]}}},
}
# Rules in words: values that are allowed, and values that are refused.
TRIED = {
    ("source", "url"): (
        ["duckdb:///c.db", "postgresql://h/c", "spark://h:1", "a.parquet", "rows", "memory://"],
        [3, ""],
    ),
    ("ledger", "url"): (["sqlite:///l.db", "postgresql://h/l"], ["duckdb:///l.db", "ledger.db", 3]),
    ("ledger", "anchor"): (["safe/anchor"], ["sqlite:///anchor", 3]),
    (*TABLE, "budget_column"): (["allows"], ["ward", "nobody"]),
    (*TABLE, "budget_roster"): (
        [{"table": "roster", "column": "allows"}, {"table": "roster", "column": "allows", "people": "n"}],
        [{"table": "roster"}, {"table": "none", "column": "allows"}, "roster"],
    ),
    (*TABLE, "unit"): (["pid"], ["", 3]),
    (*TABLE, "version"): (["2024-06", 3, date(2024, 6, 1)], [True, 2.5, ""]),
    (*TABLE, "snapshot"): ([True, False], ["yes", 1]),
    (*TABLE, "account"): (["people"], ["others", 3]),
    (*TABLE, "table"): (["clinic.visits"], ["", 3]),
    (*TABLE, "file"): (["rows/visits.parquet"], ["duckdb:///visits.db", 3]),
    (*TABLE, "columns"): ([{"ward": {"values": ["gym", "library"]}}], [{}, ["ward"]]),
    ("accounts", "people", "unit"): (["person"], ["", 3]),
    (*STREAM, "states"): (
        [["a"], [f"s{i}" for i in range(100_000)]],
        [[], [f"s{i}" for i in range(100_001)], ["a", "a"], "a"],
    ),
    (*STREAM, "tree"): ([{"campus": ["gym", "library"]}], [{}, ["gym"]]),
    (*STREAM, "start"): (
        [datetime(2026, 3, 2, tzinfo=UTC)],
        [datetime(2026, 3, 2), date(2026, 3, 2), "2026-03-02T00:00:00Z"],
    ),
    (*STREAM, "protect"): (["event", "unit", 1, 1_000_000], [0, 1_000_001, "day"]),
    (*STREAM, "budget"): (["0.5", "7"], ["0.499999999", "0", "7.0000000001"]),
    (*STREAM, "unit"): (["person"], ["patient", 3]),
    (*STREAM, "account"): (["phones"], ["", 3]),
    (*STREAM, "mechanism"): (["laplace", "pegasus"], ["gauss"]),
    (*STREAM, "smoother"): (["adaptive", "none"], ["median", "average", "james-stein", "mean"]),
    (*STREAM, "prune"): (["none", "estimate", "history"], ["all"]),
    (*STREAM, "windows"): ([[1], [100_000], [1, 2]], [[0], [100_001], [2, 2], 3]),
    (*STREAM, "alarms"): ([{}], [3]),
    (*STREAM, "table"): (["visits"], ["nothing"]),
    (*STREAM, "state_column"): (["ward"], [3]),
    (*STREAM, "time_column"): (["at"], [3]),
    (*STREAM, "key_file"): (["stream.key"], [3]),
    (*ALARM, "kind"): (["low", "high", "jump", "drop", "change"], ["more"]),
    (*ALARM, "series"): (["gym"], ["hall", 3]),
}
SECTIONS = {
    "## A private table": TABLE,
    "## One budget": ("accounts", "people"),
    "## Declare a stream": STREAM,
    "## Alarms": ALARM,
}
_BOUNDS = re.compile(r"whole, ([\d,^]+) to ([\d,^]+)")


def rows_of(page: str) -> dict[tuple[str, ...], tuple[str, str]]:
    """Return rule and default of each setting, by its place in the file."""
    rows, section = {}, ()
    for line in page.split("\n"):
        if line.startswith("## "):
            section = next((place for head, place in SECTIONS.items() if line.startswith(head)), ())
        row = re.match(r"\| (?:`\[(\w+)\]` )?`(\w+)` \| (.*) \|$", line)
        if not row:
            continue
        cells = [cell.strip() for cell in row[3].split("|")]
        section = (row[1],) if row[1] else section
        if section and len(cells) == 3:
            rows[(*section, row[2])] = (cells[1], cells[2])
    return rows


ROWS = rows_of((DOCS / "declarations.md").read_text()) | rows_of((DOCS / "streams.md").read_text())


def written(content: dict, path: tuple[str, ...] = ()) -> str:
    """Return nested tables as TOML."""
    plain = {name: value for name, value in content.items() if not isinstance(value, dict)}
    text = f"[{'.'.join(path)}]\n" if path else ""
    text += "".join(f"{name} = {_value(value)}\n" for name, value in plain.items())
    return text + "".join(written(value, (*path, name)) for name, value in content.items() if isinstance(value, dict))


def _value(value: object) -> str:
    return value.isoformat() if isinstance(value, date) else json.dumps(value)


LEFT_OUT = object()


def tried(place: tuple[str, ...], value: object):
    """Read a file in which one setting has a value, or is left out, and plan its stream."""
    content = copy.deepcopy(BASE)
    if place[0] != "streams":
        del content["streams"]
    section = content
    for name in place[:-1]:
        section = section[name]
    for name, other in WITH.get(place, {}).items():
        section[name] = other
    section[place[-1]] = value
    _take_out(content)
    declared = read(written(content), ".")
    for stream in declared.streams.values():
        plan_stream(stream)
    return declared


def _take_out(content: dict) -> None:
    for name, value in list(content.items()):
        if value is None or value is LEFT_OUT:
            del content[name]
        elif isinstance(value, dict):
            _take_out(value)


def whole(text: str) -> int:
    base, _, power = text.replace(",", "").partition("^")
    return int(base) ** int(power or 1)


def tries_of(place: tuple[str, ...], rule: str) -> tuple[list[object], list[object]]:
    """Return values that a rule allows, and values that it refuses."""
    if place in TRIED:
        return TRIED[place]
    if bounds := _BOUNDS.match(rule):
        least, most = whole(bounds[1]), whole(bounds[2])
        return [least, most], [least - 1, most + 1, least + 0.5, str(least), True]
    if rule.startswith(("above 0, at most nine decimals", "as `budget`", "as in a table")):
        return ["0.6", 0.6, "0.500000001"], ["0", "-1", "0.5000000001", "much"]
    if rule == "between 0 and 1":
        return ["0.001", 0.999], [0, 1, "-0.1"]
    if above := re.fullmatch(r"above 0, at most ([\d,]+)", rule):
        return ["0.001", whole(above[1])], [0, whole(above[1]) + 1]
    raise AssertionError(f"{'.'.join(place)}: nobody tries the rule {rule!r}")


def problems_of(place: tuple[str, ...], rule: str, default: str) -> list[str]:
    allowed, refused = tries_of(place, rule)
    problems = [f"{value!r} is refused" for value in allowed if refusal_of(place, value)]
    problems += [f"{value!r} is allowed" for value in refused if not refusal_of(place, value)]
    left_out = refusal_of(place, LEFT_OUT)
    if default.startswith("required") or default == "one of the two":
        return problems + ([] if left_out else ["it may be left out"])
    literal = re.fullmatch(r'([\d,]+(?:\.\d+)?)|`"?([\w:/.-]+)"?`|(true|false)', default)
    if literal and literal[2] != "NAME":
        value = json.loads(literal[1].replace(",", "")) if literal[1] else literal[2] or literal[3] == "true"
        same = not left_out and _same(tried(place, LEFT_OUT), tried(place, value))
        return problems + ([] if same else [f"the default is not {default}"])
    return problems + ([f"it is required: {left_out}"] if left_out and place not in NEEDED_HERE else [])


# These cannot be left out beside what `WITH` adds.
NEEDED_HERE = {(*TABLE, "budget_column"), (*TABLE, "account"), (*STREAM, "unit"), (*STREAM, "table")} | {
    (*STREAM, "state_column"),
    (*STREAM, "time_column"),
}


def refusal_of(place: tuple[str, ...], value: object) -> str:
    try:
        tried(place, value)
    except DeclarationError as refused:
        return str(refused)
    return ""


def _same(here, there) -> bool:
    """Compare declarations, but not the lines on which they stand; a smoother left out is the plan's."""
    plans = [[str(plan_stream(stream)) for stream in each.streams.values()] for each in (here, there)]
    facts = [(each.source, each.ledger, each.tables, each.timeout_seconds, each.max_groups) for each in (here, there)]
    return plans[0] == plans[1] and facts[0] == facts[1]


@pytest.mark.parametrize("place", ROWS, ids=".".join)
def test_rule_and_default_of_a_row_are_those_of_the_code(place):
    assert not problems_of(place, *ROWS[place])


ESTIMATED = TREE | {"prune": "estimate", "smoother": None}


@pytest.mark.parametrize(
    ("settings", "allowed"),
    [
        ({"smoother": "median"}, False),
        ({"smoother": "median"} | GROUPED, True),
        ({"smoother": "average"} | GROUPED, True),
        ({"smoother": "james-stein"} | GROUPED, True),
        (ESTIMATED, True),
        (ESTIMATED | {"smoother": "adaptive"}, False),
        (ESTIMATED | GROUPED, True),
        (ESTIMATED | GROUPED | {"smoother": "james-stein"}, False),
        (ESTIMATED | {"windows": [2]}, False),
        ({"prune": "estimate"}, False),
        ({"key_file": "stream.key"}, False),
        ({"max_states_per_unit": 3}, False),
        ({"states": ["a"], "tree": {"campus": ["a"]}}, False),
        ({"alarms": {"full": BASE["streams"]["campus"]["alarms"]["full"] | {"kind": "high", "window": 4096}}}, True),
        ({"alarms": {"full": BASE["streams"]["campus"]["alarms"]["full"] | {"kind": "high", "window": 4097}}}, False),
        ({"alarms": {"full": BASE["streams"]["campus"]["alarms"]["full"] | {"kind": "high", "threshold": 1}}}, False),
        ({"alarms": {"full": BASE["streams"]["campus"]["alarms"]["full"] | {"kind": "jump", "threshold": 1}}}, True),
    ],
    ids=str,
)
def test_rules_between_settings_of_a_stream_are_those_of_the_code(settings, allowed, monkeypatch):
    place = (*STREAM, "late_steps")
    monkeypatch.setitem(WITH, place, settings)
    assert (refusal_of(place, 1) == "") is allowed


@pytest.mark.parametrize(("settings", "name"), [({}, "adaptive"), (GROUPED, "median"), (ESTIMATED, "none")], ids=str)
def test_the_default_of_the_smoother_is_the_one_on_the_page(settings, name, monkeypatch):
    place = (*STREAM, "late_steps")
    monkeypatch.setitem(WITH, place, settings)
    left_out = tried(place, 1)
    monkeypatch.setitem(WITH, place, settings | {"smoother": name})
    assert _same(left_out, tried(place, 1))


def test_every_table_of_settings_is_read():
    assert len(ROWS) > 45
    assert {(*TABLE, "unit"), (*STREAM, "unit"), (*ALARM, "kind"), ("limits", "max_groups")} <= set(ROWS)


@pytest.mark.parametrize(
    ("place", "rule", "default"),
    [
        (("source", "timeout_seconds"), "whole, 1 to 86,401", "600"),
        (("source", "timeout_seconds"), "whole, 0 to 86,400", "600"),
        (("source", "timeout_seconds"), "whole, 1 to 86,400", "601"),
        (("source", "timeout_seconds"), "whole, 1 to 86,400", "required"),
        ((*TABLE, "budget"), "above 0, at most nine decimals", "none"),
        ((*STREAM, "mechanism"), "", '`"pegasus"`'),
        ((*ALARM, "miss_rate"), "between 0 and 1", "0.06"),
    ],
)
def test_a_planted_mistake_is_found(place, rule, default):
    assert problems_of(place, rule, default)
