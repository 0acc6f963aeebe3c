"""What a refinement promises, and a refinement in words.

Reads: a question, an earlier answer, a priced step. Writes: text. Never: data.
"""

import math
from dataclasses import replace

from thresher.decisions.earlier import Earlier
from thresher.decisions.promise import promise, unit_word
from thresher.decisions.refinement_steps import READ_AGAIN, REFINE, Step
from thresher.decisions.verdicts import MISSES
from thresher.decisions.wishes import Wish
from thresher.noise import refined_tail
from thresher.plan import Guarantee
from thresher.question import Question

Lines = list[tuple[str, str]]


def kept_by(question: Question, earlier: Earlier, wished: Wish, step: Step) -> Guarantee:
    """Rates over the noise of the whole chain, or given what was seen; and none for a line that was picked later."""
    first = promise(question, wished, step.shift)
    if step.kind == READ_AGAIN:
        told = (
            f"The measurement of key {earlier.key}, read with another line: nothing was read anew. No rate is promised "
            "for a line that is picked after the answer was seen. A first look at this level, with this line, would "
            f"have promised: {first.sentence}"
        )
    elif step.given_seen:
        told = f"{first.sentence} These rates hold given everything that was seen before, however this was picked."
    else:
        told = f"{first.sentence} {_over_all_looks(earlier, step)}"
    return replace(first, sentence=told)


def _over_all_looks(earlier: Earlier, step: Step) -> str:
    missed, alarmed = (_given_seen(earlier, step, reach + 1) for reach in (step.shift.steps, step.shift.certain))
    return (
        "This is over the noise of all looks together, for a refinement that was settled on before they were seen, "
        "whether it is then asked for or not. For one that is picked by what was seen, the first of these rates is at "
        f"most {missed} and the others at most {alarmed}."
    )


def _given_seen(earlier: Earlier, step: Step, reach: int) -> str:
    """The most that a tail can come to, whatever was seen: rounded up."""
    # A coarser history leaves less to chance, so the highest level that is refined is the worst.
    level = max(exact for epsilon, exact in earlier.exact.items() if epsilon < step.shift.epsilon)
    share = refined_tail(-reach, reach, level, step.shift.epsilon, step.shift.scale).high
    return f"{math.ceil(share * 1000) / 1000:.3g}"


def explained(question: Question, earlier: Earlier, wished: Wish, step: Step, guarantee: Guarantee) -> Lines:
    """What there is, and what is to come of it."""
    release, units = earlier.release, unit_word(question.table)
    levels = " to ".join(str(level) for level in dict.fromkeys((earlier.lowest, earlier.highest)))
    how = {REFINE: "its noise is refined", READ_AGAIN: "read with another line"}.get(step.kind, "given again as it is")
    first = "miss rate" if wished.terms.bound == MISSES else "alarm rate"
    rates = guarantee.miss_rate, guarantee.false_alarm_rate
    return [
        ("question", question.text),
        (
            "refines",
            f"key {earlier.key}, noisy margins at epsilon {levels}, half width then {release.half_width}: {how}",
        ),
        *([("threshold", f"was that of: {release.question}")] if earlier.moved else []),
        ("groups", f"{len(question.groups):,}, each of them"),
        (first, f"{rates[0] if wished.terms.bound == MISSES else rates[1]}{_whose(step)}"),
        ("half width", f"{guarantee.half_width} {units}"),
    ]


def _whose(step: Step) -> str:
    if step.kind != REFINE:
        return ""
    return ", given everything that was seen" if step.given_seen else ", over the noise of all looks together"
