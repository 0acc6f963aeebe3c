"""A broken private bound: its line, a share of all records, rounded down to a whole number.

It is charged as the exact line is, and loses a little more: too little to be seen in samples, and plain in the law.
Reads: made-up data. Writes: nothing. Never: a draw; reachable from a release.
"""

from collections.abc import Hashable, Mapping
from fractions import Fraction

import numpy as np

from thresher.audit.comparison_laws import one_sided, transcript_law
from thresher.audit.subjects import Enumerated, Pair, Subject
from thresher.mechanisms.bounds import bound_terms, counts_within

_FRACTION = Fraction(19, 20)
_BOUNDS = [1, 2, 4, 8]


def subjects() -> tuple[Subject, ...]:
    more = (1,) * 19 + (8,)
    pair = Pair("the one value far out removed, and with it a step of the line", more, more[:-1])
    about = "the private bound with its line at a whole number, by its law"
    charged = bound_terms(1, fraction=_FRACTION).epsilon
    return (Enumerated("broken_bound_line", about, charged, (pair,), broken_bound_line, missing=1e-12),)


def broken_bound_line(values: tuple[int, ...]) -> Mapping[Hashable, float]:
    """At which bound the search stops. What is wrong: a record moves this line by 1, and the exact one by 19/20."""
    margins = counts_within(np.array(values), _BOUNDS) - int(_FRACTION * len(values))
    half = one_sided(0.5)
    return dict(transcript_law(margins.tolist(), 1, half, half).items())
