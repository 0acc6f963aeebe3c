"""What may be asked, before it has a price: one small frozen ask for each kind of question.

    ask (text or names, options) + desk (declarations, public tables, ledger) ─► plan

Read `desk.py` first (where asks become plans), then `merging.py` (options from the text and from arguments) and
`decision.py`; the others are built alike. The module of an ask loads the family that plans it, so it is loaded when
such a question is first asked.
Reads: options, declarations, public tables, the ledger where a price depends on it. Writes: nothing. What may not
enter: private rows; a mechanism's arithmetic.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from thresher.asks.decision import DecisionAsk
    from thresher.asks.diagnosis import DiagnosisAsk
    from thresher.asks.personal_asks import classes_left_of, personal_count, personal_decision, personal_question
    from thresher.asks.refinement_ask import RefinementAsk
    from thresher.asks.suggestion_ask import SuggestionAsk

_MODULES = {
    "DecisionAsk": "decision",
    "RefinementAsk": "refinement_ask",
    "SuggestionAsk": "suggestion_ask",
    "classes_left_of": "personal_asks",
    "DiagnosisAsk": "diagnosis",
    "personal_count": "personal_asks",
    "personal_decision": "personal_asks",
    "personal_question": "personal_asks",
}
__all__ = [
    "DecisionAsk",
    "DiagnosisAsk",
    "RefinementAsk",
    "SuggestionAsk",
    "classes_left_of",
    "personal_count",
    "personal_decision",
    "personal_question",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__} has no attribute {name}")
    # Kept here, so that the next question does not look it up again.
    member = globals()[name] = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    return member
