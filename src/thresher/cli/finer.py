"""Say how to measure uncertain groups more finely, with the price: what an answer ends with if many are uncertain.

Reads: an answer, and the ledger for the plan of its refinement. Writes: nothing. Never: charges; reads rows.
"""

import shlex
from collections.abc import Mapping
from fractions import Fraction

import click

from thresher.amounts import rounded_down, rounded_up
from thresher.cli.flags import in_flags
from thresher.decisions.decision_plan import DecisionPlan
from thresher.decisions.refinement import RefinementPlan
from thresher.engine import Engine
from thresher.errors import ThresherError
from thresher.guarantee import MISSES, UNCERTAIN, percent
from thresher.pages import Fact, Page
from thresher.pages.page import plain_lines
from thresher.plan import Plan
from thresher.release import Release

# With a smaller share of uncertain groups, nothing is advised.
_MANY = Fraction(1, 10)
# How many times as finely to measure: the first of these that costs something.
_FINER = (2, 4, 8)


def next_step(engine: Engine, plan: Plan[Release], release: Release, sql: str, more: Mapping[str, str]) -> Page:
    """Return the command that measures twice as finely, with its price and rates; nothing if few are uncertain.

    `more`: further options of the command, as they were given.
    """
    uncertain = release.verdicts.count(UNCERTAIN)
    if uncertain <= _MANY * len(release.groups) or release.measured is None or not isinstance(plan, DecisionPlan):
        return Page(())
    groups, table = f"{uncertain} group{'s are' if uncertain > 1 else ' is'} uncertain", plan.question.table
    if not table.names_its_rows:
        later = f"To refine later answers, declare a version in [tables.{table.name}], and change it with the rows"
        return Page((Fact("next", f"{groups}. Ask again with a smaller half width, at the full price. {later}."),))
    offer = _offer(engine, plan, release, sql)
    if offer is None:
        return Page(())
    (times, width, finer), left = offer, engine.balance(plan).remaining
    if left is not None and finer.epsilon > left:
        command = click.get_current_context().command
        fits = in_flags(finer.affordable(left) or "Nothing finer is left in the budget", command)
        return Page((Fact("next", f"{groups}. {fits}."),))
    options = {"--of": release.key, "--within": width, **more}
    written = " ".join(f"{flag} {shlex.quote(value)}" for flag, value in options.items())
    lines = [*f"    thresher refine {_argument(sql)} \\".split("\n"), f"      {written}"]
    how = "twice" if times == _FINER[0] else f"{times} times"
    about = f"{groups}. To measure {how} as finely, for {rounded_up(finer.epsilon.fraction)} more:"
    return Page((Fact("next", about), plain_lines(lines), Fact(" ", _seen(finer))))


def _offer(engine: Engine, plan: DecisionPlan, release: Release, sql: str) -> tuple[int, str, RefinementPlan] | None:
    """Return how many times as finely to measure, the half widths, and the plan; None if that cannot be offered.

    An answer of several measurements can hold less noise than its half width needs. Half of its half width is then
    free, but with higher rates and nothing measured, so the first half width that is measured is offered.
    """
    try:
        for times in _FINER:
            width = _widths(plan, release.half_width / times)
            finer = engine.plan_refinement(sql, of=release.key, within=width)
            if finer.cost is not None:
                return None if engine.stored(finer) is not None else (times, width, finer)
    except ThresherError:
        # It was refined in another way, or would cost more than one question may. The answer is shown all the same.
        return None
    return None


def _seen(finer: RefinementPlan) -> str:
    """Return what holds if the finer measurement is chosen because of the answer."""
    facts, end = finer.guarantee.facts, "Nothing is certified about the new list."
    if "missed" not in facts:
        return end
    first, others = (percent(Fraction(facts[name])) for name in ("missed", "alarmed"))
    qualifies = "qualifies is missed" if finer.guarantee.bound == MISSES else "does not qualify is reported"
    return (
        f"If you choose this because of what you saw, a group that {qualifies} with probability at most {first}, and "
        f"the other rates are at most {others}. {end}"
    )


def _widths(plan: DecisionPlan, half_width: Fraction) -> str:
    """Return the half width of each aggregate in its own units, rounded down; `half_width` is in privacy units."""
    table, widths = plan.question.table, {}
    for atom, spread in plan.asked.written_spreads.items():
        unit = atom.steps * ((table.count_range or 1) if atom.per_row else 1)
        widths[atom.aggregate] = rounded_down(half_width * spread / unit).replace(",", "")
    return ", ".join(f"{aggregate}={width}" for aggregate, width in widths.items())


def _argument(sql: str) -> str:
    """Return the question as a shell reads it back, unchanged; `-` (standard input) for one that cannot be printed."""
    return shlex.quote(sql) if all(line.isprintable() for line in sql.split("\n")) else "-"
