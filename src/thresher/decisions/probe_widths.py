"""Half widths for methods that look at every condition by itself: one for each, in its own steps.

Reads: a question, a wish. Writes: nothing. Never: data.
"""

from dataclasses import dataclass
from fractions import Fraction

from thresher.config import Table
from thresher.decisions.uncertain_region import UncertainRegion
from thresher.decisions.verdicts import few_digits
from thresher.decisions.wishes import Wish
from thresher.errors import ArgumentError
from thresher.question import Atom, Question, sensitivity

# Of the public range, where nothing is asked for; the other methods take what is taken everywhere.
_NAIVE_SHARE = Fraction(12, 100)


@dataclass(frozen=True, slots=True)
class Widths:
    """The conditions by number, by how much a unit moves each, and how far each may be off, in steps of its slack."""

    table: Table
    atoms: tuple[Atom, ...]
    sensitivities: tuple[int, ...]
    steps: tuple[int, ...]

    @property
    def widest(self) -> Fraction:
        """The widest, in privacy units."""
        return max(Fraction(step, spread) for step, spread in zip(self.steps, self.sensitivities, strict=True))

    @property
    def told(self) -> str:
        """The conditions with their half widths."""
        return ", ".join(f"{atom.text}: {self.in_own_units(i)}" for i, atom in enumerate(self.atoms))

    def in_own_units(self, place: int) -> str:
        """The half width of a condition as people write it; of an average, for a group of `count_range` rows."""
        atom = self.atoms[place]
        rows = self.table.count_range or 1 if atom.per_row else 1
        return few_digits(Fraction(self.steps[place]) / (atom.steps * rows))


def widths_of(question: Question, wish: Wish, atoms: tuple[Atom, ...], times: Fraction) -> Widths:
    """As asked for, so many times as wide; a condition that nobody wrote gets as many units as the widest."""
    table, region = question.table, wish.region
    if wish.mechanism == "naive" and not wish.region_said:
        region = UncertainRegion(share=_NAIVE_SHARE)
    region = region.scaled(times)
    spreads = {atom: sensitivity(atom, table) for atom in atoms}
    wished = {atom: _steps(region, atom, table) for atom in atoms if atom.written}
    if not wished:
        wished = {atom: _steps(region, atom, table) for atom in atoms}
    widest = max(Fraction(steps, spreads[atom]) for atom, steps in wished.items())
    steps = tuple(wished.get(atom, max(1, int(widest * spreads[atom]))) for atom in atoms)
    return Widths(table, atoms, tuple(spreads.values()), steps)


def _steps(region: UncertainRegion, atom: Atom, table: Table) -> int:
    steps = region.slack_of(atom, table)
    if steps < 1:
        rule = f"methods that look at each condition by itself need one step of {atom.aggregate} at least"
        raise ArgumentError("uncertain_region", atom.text, rule, "Ask for a wider one, or pass mechanism=certified")
    return steps
