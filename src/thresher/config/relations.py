"""One budget for one table: no rows of the source are declared twice, as two private tables or as private and public.

Names are compared without capitals and files by their real path, so that neither spelling nor a link makes a second
budget. Patterns of files are compared as they are written here, and by the files they name when the source is opened.
Reads: names of files. Writes: nothing. Never: opens the source or a file.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from thresher.config.declarations import PublicDeclaration, Table
from thresher.config.sections import Section, dotted

_Place = str | Path


@dataclass(frozen=True, slots=True)
class _Source:
    """The path of a source of files, which name their tables, and the only table without a file, if any."""

    path: Path | None
    lone: str | None

    def places_of(self, table: Table | PublicDeclaration) -> set[_Place]:
        """Return every name and file under which a table's rows are known."""
        if table.file is not None:
            file = _real(table.file)
            beside = self.path is not None and file.parent == self.path
            # Sources know a file by the name of its table.
            return {file, table.name.casefold(), *([file.stem.casefold()] if beside else [])}
        name = table.relation or table.name
        if self.path is not None and (table.name == self.lone or name.casefold() == self.path.stem.casefold()):
            return {name.casefold(), self.path}
        return {name.casefold()}


def check_declared_once(
    tables: Section, private: Mapping[str, Table], public: Mapping[str, PublicDeclaration], source: Path | None
) -> None:
    """Refuse a private table whose rows are those of another table. `source` is the path of a source of files."""
    without = [name for name, table in private.items() if table.file is None]
    known = _Source(None if source is None else _real(source), without[0] if len(without) == 1 else None)
    taken: dict[_Place, tuple[str, str]] = {}
    for name, declared in public.items():
        taken |= dict.fromkeys(known.places_of(declared), ("public_tables", name))
    for name, table in private.items():
        places = known.places_of(table)
        twin = next((taken[place] for place in places if place in taken), None)
        if twin is not None:
            raise _twice(tables.section(name, ""), twin)
        taken |= dict.fromkeys(places, ("tables", name))


def _twice(section: Section, twin: tuple[str, str]) -> Exception:
    rule = f"[{dotted(twin)}] declares the same rows, which would give them a second budget"
    if twin[0] == "public_tables":
        rule = f"[{dotted(twin)}] declares the same rows as public, and rows are private or public"
    fix = "Keep one of the two, or name another table or file in one of them"
    field = next((field for field in ("file", "table") if field in section), None)
    return section.refusal_here(rule, fix) if field is None else section.refusal(field, rule, fix)


def _real(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError):  # a circle of links
        return path.absolute()
