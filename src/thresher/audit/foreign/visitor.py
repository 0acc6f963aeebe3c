"""Try a mechanism of somebody else, a visitor, on two neighbouring inputs in a separate process.

That a call raised is an output like any other: if it raises more often on one input, or with another text, the claim
can be refuted by that.
Reads: the named module. Writes: nothing. Never: lets the visitor stop the audit; lets a claim stand if its outputs
could not be opened.
"""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from thresher.amounts import Amount, Epsilon
from thresher.audit.foreign.neighbours import Notion, check_neighbours
from thresher.audit.foreign.own_process import Mechanism, UnfitError, runs_of
from thresher.audit.outputs.output_parts import OutputParts
from thresher.audit.outputs.rows import MOST_COLUMNS
from thresher.audit.subjects import MOST_SAMPLES, Finding, Pair, Sampled
from thresher.audit.testers.black_box import tried_by_sampling
from thresher.audit.testers.confidence import CONFIDENCE
from thresher.errors import ArgumentError
from thresher.noise import Entropy, SystemEntropy
from thresher.noise.arguments import checked_whole

_FEWEST_SAMPLES = 1_000


@dataclass(frozen=True, slots=True)
class Visit:
    """Hold the outcome for a visitor: a finding, or why it could not be tried.

    `raised` counts the runs that ended in errors, for each input; `note` says which numbers were only compared in sums.
    """

    finding: Finding | None
    failure: str
    raised: tuple[int, int]
    note: str = ""


def visited(
    mechanism: str,
    inputs: tuple[Any, Any],
    epsilon: Amount,
    *,
    samples: int = 20_000,
    time_limit: float = 10.0,
    neighbours: Notion = "either",
    confidence: Fraction = CONFIDENCE,
    progress: Callable[[int], None] = lambda _: None,
) -> Visit:
    """Audit `module:function`, which takes one of two inputs and is claimed to lose at most `epsilon`.

    `time_limit` is the longest that a call may take, in seconds; a longer one ends the trial. `progress` receives the
    number of calls that have returned, out of twice `samples`.
    """
    charged = Epsilon.covering(epsilon)
    runs = checked_whole(samples, "samples", _FEWEST_SAMPLES, 10 * MOST_SAMPLES, "Pass 20000")
    _check_name(mechanism)
    if not 0 < time_limit <= 86_400:
        raise ArgumentError("time_limit", time_limit, "it must be above 0 and at most 86,400 seconds", "Pass 10")
    check_neighbours(*inputs, neighbours)
    try:
        sides = runs_of(mechanism, inputs, runs, time_limit, progress)
    except UnfitError as unfit:
        return Visit(None, str(unfit), (0, 0))
    raised = tuple(sum(bool(parts.raised) for parts in side) for side in sides)
    outputs = iter(sides)
    subject = Sampled(
        mechanism, "your mechanism", charged, (Pair("as given", *inputs),), lambda *_: next(outputs), runs
    )
    finding = tried_by_sampling(subject, SystemEntropy(), confidence)
    failure = "" if finding.refuted else _hidden([*sides[0], *sides[1]])
    return Visit(None if failure else finding, failure, (raised[0], raised[1]), _summed([*sides[0], *sides[1]]))


def looped(mechanism: Mechanism) -> Callable[[Any, int, Entropy], list[Any]]:
    """Turn a plain function into the `run` of a `Sampled` subject: a call for each run, on a copy, in this process."""
    return lambda data, runs, _entropy: [mechanism(deepcopy(data)) for _ in range(runs)]


def _check_name(mechanism: str) -> None:
    module, _, function = mechanism.partition(":")
    if not (module and function and all(part.isidentifier() for part in (*module.split("."), *function.split(".")))):
        rule = "it must name a module and a function in it"
        raise ArgumentError("mechanism", mechanism, rule, "Write it as my_module:my_function")


def _hidden(outputs: list[OutputParts]) -> str:
    """Say why a claim that was not refuted does not stand on these outputs; empty if it does."""
    errors = {parts.raised for parts in outputs}
    if "" not in errors:
        return f"it raised {' or '.join(sorted(errors))} in every run, on both inputs"
    unseen = [parts.unseen for parts in outputs if parts.unseen]
    if not unseen:
        return ""
    closed = f"{len(unseen):,} of {len(outputs):,} outputs could not be compared, because they hold a {unseen[0]}"
    return f"{closed}. Return numbers, texts, lists, tables or records"


def _summed(outputs: list[OutputParts]) -> str:
    most = max(parts.numbers for parts in outputs)
    if most <= MOST_COLUMNS:
        return ""
    return (
        f"Outputs hold up to {most:,} numbers. The first {MOST_COLUMNS} were compared one by one, the rest as sums of"
        " blocks of neighbours, their extremes, and how many are not zero"
    )
