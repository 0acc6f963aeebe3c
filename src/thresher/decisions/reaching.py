"""A plan in words, for mechanisms that look closer until their promise is reached.

Reads: a question, a wish, a priced rule. Writes: text. Never: data.
"""

from thresher.amounts import Epsilon
from thresher.config import decimal_text
from thresher.decisions.certified import CertifiedLadder
from thresher.decisions.explanation import laid_out, opening
from thresher.decisions.giving_back import given_back
from thresher.decisions.prices import Prices
from thresher.decisions.promise import unit_word, wide_regions
from thresher.decisions.three_way import ThreeWayLadder
from thresher.decisions.verdicts import MISSES
from thresher.decisions.wishes import Wish
from thresher.plan import Guarantee
from thresher.question import Question

_HOW = {
    CertifiedLadder: "looks at one margin for each group, sharper and sharper; each is stopped by the others only",
    ThreeWayLadder: "looks at one margin for each group at fixed levels; decided groups are left alone",
}
_COMMON = "at worst; it ends at the level where its promise is reached, and the rest is given back"


def explained_reaching(
    question: Question,
    wish: Wish,
    rule: CertifiedLadder | ThreeWayLadder,
    epsilon: Epsilon,
    regime: str,
    guarantee: Guarantee,
    beside: Prices | None = None,
) -> str:
    """What will be read, what it may cost and what it promises, before anything is read."""
    levels, units = rule.ladder(), unit_word(question.table)
    ends = " to ".join(f"{level.epsilon}" for level in (levels[0], levels[-1]))
    widths = f"{levels[0].steps:,} to {levels[-1].steps:,}"
    returned = _COMMON if isinstance(rule, CertifiedLadder) else given_back(question)
    lines = [
        *opening(question),
        ("mechanism", f"{wish.mechanism}: {_HOW[type(rule)]}"),
        ("regime", regime),
        *[("condition", atom.text) for atom in question.atoms if atom.written],
        (
            "miss rate" if wish.terms.bound == MISSES else "alarm rate",
            f"{decimal_text(wish.terms.rates[0])}; all conditions together cost what one costs",
        ),
        ("levels", f"{len(levels)}, epsilon {ends}, half widths {widths} {units}"),
        ("epsilon", f"{epsilon} {returned}"),
        *_beside(beside),
        ("promise", guarantee.sentence),
        *[("note", note) for note in (*wide_regions(question, rule), *question.notes)],
    ]
    return laid_out(lines)


def _beside(prices: Prices | None) -> list[tuple[str, str]]:
    """What one look at the uncertain region would cost in different ways, and what each tells."""
    if prices is None:
        return []
    values = "" if prices.values is None else f", {prices.values} with the numbers behind it (--show values)"
    return [
        (
            "beside",
            f"one look at the uncertain region would cost {prices.margin} by the margin, which does not tell which "
            f"condition failed{values}, {prices.direct} condition by condition, {prices.probe} by ProBE's shares",
        )
    ]
