"""Decisions: which groups satisfy a formula, at a promised error, for the least epsilon.

The way of a question: `decision_options` checked once ─► `aim` (what is to be kept, the complement taken here) ─► a
mechanism of `mechanisms` prices a `look` ─► `decision_plan` ─► `margin` and the look inside `run` ─► a release. A
stored answer goes on in `refinement`. `values/` measures the numbers behind a verdict, `probe/` is there to be
compared with.
Reads: questions, and sealed aggregates inside `run`. Writes: nothing. What may not enter: SQL text, sources, a ledger.
"""

from importlib import import_module
from typing import Any

# What is public here, by the module that holds it: loaded when it is first used.
_PUBLIC = {
    **dict.fromkeys(
        (
            "adaptive",
            "certified_verdicts",
            "naive_laplace",
            "progressive",
            "slack",
            "three_way_verdicts",
            "threshold_shift",
            "threshold_zone",
        ),
        "arrays",
    ),
    **dict.fromkeys(("ConstantPlan", "DecisionPlan", "plan_decision"), "decision_plan"),
    **dict.fromkeys(("DecisionOptions", "Options"), "decision_options"),
    "MECHANISMS": "mechanisms",
    "Mechanism": "look",
    "Look": "look",
    "RefinementPlan": "refinement",
    "UncertainRegion": "uncertain_region",
    "ValuesPlan": "values.values_plan",
    "Verdicts": "verdicts",
    "margins": "margin",
}
__all__ = list(_PUBLIC)


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__} has no attribute {name}")
    return getattr(import_module(f"{__name__}.{_PUBLIC[name]}"), name)
