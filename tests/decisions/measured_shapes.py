"""Conditions on counts in the shapes of the reference tables, and an average beside a count, as planners get them."""

from fractions import Fraction

from thresher.amounts import Epsilon
from thresher.config import Column, Contribution, Grid, Listed, Table
from thresher.decisions.values import values_planner
from thresher.decisions.values.measures import numbers_behind
from thresher.decisions.values.values_planner import Task
from thresher.question import ALWAYS, Aggregate, Atom, OneOf, Within
from thresher.question.implicants import primes
from thresher.question.signatures import signatures

F = Fraction
BETA = F(1, 20)
WORDS = "abcdefgh"
COLUMNS = {f"c{i}": Column(f"c{i}", Grid(F(0), F(100), F(1))) for i in range(16)} | {
    "w": Column("w", Listed(tuple(WORDS)))
}
TABLE = Table("t", COLUMNS, Epsilon("1"))

FILTERS = {
    "nested": lambda n: [Within("c0", i + 1, None) for i in range(n)],
    "independent": lambda n: [Within(f"c{i}", 1, None) for i in range(n)],
    "star": lambda n: [ALWAYS, *(Within(f"c{i}", 1, None) for i in range(n - 1))],
    "star, disjoint": lambda n: [ALWAYS, *(OneOf("w", (WORDS[i],)) for i in range(n - 1))],
    "disjoint": lambda n: [OneOf("w", (WORDS[i],)) for i in range(n)],
}


def count(where, at_least=1):
    return Atom(((Aggregate("rows", None, where), 1),), at_least, "COUNT(*)", "COUNT(*) > 0", F(1))


def task(atoms, slacks, tree, table=TABLE, **caps):
    found = numbers_behind(atoms, slacks, table)
    return Task(found, signatures(found.filters, table), primes(tree).implicants, BETA, **caps)


def counts(shape, atoms, tree, slacks, **caps):
    """So many counts, in a shape, each to be decided within its slack (or all within one)."""
    widths = [slacks] * atoms if isinstance(slacks, int) else slacks
    return task([count(where) for where in FILTERS[shape](atoms)], widths, tree, **caps)


def planned_directly(asked):
    """Every number by itself: what it costs without cells and ends."""
    search = values_planner._Search(asked)
    _, blocks, rates = search.solved(tuple((measure,) for measure in search.used))
    return search.exact(blocks, rates)


def people(max_rows, **columns):
    kinds = {name: Column(name, kind) for name, kind in columns.items()}
    return Table("t", COLUMNS | kinds, Epsilon("1"), contribution=Contribution("person", 1, max_rows))


def average_and_count(threshold, low=0, high=100, *, missing=True, max_rows=1):
    """AVG(x) > threshold and COUNT(*) >= 1, x from `low` to `high`; if `missing`, NULL counts as the lowest."""
    table = people(max_rows, x=Grid(F(low), F(high), F(1), F(low) if missing else None))
    rows = Aggregate("rows", None, ALWAYS)
    counted = rows if missing else Aggregate("present", "x", ALWAYS)
    weights = ((Aggregate("total", "x", ALWAYS), 1), (counted, -threshold))
    return table, [Atom(weights, 1, "AVG(x)", f"AVG(x) > {threshold}", F(1), per_row=True), count(ALWAYS)]
