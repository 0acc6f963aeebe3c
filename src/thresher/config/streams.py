"""`[streams.NAME]` of `thresher.toml`: what is counted, who is protected, at what price, and what is watched.

All of it is public. Settings that change the noise are part of the stream: with other values it is another stream.
Reads: the values that tomllib read. Writes: nothing. Never: opens a feed, a table or a key file.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

from thresher.amounts import Epsilon
from thresher.config.columns import Column
from thresher.config.sections import NAME_RULE, Section, did_you_mean, is_whole, name_is_bad
from thresher.config.shared_accounts import AccountDeclaration, account_of

STREAM_FIELDS = (
    "states",
    "tree",
    "start",
    "step_seconds",
    "epsilon",
    "protect",
    "budget",
    "account",
    "unit",
    "max_states_per_unit",
    "late_steps",
    "ahead_steps",
    "mechanism",
    "grouper_share",
    "theta",
    "smoother",
    "strictness",
    "prune",
    "cutoff",
    "windows",
    "alarms",
    "table",
    "state_column",
    "time_column",
    "key_file",
)
ALARM_FIELDS = ("kind", "series", "threshold", "window", "miss_rate", "false_alarm_rate", "on_steps", "off_steps")
EVENT, UNIT = "event", "unit"
MECHANISMS = ("laplace", "pegasus")
SMOOTHERS = ("", "adaptive", "median", "average", "james-stein", "none")
PRUNINGS = ("none", "estimate", "history")
ALARM_KINDS = ("low", "high", "jump", "drop", "change")

_MOST_SERIES, _MOST_WINDOW, _MOST_SECONDS, _MOST_STEPS = 100_000, 100_000, 366 * 86_400, 10**6
_LARGEST = 10**15
_MOST_STRICTNESS = 1000
_STATES = 'Write states = ["library", "gym"], or a tree: [streams.NAME.tree] campus = ["library", "gym"]'


@dataclass(frozen=True, slots=True)
class AlarmDeclaration:
    """An alarm with a promise: its kind, its series, when it rings, and how often it may be wrong."""

    name: str
    kind: str
    series: str
    threshold: int
    window: int
    miss_rate: Fraction
    false_alarm_rate: Fraction
    on_steps: int = 1
    off_steps: int = 1


@dataclass(frozen=True, slots=True)
class Polled:
    """A growing table from which the counts of each step are read."""

    table: str
    state_column: str
    time_column: str
    # Taken from the table: where its rows are, who is protected (None: each row), and what the columns hold.
    relation: str | None = None
    file: Path | None = None
    unit: str | None = None
    states: Column | None = None
    times: Column | None = None


@dataclass(frozen=True, slots=True)
class StreamDeclaration:
    """One stream. `epsilon` protects a unit in `protected_steps` consecutive steps; None stands for all steps.

    `epsilon` is the most that such a unit may lose: in the protected steps together, or in each step if all are.
    """

    name: str
    start: datetime
    step_seconds: int
    epsilon: Epsilon
    budget: Epsilon
    states: tuple[str, ...] = ()
    tree: Mapping[str, tuple[str, ...]] | None = None
    protected_steps: int | None = 1
    account: str = ""
    # The account of people that pays, if one is declared under the name of `account`.
    people: AccountDeclaration | None = None
    max_states_per_unit: int = 1
    late_steps: int = 1
    ahead_steps: int = 1
    mechanism: str = "laplace"
    grouper_share: Fraction = Fraction(1, 5)
    theta: int | None = None
    smoother: str = ""
    strictness: Fraction = Fraction(3)
    prune: str = "none"
    cutoff: int | None = None
    windows: tuple[int, ...] = ()
    alarms: tuple[AlarmDeclaration, ...] = ()
    polled: Polled | None = None
    key_file: Path | None = None

    @property
    def account_name(self) -> str:
        """Return the account that is charged. Streams of one table, or of one declared account, add up in it."""
        if self.people is not None:
            return self.people.name
        return f"stream:{self.account or (self.polled.table if self.polled else self.name)}"


def stream_in(
    name: str, section: Section, folder: Path, accounts: Mapping[str, AccountDeclaration]
) -> StreamDeclaration:
    """Return the stream that a section declares."""
    section.only(*STREAM_FIELDS)
    for field, fix in (
        ("start", "Write when step 0 begins: start = 2026-01-01T00:00:00Z"),
        ("step_seconds", "Write how many seconds a step lasts: step_seconds = 300"),
        ("epsilon", 'Write the most epsilon that one unit may lose in the protected steps: epsilon = "0.1"'),
    ):
        section.required(field, fix)
    states, tree = _series(section)
    people = _people(section, accounts)
    if people is None:
        section.required("budget", 'Write the most epsilon that the stream may ever cost: budget = "1.0"')
    epsilon, budget = section.amount("epsilon"), section.amount("budget") if people is None else people.budget
    if epsilon > budget:
        raise section.refusal("epsilon", f"it is more than the budget, {budget}", "Lower it, or raise the budget")
    seconds = section.whole("step_seconds", _MOST_SECONDS, 300, "Write step_seconds = 300")
    return StreamDeclaration(
        name=name,
        start=_start(section),
        step_seconds=seconds,
        epsilon=epsilon,
        budget=budget,
        states=states,
        tree=tree,
        protected_steps=_protected(section),
        account=section.column_name("account", "Name an account that streams share") if "account" in section else "",
        people=people,
        max_states_per_unit=section.whole("max_states_per_unit", 1000, 1, "Write max_states_per_unit = 1"),
        late_steps=section.whole("late_steps", _MOST_STEPS, 1, "Write late_steps = 1", least=0),
        ahead_steps=section.whole("ahead_steps", _MOST_STEPS, 1, "Write ahead_steps = 1", least=0),
        mechanism=_choice(section, "mechanism", MECHANISMS),
        grouper_share=_share(section, "grouper_share", Fraction(1, 5)),
        theta=_optional(section, "theta"),
        smoother=_choice(section, "smoother", SMOOTHERS),
        strictness=_strictness(section),
        prune=_choice(section, "prune", PRUNINGS),
        cutoff=_optional(section, "cutoff"),
        windows=_windows(section),
        alarms=_alarms(section),
        polled=_polled(section),
        key_file=folder / section.text("key_file", 'Write key_file = "stream.key"') if "key_file" in section else None,
    )


def _people(section: Section, accounts: Mapping[str, AccountDeclaration]) -> AccountDeclaration | None:
    """Return the account of people that a stream joins: it protects each of them in all of its steps."""
    if section.content.get("account") not in accounts:
        if "unit" in section:
            rule = "it says whose account the stream joins, and the stream names no declared account"
            raise section.refusal("unit", rule, 'Write account = "people", and declare [accounts.people]')
        return None
    people = account_of(section, accounts)
    if people is None or section.content.get("protect") != UNIT:
        rule = "a stream in an account of people protects them in all of its steps"
        raise section.refusal_here(rule, 'Write protect = "unit"')
    unit = people.unit if "table" in section and "unit" not in section else section.content.get("unit")
    if unit != people.unit:
        rule = f"the account {people.name} protects each {people.unit}, and the stream must say that it counts them"
        raise section.refusal_here(rule, f'Write unit = "{people.unit}"')
    return people


def _series(section: Section) -> tuple[tuple[str, ...], Mapping[str, tuple[str, ...]] | None]:
    if ("states" in section) == ("tree" in section):
        rule = "a stream counts either states or a tree of states"
        raise section.refusal_here(rule, _STATES)
    if "states" in section:
        return _names(section, "states"), None
    tree = section.section("tree", _STATES)
    if not tree.content:
        raise tree.refusal_here("a tree needs at least one node", _STATES)
    if any(name_is_bad(parent) for parent in tree.content):
        raise tree.refusal_here(NAME_RULE, "Give every node of the tree a name")
    return (), {parent: _names(tree, parent) for parent in tree.content}


def _names(section: Section, field: str) -> tuple[str, ...]:
    names = section.content[field]
    if not isinstance(names, list) or not 1 <= len(names) <= _MOST_SERIES:
        raise section.refusal(field, f"it must be a list of 1 to {_MOST_SERIES} names", _STATES)
    earlier: set[str] = set()
    for place, name in enumerate(names):
        if not isinstance(name, str) or name_is_bad(name):
            raise section.refusal(field, "each element is a name in quotes", _STATES, place=place)
        if name in earlier:
            raise section.refusal(field, "it is listed twice", "Keep one of them", place=place)
        earlier.add(name)
    return tuple(names)


def _start(section: Section) -> datetime:
    found = section.content["start"]
    if not isinstance(found, datetime) or found.tzinfo is None:
        rule = "it must be a moment with its time zone, because clocks are set back and forth"
        raise section.refusal("start", rule, "Write it in UTC: start = 2026-01-01T00:00:00Z")
    try:
        return found.astimezone(UTC)
    except OverflowError:
        pass
    raise section.refusal("start", "in UTC it lies outside of the years 1 to 9999", "Write a moment between these")


def _protected(section: Section) -> int | None:
    found: Any = section.content.get("protect", EVENT)
    if found == EVENT:
        return 1
    if found == UNIT:
        return None
    if not is_whole(found) or not 1 <= found <= _MOST_STEPS:
        rule = f'it must be "event", "unit", or a number of steps from 1 to {_MOST_STEPS}'
        fix = 'Write protect = "event", or protect = 288 for a day of five-minute steps'
        raise section.refusal("protect", rule, fix)
    return int(found)


def _choice(section: Section, field: str, known: tuple[str, ...]) -> str:
    found = section.content.get(field, known[0])
    if not isinstance(found, str) or found not in known:
        near = did_you_mean(found, known) if isinstance(found, str) else ""
        listed = [name for name in known if name]
        raise section.refusal(field, f"it must be one of {', '.join(listed)}{near}", f'Write {field} = "{listed[0]}"')
    return found


def _share(section: Section, field: str, default: Fraction) -> Fraction:
    found = section.number(field) if field in section else default
    if not 0 < found < 1:
        raise section.refusal(field, "it must lie between 0 and 1", f"Write {field} = {float(default)}")
    return found


def _strictness(section: Section) -> Fraction:
    found = section.number("strictness") if "strictness" in section else Fraction(3)
    if not 0 < found <= _MOST_STRICTNESS:
        raise section.refusal(
            "strictness", f"it must be above 0 and at most {_MOST_STRICTNESS}", "Write strictness = 3, or 2"
        )
    return found


def _optional(section: Section, field: str) -> int | None:
    return section.whole(field, _LARGEST, 1, f"Write a count: {field} = 300") if field in section else None


def _windows(section: Section) -> tuple[int, ...]:
    found = section.content.get("windows", [])
    fix = "Write windows = [12, 288]"
    if not isinstance(found, list):
        raise section.refusal("windows", "it must be a list of numbers of steps", fix)
    for place, length in enumerate(found):
        if not is_whole(length) or not 1 <= length <= _MOST_WINDOW:
            raise section.refusal("windows", f"each window is from 1 to {_MOST_WINDOW} steps long", fix, place=place)
    if len(set(found)) < len(found):
        raise section.refusal("windows", "a window is listed twice", "Keep one of them")
    return tuple(found)


def _alarms(section: Section) -> tuple[AlarmDeclaration, ...]:
    fix = "Write one section for each, such as [streams.campus.alarms.crowded]"
    return tuple(_alarm(name, alarm) for name, alarm in section.section("alarms", fix).sections(fix))


def _alarm(name: str, section: Section) -> AlarmDeclaration:
    section.only(*ALARM_FIELDS)
    for field, fix in (
        ("kind", f"Write one of {', '.join(ALARM_KINDS)}"),
        ("series", 'Name a state or a node: series = "library"'),
        ("threshold", "Write a count: threshold = 500"),
    ):
        section.required(field, fix)
    return AlarmDeclaration(
        name,
        _choice(section, "kind", ALARM_KINDS),
        section.text("series", 'Name a state or a node: series = "library"'),
        section.whole("threshold", _LARGEST, 1, "Write a count: threshold = 500"),
        section.whole("window", _MOST_WINDOW, 1, "Write a number of steps: window = 12"),
        _share(section, "miss_rate", Fraction(1, 20)),
        _share(section, "false_alarm_rate", Fraction(1, 20)),
        section.whole("on_steps", _MOST_STEPS, 1, "Write on_steps = 1"),
        section.whole("off_steps", _MOST_STEPS, 1, "Write off_steps = 1"),
    )


def _polled(section: Section) -> Polled | None:
    fields = ("table", "state_column", "time_column")
    if not any(field in section for field in fields):
        return None
    for field in fields:
        section.required(field, "Name all three: the table, its column of states and its column of time")
    table, state, time = (section.text(field, "Name a table of [tables], and two of its columns") for field in fields)
    return Polled(table, state, time)
