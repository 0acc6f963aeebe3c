"""A plan in words: first what is asked, how finely, and what it costs; then, on request, how it is measured.

Reads: what was asked, a priced look. Writes: text. Never: data.
"""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from thresher.amounts import Epsilon, rounded_up
from thresher.config import Table
from thresher.decisions.aim import Asked, limits_of
from thresher.decisions.default_width import ASSUMED_ROWS, rows_beside
from thresher.decisions.promise import unit_in
from thresher.guarantee import few_digits, in_units, listed, noun_of, percent, units_of
from thresher.plan import Statements
from thresher.question import Atom, Question, group_keys

if TYPE_CHECKING:
    from thresher.decisions.look import Look, ReachingLook

# With more groups than this, all are charged the largest level that one of them reached: a ledger line stays short.
MOST_LISTED = 200
# How many times as many rows a larger group has.
_MORE_ROWS = 5
_PAIR = 2
# Up to this price, its meaning is a factor that says something.
_LARGEST_EXPONENT = 10


# What each reader wants to know


def questioned(question: Question) -> Statements:
    """Return what is asked, and what is protected."""
    keys, one = [column.name for column in question.keys], len(question.groups) == 1
    if len(keys) == 1:
        kind = "value" if one else "values"
    elif len(keys) == _PAIR:
        kind = "pair" if one else "pairs"
    else:
        kind = "combination" if one else "combinations"
    which = f"which of {len(question.groups):,} {kind} of {listed(keys, most=9)} meet the condition?"
    unit = unit_in(question.table)
    protected = "one row; each row is taken to be a different person" if unit is None else f"all rows of one {unit}"
    return [("question", which), ("protected", protected)]


def widths(asked: Asked, kept: Sequence[Fraction], *, usual: str) -> Statements:
    """Return how finely each condition is measured, in its own units.

    `kept` holds the half width of each condition in steps. `usual` says where they come from if they are defaults.
    """
    written = [pair for pair in zip(asked.atoms, kept, strict=True) if pair[0].written]
    # Those of averages go last: they name the size of a group, which a count may set.
    written.sort(key=lambda pair: pair[0].per_row)
    texts = [f"{atom.text}: within {_own_width(atom, steps, asked)}" for atom, steps in written]
    texts += [usual] if usual else []
    return [("within" if i == 0 else "", text) for i, text in enumerate(texts)]


def priced(asked: Asked, once: Epsilon, *, back: bool = False) -> Statements:
    """Return what the question costs one unit at worst, and what that means. With `back`, the rest is given back."""
    total = asked.for_one_unit(once)
    most, when = ("at most ", "first; the rest is given back") if back else ("", "before any row is read")
    amount = rounded_up(total.fraction)
    cost = f"{most}{amount} (epsilon){_composed(asked, once)}, set aside {when}"
    if total.fraction > _LARGEST_EXPONENT:
        return [("cost", cost)]
    factor, noun = rounded_up(Fraction(math.exp(total))), noun_of(unit_in(asked.question.table))
    whose = "one row" if noun == "row" else f"the rows of one {noun}"
    meaning = (
        f"Epsilon {amount}: any answer is at most {factor} times as likely with {whose} as without, and the reverse"
    )
    return [("cost", cost), ("", meaning)]


def _own_width(atom: Atom, steps: Fraction, asked: Asked) -> str:
    """Return the half width of a condition in its own units; that of an average for groups of two sizes."""
    width = steps / atom.steps
    if not atom.per_row:
        return _counted(rounded_up(width), atom, asked.question.table)
    # Conditions of the complement stand in the order of those in the question.
    formula, asked_for = asked.question.formula, dict(zip(asked.atoms, asked.question.atoms, strict=True))
    rows, by = rows_beside(formula, asked_for[atom])
    least = rows if rows > 1 else ASSUMED_ROWS
    why = f"the fewest that {by} lets through" if rows > 1 else "assumed: no condition sets a least size"
    more = least * _MORE_ROWS
    return (
        f"{rounded_up(width / least)} in a group of {least:,} rows ({why}), {rounded_up(width / more)} in one of "
        f"{more:,}"
    )


