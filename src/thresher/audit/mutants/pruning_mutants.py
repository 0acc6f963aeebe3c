"""Break the pruning of a hierarchy of streams: PRUNE as printed, with a shared threshold, and with saved budget reused.

A tuple counts at each node from the root to a leaf. PRUNE charges one comparison and shows up to h - 1 of them. Noise
is whole numbers on a fine grid, so that rounding is not the fault.
Reads: entropy. Writes: nothing. Never: reachable from a release.
"""

import math
from collections.abc import Hashable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import Epsilon
from thresher.audit.mutants import ONE, by_law, by_samples
from thresher.audit.subjects import MOST_SAMPLES, Pair, Subject
from thresher.noise import Entropy, discrete_laplace

_GRID = 64
_LEVELS = 8
_THRESHOLD = 5
# Both noises of a comparison have this many times the scale of one that is charged by itself.
_SCALE = 2


def subjects() -> tuple[Subject, ...]:
    path, others = (_THRESHOLD,) * (_LEVELS - 1), (_THRESHOLD - 1,) * (_LEVELS - 1)
    more = tuple(count + 1 for count in path)
    tuples = Pair("one more tuple, eight levels, counts at the threshold", path, more)
    forest = Pair("one more tuple, and another tree that reveals the threshold", (path, others), (more, others))
    empty = Pair("one more tuple below an empty node", 0, 1)
    return (
        by_samples(broken_prune, tuples, samples=MOST_SAMPLES),
        by_samples(broken_prune_shared_threshold, forest, samples=MOST_SAMPLES),
        by_law(broken_prune_law, tuples),
        by_samples(broken_prune_spends_twice, empty, samples=MOST_SAMPLES),
    )


def broken_prune_law(path: Sequence[int], epsilon: float = 1.0, cutoff: float = _THRESHOLD) -> Mapping[Hashable, float]:
    """Return the law of how many nodes of a path `broken_prune` keeps, from the root down.

    Count and cutoff each have Laplace noise of scale 2 / epsilon, drawn anew at every node; the leaf is not tested.
    """
    law, reached = dict[Hashable, float](), 1.0
    for kept, count in enumerate(path):
        far = abs(cutoff - count) * epsilon / 2
        # The probability that the difference of both noises is at least this large.
        beyond = (2 + far) * math.exp(-far) / 4
        keeps = beyond if count < cutoff else 1 - beyond
        law[kept] = reached * (1 - keeps)
        reached *= keeps
    return {**law, len(path): reached}


def broken_prune(path: tuple[int, ...], runs: int, entropy: Entropy) -> NDArray[np.bool_]:
    """Charge one comparison; a tuple moves each comparison on its path, and each shows by itself."""
    noise = _noise(runs, len(path), entropy) - _noise(runs, len(path), entropy)
    return _down_the_path(np.array(path) * _GRID + noise >= _THRESHOLD * _GRID)


def broken_prune_shared_threshold(
    forest: tuple[tuple[int, ...], tuple[int, ...]], runs: int, entropy: Entropy
) -> NDArray[np.bool_]:
    """Share one noisy threshold: other nodes reveal it, and then each comparison on the path shows by itself."""
    threshold = _THRESHOLD * _GRID + _noise(runs, 1, entropy)
    path, others = (np.array(counts) * _GRID + _noise(runs, len(counts), entropy) >= threshold for counts in forest)
    return np.concatenate([_down_the_path(path), others], axis=1)


def broken_prune_spends_twice(count: int, runs: int, entropy: Entropy) -> NDArray[np.int64]:
    """Spend on the root again what pruning its leaves would save, but measure the leaves too. Two levels."""
    half = Epsilon.from_nano(ONE.nano // 2)
    root, leaf, again = (count + discrete_laplace(half, runs, 1, entropy) for _ in range(3))
    small = root < _THRESHOLD
    return np.stack([np.where(small, root + again, _THRESHOLD * 2), leaf, small], axis=1)


def _down_the_path(kept: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Count nodes below a pruned one as pruned, because they are not measured."""
    return np.logical_and.accumulate(kept, axis=1)


def _noise(runs: int, nodes: int, entropy: Entropy) -> NDArray[np.int64]:
    return discrete_laplace(ONE, runs * nodes, _SCALE * _GRID, entropy).reshape(runs, nodes)
