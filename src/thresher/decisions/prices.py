"""What a question costs in different ways, side by side: so that a person sees what is saved and what is given up.

    margin   one number for each group decides the formula; which condition failed is not told
    values   the numbers behind it, measured together as is cheapest
    direct   each number by itself, misses shared out along prime implicants
    probe    each condition as often as it is written, misses shared out over all of them (ProBE, one look)

Reads: a question, a wish. Writes: nothing. Never: data.
"""

from dataclasses import dataclass
from fractions import Fraction

from thresher.accounting import CommonSpending
from thresher.amounts import Epsilon
from thresher.decisions.apportion import probe_shares
from thresher.decisions.rules import priced
from thresher.decisions.trees import Tree, occurrences
from thresher.decisions.values import largest, task_of
from thresher.decisions.values_planner import Task, planned, planned_directly
from thresher.decisions.wishes import Wish
from thresher.errors import ArgumentError
from thresher.noise import smallest_epsilon
from thresher.question import Question, grouping_of


@dataclass(frozen=True, slots=True)
class Prices:
    """Epsilon for one unit, all with the same half widths and rates, each by one look.

    `values` is None if there are too many numbers, or noise too wide to be drawn.
    """

    margin: Epsilon
    values: Epsilon | None
    direct: Epsilon
    probe: Epsilon

    def document(self) -> dict[str, str | None]:
        told = {"margin": self.margin, "values": self.values, "direct": self.direct, "probe": self.probe}
        return {name: None if price is None else price.to_json() for name, price in told.items()}


def prices(question: Question, wish: Wish) -> Prices | None:
    """The prices; None for a question that needs no data."""
    if isinstance(question.formula, bool) or not question.groups or wish.terms.free:
        return None
    task, tree, _ = task_of(question, wish.terms, wish.region)
    literals, measures = task.measured.literals, task.measured.measures
    tolerances = [(one.slack, measures[one.measure].sensitivity) for one in literals]
    written = [pair for atom, pair in zip(question.atoms, tolerances, strict=True) if atom.written]
    grouping = grouping_of(question)

    def in_all(epsilon: Epsilon) -> Epsilon:
        return largest(CommonSpending(grouping, epsilon))

    together = _together(task)
    return Prices(
        in_all(priced("tslm", wish.terms, written or tolerances).epsilon),
        None if together is None else in_all(together),
        in_all(planned_directly(task).epsilon),
        in_all(_probe(tree, tolerances, wish.terms.rates[0])),
    )


def _together(task: Task) -> Epsilon | None:
    try:
        return planned(task).epsilon
    except ArgumentError:
        return None


def _probe(tree: Tree, tolerances: list[tuple[int, int]], rate: Fraction) -> Epsilon:
    """Every leaf measured on its own. For the mirror this is the same: leaves are leaves."""
    weights = [Fraction(2 * spread, 2 * slack + 1) for slack, spread in tolerances]
    shares = probe_shares(tree, weights, rate)
    looks = [
        smallest_epsilon(shares[atom], tolerances[atom][0] + 1, tolerances[atom][1]) * times
        for atom, times in occurrences(tree).items()
    ]
    return Epsilon.total(looks)
