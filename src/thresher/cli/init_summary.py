"""What `thresher init` prints: which columns are on, who is protected, what is left to do.

Reads: a draft. Writes: text. Never: the catalogue or rows.
"""

import re
import shlex
import textwrap
from collections.abc import Iterator

from thresher.cli.options import CONFIG
from thresher.config import Draft, DraftChoices, DraftColumn
from thresher.guarantee import noun_of

_WIDTH, _INDENT = 100, 8
_MOST_NAMED = 12
_PLAIN_NAME = re.compile(r"[a-z_][a-z0-9_]*")
# Questions that group by a column with more values than this are rarely a first question.
_FEW_GROUPS = 1_000


def draft_document(draft: Draft, output: str) -> dict[str, object]:
    """Return the draft as `--json` prints it."""
    return {
        "written": output,
        "tables": sorted(draft.tables),
        "blanks": draft.blanks,
        "on": sorted(f"{table}.{one.name}" for table, columns in draft.tables.items() for one in columns if one.is_on),
        "off": sorted(f"{t}.{one.name}" for t, columns in draft.tables.items() for one in columns if not one.is_on),
        "units": dict(draft.units),
        "not_drafted": sorted({*draft.left_out, *draft.lookups}),
    }


def draft_summary(draft: Draft, choices: DraftChoices, output: str) -> Iterator[str]:
    """Yield the lines that a person reads after the file was written."""
    columns = [column for listed in draft.tables.values() for column in listed]
    yield f"Wrote {output}: {_number(len(draft.tables), 'table')}, {_number(len(columns), 'column')}. No row was read."
    yield from _on(draft)
    off = [column for column in columns if not column.is_on and column.setting and not column.is_key]
    if off:
        count = _number(len(off), "column")
        yield f"  off   {count} whose values or bounds the catalogue does not say. Switch one on with"
        yield f"          {_examples(off)}"
        yield f"        or in {output}. Never look them up in the rows: that would reveal them."
    for why, names in (
        ("their rows are those of other tables", draft.left_out),
        ("other tables refer to them. Switch one on if it is public", draft.lookups),
    ):
        if names:
            yield from _wrapped(f"Not drafted: {', '.join(names[:_MOST_NAMED])}; {why}.")
    yield from _protected(draft, choices)
    yield from _next(draft, output)


def _on(draft: Draft) -> Iterator[str]:
    several = len(draft.tables) > 1
    named = [
        f"{f'{table}.' if several else ''}{column.name} ({column.meaning})"
        for table, columns in draft.tables.items()
        for column in columns
        if column.is_on
    ]
    more = f" and {len(named) - _MOST_NAMED:,} more" if len(named) > _MOST_NAMED else ""
    if named:
        yield from _wrapped(f"  on    {', '.join(named[:_MOST_NAMED])}{more}")


def _examples(off: list[DraftColumn]) -> str:
    """Return flags that would switch on one column of values and one of bounds."""
    listed = next((column for column in off if column.setting.startswith("{ values")), None)
    bounded = next((column for column in off if column.setting.startswith("{ min")), None)
    written = []
    if listed is not None:
        written.append(f"--values {shlex.quote(f'{listed.name}=east,west')}")
    if bounded is not None:
        step = "" if "step = 1 " in bounded.setting else ":0.01"
        written.append(f"--bounds {shlex.quote(f'{bounded.name}=0:100{step}')}")
    return "   or   ".join(written)


def _protected(draft: Draft, choices: DraftChoices) -> Iterator[str]:
    for unit in dict.fromkeys(draft.units.values()):
        tables = [table for table, column in draft.units.items() if column == unit]
        where = f" of {', '.join(tables)}" if len(draft.units) > len(tables) else ""
        if unit == "":
            yield f"Protected: one row{where}. Each row is taken to be a different person."
        elif unit is not None:
            text = f"Protected: all rows of one {unit}{where}."
            if choices.limits is not None:
                groups, rows = choices.limits
                at_most = f"at most {_number(groups, 'group')}, with at most {_number(rows, 'row')} in each"
                text += f" Each {noun_of(unit)} counts in {at_most}; further rows are left out."
            yield from _wrapped(f"{text} Too small: rows are left out. Too large: more noise, or a higher cost.", 0)


def _next(draft: Draft, output: str) -> Iterator[str]:
    """Yield what to do next: fill in blanks, switch a column on, or a question that can be planned as it stands."""
    where = "" if output == CONFIG else f"-c {shlex.quote(output)} "
    question = next(filter(None, (_question(table, columns) for table, columns in draft.tables.items())), None)
    if draft.blanks:
        yield f"Next:  fill in the {_number(draft.blanks, 'line')} with ___ : only a person can say what belongs there."
    if question is None:
        yield "Next:  switch on a column to group by."
        question = "SELECT ... GROUP BY ... HAVING COUNT(*) > ..."
    yield f'{"Then: " if draft.blanks else "Next: "} thresher plan {where}"{question}"'


def _question(table: str, columns: tuple[DraftColumn, ...]) -> str | None:
    """Return a question that groups by a column that a person chose, else by one that its type switched on."""
    few = [column for column in columns if column.is_on and column.groups and column.groups <= _FEW_GROUPS]
    few.sort(key=lambda column: not column.is_chosen)
    names = [column.name for column in few if _PLAIN_NAME.fullmatch(column.name)]
    if not names or not _PLAIN_NAME.fullmatch(table):
        return None
    return f"SELECT {names[0]} FROM {table} GROUP BY {names[0]} HAVING COUNT(*) > 500"  # noqa: S608 - it is printed


def _number(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _wrapped(text: str, indent: int = _INDENT) -> list[str]:
    return textwrap.wrap(text, _WIDTH, subsequent_indent=" " * indent, break_on_hyphens=False, break_long_words=False)
