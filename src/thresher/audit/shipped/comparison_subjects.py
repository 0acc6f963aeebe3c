"""Try sparse vector and private bounds: by samples, by their law, and for their accuracy at the worst case.

The pairs are those whose exact loss comes nearest to the charge on answers that are not rare: with one-sided noise it
reaches the charge, on events with a probability of a few per cent and more.
Reads: made-up data. Writes: nothing. Never: protected data.
"""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from thresher.audit.laws.comparison_laws import Noise, one_sided, transcript_law, two_sided
from thresher.audit.subjects import Enumerated, Pair, Promised, Sampled, Subject
from thresher.mechanisms.bounds import BoundTerms, bound_runs, bound_terms
from thresher.mechanisms.sparse_accuracy import within
from thresher.mechanisms.sparse_terms import GENERAL, Setting, SparseTerms, sparse_terms
from thresher.mechanisms.sparse_vector import BOTTOM, TOP, sparse_vector_runs
from thresher.noise import Entropy

_OFF = "no answer is off by more than the promised width"
_ONE_STEP_FLIPS = "one query up, the other down"
_MISS_RATE = Fraction(1, 20)


@dataclass(frozen=True, slots=True)
class Queries:
    """Hold queries and their thresholds, which may depend on data too."""

    queries: tuple[int, ...]
    thresholds: tuple[int, ...]


def subjects() -> tuple[Subject, ...]:
    """List each kind of sparse vector, the search for a bound with private and with public size, and their promises."""
    return (*_sampled(), *_bounds(), *_enumerated(), *_promised())


def _sampled() -> tuple[Sampled, ...]:
    general = _pair(_ONE_STEP_FLIPS, (2, -2), (3, -3)), _pair("eight up, one down", (-2,) * 8 + (1,), (-1,) * 8 + (0,))
    twice = _pair("one up, two down", (2, -2, -2), (3, -3, -3)), _pair("four up, four down", (0,) * 8, (1, -1) * 4)
    one_way = _pair("the first of two up", (0, 0), (1, 0)), _pair("eight up, one as it was", (0,) * 9, (1,) * 8 + (0,))
    suffix = _pair("all down", (-4, -2, 0, 0), (-5, -3, -1, -1)), _pair("the last up", (0, 0, 1), (0, 0, 2))
    moving = (
        Pair("query and threshold move apart", Queries((2, 4), (0, 6)), Queries((3, 3), (-1, 7))),
        Pair("both move, and not apart", Queries((5, 5), (5, 5)), Queries((6, 6), (6, 6))),
    )
    below = (_pair("one query down, the other up", (-2, 2), (-3, 3)),)
    listed = (
        ("sparse_vector", 1, GENERAL, general),
        ("sparse_vector, two tops", 2, GENERAL, twice),
        ("sparse_vector, two-sided noise", 1, Setting(noise="two-sided"), general),
        ("sparse_vector, monotone queries", 1, Setting(kind="monotone"), one_way),
        ("sparse_vector, monotone queries, two tops", 2, Setting(kind="monotone"), (one_way[1],)),
        ("sparse_vector, nested queries", 1, Setting(kind="nested"), suffix),
        ("sparse_vector, thresholds that depend on data", 1, Setting(sensitivity=2), moving),
        ("sparse_vector, below is rare", 1, Setting(side="below"), below),
    )
    return tuple(
        Sampled(name, "answers up to the last top", sparse_terms(most, 1, setting).epsilon, pairs, _runs(most, setting))
        for name, most, setting, pairs in listed
    )


def _runs(most: int, setting: Setting) -> Callable[[Queries, int, Entropy], NDArray[np.int8]]:
    def run(asked: Queries, runs: int, entropy: Entropy) -> NDArray[np.int8]:
        return sparse_vector_runs(asked.queries, asked.thresholds, most, 1, runs, setting, entropy).answers

    return run


