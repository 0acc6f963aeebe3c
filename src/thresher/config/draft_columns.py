"""One column of a first `thresher.toml`: switched on with what its type says or a person chose, or off with blanks.

Reads: a catalogue. Writes: text. Never: a bound or a list of values that comes from rows.
"""

import math
import re
from dataclasses import dataclass, replace
from datetime import date
from enum import Enum
from fractions import Fraction
from typing import Literal, get_args

from thresher.config.catalogue_facts import CatalogueColumn, ColumnFacts, in_whole_numbers
from thresher.config.columns import decimal_text
from thresher.config.draft_choices import DraftChoices, key_in_toml, text_in_toml
from thresher.config.kinds import kind_in
from thresher.config.parsing import BLANK, file_section
from thresher.config.sections import name_is_bad, plain
from thresher.errors import ArgumentError, DeclarationError

# "written": a column of a file without types, such as CSV.
Family = Literal["integer", "decimal", "double", "text", "written", "truth", "date", "timestamp", "other"]
_FAMILIES: dict[str, Family] = {
    **{family: family for family in get_args(Family)},
    "moment": "timestamp",
    "zoned": "timestamp",
}
_RANGES = {
    "tinyint": (-128, 127),
    "utinyint": (0, 255),
    "smallint": (-(2**15), 2**15 - 1),
    "usmallint": (0, 2**16 - 1),
}
_FIRST_DAY, _LAST_DAY = date.min, date.max
_NUMBER = re.compile(r"[+-]?\d{1,30}(\.\d{1,30})?")
_VALUES_OF: dict[Family, re.Pattern[str]] = {
    **dict.fromkeys(("integer", "decimal", "double"), re.compile(r"[+-]?\d{1,30}")),
    **dict.fromkeys(("text", "written"), re.compile(r".+", re.DOTALL)),
    "truth": re.compile("true|false"),
}
_UNITS_OF_TIME = ((), ("day",), ("hour",))
_INSTEAD = {
    "values": "Write values=eye,stroke for text, building=1,2 for whole numbers, and bounds for dates",
    "bounds": "Write age=0:110 or price=0:100:0.01 for numbers, day=2024-01-01:2024-12-31 for dates; values for text",
}
_SCALE = re.compile(r"\(\s*\d+\s*,\s*(\d{1,2})\s*\)")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_WHOLE = re.compile(r"[+-]?\d+")
# More labels than this belong into a public table.
_MOST_LABELS = 200
_NUMBERS = ("integer", "decimal", "double")
_TIMES = ("date", "timestamp")


@dataclass(frozen=True, slots=True)
class DraftColumn:
    """A line of a column. `setting` is off where it needs a decision; `meaning` says in words what it holds.

    `groups`: how many groups it makes, if people can group by it; else None. `is_key`: it seems to name rows or people.
    `is_chosen`: a person said its values or bounds.
    """

    name: str
    setting: str
    is_on: bool
    meaning: str = ""
    note: str = ""
    groups: int | None = None
    is_key: bool = False
    is_chosen: bool = False


def family_of(column: CatalogueColumn) -> Family:
    """Return the family of a column's type, which is one of our words or a member of an enumeration; else "other"."""
    word = column.family.name.lower() if isinstance(column.family, Enum) else column.family
    return _FAMILIES.get(word, "other")


def can_be_declared(column: CatalogueColumn) -> bool:
    """Return whether a declaration can name this column and fit its type."""
    return family_of(column) != "other" and not name_is_bad(column.name)


def looks_like_a_key(column: CatalogueColumn) -> bool:
    """Return whether the column seems to name rows or people, by a constraint or by its name."""
    name = column.name.casefold()
    return column.is_unique_key or name == "id" or name.endswith("_id")


def may_name_people(table: str, column: CatalogueColumn) -> bool:
    """Return whether the column may be the one of the people: it looks like a key, but not like that of the rows."""
    name, rows = column.name.casefold(), table.rpartition(".")[2].casefold()
    own = {"id", f"{rows}_id", f"{rows.removesuffix('s')}_id", f"{rows.removesuffix('ies')}y_id"}
    return looks_like_a_key(column) and not column.is_unique_key and name not in own and can_be_declared(column)


