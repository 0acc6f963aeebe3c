"""Compute exact probabilities of a row of noisy comparisons that share one noisy threshold.

Query i is answered top if margin_i + v_i >= z, where z, drawn once, is the threshold's noise. Given z the answers are
independent, so the probability is a single integral (or sum, for integer noise) over z:

    P(answers) = integral of f(z) * product over bottoms of P[v < z - margin] * product over tops of P[v >= z - margin]

It is computed in logarithms, so that probabilities of e^-1000 keep twelve digits. Continuous laws are integrated piece
by piece between the kinks, with pieces halved until they agree; integer laws are summed until the rest is negligible.
Reads: nothing. Writes: nothing. Never: a draw.
"""

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Reals = NDArray[np.float64]

# Terms this many nats below the largest are left out. The integrand is log-concave, so further terms are smaller.
_NEGLIGIBLE = 60.0
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(24)
_CLOSE = 1e-13
_MOST_HALVINGS = 60
_MOST_TERMS = 1 << 24


@dataclass(frozen=True, slots=True)
class Noise:
    """Describe a log-concave law by three logarithms: its density or mass, P[v < x] and P[v >= x].

    Its only kink is at 0. `whole`: its values are whole numbers; `one_sided`: they are 0 or more.
    """

    log_mass: Callable[[Reals], Reals]
    log_below: Callable[[Reals], Reals]
    log_from: Callable[[Reals], Reals]
    scale: float
    whole: bool
    one_sided: bool


def laplace(scale: float) -> Noise:
    """Return the law with density exp(-|x| / scale) / (2 scale)."""
    half = math.log(2)

    def below(x: Reals) -> Reals:
        return np.where(x < 0, np.minimum(x, 0) / scale - half, np.log1p(-np.exp(-np.maximum(x, 0) / scale) / 2))

    return Noise(
        lambda x: -np.abs(x) / scale - math.log(2 * scale),
        below,
        lambda x: below(-x),
        scale,
        whole=False,
        one_sided=False,
    )


def two_sided(rate: float) -> Noise:
    """Return the discrete Laplace law: mass (1-p)/(1+p) p^|x| at every whole x, p = exp(-rate)."""
    log_sum, log_rest = math.log1p(math.exp(-rate)), math.log(-math.expm1(-rate))

    def from_(x: Reals) -> Reals:
        return np.where(
            x >= 1, -rate * np.maximum(x, 1) - log_sum, np.log1p(-np.exp(-rate * (1 - np.minimum(x, 0)) - log_sum))
        )

    return Noise(
        lambda x: -rate * np.abs(x) + log_rest - log_sum,
        lambda x: from_(1 - x),
        from_,
        1 / rate,
        whole=True,
        one_sided=False,
    )


def one_sided(rate: float) -> Noise:
    """Return the geometric law: mass (1-p) p^x at whole x >= 0, p = exp(-rate)."""
    log_rest = math.log(-math.expm1(-rate))
    return Noise(
        lambda x: np.where(x >= 0, -rate * x + log_rest, -np.inf),
        lambda x: _log_one_minus_exp(rate * np.maximum(x, 0)),
        lambda x: -rate * np.maximum(x, 0),
        1 / rate,
        whole=True,
        one_sided=True,
    )


def silence() -> Noise:
    """Return the law of no noise: v = 0. It is for queries only."""
    return Noise(
        lambda x: np.where(x == 0, 0.0, -np.inf),
        lambda x: np.where(x > 0, 0.0, -np.inf),
        lambda x: np.where(x <= 0, 0.0, -np.inf),
        0.0,
        whole=False,
        one_sided=False,
    )


def log_probability(answers: Sequence[bool], margins: Sequence[float], threshold: Noise, query: Noise) -> float:
    """Return the logarithm of the probability of these answers, first to last; -inf if they are impossible."""
    tops, values = np.asarray(answers, dtype=bool), np.asarray(margins, dtype=float)
    # Equal queries with the same answer are one factor to a power.
    sides = [np.unique(values[tops == top], return_counts=True) for top in (False, True)]

    def log_term(z: Reals) -> Reals:
        total = threshold.log_mass(z)
        for law, (distinct, copies) in zip((query.log_below, query.log_from), sides, strict=True):
            for margin, times in zip(distinct, copies, strict=True):
                total = total + times * law(z - margin)
        return total

    kinks = np.unique([0.0, *values])
    return _log_sum(log_term, kinks, threshold) if threshold.whole else _log_integral(log_term, kinks, threshold)


def transcript_law(
    margins: Sequence[float], most: int, threshold: Noise, query: Noise
) -> dict[tuple[bool, ...], float]:
    """Return the probability of each row of answers of a sparse vector that stops at its `most`-th top."""
    rows = [row for length in range(1, len(margins) + 1) for row in _endings(length, len(margins), most)]
    return {row: math.exp(log_probability(row, margins[: len(row)], threshold, query)) for row in rows}


