"""The first `thresher.toml` of a source: facts of its catalogue and a person's answers are written, the rest is blank.

Reads: a catalogue, which holds names, types and what people declared; a person's answers. Writes: text. Never: bounds
or lists that come from rows, which would reveal what they are to protect; values or counts of the data.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from thresher.amounts import Epsilon
from thresher.config.catalogue_facts import (
    CatalogueColumn,
    ColumnFacts,
    RelationFacts,
    derived_relations,
    lookup_tables,
    unit_of,
)
from thresher.config.draft_choices import DraftChoices, key_in_toml, text_in_toml
from thresher.config.draft_columns import DraftColumn, can_be_declared, draft_column, in_line
from thresher.config.parsing import BLANK
from thresher.config.sections import name_is_bad

_BLANK_LINE = re.compile(rf"^[^#\n]*{BLANK}", re.MULTILINE)
_HEAD = """\
# What is public about your data. Never copy a bound or a list from the rows: that would reveal them.
# Lines that begin with # are off. All settings: docs/declarations.md
"""
_SAMPLE = f"""\
# The source has no table that can be declared. A declaration looks like this:
# [tables.patients]
# budget = {BLANK}
# [tables.patients.columns]
# age = {{ min = {BLANK}, max = {BLANK}, step = 1 }}
"""
_CHANGED = "{} whenever the rows change: refining on changed rows breaks privacy"
# A setting and its comment. A line without a comment is a heading, a remark or empty.
Line = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Draft:
    """The text of a first `thresher.toml`, and what it holds.

    `units`: the column of people of each table; "" where each row is a different person, None where it is a blank.
    `left_out`: views and partitions, whose rows are those of other tables. `lookups`: tables that others refer to.
    """

    text: str
    tables: Mapping[str, tuple[DraftColumn, ...]]
    units: Mapping[str, str | None]
    left_out: tuple[str, ...]
    lookups: tuple[str, ...]

    @property
    def blanks(self) -> int:
        """How many lines hold a blank that must be filled in."""
        return len(_BLANK_LINE.findall(self.text))


def starter(
    source_url: str,
    tables: Mapping[str, Sequence[CatalogueColumn]],
    files: Mapping[str, str] | None = None,
) -> str:
    """Return a commented `thresher.toml` for these tables. `files` names the file of each table that lies in a file."""
    return drafted(source_url, tables, files=files).text


def drafted(
    source_url: str,
    tables: Mapping[str, Sequence[CatalogueColumn]],
    choices: DraftChoices | None = None,
    facts: Mapping[str, RelationFacts] | None = None,
    files: Mapping[str, str] | None = None,
    wanted: Sequence[str] = (),
) -> Draft:
    """Return a first `thresher.toml` for these tables, with a person's answers.

    facts     what the catalogue says besides types
    wanted    the tables to draft, whatever they are; without it all but views, partitions and lookup tables
    """
    said, known = choices or DraftChoices(), facts or {}
    derived = () if wanted else sorted(derived_relations(known))
    lookups = (
        {} if wanted else lookup_tables({name: one for name, one in known.items() if name not in derived}, said.unit)
    )
    named = [name for name in (wanted or tables) if name not in {*derived, *lookups, *said.public_tables}]
    parts, columns, units = [_HEAD, _written(_source_lines(source_url))], {}, {}
    taken: set[str] = set()
    for name in named:
        if name_is_bad(name) or name.casefold() in taken or not any(can_be_declared(one) for one in tables[name]):
            parts.append(
                f"# The table {key_in_toml(name)} cannot be declared, because of its name or of its columns.\n"
            )
            continue
        taken.add(name.casefold())
        writer = _TableWriter(name, tables[name], known, said)
        columns[name], units[name] = writer.columns, writer.unit
        parts.append(_written(writer.lines((files or {}).get(name))))
    parts.append("" if taken else _SAMPLE)
    parts += [f"[public_tables.{key_in_toml(name)}]\n" for name in sorted(said.public_tables)]
    offered = {name: by for name, by in lookups.items() if name not in said.public_tables and not name_is_bad(name)}
    if offered:
        parts.append(
            "# Switch a table on only if anybody may see all of its rows. To ask about it instead: init --table\n"
        )
        parts += [f"# [public_tables.{key_in_toml(name)}]\n" for name in sorted(offered)]
    return Draft("".join(parts), columns, units, tuple(derived), tuple(sorted(offered)))


def _source_lines(url: str) -> Iterator[Line]:
    yield from (
        ("[source]", ""),
        (f"url = {text_in_toml(url)}", "only ever read"),
        ("[ledger]", ""),
        ('url = "sqlite:///ledger.db"', "what has been spent: keep it, back it up"),
    )


class _TableWriter:
    """The lines of one private table."""

    def __init__(
        self,
        name: str,
        columns: Sequence[CatalogueColumn],
        known: Mapping[str, RelationFacts],
        said: DraftChoices,
    ) -> None:
        self._name, self._said = name, said
        names = [column.name for column in columns]
        self.unit = "" if said.rows_are_people else unit_of(name, names, known, said.unit) if said.unit else None
        facts = known.get(name, RelationFacts()).columns
        seen: set[str] = set()
        drafts = []
        for column in columns:
            fact = facts.get(column.name, ColumnFacts())
            public = fact.refers_to if fact.refers_to and fact.refers_to[0] in said.public_tables else None
            if column.name.casefold() in seen:
                drafts.append(DraftColumn(column.name, "", is_on=False, note="another column has the same name"))
                continue
            draft = draft_column(name, column, fact, said, public)
            seen.update({column.name.casefold()} if draft.setting else ())
            drafts.append(draft)
        self.columns = tuple(drafts)

    def lines(self, file: str | None) -> Iterator[Line]:
        said = self._said
        yield f"[tables.{key_in_toml(self._name)}]", ""
        if file is not None:
            yield f"file = {text_in_toml(file)}", "the file with its rows"
        if said.budget is None:
            yield (
                f"budget = {BLANK}",
                'the most epsilon that all questions may ever cost, such as "1"',
            )
        else:
            yield f'budget = "{said.budget}"', ""
        yield from self._unit_lines()
        if said.version is not None:
            yield f"version = {text_in_toml(said.version)}", _CHANGED.format("change it")
        else:
            yield '# version = "1"', _CHANGED.format("switch on only if you change it")
        tenth = "0.1" if said.budget is None else Epsilon.from_nano(max(1, said.budget.nano // 10))
        yield f'# max_epsilon_per_question = "{tenth}"', ""
        yield f"# count_range = {BLANK}", "a public guess at the largest group, in rows"
        yield f"[tables.{key_in_toml(self._name)}.columns]", ""
        yield from (in_line(column) for column in self.columns)

    def _unit_lines(self) -> Iterator[Line]:
        """Yield the lines about people: as a person said, else as blanks, for only a person can say it."""
        said, limits = self._said, ("max_groups_per_unit", "max_rows_per_group")
        if said.rows_are_people:
            yield "# Each row is a different person. If not, name their column: unit = ...", ""
            return
        if self.unit is None:
            rows = "remove this line and the next two if each row is a different person"
            yield f"unit = {BLANK}", f"the column that names each person; {rows}"
        else:
            yield f"unit = {text_in_toml(str(self.unit))}", ""
        if said.limits is not None:
            yield from ((f"{field} = {limit}", "") for field, limit in zip(limits, said.limits, strict=True))
            return
        yield f"{limits[0]} = {BLANK}", "in how many groups one person counts. Too small: rows are left out."
        yield f"{limits[1]} = {BLANK}", "with how many rows in each. Too large: more noise, or a higher cost."


def _written(lines: Iterator[Line]) -> str:
    """Return settings and their comments as text."""
    return "".join(f"{setting}  # {note}\n" if note else f"{setting}\n" for setting, note in lines)
