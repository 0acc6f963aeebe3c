"""The ask of a decision: which groups satisfy the HAVING of a question, or the numbers behind that.

Reads: the text, options, declarations, public tables. Writes: nothing. Never: private rows.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from thresher.asks.desk import Desk, check_one_for_all
from thresher.asks.merging import IN_TEXT, merged
from thresher.charging import check_limit
from thresher.decisions.decision_options import NAMES, VALUES, as_spelt, options_of
from thresher.decisions.decision_plan import ConstantPlan, DecisionPlan, plan_decision
from thresher.plan import Plan
from thresher.question import Question
from thresher.release import Release

AnyDecision = DecisionPlan | ConstantPlan | Plan[Release]


@dataclass(frozen=True, slots=True)
class DecisionAsk:
    """A question with HAVING, and its options as they were passed."""

    sql: str
    options: Mapping[str, Any] = field(default_factory=dict)

    def plan(self, desk: Desk) -> AnyDecision:
        """Return the plan. A question that would cost more than the `max_epsilon` that was passed is refused."""
        from thresher.sql.read_question import ask  # noqa: PLC0415 - loads the parser's library

        question = ask(self.sql, desk.declared, desk.public, options=IN_TEXT)
        check_one_for_all(question.table)
        with as_spelt(question.options, self.options):
            return self._plan(question)

    def _plan(self, question: Question) -> AnyDecision:
        written = {name: value for name, value in question.options.items() if name != "key"}
        options = options_of(merged(written, self.options, NAMES, "a decision", IN_TEXT))
        if options.show == VALUES:
            from thresher.decisions.values.values_plan import plan_values  # noqa: PLC0415 - a room of its own

            plan: AnyDecision = plan_values(question, options)
        else:
            plan = plan_decision(question, options)
        check_limit(plan, "max_epsilon")
        return plan
