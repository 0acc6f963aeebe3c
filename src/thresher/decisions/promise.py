"""What a decision promises, in numbers, and what a person should know beside it.

Reads: what was asked, a priced look, what an answer reached. Writes: nothing. Never: data.
"""

from fractions import Fraction

from thresher.config import Table
from thresher.decisions.aim import Asked
from thresher.guarantee import Guarantee
from thresher.question import Atom


def line_promise(asked: Asked, half_width: Fraction, clear: Fraction) -> Guarantee:
    """Both rates for each group by itself, the line moved by the half width."""
    options = asked.options
    return Guarantee(
        "line", options.miss_rate, options.false_alarm_rate, half_width, clear, options.bound, unit_of(asked)
    )


def unit_of(asked: Asked) -> str | None:
    """The column that names who is protected; None if each row is a different person."""
    return unit_in(asked.question.table)


def unit_in(table: Table) -> str | None:
    """The same, of a table."""
    return None if table.contribution is None else table.contribution.unit


def counting(table: Table) -> tuple[str, ...]:
    """What bounding does to counts, for people who expect raw ones; nothing where nothing is bounded."""
    bound = table.contribution
    if bound is None:
        return ()
    rows = "one row" if bound.max_rows == 1 else f"at most {bound.max_rows:,} rows"
    groups = "one group" if bound.max_groups == 1 else f"each of at most {bound.max_groups:,} groups"
    return (
        f"each {bound.unit} counts by {rows} in {groups}; its other rows are left out. To count more of them, raise "
        "max_rows_per_group or max_groups_per_unit",
    )


def wide_regions(asked: Asked, half_width: Fraction, clear: Fraction) -> tuple[str, ...]:
    """Conditions whose band reaches beyond what a group can be: with them every group may come out either way."""
    table, notes = asked.question.table, []
    if table.count_range is not None and half_width * table.rows_per_unit > table.count_range:
        notes.append("the uncertain region is wider than count_range: it covers every value that is expected")
    for atom, spread in asked.sensitivities.items():
        counted = atom.written and all(w > 0 and aggregate.measure != "total" for aggregate, w in atom.weights)
        if counted and asked.options.misses_first and clear * spread > _lowest(atom):
            notes.append(
                f"the band of {atom.text} reaches below zero: an empty group may be reported too; "
                "ask for a smaller region"
            )
    return tuple(notes)


def _lowest(atom: Atom) -> int:
    return min(atom.at_least) if isinstance(atom.at_least, tuple) else atom.at_least