def gptt_log_ratio(copies: int, first: float, second: float, *, monotone: bool = False) -> float:
    """Return the exact loss of comparisons that never stop, on the answers that refute them: at least copies * second.

    The threshold 0 has noise of scale 1 / first, each query of sensitivity 1 noise of scale 1 / second (inf: no noise).
    `copies` queries go from 0 to 1 and are answered bottom, as many go from 1 to 0 and are answered top. `monotone`:
    those answered bottom stay at 0 instead, so that all queries move the same way; the loss still grows without limit.
    """
    query = silence() if math.isinf(second) else laplace(1 / second)
    answers, margins = [False] * copies + [True] * copies, [0.0] * copies + [1.0] * copies
    moved = [0.0 if monotone else 1.0] * copies + [0.0] * copies
    one, other = (log_probability(answers, side, laplace(1 / first), query) for side in (margins, moved))
    return one - other


def _endings(length: int, queries: int, most: int) -> Iterator[tuple[bool, ...]]:
    """Yield the rows of answers that end after `length`: with the last top allowed, or with the last query."""
    for row in itertools.product((False, True), repeat=length):
        if (sum(row) == most and row[-1]) or (length == queries and sum(row) < most):
            yield row


def _log_one_minus_exp(x: Reals) -> Reals:
    """Return log(1 - exp(-x)) for x >= 0; -inf at 0."""
    with np.errstate(divide="ignore"):
        return np.log(-np.expm1(-x))


def _range(log_term: Callable[[Reals], Reals], kinks: Reals, threshold: Noise) -> tuple[float, float, float]:
    """Return the range in which terms matter, and the largest term, found by doubling and by closing in on the mode."""
    reach = threshold.scale
    middles = np.concatenate([kinks, (kinks[1:] + kinks[:-1]) / 2])
    while True:
        low = 0.0 if threshold.one_sided else kinks[0] - reach
        high = kinks[-1] + reach
        grid = np.unique(np.concatenate([np.linspace(low, high, 513), middles[middles >= low]]))
        grid = np.unique(np.round(grid)) if threshold.whole else grid
        values = log_term(grid)
        best = float(values.max())
        ends = values[-1] if threshold.one_sided else max(values[0], values[-1])
        if ends < best - _NEGLIGIBLE or (best == -np.inf and reach > 1e3 * threshold.scale):
            break
        reach *= 2
    for _ in range(8 if best > -np.inf else 0):  # log-concave: the mode is next to the best point of a grid
        k = int(values.argmax())
        grid = np.linspace(grid[max(k - 1, 0)], grid[min(k + 1, grid.size - 1)], 65)
        values = log_term(grid)
        best = max(best, float(values.max()))
    return low, high, best


def _log_sum(log_term: Callable[[Reals], Reals], kinks: Reals, threshold: Noise) -> float:
    low, high, best = _range(log_term, kinks, threshold)
    if best == -np.inf:
        return best
    first, last = math.floor(low), math.ceil(high)
    if last - first > _MOST_TERMS:
        raise ValueError("the noise is too wide for a sum of all its terms")
    return best + math.log(np.exp(log_term(np.arange(first, last + 1, dtype=float)) - best).sum())


def _log_integral(log_term: Callable[[Reals], Reals], kinks: Reals, threshold: Noise) -> float:
    low, high, best = _range(log_term, kinks, threshold)
    if best == -np.inf:
        return best
    edges = np.unique([low, *kinks[kinks > low], high])
    total, left, right = 0.0, edges[:-1], edges[1:]
    whole = _gauss(log_term, left, right, best)
    for _ in range(_MOST_HALVINGS):
        middle = (left + right) / 2
        halves = _gauss(log_term, left, middle, best), _gauss(log_term, middle, right, best)
        fine = halves[0] + halves[1]
        done = np.abs(fine - whole) <= _CLOSE * (total + fine.sum())
        total += float(fine[done].sum())
        left, right = (
            np.concatenate([left[~done], middle[~done]]),
            np.concatenate([middle[~done], right[~done]]),
        )
        whole = np.concatenate([halves[0][~done], halves[1][~done]])
        if not left.size:
            break
    return best + math.log(total + float(whole.sum()))


def _gauss(log_term: Callable[[Reals], Reals], left: Reals, right: Reals, best: float) -> Reals:
    """Integrate each piece by one Gauss-Legendre rule, in units of the largest term."""
    half = (right - left)[:, None] / 2
    nodes = left[:, None] + half * (1 + _NODES)
    return np.asarray((np.exp(log_term(nodes) - best) * _WEIGHTS * half).sum(axis=1))
