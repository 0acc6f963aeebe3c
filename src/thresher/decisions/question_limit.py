"""How much one question may cost where nothing but a limit says so.

Reads: a question, a wish. Writes: nothing. Never: data.
"""

from thresher.accounting import CommonSpending, Spending
from thresher.amounts import NANO, Epsilon
from thresher.decisions.wishes import Wish
from thresher.question import Question, grouping_of

# Where no limit is declared, one question may cost this part of the table's budget.
_SHARE = 10


def question_limit(question: Question, wish: Wish) -> Epsilon:
    """For each group, so that one unit, which may be in several groups, loses no more than the limit on a question."""
    table = question.table
    most = wish.max_epsilon or table.max_epsilon_per_question or Epsilon.from_nano(table.budget.nano // _SHARE)
    groups = largest_loss(CommonSpending(grouping_of(question), Epsilon(1)))
    return Epsilon.from_nano(int(most.fraction / groups.fraction * NANO))


def limit_name(question: Question, wish: Wish) -> str:
    """Which limit that is."""
    if wish.max_epsilon is not None:
        return "max_epsilon"
    name = question.table.name
    if question.table.max_epsilon_per_question is not None:
        return f"max_epsilon_per_question of {name}"
    return f"tenth of the budget of {name}, which is the limit where none is declared"


def largest_loss(spending: Spending) -> Epsilon:
    """What it comes to for one unit, which may be in several groups."""
    return max(amount for loss in spending.losses() for _, amount in loss.regions())