def draft_column(
    table: str,
    column: CatalogueColumn,
    facts: ColumnFacts,
    choices: DraftChoices,
    public: tuple[str, str] | None = None,
) -> DraftColumn:
    """Return the line of a column. `public`: the column of a public table that lists its values."""
    values, bounds = choices.values_of(table, column.name), choices.bounds_of(table, column.name)
    if not can_be_declared(column):
        return DraftColumn(column.name, "", is_on=False, note=f"{type_in_words(column)}: it cannot be declared")
    if values or bounds:
        draft = _with_values(column, values) if values else _with_bounds(column, bounds)
        _check_chosen(draft, column, values, bounds)
        return replace(draft, is_chosen=True)
    if public is not None:
        named = f"{{ public_table = {text_in_toml(public[0])}, column = {text_in_toml(public[1])} }}"
        return DraftColumn(column.name, named, is_on=True, meaning=f"the values of {public[0]}")
    draft = _by_type(column, facts)
    if column.name == choices.unit or looks_like_a_key(column):
        note = "who is protected" if column.name == choices.unit else "it seems to name a row or a person"
        return replace(draft, is_on=False, note=note, is_key=True)
    return draft


def _check_chosen(
    draft: DraftColumn, column: CatalogueColumn, values: tuple[str, ...], bounds: tuple[str, ...]
) -> None:
    """Refuse values or bounds that do not fit the column's type, or that `thresher.toml` refuses."""
    family = family_of(column)
    field = "values" if values else "bounds"
    shown = f"{column.name}={','.join(values) if values else ':'.join(bounds)}"
    form = _VALUES_OF.get(family) if values else _DAY if draft.setting.startswith("{ first") else _NUMBER
    if form is None or (bounds and family in ("text", "truth")):
        rule, fix = f"the column is {type_in_words(column)}, which does not have {field}", _INSTEAD[field]
        raise ArgumentError(field, shown, rule, fix)
    ends = values or (bounds if form is _NUMBER else bounds[:2])
    if not all(form.fullmatch(written) for written in ends) or (form is _DAY and bounds[2:] not in _UNITS_OF_TIME):
        raise ArgumentError(field, shown, f"the column is {type_in_words(column)}", _INSTEAD[field])
    if form is _DAY and not all(map(_is_a_day, ends)):
        raise ArgumentError(field, shown, "there is no such day", "Write days as 2024-01-31")
    if family == "double" and len(bounds) == 2:
        rule = f"the column is {type_in_words(column)}, whose values are rounded to multiples of a step"
        raise ArgumentError(field, shown, rule, f"Write the step too, such as {shown}:0.01")
    try:
        kind_in(file_section(f"x = {draft.setting}", "").section("x", ""))
    except DeclarationError as error:
        rule = error.message.partition("is refused: ")[2] or error.message
        raise ArgumentError(field, shown, *(part.rstrip(".") for part in rule.split(". ", 1))) from None


def _is_a_day(written: str) -> bool:
    try:
        date.fromisoformat(written)
    except ValueError:
        return False
    return True


def _by_type(column: CatalogueColumn, facts: ColumnFacts) -> DraftColumn:
    """Return the line that the catalogue says, with a blank for each thing that it does not say."""
    family = family_of(column)
    if facts.values and len(facts.values) <= _MOST_LABELS and _fit(facts.values, family):
        return _with_values(column, tuple(map(str, facts.values)))
    match family:
        case "integer" | "decimal" | "double":
            return _number(column, facts)
        case "truth":
            setting = "{ values = [true, false] }"
            return DraftColumn(column.name, setting, is_on=True, meaning="true or false", groups=2)
        case "date" | "timestamp":
            first, last = (
                end if isinstance(end, date) else other
                for end, other in ((facts.lowest, _FIRST_DAY), (facts.highest, _LAST_DAY))
            )
            return _days(column, first.isoformat(), last.isoformat(), "day")
        case "written":
            note = f"or, for numbers, {{ min = {BLANK}, max = {BLANK}, step = 1 }}"
            return DraftColumn(column.name, f"{{ values = [{BLANK}] }}", is_on=False, note=note)
    return DraftColumn(column.name, f"{{ values = [{BLANK}] }}", is_on=False)