def _counted(number: str, atom: Atom, table: Table) -> str:
    """Return a number with what a count counts; sums have units of their own, which are not known."""
    measures = {aggregate.measure for aggregate, _ in atom.weights}
    if measures == {"units"} or (measures == {"rows"} and table.rows_per_unit == 1):
        return in_units(number, unit_in(table))
    return in_units(number, None) if measures == {"rows"} else number


# How it is measured, on request


def look_details(asked: Asked, look: "Look", price: Callable[[Asked], Epsilon]) -> Statements:
    """Return how one look, or several at given levels, keep a half width."""
    options, unit = asked.options, unit_in(asked.question.table)
    levels = look.ladder()
    shared = (
        "shared between the measurements, not between conditions"
        if len(levels) > 1
        else "spent on one number for each group"
    )
    name = "miss rate" if options.misses_first else "alarm rate"
    moved = (
        "lowered, so that few groups are missed" if options.misses_first else "raised, so that false alarms are rare"
    )
    halved = price(asked.scaled(Fraction(1, 2)))
    return [
        *[("condition", _condition(atom, asked, look.half_width)) for atom in asked.atoms if atom.written],
        (name, f"{percent(options.rates[0])}, {shared}"),
        ("half width", f"{in_units(few_digits(look.half_width), unit)}: the threshold is {moved}"),
        *_levels(look, units_of(unit)),
        ("epsilon", f"{asked.for_one_unit(look.epsilon)}{_composed(asked, look.epsilon)}{_at_worst(asked, look)}"),
        ("if halved", f"half the half width would cost {halved}"),
        *[("note", note) for note in _narrowed(asked, look.half_width)],
    ]


def reaching_details(asked: Asked, look: "ReachingLook") -> Statements:
    """Return how finer and finer looks reach a promise."""
    levels, units, options = look.ladder(), units_of(unit_in(asked.question.table)), asked.options
    first, last = levels[0], levels[-1]
    name = "miss rate" if options.misses_first else "alarm rate"
    ends = f"epsilon {first.epsilon} to {last.epsilon}, half widths {first.steps:,} to {last.steps:,} {units}"
    return [
        *[("condition", atom.text) for atom in asked.atoms if atom.written],
        (name, f"{percent(options.rates[0])}; all conditions together cost what one costs"),
        ("levels", f"{len(levels)}, {ends}"),
        ("epsilon", f"{asked.for_one_unit(look.epsilon)} {refunded(asked, look)}"),
    ]


def half_widths(asked: Asked, kept: Fraction) -> list[dict[str, str]]:
    """Return the half width that was asked for and the one that is kept, for each condition in its own units."""
    return [
        {"condition": atom.text, "asked_for": few_digits(wished / unit), "kept": few_digits(kept * spread / unit)}
        for atom, spread, wished, unit, _ in _widths(asked)
    ]


def coarser(asked: Asked, look: "Look") -> tuple[str, ...]:
    """Return a note where a measurement is coarser than was asked for, with the reason."""
    if not asked.aim.asked_width:
        return ()
    half_width = look.half_width
    conditions = [
        f"{atom.text} is measured within {_own_width(atom, half_width * spread, asked)}, not "
        f"{few_digits(wished / unit)}"
        for atom, spread, wished, unit, _ in _widths(asked)
        if half_width >= wished / spread + 1
    ]
    if not conditions:
        return ()
    return (f"{'; '.join(conditions)}: {_limit_in_words(asked)} allows nothing finer",)


def _limit_in_words(asked: Asked) -> str:
    """Return the limit on the cost of a question, and how to name another where none was named."""
    named = any(limit is not None for limit in limits_of(asked.question, asked.options).values())
    tenth = f"a tenth of the budget of {asked.question.table.name}, unless max_epsilon names another"
    return f"the limit on the cost{'' if named else f' ({tenth})'}"


def _narrowed(asked: Asked, kept: Fraction) -> tuple[str, ...]:
    """Return a note about conditions that are measured more finely than asked, and which condition decides that."""
    conditions = _widths(asked)
    finer = [
        f"{atom.text} ({few_digits(kept * spread / unit)} instead of {few_digits(wished / unit)})"
        for atom, spread, wished, unit, binds in conditions
        if not binds
    ]
    if not finer:
        return ()
    binding = listed([atom.text for atom, *_, binds in conditions if binds])
    return (f"{binding} sets how finely all conditions are measured; finer than asked is {listed(finer)}",)


