"""A plan in words: EXPLAIN PRIVACY, line by line.

Reads: what was asked, a priced look. Writes: text. Never: data.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING

from thresher.amounts import Epsilon
from thresher.config import Table, decimal_text
from thresher.decisions.aim import Asked
from thresher.decisions.promise import counting, unit_in, wide_regions
from thresher.guarantee import few_digits, units_of
from thresher.question import Atom, Question, group_keys

if TYPE_CHECKING:
    from thresher.decisions.look import Look, ReachingLook

# With more groups than this, all are charged the largest level that one reached: a ledger line stays short.
MOST_LISTED = 200
_MOST_NAMED = 4

Lines = list[tuple[str, str]]


def opening(question: Question) -> Lines:
    """What is asked, about whom."""
    table = question.table
    unit = "a row" if table.contribution is None else f"all rows of one {table.contribution.unit}"
    return [
        ("question", question.text),
        ("table", f"{table.name}; protected: {unit}"),
        *[("counted", told) for told in counting(table)],
        ("groups", f"{len(question.groups):,} declared; each gets a verdict, empty or not"),
    ]


def told_look(asked: Asked, look: "Look", price: Callable[[Asked], Epsilon]) -> Lines:
    """A look, or several, that keep a half width."""
    options, units = asked.options, units_of(unit_in(asked.question.table))
    levels, clear = look.ladder(), Fraction(look.clear, look.scale)
    shared = "shared out between the looks, not between conditions" if len(levels) > 1 else "all of it for the margin"
    name = "miss rate" if options.misses_first else "alarm rate"
    moved = "moved, so that misses stay rare" if options.misses_first else "raised, so that false alarms stay rare"
    halved = price(asked.scaled(Fraction(1, 2)))
    return [
        *[("condition", _condition(atom, asked, look.half_width)) for atom in asked.atoms if atom.written],
        (name, f"{decimal_text(options.rates[0])}, {shared}"),
        ("half width", f"{few_digits(look.half_width)} {units}: by so much the line is {moved}"),
        *_levels(look, units),
        ("epsilon", f"{asked.for_one_unit(look.epsilon)}{_composed(asked, look.epsilon)}{_at_worst(asked, look)}"),
        ("if halved", f"half the uncertain region would cost {halved}"),
        ("band", _band(asked, f"{few_digits(clear)} {units}")),
        *[
            ("note", note)
            for note in (*_narrowed(asked, look.half_width), *wide_regions(asked, look.half_width, clear))
        ],
        *([("regime", look.told)] if look.told else []),
    ]


def told_reaching(asked: Asked, look: "ReachingLook") -> Lines:
    """Looks that grow sharper until a promise is reached."""
    levels, units, options = look.ladder(), units_of(unit_in(asked.question.table)), asked.options
    ends = " to ".join(f"{level.epsilon}" for level in (levels[0], levels[-1]))
    widths = f"{levels[0].steps:,} to {levels[-1].steps:,}"
    name = "miss rate" if options.misses_first else "alarm rate"
    half_width, clear = look.half_width, Fraction(look.clear, look.scale)
    return [
        ("regime", look.told),
        *[("condition", atom.text) for atom in asked.atoms if atom.written],
        (name, f"{decimal_text(options.rates[0])}; all conditions together cost what one costs"),
        ("levels", f"{len(levels)}, epsilon {ends}, half widths {widths} {units}"),
        ("epsilon", f"{asked.for_one_unit(look.epsilon)} {refunded(asked, look)}"),
        *[("note", note) for note in wide_regions(asked, half_width, clear)],
    ]


def half_widths(asked: Asked, kept: Fraction) -> list[dict[str, str]]:
    """Of every condition that somebody wrote: the half width asked for, and the one that is kept, in its own units."""
    return [
        {"condition": atom.text, "asked_for": few_digits(wished / unit), "kept": few_digits(kept * spread / unit)}
        for atom, spread, wished, unit, _ in _widths(asked)
    ]


def _narrowed(asked: Asked, kept: Fraction) -> tuple[str, ...]:
    """A note that names the conditions which are decided more sharply than asked for, and the one that binds."""
    found = list(_widths(asked))
    sharper = [one for one in found if not one[4]]
    if not sharper:
        return ()
    binding = _listed([atom.text for atom, *_, binds in found if binds])
    told = _listed(
        [
            f"{atom.text} ({few_digits(wished / unit)}, now {few_digits(kept * spread / unit)})"
            for atom, spread, wished, unit, _ in sharper
        ]
    )
    return (f"one margin has one half width, bound by {binding}; narrower than asked for is that of {told}",)


def refunded(asked: Asked, look: "Look") -> str:
    """Who gets back what was reserved and not needed: each group, or all of them together."""
    question, grouping, bound = asked.question, asked.grouping, asked.question.table.contribution
    if not look.each_group_stops:
        return "at worst; it ends at the level where its promise is reached, and the rest is given back"
    loose = [name for name in grouping.columns if name not in grouping.fixed_columns]
    if loose and bound is not None:
        largest = "the largest level" if bound.max_groups == 1 else f"the sum of the {bound.max_groups} largest levels"
        same = [name for name in grouping.columns if name not in loose]
        which = f"all groups of the same {' and '.join(same)}" if same else "all groups"
        are = "is" if len(loose) == 1 else "are"
        return (
            f"at worst; {which} are charged {largest} that they reach, and the rest is given back (group by group only "
            f"if {' and '.join(loose)} {are} declared fixed, which says that all rows of a {bound.unit} share it)"
        )
    if len(question.groups) > MOST_LISTED or group_keys(question) is None:
        return "at worst; all groups are charged the largest level that one of them reaches, and the rest is given back"
    return "at worst; what a group does not need, because it is decided early, is given back to that group"


def composed(table: Table, total: Epsilon, once: Epsilon) -> str:
    """How the price of one unit comes about, where it may be in several groups."""
    if total == once or table.contribution is None:
        return ""
    return f" = {table.contribution.max_groups} groups at {once}"


def condition_line(atom: Atom, slack: Fraction, table: Table) -> str:
    """A condition with its half width in its own units."""
    width = slack / atom.steps
    if atom.per_row:
        size = f" ({few_digits(width / table.count_range)} at {table.count_range:,})" if table.count_range else ""
        return f"{atom.text}: half width {few_digits(width)}/n in a group of n rows{size}"
    return f"{atom.text}: half width {few_digits(width)}"


def _widths(asked: Asked) -> list[tuple[Atom, int, Fraction, Fraction, bool]]:
    """Of every condition: what a unit moves it by, the slack asked for, one of its units, and whether it binds."""
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
    spread = asked.sensitivities[atom]
    moved = (
        ""
        if atom.per_row or spread == atom.steps
        else f"; one unit moves it by up to {few_digits(spread / atom.steps)}"
    )
    return condition_line(atom, kept * spread, asked.question.table) + moved


def _composed(asked: Asked, once: Epsilon) -> str:
    return composed(asked.question.table, asked.for_one_unit(once), once)


def _levels(look: "Look", units: str) -> Lines:
    """The levels, each with how far from the line it decides."""
    levels = look.ladder()
    if len(levels) == 1:
        return []
    heading = f"a look decides if the noisy margin is so many {units} or more from the line:"
    if not look.fixed and look.levels_move:
        heading = f"levels are chosen as it goes, {look.epsilon} at most. If nothing were learnt: {heading}"
    widths = [few_digits(Fraction(level.steps, look.scale)) for level in levels]
    told = [
        f"look {i}: epsilon {level.epsilon}, {width} or more"
        for i, (level, width) in enumerate(zip(levels, widths, strict=True), start=1)
    ]
    return [("ladder", heading), *(("", text) for text in told)]


def _at_worst(asked: Asked, look: "Look") -> str:
    return f" {refunded(asked, look)}" if look.shows_levels and len(look.ladder()) > 1 else ""


def _band(asked: Asked, far: str) -> str:
    if asked.options.misses_first:
        return f"a group less than {far} short of its condition may be reported too"
    return f"a group that meets its condition by less than {far} may be left out too"


def _listed(texts: list[str]) -> str:
    more = [f"{len(texts) - _MOST_NAMED} more"] if len(texts) > _MOST_NAMED else []
    return " and ".join([*texts[:_MOST_NAMED], *more])
