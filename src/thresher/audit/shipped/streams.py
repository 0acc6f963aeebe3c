"""Grouping and PeGaSus on trial: marks of many independent streams in lockstep, and noisy counts beside them.

The pairs are those whose loss, by exact enumeration, is the largest found while the marks that show it are not rare:
a little more than half of what is charged. The same pairs are tried by their law as well.
Reads: made-up data. Writes: nothing. Never: protected data.
"""

from collections.abc import Hashable, Iterator, Mapping
from functools import cache, partial
from math import exp

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import Epsilon
from thresher.audit.comparison_laws import log_probability, one_sided, two_sided
from thresher.audit.subjects import Enumerated, Pair, Sampled, Subject
from thresher.noise import Entropy
from thresher.streams.group_deviation import Group
from thresher.streams.grouper import Grouper, GrouperTerms, grouper_terms
from thresher.streams.perturber import perturb
from thresher.streams.step_release import ALONE, JOINS, OPENS

Counts = tuple[int, ...]
_SAMPLES = 100_000
_EPSILON = Epsilon(1)
_ONE_SIDED = (
    (35, Pair("the fourth of six counts", (1, 0, 0, 28, 5, 5), (1, 0, 0, 29, 5, 5))),
    (19, Pair("the second of eight counts", (4, 10, 3, 2, 10, 3, 0, 4), (4, 11, 3, 2, 10, 3, 0, 4))),
)
_TWO_SIDED = (
    (0, Pair("the first of eight counts", (0, 7, 8, 7, 6, 16, 18, 0), (1, 7, 8, 7, 6, 16, 18, 0))),
    (0, Pair("the first of five counts", (9, 4, 4, 0, 5), (10, 4, 4, 0, 5))),
)


def subjects() -> tuple[Subject, ...]:
    found: list[Subject] = []
    for theta, pair in _ONE_SIDED:
        found += _both(f"grouper, theta {theta}", grouper_terms(1, theta), pair)
    for theta, pair in _TWO_SIDED:
        terms = grouper_terms(1, theta, noise="two-sided", split="half")
        found += _both(f"grouper, as printed, {len(pair.here)} steps", terms, pair)
    return (*found, _pegasus())


def _both(name: str, terms: GrouperTerms, pair: Pair) -> tuple[Subject, Subject]:
    law = partial(marks_law, terms=terms)
    return (
        Sampled(name, "all marks", terms.epsilon, (pair,), partial(marks, terms), _SAMPLES),
        Enumerated(f"{name}, enumerated", "all marks", terms.epsilon, (pair,), law, missing=1e-12),
    )


def marks(terms: GrouperTerms, counts: Counts, runs: int, entropy: Entropy) -> NDArray[np.int8]:
    """A row of marks for each run: independent series of one grouper."""
    return Grouper(runs, terms, entropy).steps(_copies(counts, runs)).T


def _copies(counts: Counts, runs: int) -> NDArray[np.int64]:
    return np.repeat(np.array(counts, dtype=np.int64)[:, None], runs, axis=1)


def _pegasus() -> Sampled:
    """Half for noisy counts, half for marks: what is said of one step costs both."""
    each = _EPSILON.fraction / 2
    terms, pair = grouper_terms(each, 9), Pair("the third of four counts", (0, 0, 4, 0), (0, 0, 5, 0))

    def run(counts: Counts, runs: int, entropy: Entropy) -> NDArray[np.int64]:
        noisy = np.asarray(perturb(_copies(counts, runs), each, entropy)).T
        return np.concatenate([noisy, marks(terms, counts, runs, entropy)], axis=1)

    return Sampled("pegasus", "noisy counts and marks", _EPSILON, (pair,), run, _SAMPLES)


def marks_law(counts: Counts, terms: GrouperTerms) -> Mapping[Hashable, float]:
    """The probability of every row of marks: run by run, as one sparse vector each."""
    law = one_sided if terms.sparse.one_sided else two_sided
    noises = law(float(terms.sparse.threshold_rate)), law(float(terms.sparse.query_rate))
    line = terms.theta + terms.sparse.offset

    @cache
    def log_run(start: int, end: int, *, closed: bool) -> float:
        """Of the run of these steps, all of which join but the first, which opens, and the last if it is closed."""
        group = Group(0)
        deviations = [group.add(count) for count in counts[start:end]][1:]
        answers = [*(False,) * (len(deviations) - 1), closed] if deviations else []
        return log_probability(answers, [float(deviation - line) for deviation in deviations], *noises)

    def rows(start: int) -> Iterator[tuple[Counts, float]]:
        """Every row of marks from a step on: its first run, and after it any row of the rest."""
        if start == len(counts):
            yield (), 0.0
            return
        yield (OPENS, *(JOINS,) * (len(counts) - start - 1)), log_run(start, len(counts), closed=False)
        for end in range(start + 2, len(counts) + 1):
            for row, rest in rows(end):
                yield (OPENS, *(JOINS,) * (end - start - 2), ALONE, *row), log_run(start, end, closed=True) + rest

    return {row: exp(total) for row, total in rows(0)}
