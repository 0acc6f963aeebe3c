"""How far one privacy unit can move an atom's weighted sum in one group. Proof: `sensitivity.md`.

Reads: declarations. Writes: nothing. Never: data. A bound may be too large, never too small.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from thresher.config import Column, Grid, Table
from thresher.errors import BugError
from thresher.question.asked import Aggregate, Atom
from thresher.question.conditions import ALWAYS

# No table has more rows than this. Bounds on sums, which must not overflow, use it.
MOST_ROWS = 1 << 40


@dataclass(frozen=True, slots=True)
class _WholeRange:
    """Whole numbers from `low` to `high`."""

    low: int
    high: int

    def __add__(self, other: "_WholeRange") -> "_WholeRange":
        return _WholeRange(self.low + other.low, self.high + other.high)

    def __rmul__(self, times: int) -> "_WholeRange":
        return _WholeRange(*sorted((times * self.low, times * self.high)))

    def or_nothing(self) -> "_WholeRange":
        return _WholeRange(min(self.low, 0), max(self.high, 0))

    @property
    def reach(self) -> int:
        return max(abs(self.low), abs(self.high))


NOTHING = _WholeRange(0, 0)


def sensitivity(atom: Atom, table: Table) -> int:
    """Return the most by which adding or removing one unit changes `weights . aggregates` in a group; at least 1."""
    row, unit = _row_span(atom, table.columns), _unit_span(atom)
    # r rows of a unit add r * row + unit, for r from 1 to the limit. That is linear in r, so the two ends decide.
    return max(1, *((rows * row + unit).reach for rows in (1, table.rows_per_unit)))


def row_reach(atom: Atom, table: Table) -> int:
    """Return the most by which one row changes `weights . aggregates` in a group; at least 1."""
    return max(1, _row_span(atom, table.columns).reach)


def largest_value(atom: Atom, table: Table) -> int:
    """Return a bound on |weights . aggregates| + |at_least|, for any table of at most `MOST_ROWS` rows."""
    thresholds = atom.at_least if isinstance(atom.at_least, tuple) else (atom.at_least,)
    return MOST_ROWS * sensitivity(atom, table) + max(abs(t) for t in thresholds)


def _row_span(atom: Atom, columns: Mapping[str, Column]) -> _WholeRange:
    """Return what one row may add. Terms with the same FILTER count together; different filters are independent."""
    total = NOTHING
    for where in dict.fromkeys(aggregate.where for aggregate, _ in atom.weights):
        terms = [term for term in atom.weights if term[0].where == where]
        inside = NOTHING
        for name in dict.fromkeys(aggregate.column for aggregate, _ in terms):
            of_column = [term for term in terms if term[0].column == name]
            inside += _column_span(of_column, None if name is None else columns[name])
        total += inside if where == ALWAYS else inside.or_nothing()
    return total


def _column_span(terms: list[tuple[Aggregate, int]], column: Column | None) -> _WholeRange:
    """Return what one row adds through one column: 0 if its value is missing, else count and value together."""
    weights = {"rows": 0, "present": 0, "total": 0, "units": 0}
    for aggregate, weight in terms:
        weights[aggregate.measure] += weight
    if column is None:
        return _WholeRange(weights["rows"], weights["rows"])
    if not weights["present"] and not weights["total"]:
        return NOTHING
    here = _WholeRange(weights["present"], weights["present"])
    if weights["total"]:
        if not isinstance(column.kind, Grid):
            raise BugError(f"the column {column.name} is summed without a grid")
        here += weights["total"] * _WholeRange(column.kind.lowest, column.kind.highest)
    return here if column.kind.missing is not None else here.or_nothing()


def _unit_span(atom: Atom) -> _WholeRange:
    """Return what one unit adds to counts of units: one for each filter that a row of it satisfies."""
    total = NOTHING
    for aggregate, weight in atom.weights:
        if aggregate.measure == "units":
            once = _WholeRange(weight, weight)
            total += once if aggregate.where == ALWAYS else once.or_nothing()
    return total
