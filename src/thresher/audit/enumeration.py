"""The exact tester: the largest log ratio of two output laws that can be written down.

Reads: output laws. Writes: nothing. Never: forgives an output that is possible on one side only.
"""

from collections.abc import Hashable, Mapping
from math import inf, log

from thresher.audit.findings import Finding
from thresher.audit.fingerprints import fingerprint
from thresher.audit.subjects import Enumerated
from thresher.errors import ArgumentError

# Laws are sums of floats: what rounding may add to a log ratio.
_ROUNDING = 1e-9
_WHOLE = 1e-6


def tried_by_law(subject: Enumerated) -> Finding:
    """The loss of a mechanism exactly, over its pairs, both ways."""
    found = [
        (*largest_log_ratio(subject.law(pair.here), subject.law(pair.there), subject), pair) for pair in subject.pairs
    ]
    loss, output, pair = max(found, key=lambda each: each[0])
    event = f"the output {fingerprint(output)}"
    measured = max(loss - _ROUNDING, 0.0)
    return Finding(
        subject.name, subject.about, "law", float(subject.charged.fraction), measured, loss, 0, pair.about, event
    )


def largest_log_ratio(
    here: Mapping[Hashable, float], there: Mapping[Hashable, float], subject: Enumerated
) -> tuple[float, Hashable]:
    """The largest log ratio, in either direction, and the output that has it."""
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


def _check(law: Mapping[Hashable, float], subject: Enumerated) -> None:
    total = sum(law.values())
    if not law or min(law.values()) < 0 or abs(1 - total) > subject.missing + _WHOLE:
        rule = "probabilities must be 0 or more and add up to one, but for what is said to be missing"
        raise ArgumentError("law", subject.name, rule, "List every output")