def _bounds() -> tuple[Sampled, ...]:
    near = np.repeat([1, 8], [18, 1]), np.repeat([1], [18])
    slope = np.repeat([1, 2, 4, 8], [17, 1, 1, 1]), np.repeat([1, 2, 4], [17, 1, 1])
    private = Pair("the one value far out removed", *near), Pair("the largest of a few values removed", *slope)
    shrunk = np.repeat([1, 2, 4], [34, 2, 2]), np.repeat([1, 2, 4], [33, 2, 2])
    steep = np.repeat([1, 2, 4, 8], [36, 1, 1, 1]), np.repeat([1, 2, 4], [36, 1, 1])
    public = Pair("one of many small values removed", *shrunk), Pair("the largest of a few values removed", *steep)
    listed = (
        ("size private", bound_terms(1, doublings=6), private),
        ("size public", bound_terms(1, size=40, doublings=6), public),
    )
    return tuple(
        Sampled(f"private_bound, {name}", "how often the unit was doubled", terms.epsilon, pairs, _searches(terms))
        for name, terms, pairs in listed
    )


def _searches(terms: BoundTerms) -> Callable[[NDArray[np.int64], int, Entropy], NDArray[np.int64]]:
    def run(values: NDArray[np.int64], runs: int, entropy: Entropy) -> NDArray[np.int64]:
        return bound_runs(values, terms, runs, entropy)

    return run


def _enumerated() -> tuple[Enumerated, ...]:
    six = _pair("six up, one down", (6,) * 6 + (-2,), (7,) * 6 + (-3,))
    listed = (
        ("general", 1, GENERAL, (_pair(_ONE_STEP_FLIPS, (2, -2), (3, -3)), _pair("mixed", (0, 1, -1), (1, 0, -2)))),
        ("two tops", 2, GENERAL, (_pair("one up, two down", (2, -2, -2), (3, -3, -3)),)),
        ("two-sided noise", 1, Setting(noise="two-sided"), (six,)),
        ("monotone", 1, Setting(kind="monotone"), (_pair("the first of two up", (0, 0), (1, 0)),)),
        ("nested", 1, Setting(kind="nested"), (_pair("all down", (-4, -2, 0, 0), (-5, -3, -1, -1)),)),
    )
    return tuple(
        Enumerated(
            f"sparse_vector, enumerated, {name}",
            "all rows of answers",
            sparse_terms(most, 1, setting).epsilon,
            pairs,
            _law(sparse_terms(most, 1, setting)),
            missing=1e-12,
        )
        for name, most, setting, pairs in listed
    )


def noises(terms: SparseTerms) -> tuple[Noise, Noise]:
    """Return the laws of the noise of the threshold and of the queries under these terms."""
    law = one_sided if terms.one_sided else two_sided
    return law(float(terms.threshold_rate)), law(float(terms.query_rate))


def _law(terms: SparseTerms) -> Callable[[Queries], Mapping[Hashable, float]]:
    def law(asked: Queries) -> Mapping[Hashable, float]:
        margins = [q - t - terms.offset for q, t in zip(asked.queries, asked.thresholds, strict=True)]
        return dict(transcript_law(margins, terms.most, *noises(terms)).items())

    return law


def _promised() -> tuple[Promised, ...]:
    """List the promises of accuracy. At the worst case all queries lie just beyond the promised width."""
    queries, promises = 20, []
    for name, setting in (("one-sided", GENERAL), ("two-sided", Setting(noise="two-sided"))):
        terms = sparse_terms(1, 1, setting)
        far = within(terms, queries, _MISS_RATE) + 1
        worst = (
            ("all just too low for a top", (-far,) * queries),
            ("all just too high for a bottom", (far,) * queries),
            ("both in turn", (-far, far) * (queries // 2)),
        )
        promises.append(Promised(f"sparse_vector, accuracy, {name} noise", _OFF, _MISS_RATE, worst, _errs(setting)))
    return tuple(promises)


def _errs(setting: Setting) -> Callable[[tuple[int, ...], int, Entropy], NDArray[np.bool_]]:
    def run(queries: tuple[int, ...], runs: int, entropy: Entropy) -> NDArray[np.bool_]:
        rows = sparse_vector_runs(queries, 0, 1, 1, runs, setting, entropy).answers
        low = np.array(queries) < 0
        return np.asarray(((rows == TOP) & low).any(axis=1) | ((rows == BOTTOM) & ~low).any(axis=1))

    return run


def _pair(about: str, here: tuple[int, ...], there: tuple[int, ...]) -> Pair:
    return Pair(about, Queries(here, (0,) * len(here)), Queries(there, (0,) * len(there)))
