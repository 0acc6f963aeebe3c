"""Decisions: which groups satisfy a formula, with a promised error, at the least epsilon.

Read the modules in the order in which a question passes them: `decision_options` (checked once) ─► `aim` (rates and
widths to keep; the complement is taken here) ─► `mechanisms` (by name) ─► `look` (what a mechanism is) ─► `shift`, the
simplest of them ─► `decision_plan` ─► `margin` and the look, inside `run` ─► a release. The default mechanism is in
`regimes`, `few_groups`, `certified` and `certificate`; its score tables are in `score_*`. `refinement` makes a stored
answer finer, `words` and `promise` say what a plan does. `arrays` has each mechanism as a function, `values/` measures
the numbers behind a verdict, and `probe/` is there for comparison only.
Reads: questions, and sealed aggregates inside `run`. Writes: nothing. What may not enter: SQL text, sources, a ledger.
"""

from importlib import import_module
from typing import Any

# Public names, by the module that holds them. A module is loaded when it is first used.
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
