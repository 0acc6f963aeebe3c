"""What the ProBE family promises, what it does not, and its plan in words.

Reads: a question, a wish, half widths. Writes: text. Never: data.
"""

from collections.abc import Sequence

from thresher.amounts import Epsilon
from thresher.config import decimal_text
from thresher.decisions.explanation import laid_out, opening
from thresher.decisions.probe_answer import Look
from thresher.decisions.probe_widths import Widths
from thresher.decisions.promise import bounded_data, unit_word
from thresher.decisions.verdicts import few_digits
from thresher.decisions.wishes import Wish
from thresher.plan import Guarantee
from thresher.question import Question

_NOT_KEPT = (
    "ProBE's bound on false alarms does not hold: with 92 of 574 groups exactly at the line, answers accepted at "
    "10 % have 16 % false alarms; see docs/mechanisms.md"
)
_NAIVE = "Nothing is promised about false alarms; see docs/mechanisms.md"
_HOW = {
    "naive": "one noisy look at each condition, the miss rate shared evenly between them",
    "probe-naive": "two phases of looks at each condition, the miss rate shared evenly",
    "probe": "two phases of looks at each condition, the miss rate shared by what conditions cost",
    "probe-ent": "looks at each condition in turn, sharper at levels chosen for min-entropy",
}


def promised(question: Question, wish: Wish, widths: Widths) -> Guarantee:
    """Misses only. The false-alarm rate is given as 1: whatever was asked for is not kept."""
    misses = decimal_text(wish.miss_rate)
    answered = "" if wish.mechanism == "naive" else ", and the question answered all the same,"
    sentence = (
        f"FOR COMPARISON ONLY. For each group by itself, over the noise: if it meets the condition, it is left out"
        f"{answered} with probability at most {misses}. {alarms(wish)}. {bounded_data(question.table)}"
    )
    return Guarantee(misses, "1", few_digits(widths.widest), "inf", sentence)


def explained_probe(
    question: Question,
    wish: Wish,
    widths: Widths,
    looks: Sequence[Look],
    epsilon: Epsilon,
    guarantee: Guarantee,
) -> str:
    """What will be read, what it may cost and what is not promised, before anything is read."""
    price = f"{epsilon}, a look at each condition"
    if wish.mechanism != "naive":
        price = f"{epsilon} at worst, which is the limit; a question that is denied is charged for what was looked at"
    return laid_out(
        [
            ("WARNING", f"for comparison only. {alarms(wish)}. mechanism=certified keeps its promise"),
            *opening(question),
            ("mechanism", f"{wish.mechanism}: {_HOW[wish.mechanism]}"),
            *[("look", _told(look, widths)) for look in looks],
            ("half width", f"{guarantee.half_width} {unit_word(question.table)}, the widest of them"),
            ("epsilon", price),
            ("promise", guarantee.sentence),
            *[("note", note) for note in question.notes],
        ]
    )


def alarms(wish: Wish) -> str:
    """What is not promised."""
    return _NAIVE if wish.mechanism == "naive" else _NOT_KEPT


def _told(look: Look, widths: Widths) -> str:
    text = widths.atoms[look.atom].text
    return f"{text}: half width {widths.in_own_units(look.atom)}, miss rate {float(look.share):.4g}, {look.epsilon}"