def refunded(asked: Asked, look: "Look") -> str:
    """Return in words what is given back of what was set aside: to each group, or to all of them together."""
    question, grouping, bound = asked.question, asked.grouping, asked.question.table.contribution
    if not look.each_group_stops:
        return "at worst; measuring ends when the promise is reached, and the rest is given back"
    loose = [name for name in grouping.columns if name not in grouping.fixed_columns]
    if loose and bound is not None:
        largest = "the largest level" if bound.max_groups == 1 else f"the sum of the {bound.max_groups} largest levels"
        same = [name for name in grouping.columns if name not in loose]
        which = f"all groups of the same {' and '.join(same)}" if same else "all groups"
        are = "is" if len(loose) == 1 else "are"
        return (
            f"at worst; {which} are charged {largest} that they reach, and the rest is given back. It is given back "
            f"group by group only if {' and '.join(loose)} {are} declared fixed: all rows of a {noun_of(bound.unit)} "
            "then have the same value"
        )
    if len(question.groups) > MOST_LISTED or group_keys(question) is None:
        return "at worst; all groups are charged the largest level that a group reaches, and the rest is given back"
    return "at worst; a group that is decided early gets back what it did not need"


def composed(table: Table, total: Epsilon, once: Epsilon) -> str:
    """Return how the price of one unit comes about, where it may be in several groups."""
    if total == once or table.contribution is None:
        return ""
    return f", which is {table.contribution.max_groups} groups at {once}"


def condition_line(atom: Atom, slack: Fraction, table: Table) -> str:
    """Return a condition with its half width in its own units."""
    width = slack / atom.steps
    if atom.per_row:
        size = f" ({few_digits(width / table.count_range)} at {table.count_range:,})" if table.count_range else ""
        return f"{atom.text}: half width {few_digits(width)}/n in a group of n rows{size}"
    return f"{atom.text}: half width {few_digits(width)}"


def _widths(asked: Asked) -> list[tuple[Atom, int, Fraction, Fraction, bool]]:
    """Return, for each condition: how far a unit moves it, the slack asked for, one of its units, whether it binds."""
    table, spreads = asked.question.table, asked.written_spreads
    slacks = [slack for slack, _ in asked.aim.tolerances]
    least = min(Fraction(slack, spread) for slack, spread in asked.aim.tolerances)
    return [
        (
            atom,
            spread,
            Fraction(slack),
            atom.steps * (table.count_range or 1 if atom.per_row else 1),
            Fraction(slack, spread) == least,
        )
        for (atom, spread), slack in zip(spreads.items(), slacks, strict=True)
    ]


def _condition(atom: Atom, asked: Asked, kept: Fraction) -> str:
    spread, unit = asked.sensitivities[atom], noun_of(unit_in(asked.question.table))
    moved = (
        ""
        if atom.per_row or spread == atom.steps
        else f"; one {unit} changes it by up to {few_digits(spread / atom.steps)}"
    )
    return condition_line(atom, kept * spread, asked.question.table) + moved


def _composed(asked: Asked, once: Epsilon) -> str:
    return composed(asked.question.table, asked.for_one_unit(once), once)


def _levels(look: "Look", units: str) -> Statements:
    """Return the levels, each with the distance from the threshold from which on it decides."""
    levels = look.ladder()
    if len(levels) == 1:
        return []
    heading = f"a group is decided if its noisy distance from the threshold is at least this many {units}:"
    if not look.fixed and look.levels_move:
        heading = f"levels are chosen by what was seen, {look.epsilon} at most. As far as they are known now: {heading}"
    looks = [
        f"look {i}: epsilon {level.epsilon}, {few_digits(Fraction(level.steps, look.scale))} or more"
        for i, level in enumerate(levels, start=1)
    ]
    return [("levels", heading), *(("", text) for text in looks)]


def _at_worst(asked: Asked, look: "Look") -> str:
    return f" {refunded(asked, look)}" if look.shows_levels and len(look.ladder()) > 1 else ""
