"""A mechanism of somebody else's on trial, in a process of its own, which may raise, hang or die.

It is called over and over on each of two neighbouring inputs. That it raised is an output like any other: if it does
so more often on one input, or says something else, that tells.
Reads: the module that is named. Writes: nothing. Never: lets the visitor take the audit down; a claim that stands on
outputs which could not be looked into.
"""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from thresher.amounts import Amount, Epsilon, whole_number
from thresher.audit.foreign.neighbours import Notion, check_neighbours
from thresher.audit.foreign.own_process import Mechanism, UnfitError, runs_of
from thresher.audit.outputs.output_parts import OutputParts
from thresher.audit.outputs.rows import MOST_COLUMNS
from thresher.audit.subjects import MOST_SAMPLES, Finding, Pair, Sampled
from thresher.audit.testers.black_box import tried_by_sampling
from thresher.audit.testers.confidence import CONFIDENCE
from thresher.errors import ArgumentError
from thresher.noise import Entropy, SystemEntropy

_FEWEST_SAMPLES = 1_000


@dataclass(frozen=True, slots=True)
class Visit:
    """What became of a visitor: a finding, or why it could not be tried.

    `raised` counts the runs on either input that ended in errors; `note` says what was looked at in sums only.
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
    progress: Callable[[int, int], None] = lambda _done, _all: None,
) -> Visit:
    """Audit `module:function`, called with one of two inputs and claimed to lose at most `epsilon`.

    `time_limit` is the longest a single call may take, in seconds; a call that takes longer ends the trial.
    """
    charged, runs = Epsilon.covering(epsilon), checked_samples(samples)
    _check_name(mechanism)
    if not 0 < time_limit <= 86_400:
        raise ArgumentError("time_limit", time_limit, "it must be above 0, and at most a day", "Pass 10")
    check_neighbours(*inputs, neighbours)
    try:
        sides = runs_of(mechanism, inputs, runs, time_limit, lambda done: progress(done, 2 * runs))
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
    """A plain function as the `run` of a `Sampled` subject: called once for each run, on a copy, in this process."""
    return lambda data, runs, _entropy: [mechanism(deepcopy(data)) for _ in range(runs)]


def checked_samples(samples: object) -> int:
    runs = whole_number(samples, "samples")  # type: ignore[arg-type]
    if not _FEWEST_SAMPLES <= runs <= 10 * MOST_SAMPLES:
        rule = f"it must lie between {_FEWEST_SAMPLES:,} and {10 * MOST_SAMPLES:,}: fewer tell nothing"
        raise ArgumentError("samples", samples, rule, "Pass 20000")
    return runs


def _check_name(mechanism: str) -> None:
    module, _, function = mechanism.partition(":")
    if not (module and function and all(part.isidentifier() for part in (*module.split("."), *function.split(".")))):
        rule = "it must name a module and a function in it"
        raise ArgumentError("mechanism", mechanism, rule, "Write it as my_module:my_function")


def _hidden(outputs: list[OutputParts]) -> str:
    """Why outputs that do not tell the sides apart say nothing; empty if they do say something."""
    errors = {parts.raised for parts in outputs}
    if "" not in errors:
        return f"it raised {' or '.join(sorted(errors))} in every run, on both inputs"
    unseen = [parts.unseen for parts in outputs if parts.unseen]
    if not unseen:
        return ""
    told = f"{len(unseen):,} of {len(outputs):,} outputs could not be looked into, for they hold a {unseen[0]}"
    return f"{told}; return numbers, texts, lists, tables or records"


def _summed(outputs: list[OutputParts]) -> str:
    most = max(parts.numbers for parts in outputs)
    if most <= MOST_COLUMNS:
        return ""
    return (
        f"Outputs hold up to {most:,} numbers: the first {MOST_COLUMNS} were looked at one by one, the rest as sums of"
        " blocks of neighbours, their extremes, and how many are not zero"
    )
