"""The first `thresher.toml` of a source: what its catalogue says is written, what only people can say is left blank.

Reads: a catalogue. Writes: text. Never: bounds or lists that come from rows; they would tell what they protect.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from thresher.config.catalogue import CatalogueColumn, family_of
from thresher.config.parsing import BLANK
from thresher.config.sections import name_is_bad, plain

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_SCALE = re.compile(r"\(\s*\d+\s*,\s*(\d{1,2})\s*\)")
_WIDEST = 60
_MOST_CANDIDATES = 3

# A setting and what it means; without a setting, a comment or an empty line.
Line = tuple[str, str]

_HEAD = f"""\
# What Thresher may know about your tables, in public: never write here what you looked up in the rows.
# Fill in every {BLANK}; until then Thresher names the next line that has one. Settings behind a # are off: remove
# the # to use one.
# Where all rows of a unit hold one value in a column, as a birthday, add fixed = true to it: it keeps losses apart.
# All settings, with their rules: docs/declarations.md
"""
_TAIL = """
# Tables that anybody may see: to list the values of a column, or to join and compare with.
# [public_tables.diseases]
# file = "diseases.csv"  # or table = "schema.diseases"; with neither, the source's own table of this name
"""
_SAMPLE = f"""
# The source has no table that can be declared. A table looks like this:
# [tables.patients]
# budget = {BLANK}
# [tables.patients.columns]
# age = {{ min = {BLANK}, max = {BLANK}, step = 1 }}
"""


def starter(
    source_url: str,
    tables: Mapping[str, Sequence[CatalogueColumn]],
    files: Mapping[str, str] | None = None,
) -> str:
    """A commented `thresher.toml` for these tables; `files` names the file of each table that lies in one."""
    parts = [_HEAD, _aligned(_source_lines(source_url))]
    taken: set[str] = set()
    for name, columns in tables.items():
        if name_is_bad(name) or name.casefold() in taken or not any(_can_be_declared(column) for column in columns):
            parts.append(f"\n# The table {_key(name)} cannot be declared: by its name, or because no column can be.\n")
            continue
        taken.add(name.casefold())
        parts.append(_aligned(_table_lines(name, columns, (files or {}).get(name))))
        parts.append(_aligned(_columns_lines(name, columns)))
    return "".join([*parts, _TAIL if taken else _SAMPLE])


def _source_lines(url: str) -> Iterator[Line]:
    yield from (
        ("", ""),
        ("[source]", ""),
        (f"url = {_quoted(url)}", "where the data is; it is only ever read"),
        ("# timeout_seconds = 600", "a question that takes longer is stopped, and stays charged"),
        ("", ""),
        ("[ledger]", ""),
        ('url = "sqlite:///ledger.db"', "what has been spent; or postgresql://..."),
        ('# anchor = "../safe/anchor"', "a small file kept elsewhere, by which an old copy of the ledger is known"),
        ("", ""),
        ("[limits]", ""),
        ("# max_groups = 10000", "the most groups one question may ask about, up to 1000000"),
    )


def _table_lines(name: str, columns: Sequence[CatalogueColumn], file: str | None) -> Iterator[Line]:
    yield from (("", ""), (f"[tables.{_key(name)}]", ""))
    if file is not None:
        yield f"file = {_quoted(file)}", "where its rows lie, seen from this file's folder"
    else:
        yield '# table = "schema.name"', "if the source calls the table otherwise"
    yield f"budget = {BLANK}", 'the epsilon that may ever be lost about it, such as "3.0"'
    yield '# max_epsilon_per_question = "0.5"', "the most that one question may cost"
    yield (
        f"count_range = {BLANK}",
        "a public guess of the most rows in a group; half widths of averages and shares need it",
    )
    yield '# version = "1"', "change it when the rows change: old answers are then not given again"
    yield from _unit_lines(columns)


def _columns_lines(name: str, columns: Sequence[CatalogueColumn]) -> Iterator[Line]:
    yield from (("", ""), (f"[tables.{_key(name)}.columns]", ""))
    taken: set[str] = set()
    for column in columns:
        if not _can_be_declared(column) or column.name.casefold() in taken:
            yield f"# {_key(column.name)}", f"{_type(column)} in the source: cannot be declared"
            continue
        taken.add(column.name.casefold())
        yield from _column_lines(column)


def _unit_lines(columns: Sequence[CatalogueColumn]) -> Iterator[Line]:
    """The unit is for the curator to choose: candidates are named, none is taken, and no choice is no answer."""
    candidates = [column for column in columns if _looks_like_a_key(column) and _can_be_declared(column)]
    off = "" if candidates else "# "
    if candidates:
        named = " or ".join(_candidate(column) for column in candidates[:_MOST_CANDIDATES])
        yield (
            f"unit = {BLANK}",
            f"who is protected: {named}? Remove this line and the next two only if every row is a person of its own",
        )
    else:
        yield "# Every row is taken for a person of its own. If a column names the person, name it:", ""
        yield f'# unit = "{BLANK}"', "who is protected: all rows with the same value here together"
    yield (
        f"{off}max_groups_per_unit = 1",
        "groups in which a unit counts; rows beyond these are left out of every count",
    )
    yield (
        f"{off}max_rows_per_group = 1",
        "rows of a unit in one group, likewise: raise both to count visits; noise grows too",
    )


def _candidate(column: CatalogueColumn) -> str:
    """A column that may name the protected, in quotes as it would be written."""
    name = _quoted(column.name)
    return f"{name} (unique here: the same as no unit)" if column.is_unique_key else name


def _column_lines(column: CatalogueColumn) -> Iterator[Line]:
    key, kind, family = _key(column.name), f"{_type(column)} in the source", family_of(column)
    off = ""
    if _looks_like_a_key(column):
        off, kind = "# ", f"{kind}, by its looks a key; remove the # only if people ask about it"
    public = kind if off else f"{kind}: public bounds, not looked up in the data"
    match family:
        case "integer":
            yield f"{off}{key} = {{ min = {BLANK}, max = {BLANK}, step = 1 }}", public
        case "decimal" | "double":
            bounds = f"{{ min = {BLANK}, max = {BLANK}, step = {_step(column)} }}"
            yield f"{off}{key} = {bounds}", f"{public}; sums are kept on the grid of step"
        case "truth":
            yield f"{off}{key} = {{ values = [true, false] }}", kind
        case "date" | "timestamp":
            hours = ', or by = "hour"' if family == "timestamp" else ""
            days = f'{{ first = {BLANK}, last = {BLANK}, by = "day" }}'
            yield f"{off}{key} = {days}", kind if off else f"{kind}: public days such as 2024-01-31{hours}"
        case _ if off:
            yield f"# {key} = {{ text = true }}", kind
        case "written":
            yield f"# {key} = {{ min = {BLANK}, max = {BLANK}, step = 1 }}", "if numbers: remove the # to use it"
            others = "if text: remove the # to use it; also { text = true }, or days { first, last }"
            yield f"# {key} = {{ values = [{BLANK}] }}", others
        case _:
            yield f"# {key} = {{ values = [{BLANK}] }}", f"{kind}: to group by it; remove the # to use it"
            yield f"# {key} = {{ text = true }}", "or this, to compare with it only; remove the # to use it"


def _can_be_declared(column: CatalogueColumn) -> bool:
    return family_of(column) != "other" and not name_is_bad(column.name)


def _looks_like_a_key(column: CatalogueColumn) -> bool:
    name = column.name.casefold()
    return column.is_unique_key or name == "id" or name.endswith("_id")


def _step(column: CatalogueColumn) -> str:
    """The catalogue knows how many decimals a decimal has."""
    scale = _SCALE.search(column.type) if family_of(column) == "decimal" else None
    if scale is None:
        return BLANK
    places = int(scale[1])
    return f"0.{'1':0>{places}}" if places else "1"


def _type(column: CatalogueColumn) -> str:
    """The type in a few words; the labels of an ENUM are not repeated."""
    return plain(column.type.partition("(")[0] if column.type.lower().startswith("enum") else column.type)


def _key(name: str) -> str:
    return name if _BARE_KEY.fullmatch(name) else _quoted(name)


def _quoted(text: str) -> str:
    """A basic string of TOML; what may not stand in one is escaped."""
    return '"' + "".join(_escaped(character) for character in text) + '"'


def _escaped(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    return character if character.isprintable() else f"\\U{ord(character):08x}"


def _aligned(lines: Iterator[Line]) -> str:
    """Meanings one below the other, where that is not too far to the right."""
    pairs = list(lines)
    width = max((len(setting) for setting, note in pairs if note and len(setting) <= _WIDEST), default=0)
    return "".join(f"{setting:<{width}}  # {note}\n" if note else f"{setting}\n" for setting, note in pairs)
