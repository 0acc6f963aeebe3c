"""Try noisy histograms: all that they release on a few cells, counts and buckets.

For independent cells one call draws all runs; otherwise each run is a call. Two mechanisms are tried by their law as
well: all that they measure, enumerated by their own rules.
Reads: entropy. Writes: nothing. Never: sets a charge.
"""

from functools import partial
from itertools import product
from operator import sub
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import Epsilon
from thresher.audit.laws.noise_laws import laplace_chance
from thresher.audit.subjects import Enumerated, Pair, Sampled, Subject
from thresher.mechanisms.histograms import adaptive_grid, ahp, flat, hierarchical, mwem
from thresher.mechanisms.histograms.buckets import bucket_sums
from thresher.mechanisms.histograms.estimate import HistogramMechanism
from thresher.mechanisms.histograms.workloads import prefixes
from thresher.noise import Entropy, SeededEntropy

Table = tuple[Any, ...]
_EPSILON = Epsilon(2)
# Large, so that laws enumerated over the ranges below leave little out.
_LAW_EPSILON = Epsilon(8)
_NEAR, _WIDE, _WIDEST = range(-4, 14), range(-16, 36), range(-60, 80)
_LIST = (
    Pair("an empty cell among full ones, and a record in it", (0, 9, 9), (1, 9, 9)),
    Pair("no record, and one", (0, 0, 0), (0, 0, 1)),
)
_TWO = (Pair("two cells hardly apart, and one record more", (3, 5), (3, 6)), Pair("no record, and one", (0, 0), (1, 0)))
_TABLE = (
    Pair("a block at the step to more parts", ((12, 0), (0, 0)), ((13, 0), (0, 0))),
    Pair("no record, and one", ((0, 0), (0, 0)), ((0, 0), (0, 1))),
)


def subjects() -> tuple[Subject, ...]:
    binary = partial(hierarchical.hierarchical, branching=2)
    one_round = partial(mwem.mwem, rounds=1)
    return (
        Sampled("histogram, laplace", "every cell", _charge(flat.laplace, _LIST), _LIST, _cells),
        _sampled("uniform", "the total, spread evenly", flat.uniform, _LIST, 10_000),
        _sampled("hb", "a tree over three cells, reconciled", binary, _LIST, 6_000),
        _sampled("ahp", "clusters and their totals", ahp.ahp, _LIST, 4_000),
        _sampled("ag", "two grids, combined", adaptive_grid.adaptive_grid, _TABLE, 2_000),
        _sampled("mwem", "one round of learning", one_round, _LIST, 1_500),
        _enumerated("ahp", "clusters and their totals", ahp.ahp, _TWO, _ahp_law),
        _enumerated("mwem", "the total, the sum chosen and its value", one_round, _LIST, _mwem_law),
    )


def _sampled(name: str, about: str, mechanism: HistogramMechanism, pairs: tuple[Pair, ...], samples: int) -> Sampled:
    charged = _charge(mechanism, pairs)
    return Sampled(f"histogram, {name}", about, charged, pairs, partial(_runs, mechanism), samples)


def _enumerated(name: str, about: str, mechanism: HistogramMechanism, pairs: tuple[Pair, ...], law: Any) -> Enumerated:
    charged = _charge(mechanism, pairs, _LAW_EPSILON)
    return Enumerated(f"histogram, {name}, law", about, charged, pairs, law, missing=1e-6)


def _charge(mechanism: HistogramMechanism, pairs: tuple[Pair, ...], epsilon: Epsilon = _EPSILON) -> Epsilon:
    """Return the cost that the mechanism itself states."""
    return mechanism(pairs[0].here, epsilon, entropy=SeededEntropy(0)).epsilon


def _cells(data: Table, runs: int, entropy: Entropy) -> NDArray[np.float64]:
    cells = np.tile(np.array(data), runs)
    return flat.laplace(cells, _EPSILON, entropy=entropy).counts.reshape(runs, len(data))


def _runs(mechanism: HistogramMechanism, data: Table, runs: int, entropy: Entropy) -> NDArray[np.float64]:
    """Return all that is released in each run: estimated counts, and the bucket of each cell."""
    rows = []
    for _ in range(runs):
        given = mechanism(data, _EPSILON, entropy=entropy)
        parts = [] if given.parts is None else [given.parts.ravel()]
        rows.append(np.concatenate([given.counts.ravel(), *parts]))
    return np.array(rows)


def _ahp_law(data: Table) -> dict[Any, float]:
    """Return P[clusters, noisy totals]."""
    first, second = ahp.ahp_shares(_LAW_EPSILON.fraction)
    cells, clusters = np.array(data), dict[tuple[int, ...], float]()
    for look in product(_NEAR, repeat=len(data)):
        labels = tuple(ahp.clusters(np.array(look), first, second).tolist())
        clusters[labels] = clusters.get(labels, 0.0) + laplace_chance(float(first), *map(sub, data, look))
    law: dict[Any, float] = {}
    for labels, chance in clusters.items():
        sums = bucket_sums(cells, np.array(labels)).tolist()
        for totals in product(_WIDE, repeat=len(sums)):
            law[labels, totals] = chance * laplace_chance(float(second), *map(sub, sums, totals))
    return law


def _mwem_law(data: Table) -> dict[Any, float]:
    """Return P[noisy total, sum chosen, its noisy value] of one round."""
    first, share = (float(part) for part in mwem.mwem_shares(_LAW_EPSILON.fraction, 1))
    cells = np.array(data)
    sums = prefixes(cells.shape)
    exact = sums.whole(cells)
    law: dict[Any, float] = {}
    for total in _WIDEST:
        scores = mwem.misfits(exact, sums.answers(mwem.start(cells.shape, total)))
        weights = np.exp(share / 2 * (scores - scores.max()))
        for index, weight in enumerate(weights / weights.sum()):
            for value in _WIDE:
                seen = laplace_chance(first, sum(data) - total) * laplace_chance(share, int(exact[index]) - value)
                law[total, index, value] = float(weight) * seen
    return law
