"""What a decision promises, in numbers, and which warnings stand beside the promise.

Reads: what was asked, a priced look, what an answer reached. Writes: nothing. Never: data.
"""

from fractions import Fraction

from thresher.config import Column, Days, Grid, Hours, Listed, Numbered, Table, decimal_text
from thresher.decisions.aim import Asked
from thresher.guarantee import CountedRows, Guarantee
from thresher.question import Atom, Question
from thresher.question.identity import columns_used, with_bands

# A half width that is suggested is this part of the threshold.
_PARTS = 20


def line_promise(asked: Asked, half_width: Fraction, clear: Fraction) -> Guarantee:
    """Return the promise of both rates for each group by itself, with the threshold moved by the half width."""
    options, rows = asked.options, counted_rows(asked.question)
    return Guarantee("line", options.miss_rate, options.false_alarm_rate, half_width, clear, options.bound, rows)


def unit_in(table: Table) -> str | None:
    """Return the column that names who is protected; None if each row is a different person."""
    return None if table.contribution is None else table.contribution.unit


def counted_rows(question: Question) -> CountedRows:
    """Return which rows a promise about a question is about, and how their values are limited."""
    table, used = question.table, with_bands(columns_used(question), question.table)
    columns = [table.columns[name] for name in sorted(used) if name in table.columns]
    limits = [(column.name, column.kind) for column in columns if isinstance(column.kind, Grid)]
    bound = table.contribution
    return CountedRows(
        unit=None if bound is None else bound.unit,
        max_groups=1 if bound is None else bound.max_groups,
        max_rows=1 if bound is None else bound.max_rows,
        keys=tuple((column.name, _declared_values(column)) for column in question.keys),
        agreeing=() if bound is None else table.fixed_columns,
        limits=tuple((name, decimal_text(grid.minimum), decimal_text(grid.maximum)) for name, grid in limits),
    )


def _declared_values(column: Column) -> int:
    """Return how many values of a key are declared, if rows with others are not counted; 0 if every value counts."""
    return len(column.kind.codes()) if isinstance(column.kind, Listed | Numbered | Days | Hours) else 0


def wide_regions(asked: Asked, half_width: Fraction, clear: Fraction) -> tuple[str, ...]:
    """Return warnings about conditions that are measured so coarsely that each group may end uncertain."""
    table, notes = asked.question.table, []
    if table.count_range is not None and half_width * table.rows_per_unit > table.count_range:
        notes.append("the half width is larger than count_range: each group can end uncertain. Ask for a smaller one")
    for atom, spread in asked.sensitivities.items():
        counted = atom.written and all(w > 0 and aggregate.measure != "total" for aggregate, w in atom.weights)
        if counted and asked.options.misses_first and clear * spread > _lowest(atom):
            notes.append(
                f"{atom.text} is measured so coarsely that even a group without rows can be reported. Ask for a "
                f"smaller half width{_such_as(atom)}"
            )
    return tuple(notes)


def _such_as(atom: Atom) -> str:
    """Return a half width that tells the threshold of a condition from nothing, in its own units, as advice."""
    width = _lowest(atom) // (_PARTS * atom.steps)
    return f", such as {width:,} (a twentieth of the threshold)" if width else ""


def _lowest(atom: Atom) -> int:
    return min(atom.at_least) if isinstance(atom.at_least, tuple) else atom.at_least
