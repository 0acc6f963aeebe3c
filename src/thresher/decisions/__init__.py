"""Decisions: which groups satisfy a formula, at a promised error, for the least epsilon.

Reads: questions, and sealed aggregates inside `run`. Writes: nothing. Never: SQL text, sources, the ledger.
"""

from thresher.decisions.adaptive import AdaptiveLadder, adaptive_ladder_of, explore
from thresher.decisions.arrays import adaptive, naive_laplace, progressive, slack, threshold_shift, threshold_zone
from thresher.decisions.constant import ConstantPlan
from thresher.decisions.deciding import AnyPlan, DecisionPlan, plan_decision, protected_by
from thresher.decisions.earlier import Earlier, recalled
from thresher.decisions.margin import margins
from thresher.decisions.measured import protected
from thresher.decisions.prices import Prices, prices
from thresher.decisions.probing import ProbePlan
from thresher.decisions.progressive import Ladder, climb, ladder_of
from thresher.decisions.reaching_arrays import certified_verdicts, three_way_verdicts
from thresher.decisions.refining import RefinementPlan, plan_refinement
from thresher.decisions.rules import MECHANISMS, Rule, Terms, decided, priced
from thresher.decisions.threshold_shift import Shift, look, priced_naive, priced_shift, priced_zone
from thresher.decisions.uncertain_region import RegionLike, UncertainRegion
from thresher.decisions.values import ValuesPlan, plan_values
from thresher.decisions.verdicts import Bound, Verdicts
from thresher.decisions.wishes import VALUES, VERDICTS, Wish, wish

__all__ = [
    "MECHANISMS",
    "VALUES",
    "VERDICTS",
    "AdaptiveLadder",
    "AnyPlan",
    "Bound",
    "ConstantPlan",
    "DecisionPlan",
    "Earlier",
    "Ladder",
    "Prices",
    "ProbePlan",
    "RefinementPlan",
    "RegionLike",
    "Rule",
    "Shift",
    "Terms",
    "UncertainRegion",
    "ValuesPlan",
    "Verdicts",
    "Wish",
    "adaptive",
    "adaptive_ladder_of",
    "certified_verdicts",
    "climb",
    "decided",
    "explore",
    "ladder_of",
    "look",
    "margins",
    "naive_laplace",
    "plan_decision",
    "plan_refinement",
    "plan_values",
    "priced",
    "priced_naive",
    "priced_shift",
    "priced_zone",
    "prices",
    "progressive",
    "protected",
    "protected_by",
    "recalled",
    "slack",
    "three_way_verdicts",
    "threshold_shift",
    "threshold_zone",
    "wish",
]
