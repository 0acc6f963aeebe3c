"""Decisions: which groups satisfy a formula, at a promised error, for the least epsilon.

Reads: questions, and sealed aggregates inside `run`. Writes: nothing. Never: SQL text, sources, the ledger.
"""

from thresher.decisions.constant import ConstantPlan
from thresher.decisions.deciding import DecisionPlan, plan_decision, protected, protected_by
from thresher.decisions.margin import margins
from thresher.decisions.threshold_shift import Shift, Verdicts, look, priced_shift, threshold_shift
from thresher.decisions.wishes import MECHANISMS, RegionLike, UncertainRegion, Wish, wish

__all__ = [
    "MECHANISMS",
    "ConstantPlan",
    "DecisionPlan",
    "RegionLike",
    "Shift",
    "UncertainRegion",
    "Verdicts",
    "Wish",
    "look",
    "margins",
    "plan_decision",
    "priced_shift",
    "protected",
    "protected_by",
    "threshold_shift",
    "wish",
]
