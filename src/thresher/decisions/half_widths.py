"""The half widths that are kept, condition by condition: one margin has one, so the narrowest wish binds all.

Reads: a question, a wish, a priced rule. Writes: nothing. Never: data.
"""

from dataclasses import dataclass
from fractions import Fraction

from thresher.decisions.rules import Rule
from thresher.decisions.verdicts import few_digits
from thresher.decisions.wishes import Wish
from thresher.question import Question, sensitivity

_MOST_NAMED = 4


@dataclass(frozen=True, slots=True)
class HalfWidth:
    """A condition as it was written, and its half width in its own units; of an average, with `count_range` rows."""

    condition: str
    asked: Fraction
    kept: Fraction
    binds: bool

    def document(self) -> dict[str, str]:
        """For JSON."""
        return {
            "condition": self.condition,
            "asked_for": few_digits(self.asked),
            "kept": few_digits(self.kept),
        }


def half_widths(question: Question, wish: Wish, rule: Rule) -> list[HalfWidth]:
    """Of every condition that somebody wrote. What binds is the one that allows the fewest privacy units."""
    table = question.table
    atoms = [atom for atom in question.atoms if atom.written] or list(question.atoms)
    slacks = {atom: wish.region.slack_of(atom, table) for atom in atoms}
    spreads = {atom: sensitivity(atom, table) for atom in atoms}
    least = min(Fraction(slacks[atom], spreads[atom]) for atom in atoms)
    found = []
    for atom in atoms:
        unit = atom.steps * (table.count_range or 1 if atom.per_row else 1)
        binds = Fraction(slacks[atom], spreads[atom]) == least
        found.append(HalfWidth(atom.text, slacks[atom] / unit, rule.half_width * spreads[atom] / unit, binds))
    return found


def narrowed(question: Question, wish: Wish, rule: Rule) -> list[str]:
    """A note that names the conditions which are decided more sharply than asked for, and the one that binds."""
    found = half_widths(question, wish, rule)
    sharper = [width for width in found if not width.binds]
    if not sharper:
        return []
    binding = _listed([width.condition for width in found if width.binds])
    told = _listed(
        [f"{width.condition} ({few_digits(width.asked)}, now {few_digits(width.kept)})" for width in sharper]
    )
    return [f"one margin has one half width, bound by {binding}; narrower than asked for is that of {told}"]


def _listed(texts: list[str]) -> str:
    more = [f"{len(texts) - _MOST_NAMED} more"] if len(texts) > _MOST_NAMED else []
    return " and ".join([*texts[:_MOST_NAMED], *more])
