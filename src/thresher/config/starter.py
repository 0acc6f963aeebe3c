"""The first `thresher.toml` of a source: facts of its catalogue are filled in, facts that only people know are blanks.

Reads: a catalogue, which holds names, types and unique keys. Writes: text. Never: bounds or lists that come from rows,
which would reveal what they are to protect; values or counts of the data.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from typing import Literal, Protocol, get_args

from thresher.config.parsing import BLANK
from thresher.config.sections import name_is_bad, plain

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_SCALE = re.compile(r"\(\s*\d+\s*,\s*(\d{1,2})\s*\)")
_WIDEST = 60
_MOST_CANDIDATES = 3

# A setting and its comment. A line without a comment is a heading, a remark or empty.
Line = tuple[str, str]
# "written": a column of a file without types, such as CSV.
Family = Literal["integer", "decimal", "double", "text", "written", "truth", "date", "timestamp", "other"]
_FAMILIES: dict[str, Family] = {
    **{family: family for family in get_args(Family)},
    "moment": "timestamp",
    "zoned": "timestamp",
}

_HEAD = f"""\
# What is public about your data. Never copy a bound or a list from the rows: that would reveal them.
# Fill in every {BLANK}; until then Thresher names the next line that has one. Lines that begin with # are off: remove
# the # to switch one on.
# If all rows of a person hold the same value in a column, such as a date of birth, add fixed = true to it: a question
# about one value then leaves the budget of the other values alone.
# All settings, with their rules: docs/declarations.md
"""
_TAIL = """
# Public tables, which anybody may see: they list the values of a column, or are joined and compared with.
# [public_tables.diseases]
# file = "diseases.csv"  # or table = "schema.diseases"; without both, the source's table of this name
"""
_SAMPLE = f"""
# The source has no table that can be declared. A declaration looks like this:
# [tables.patients]
# budget = {BLANK}
# [tables.patients.columns]
# age = {{ min = {BLANK}, max = {BLANK}, step = 1 }}
"""


class CatalogueColumn(Protocol):
    """A column of the source: its name, its type as the source writes it, and the family of that type."""

    @property
    def name(self) -> str: ...

    @property
    def type(self) -> str: ...

    @property
    def family(self) -> str: ...

    @property
    def is_unique_key(self) -> bool: ...


def starter(
    source_url: str,
    tables: Mapping[str, Sequence[CatalogueColumn]],
    files: Mapping[str, str] | None = None,
) -> str:
    """Return a commented `thresher.toml` for these tables. `files` names the file of each table that lies in a file."""
    parts = [_HEAD, _aligned(_source_lines(source_url))]
    taken: set[str] = set()
    for name, columns in tables.items():
        if name_is_bad(name) or name.casefold() in taken or not any(_can_be_declared(column) for column in columns):
            parts.append(f"\n# The table {_key(name)} cannot be declared, because of its name or of all its columns.\n")
            continue
        taken.add(name.casefold())
        parts.append(_aligned(_table_lines(name, columns, (files or {}).get(name))))
        parts.append(_aligned(_columns_lines(name, columns)))
    return "".join([*parts, _TAIL if taken else _SAMPLE])


def _source_lines(url: str) -> Iterator[Line]:
    yield from (
        ("", ""),
        ("[source]", ""),
        (f"url = {_quoted(url)}", "where the data is; it is only read"),
        ("# timeout_seconds = 600", "a question that takes longer is stopped, and stays charged"),
        ("", ""),
        ("[ledger]", ""),
        ('url = "sqlite:///ledger.db"', "what has been spent: keep it, back it up; or postgresql://..."),
        ('# anchor = "../safe/anchor"', "a small file elsewhere, by which an old copy of the ledger is recognised"),
        ("", ""),
        ("[limits]", ""),
        ("# max_groups = 10000", "the most groups that one question may ask about, up to 1000000"),
    )


def _table_lines(name: str, columns: Sequence[CatalogueColumn], file: str | None) -> Iterator[Line]:
    yield from (("", ""), (f"[tables.{_key(name)}]", ""))
    if file is not None:
        yield f"file = {_quoted(file)}", "the file with its rows; the path starts from the folder of this file"
    else:
        yield '# table = "schema.name"', "if the table has another name in the source"
    yield f"budget = {BLANK}", 'the most epsilon that all questions about it may ever cost, such as "3.0"'
    yield '# max_epsilon_per_question = "0.5"', "the most that one question may cost"
    yield (
        f"count_range = {BLANK}",
        "a public guess at the largest group, in rows; widths of averages and widths in percent need it",
    )
    changed = "change it whenever the rows change: refining an old answer on changed rows breaks privacy"
    yield '# version = "1"', changed
    yield from _unit_lines(columns)


def _columns_lines(name: str, columns: Sequence[CatalogueColumn]) -> Iterator[Line]:
    yield from (("", ""), (f"[tables.{_key(name)}.columns]", ""))
    taken: set[str] = set()
    for column in columns:
        if not _can_be_declared(column) or column.name.casefold() in taken:
            yield f"# {_key(column.name)}", f"{_type(column)} in the source; it cannot be declared"
            continue
        taken.add(column.name.casefold())
        yield from _column_lines(column)


def _unit_lines(columns: Sequence[CatalogueColumn]) -> Iterator[Line]:
    """Yield the lines about the unit. Only the curator can choose it, so candidates are named and a blank is left."""
    candidates = [column for column in columns if _looks_like_a_key(column) and _can_be_declared(column)]
    off = "" if candidates else "# "
    if candidates:
        named = " or ".join(_candidate(column) for column in candidates[:_MOST_CANDIDATES])
        yield (
            f"unit = {BLANK}",
            f"who is protected: {named}? Remove this line and the next two only if each row is a different person",
        )
    else:
        yield "# Each row is taken to be a different person. If a column names the person, name it:", ""
        yield f'# unit = "{BLANK}"', "who is protected: all rows with the same value in this column together"
    yield (
        f"{off}max_groups_per_unit = 1",
        "in how many groups one unit counts; its rows in other groups are left out of every count",
    )
    yield (
        f"{off}max_rows_per_group = 1",
        "how many rows of one unit count in a group; raise both limits to count visits: noise or costs grow too",
    )


def _candidate(column: CatalogueColumn) -> str:
    """Return a column that may name the people, in quotes as it would be written."""
    name = _quoted(column.name)
    return f"{name} (unique in each row, as if there were no unit)" if column.is_unique_key else name


def _column_lines(column: CatalogueColumn) -> Iterator[Line]:
    key, kind, family = _key(column.name), f"{_type(column)} in the source", _family(column)
    off = ""
    if _looks_like_a_key(column):
        off, kind = "# ", f"{kind}, looks like a key; remove the # only if people ask about it"
    public = kind if off else f"{kind}: public bounds, not taken from the rows"
    match family:
        case "integer":
            yield f"{off}{key} = {{ min = {BLANK}, max = {BLANK}, step = 1 }}", public
        case "decimal" | "double":
            bounds = f"{{ min = {BLANK}, max = {BLANK}, step = {_step(column)} }}"
            yield f"{off}{key} = {bounds}", f"{public}; values are rounded to multiples of step"
        case "truth":
            yield f"{off}{key} = {{ values = [true, false] }}", kind
        case "date" | "timestamp":
            hours = ', or by = "hour"' if family == "timestamp" else ""
            days = f'{{ first = {BLANK}, last = {BLANK}, by = "day" }}'
            yield f"{off}{key} = {days}", kind if off else f"{kind}: public days such as 2024-01-31{hours}"
        case _ if off:
            yield f"# {key} = {{ text = true }}", kind
        case "written":
            numbers = f"# {key} = {{ min = {BLANK}, max = {BLANK}, step = 1 }}"
            yield numbers, "if it holds numbers: remove the # to use it"
            others = "if it holds text: remove the # to use it; also { text = true }, or days { first, last }"
            yield f"# {key} = {{ values = [{BLANK}] }}", others
        case _:
            yield f"# {key} = {{ values = [{BLANK}] }}", f"{kind}: to group by it, remove the #"
            yield f"# {key} = {{ text = true }}", "or to compare with it only, remove this #"


def _family(column: CatalogueColumn) -> Family:
    """Return the family of a column's type, which is one of our words or a member of an enumeration; else "other"."""
    word = column.family.name.lower() if isinstance(column.family, Enum) else column.family
    return _FAMILIES.get(word, "other")


