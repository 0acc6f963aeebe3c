"""A plan in words: EXPLAIN PRIVACY.

Reads: a question, a wish, a priced rule. Writes: text. Never: data.
"""

from collections.abc import Sequence
from fractions import Fraction

from thresher.amounts import Epsilon
from thresher.config import Table
from thresher.decisions.giving_back import given_back
from thresher.decisions.half_widths import narrowed
from thresher.decisions.outlook import Outlook
from thresher.decisions.promise import counting, unit_word, wide_regions
from thresher.decisions.rules import LADDERS, Rule
from thresher.decisions.threshold_shift import Shift
from thresher.decisions.verdicts import MISSES, few_digits
from thresher.decisions.wishes import Wish
from thresher.noise import smallest_epsilon
from thresher.plan import Guarantee
from thresher.question import Atom, Question, sensitivity

_LABEL = 12
_BAR = 20
_LOOKS = "123456789abcdefghijklmnopqrstuvw"
_MECHANISMS = {
    "certified": "one noisy look at one margin for each group",
    "nlm": "one noisy look at one margin for each group, and the line left where it is",
    "tslm": "one noisy look at one margin for each group",
    "tslm-zone": "one noisy look at one margin for each group; line and boundary placed for both rates",
    "ppwlm": "noisy looks at one margin for each group, each sharper, until it is decided",
    "dppwlm": "as ppwlm, each next level chosen by what was seen so far",
}

Lines = list[tuple[str, str]]


def explained(
    question: Question,
    wish: Wish,
    rule: Rule,
    epsilon: Epsilon,
    halved: Epsilon,
    guarantee: Guarantee,
    outlooks: Sequence[Outlook],
) -> str:
    """What will be read, what it costs and what it promises, before anything is read."""
    table, units = question.table, unit_word(question.table)
    atoms = [atom for atom in question.atoms if atom.written]
    lines = [
        *opening(question),
        ("mechanism", f"{wish.mechanism}: {_MECHANISMS['tslm' if _one_look(wish, rule) else wish.mechanism]}"),
        *[("condition", _condition(atom, rule, table)) for atom in atoms],
        *_rate(wish, rule, guarantee),
        ("half width", f"{guarantee.half_width} {units}: {_moved(wish)}"),
        *_ladder(wish, rule, units),
        ("epsilon", f"{epsilon}{_composed(epsilon, rule, table)}{_at_worst(question, wish, rule)}"),
        *_one_by_one(wish, rule, len(atoms)),
        *_outlook(outlooks, units),
        ("if halved", f"half the uncertain region would cost {halved}"),
        ("band", _band(wish, guarantee, units)),
        *[("note", note) for note in (*narrowed(question, wish, rule), *wide_regions(question, rule))],
        ("promise", guarantee.sentence),
        *[("note", note) for note in question.notes],
    ]
    return laid_out(lines)


def opening(question: Question) -> Lines:
    """What is asked, about whom."""
    table = question.table
    return [
        ("question", question.text),
        ("table", f"{table.name}; protected: {_unit(table)}"),
        *_counting(table),
        ("groups", f"{len(question.groups):,} declared; each gets a verdict, empty or not"),
    ]


def laid_out(lines: Sequence[tuple[str, str]]) -> str:
    """Labels to the left, one line for each statement."""
    return "\n".join(f"{label:<{_LABEL}}{text}" for label, text in lines) + "\n"


def _one_look(wish: Wish, rule: Rule) -> bool:
    """A ladder of one level, which is a threshold shift and is told as one."""
    return wish.mechanism in LADDERS and len(rule.ladder()) == 1


def _climbs(rule: Rule) -> bool:
    return len(rule.ladder()) > 1


def _rate(wish: Wish, rule: Rule, guarantee: Guarantee) -> Lines:
    spent = "all of it for the one margin: nothing is shared out"
    if _climbs(rule):
        spent = "shared out between the looks, not between conditions"
    if wish.terms.bound == MISSES:
        return [("miss rate", f"{guarantee.miss_rate}, {spent}")]
    return [("alarm rate", f"{guarantee.false_alarm_rate}, bounded first, in place of misses; {spent}")]


def _moved(wish: Wish) -> str:
    if wish.mechanism == "nlm":
        return "nearer than that to the line, no error rate is promised"
    if wish.mechanism == "tslm-zone":
        return "half the zone next to the line; outside it both rates are kept"
    if wish.terms.bound == MISSES:
        return "by so much the line is moved, so that misses stay rare"
    return "by so much the line is raised, so that false alarms stay rare"


