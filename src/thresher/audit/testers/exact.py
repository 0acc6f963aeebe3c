"""Compare output laws exactly, and count errors on the worst inputs.

Reads: output laws; whether runs erred. Writes: nothing. Never: ignores an output that is possible on one input only;
averages over inputs (each is tried by itself).
"""

from collections.abc import Hashable, Mapping
from fractions import Fraction
from math import inf, log

import numpy as np

from thresher.audit.outputs.fingerprints import fingerprint
from thresher.audit.subjects import Enumerated, Finding, Promised
from thresher.audit.testers.confidence import CONFIDENCE, least_probability
from thresher.errors import ArgumentError
from thresher.noise import Entropy

# Laws are sums of floats: what rounding may add to a log ratio, and to the sum of all probabilities.
_ROUNDING = 1e-9
_SUM_ROUNDING = 1e-6


def tried_by_law(subject: Enumerated) -> Finding:
    """Return the exact loss of a mechanism: the largest over its pairs, in both directions."""
    losses = [
        (*largest_log_ratio(subject.law(pair.here), subject.law(pair.there), subject), pair) for pair in subject.pairs
    ]
    loss, output, pair = max(losses, key=lambda each: each[0])
    claimed, measured = float(subject.charged.fraction), max(loss - _ROUNDING, 0.0)
    event = f"the output {fingerprint(output)}"
    return Finding(subject.name, subject.about, "law", claimed, measured, 0, pair.about, event)


def largest_log_ratio(
    here: Mapping[Hashable, float], there: Mapping[Hashable, float], subject: Enumerated
) -> tuple[float, Hashable]:
    """Return the largest log ratio of two laws, in either direction, and the output that has it."""
    for law in (here, there):
        _check(law, subject)
    loss, telling = 0.0, next(iter(here))
    for output in here.keys() | there.keys():
        one, other = here.get(output, 0.0), there.get(output, 0.0)
        if one == other:
            continue
        ratio = inf if min(one, other) <= 0 else abs(log(one) - log(other))
        if ratio > loss:
            loss, telling = ratio, output
    return loss, telling


def tried_for_errors(subject: Promised, entropy: Entropy, confidence: Fraction = CONFIDENCE) -> Finding:
    """Return the largest lower bound of an error's probability. The worst inputs share 1 - confidence equally."""
    doubt = float(1 - confidence) / len(subject.worst)
    bounds = []
    for about, data in subject.worst:
        erred = np.asarray(subject.run(data, subject.samples, entropy), dtype=np.bool_)
        hits = int(np.count_nonzero(erred))
        bounds.append((float(least_probability(hits, erred.size, doubt)), hits, erred.size, about))
    measured, hits, runs, where = max(bounds)
    event = f"an error in {hits:,} of {runs:,} runs"
    return Finding(subject.name, subject.about, "errors", float(subject.rate), measured, runs, where, event)


def _check(law: Mapping[Hashable, float], subject: Enumerated) -> None:
    total = sum(law.values())
    if not law or min(law.values()) < 0 or abs(1 - total) > subject.missing + _SUM_ROUNDING:
        rule = "its probabilities must be 0 or more and add up to 1, except for `missing`"
        raise ArgumentError("law", subject.name, rule, "List each output, or state what is missing")