def _can_be_declared(column: CatalogueColumn) -> bool:
    return _family(column) != "other" and not name_is_bad(column.name)


def _looks_like_a_key(column: CatalogueColumn) -> bool:
    name = column.name.casefold()
    return column.is_unique_key or name == "id" or name.endswith("_id")


def _step(column: CatalogueColumn) -> str:
    """Return the step of a decimal, whose places the catalogue tells; else a blank."""
    scale = _SCALE.search(column.type) if _family(column) == "decimal" else None
    if scale is None:
        return BLANK
    places = int(scale[1])
    return f"0.{'1':0>{places}}" if places else "1"


def _type(column: CatalogueColumn) -> str:
    """Return the type in a few words, without the labels of an ENUM."""
    return plain(column.type.partition("(")[0] if column.type.lower().startswith("enum") else column.type)


def _key(name: str) -> str:
    return name if _BARE_KEY.fullmatch(name) else _quoted(name)


def _quoted(text: str) -> str:
    """Return a basic string of TOML. Characters that may not stand in one are escaped."""
    return '"' + "".join(_escaped(character) for character in text) + '"'


def _escaped(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    return character if character.isprintable() else f"\\U{ord(character):08x}"


def _aligned(lines: Iterator[Line]) -> str:
    """Return the lines with their comments below each other, unless that is too far to the right."""
    pairs = list(lines)
    width = max((len(setting) for setting, note in pairs if note and len(setting) <= _WIDEST), default=0)
    return "".join(f"{setting:<{width}}  # {note}\n" if note else f"{setting}\n" for setting, note in pairs)