def _ladder(wish: Wish, rule: Rule, units: str) -> Lines:
    """The levels, each with how far from the line it decides; or why there is one only."""
    if _one_look(wish, rule):
        return [("note", f"{_why_one(wish, rule)}, so there is one look: a threshold shift, as by tslm")]
    if not _climbs(rule):
        return []
    levels = rule.ladder()
    heading = f"a look decides if the noisy margin is so many {units} or more from the line:"
    if wish.mechanism == "dppwlm":
        heading = f"levels are chosen as it goes, {rule.epsilon} at most. If nothing were learnt: {heading}"
    widths = [few_digits(Fraction(level.steps, rule.scale)) for level in levels]
    told = [
        f"look {i}: epsilon {level.epsilon}, {width} or more"
        for i, (level, width) in enumerate(zip(levels, widths, strict=True), start=1)
    ]
    return [("ladder", heading), *(("", text) for text in told)]


def _why_one(wish: Wish, rule: Rule) -> str:
    terms = wish.terms
    if terms.levels == 1:
        return "levels = 1"
    if terms.first_epsilon is None:
        return "with this half width a first look at groups of up to count_range rows would be no coarser"
    last = smallest_epsilon(terms.rates[0] / terms.levels, int(rule.half_width * rule.scale) + 1, rule.scale)
    return f"first_epsilon = {terms.first_epsilon} is not below {last}, the last of {terms.levels} levels"


def _outlook(outlooks: Sequence[Outlook], units: str) -> Lines:
    """What groups would lose on average, and a bar of the looks at which they stop."""
    if not outlooks:
        return []
    heading = (
        f"mean epsilon of a group so many {units} from the line, if it is short of it / over it, and the looks at "
        "which such groups stop: each digit is a look, and 5 % of such groups (simulated, on no data):"
    )
    rows = [
        f"{few_digits(seen.distance):>8} away {seen.short:>10.4g} / {seen.over:<10.4g} {_bar(seen.stops)}"
        for seen in outlooks
    ]
    return [("outlook", heading), *(("", row) for row in rows)]


def _bar(stops: Sequence[float]) -> str:
    """Twenty places, shared out between the looks."""
    ends = [round(_BAR * sum(stops[: i + 1])) for i in range(len(stops))]
    return "".join(_LOOKS[i] * (end - start) for i, (start, end) in enumerate(zip([0, *ends], ends, strict=False)))


def _at_worst(question: Question, wish: Wish, rule: Rule) -> str:
    return f" {given_back(question)}" if wish.mechanism in LADDERS and _climbs(rule) else ""


def _band(wish: Wish, guarantee: Guarantee, units: str) -> str:
    if_reached = ", if the half width is reached" if wish.terms.best_effort else ""
    far = f"{guarantee.clear_distance} {units}"
    if wish.terms.bound == MISSES:
        return f"a group less than {far} short of its condition may be reported too{if_reached}"
    return f"a group that meets its condition by less than {far} may be left out too{if_reached}"


def _one_by_one(wish: Wish, rule: Rule, atoms: int) -> Lines:
    """What the usual way would cost: a noisy number for each condition, and the miss rate shared between them."""
    if atoms < 2 or wish.mechanism != "tslm" or not isinstance(rule, Shift):
        return []
    apart = atoms * smallest_epsilon(wish.terms.rates[0] / atoms, rule.steps + 1, rule.scale)
    times = f"{apart.nano / rule.epsilon.nano:.1f}"
    return [("", f"the {atoms} conditions measured one by one would cost {times} times as much")]


def _condition(atom: Atom, rule: Rule, table: Table) -> str:
    spread = sensitivity(atom, table)
    slack = rule.half_width * spread / atom.steps
    if atom.per_row:
        size = f" ({few_digits(slack / table.count_range)} at {table.count_range:,})" if table.count_range else ""
        return f"{atom.text}: half width {few_digits(slack)}/n in a group of n rows{size}"
    moved = "" if spread == atom.steps else f"; one unit moves it by up to {few_digits(spread / atom.steps)}"
    return f"{atom.text}: half width {few_digits(slack)}{moved}"


def _composed(epsilon: Epsilon, rule: Rule, table: Table) -> str:
    if epsilon == rule.epsilon or table.contribution is None:
        return ""
    return f" = {table.contribution.max_groups} groups at {rule.epsilon}"


def _unit(table: Table) -> str:
    return "a row" if table.contribution is None else f"all rows of one {table.contribution.unit}"


def _counting(table: Table) -> Lines:
    return [("counted", told)] if (told := counting(table)) else []