def _fit(values: tuple[str | int, ...], family: Family) -> bool:
    kind = str if family in ("text", "written") else int if family in _NUMBERS else None
    return kind is not None and all(type(value) is kind for value in values)


def _with_values(column: CatalogueColumn, values: tuple[str, ...]) -> DraftColumn:
    """Return a list of values: whole numbers for a column of numbers, true and false as they are, else text."""
    family = family_of(column)
    written = ", ".join(value if family in (*_NUMBERS, "truth") else text_in_toml(value) for value in values)
    meaning = f"one of {len(values):,} values"
    return DraftColumn(column.name, f"{{ values = [{written}] }}", is_on=True, meaning=meaning, groups=len(values))


def _with_bounds(column: CatalogueColumn, bounds: tuple[str, ...]) -> DraftColumn:
    low, high, *rest = bounds
    if family_of(column) in _TIMES or (family_of(column) == "written" and _DAY.fullmatch(low)):
        return _days(column, low, high, rest[0] if rest else "day")
    return _grid(column, low, high, rest[0] if rest else _step(column) or "1")


def _number(column: CatalogueColumn, facts: ColumnFacts) -> DraftColumn:
    """Return the bounds of a number by its type and its CHECKs; a blank for an end or a step that nothing says."""
    if family_of(column) == "integer":
        ends = _RANGES.get(column.type.casefold())
        by_type = ColumnFacts(lowest=Fraction(ends[0]), highest=Fraction(ends[1])) if ends else ColumnFacts()
        facts = in_whole_numbers(facts.joined(by_type))
    step = _step(column)
    low, high = (
        BLANK
        if not isinstance(end, Fraction)
        else decimal_text(rounded(end / Fraction(step)) * Fraction(step))
        if step
        else decimal_text(end)
        for end, rounded in ((facts.lowest, math.floor), (facts.highest, math.ceil))
    )
    return _grid(column, low, high, step or BLANK)


def _grid(column: CatalogueColumn, low: str, high: str, step: str) -> DraftColumn:
    setting = f"{{ min = {low}, max = {high}, step = {step} }}"
    if BLANK in (low, high, step):
        return DraftColumn(column.name, setting, is_on=False)
    whole = all(_WHOLE.fullmatch(written) for written in (low, high, step))
    meaning = f"{'whole number' if whole and int(step) == 1 else 'number'}, {low} to {high}"
    groups = (int(high) - int(low)) // int(step) + 1 if whole and int(step) else None
    return DraftColumn(column.name, setting, is_on=True, meaning=meaning, groups=groups)


def _days(column: CatalogueColumn, first: str, last: str, by: str) -> DraftColumn:
    meaning = "date" if by == "day" else "hour"
    setting = f"{{ first = {first}, last = {last}, by = {text_in_toml(by)} }}"
    return DraftColumn(column.name, setting, is_on=True, meaning=meaning)


def _step(column: CatalogueColumn) -> str:
    """Return the step of a whole number, or of a decimal whose places the catalogue says; else nothing."""
    if family_of(column) == "integer":
        return "1"
    scale = _SCALE.search(column.type) if family_of(column) == "decimal" else None
    if scale is None:
        return ""
    places = int(scale[1])
    return f"0.{'1':0>{places}}" if places else "1"


def type_in_words(column: CatalogueColumn) -> str:
    """Return the type in a few words, without the labels of an ENUM."""
    return plain(column.type.partition("(")[0] if column.type.lower().startswith("enum") else column.type)


def in_line(column: DraftColumn) -> tuple[str, str]:
    """Return the column as a setting of TOML and its comment; one that is off begins with #."""
    off = "" if column.is_on else "# "
    setting = f" = {column.setting}" if column.setting else ""
    return f"{off}{key_in_toml(column.name)}{setting}", column.note
