"""One statement that counts people by how many groups they have rows in, and by their most rows in one group.

Reads: a need, the catalogue. Writes: SQL text. Never: rows; a limit on the rows of a person.
"""

from collections.abc import Iterator, Sequence

from thresher.config import Listed, Numbered
from thresher.errors import BugError
from thresher.question import OneOf, PeopleNeed, Present
from thresher.sources.bounding import raw_rows, unit_expression
from thresher.sources.codes import RelationColumns
from thresher.sources.scan_statements import Brought, ScanStatement, condition_sql


def people_statement(need: PeopleNeed, relation: str, found: RelationColumns) -> ScanStatement:
    """Return the statement: one row, with 0 and then the number of people in each bin, of groups and then of rows.

    Rows without a unit, or whose key is not declared, are left out: they count in no question.
    """
    limits, dialect = need.table.contribution, found.dialect
    if limits is None:
        raise BugError("people are counted only where units are declared")
    rows, brought = raw_rows(need.table, relation, found), Brought([])
    unit = unit_expression(found, limits.unit, f"t.{dialect.identifier(limits.unit)}")
    asked = [
        OneOf(key.name, tuple(key.kind.codes())) if isinstance(key.kind, Listed | Numbered) else Present(key.name)
        for key in need.keys
    ]
    conditions = [str(rows.where), *(condition_sql(one, rows.columns, dialect, brought) for one in asked)]
    keys = "".join(f", {rows.columns[key.name].code} AS k{n}" for n, key in enumerate(need.keys))
    places = ", ".join(str(n + 1) for n in range(len(need.keys) + 1))
    cells = f"SELECT {unit} AS u{keys}, count(*) AS n FROM {rows.relation} WHERE {' AND '.join(conditions)}"
    people = f"SELECT u, count(*) AS g, max(n) AS m FROM ({cells} GROUP BY {places}) c GROUP BY u"
    bins = [*_bins("g", need.group_edges), *_bins("m", need.row_edges)]
    counts = ", ".join(f"{dialect.count(condition)} AS b{n}" for n, condition in enumerate(bins))
    return ScanStatement(f"SELECT 0 AS i, {counts} FROM ({people}) p", tuple(brought.arrays), (False,) * len(bins))


def _bins(size: str, edges: Sequence[int]) -> Iterator[str]:
    """Yield a condition for each bin; sizes above the last edge count in the last bin."""
    for place, edge in enumerate(edges):
        above = f"{size} > {edges[place - 1]}" if place else ""
        up_to = f"{size} <= {edge}" if place < len(edges) - 1 else ""
        yield " AND ".join(part for part in (above, up_to) if part) or f"{size} >= 1"
