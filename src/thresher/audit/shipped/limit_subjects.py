"""Try the limit that few people exceed: its noisy counts of people, and its promise.

Reads: entropy. Writes: nothing. Never: sets a charge.
"""

from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import NDArray

from thresher.audit.subjects import Pair, Promised, Sampled, Subject
from thresher.mechanisms.people_limits import limit_edges, people_in_bins, people_limit, recommended_limit
from thresher.noise import Entropy, discrete_laplace

_EDGES = limit_edges(8)
_SHARE = Fraction(1, 20)
_PEOPLE = 10_000
_EPSILON = Fraction(1, 25)
_RUNS = 5_000
_RISK = Fraction(1, 20)

Sizes = tuple[int, ...]


def subjects() -> tuple[Subject, ...]:
    alone = Pair("nobody, and one person with all groups", (), (_EDGES[-1],))
    among = Pair("one person more in a bin of many", (1,) * 30 + (2,), (1,) * 30 + (2, 2))
    charge = people_limit(people_in_bins((), _EDGES), _EDGES, 1).epsilon
    about = f"counts of people in {len(_EDGES)} bins"
    return (
        Sampled("limit of people", about, charge, (alone, among), partial(noisy_people, rate=Fraction(1)), 100_000),
        Promised("limit of people, promise", "the share just above 5 %", _RISK, _worst(), _broken, _RUNS),
    )


def noisy_people(sizes: Sizes, runs: int, entropy: Entropy, rate: Fraction) -> NDArray[np.int64]:
    """Return the noisy counts of many runs, as the mechanism draws them, at this rate."""
    people = people_in_bins(sizes, _EDGES)
    noise = np.asarray(discrete_laplace(rate, runs * len(people), entropy=entropy)).reshape(runs, len(people))
    drawn: NDArray[np.int64] = people + noise
    return drawn


def _worst() -> tuple[tuple[str, Sizes], ...]:
    """Put one person more than the share above each edge but the last: to recommend that edge breaks the promise."""
    above = int(_SHARE * _PEOPLE) + 1
    return tuple(
        (f"one person too many above {edge}", (edge,) * (_PEOPLE - above) + (_EDGES[-1],) * above)
        for edge in _EDGES[:-1]
    )


def _broken(sizes: Sizes, runs: int, entropy: Entropy) -> NDArray[np.bool_]:
    charge = people_limit(people_in_bins((), _EDGES), _EDGES, _EPSILON).epsilon
    limits = [
        recommended_limit([int(count) for count in noisy], _EDGES, charge, _SHARE)
        for noisy in noisy_people(sizes, runs, entropy, _EPSILON)
    ]
    exceeding = {edge: sum(size > edge for size in sizes) for edge in _EDGES}
    return np.array([limit is not None and exceeding[limit] > _SHARE * len(sizes) for limit in limits])
