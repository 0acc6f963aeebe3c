"""Rebuild a histogram from the answers of a threshold tester without a limit of positive answers (GPTT).

Half of epsilon pays for the noise of the tester's threshold. Its answers to all differences of two cells put the cells
in groups (`cell_groups.py`). The other half pays for noise on the total of each group, and the noisy totals are decoded
to a count for each cell. The tester claims that all this costs epsilon. It costs more: the noise of one threshold hides
one number, not a histogram.
Reads: made-up or public counts, entropy. Writes: nothing. Never: shows the attacker a count other than through the
tester's answers and noisy totals.
Citation: Chen, "Applying Differential Privacy with Sparse Vector Technique" (dissertation), Algorithm 7.
"""

import math
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thresher.amounts import Amount, Epsilon
from thresher.audit.attacks.cell_groups import Groups, checked_cell_counts, grouped_by_scores, ordered_groups
from thresher.audit.attacks.decoders import DECODERS, checked_decoder
from thresher.audit.attacks.noisy_answers import least_step, noisy_scores
from thresher.errors import ArgumentError
from thresher.noise import Entropy, chances, discrete_laplace, geometric
from thresher.noise.arguments import checked_probability, checked_rate, checked_whole
from thresher.noise.entropy import chosen

Whole = NDArray[np.int64]
# Counts up to this point at single persons: the dissertation's Table 3.3.
MOST_SMALL = 5
_MOST_PASSES = 1000


@dataclass(frozen=True, slots=True)
class Method:
    """Say how to attack.

    `decoder`: "rounding" as printed, or "increasing", which also uses that the groups are in order.
    `both_ways`: read the answers about (u, v) and (v, u), with a threshold of 0. Otherwise read the first ones only,
    with a threshold that stays above 0 with its noise, except with probability `failure_rate` / 2.
    `printed_noise`: give totals the printed noise of scale 2 over their epsilon, which is right if one record may
    change. Otherwise the scale is 1 over it, which is right for one record more or less.
    `passes`: how often all differences are asked, if answers have noise of their own.
    """

    decoder: str = "increasing"
    both_ways: bool = False
    printed_noise: bool = False
    failure_rate: Amount = "0.05"
    passes: int = 2

    def __post_init__(self) -> None:
        checked_decoder(self.decoder)
        checked_probability(self.failure_rate, "failure_rate")
        # Two passes at least, to estimate how noisy the answers are. As Python's integer, which does not wrap around.
        object.__setattr__(self, "passes", checked_whole(self.passes, "passes", 2, _MOST_PASSES, "Pass 2 or 10"))
        for field in ("both_ways", "printed_noise"):
            if not isinstance(getattr(self, field), bool):
                raise ArgumentError(field, getattr(self, field), "it must be True or False", "Pass one of them")


@dataclass(frozen=True, slots=True)
class Success:
    """Hold the shares of cells whose count was found exactly: of all, and of the `small_cells` that count 0 to 5."""

    overall: float
    small: float | None
    small_cells: int


@dataclass(frozen=True, slots=True, eq=False)
class Reconstruction:
    """Hold the result of an attack. `claimed` is what the tester and the totals together claim to cost."""

    estimates: Whole
    groups: Groups
    noisy_totals: Whole
    claimed: Epsilon
    stamp: str

    def decoded(self, decoder: str) -> "Reconstruction":
        """Decode the same answers and noisy totals by another decoder."""
        estimates = DECODERS[checked_decoder(decoder)](self.noisy_totals, self.groups.sizes)[self.groups.labels]
        return replace(self, estimates=estimates)

    def success(self, truth: ArrayLike) -> Success:
        """Compare the estimates with the true counts."""
        counts = checked_cell_counts(truth)
        if counts.size != self.estimates.size:
            rule = f"there must be one count for each of the {self.estimates.size} cells"
            raise ArgumentError("truth", f"{counts.size} cells", rule, "Pass the histogram that was attacked")
        right, small = self.estimates == counts, counts <= MOST_SMALL
        cells = int(small.sum())
        return Success(float(right.mean()), float(right[small].mean()) if cells else None, cells)


def reconstruct(
    counts: ArrayLike,
    epsilon: Amount,
    second_epsilon: Amount | None = None,
    method: Method | None = None,
    entropy: Entropy | None = None,
) -> Reconstruction:
    """Attack a tester whose threshold has Laplace noise of scale 2 / epsilon, and rebuild the histogram.

    `second_epsilon` adds noise of scale 1 / second_epsilon to each answer of the tester; None or infinity adds none.
    Privacy: none. The tester claims epsilon, and the attack finds the histogram, whatever epsilon is.
    Utility: if every count from 0 to k occurs, each count up to k - 2 t gets its own group with probability
    1 - failure_rate, where t is the threshold (Theorem 6). `Reconstruction.success` measures the result.
    Runtime: a sort. With `second_epsilon`, a draw for every pair and pass: at most some ten thousand cells.
    """
    cells, how = checked_cell_counts(counts), Method() if method is None else method
    if not isinstance(how, Method):
        raise ArgumentError("method", method, "it must be a Method", 'Pass Method(decoder="rounding"), say')
    half, blur = checked_rate(epsilon, 2), finite(second_epsilon)
    second = None if blur is None else checked_rate(blur, 1, "second_epsilon")
    claimed = Epsilon.covering(2 * half + (second or 0))
    source = chosen(entropy)
    groups = _grouped(cells, half, second, how, source)
    rate = half / 2 if how.printed_noise else half
    totals = groups.totals(cells) + np.asarray(discrete_laplace(rate, groups.sizes.size, entropy=source))
    estimates = DECODERS[how.decoder](totals, groups.sizes)[groups.labels]
    return Reconstruction(estimates, groups, totals, claimed, source.stamp)


def _grouped(cells: Whole, first: Fraction, second: Fraction | None, how: Method, entropy: Entropy) -> Groups:
    if second is not None:
        scores, variances = noisy_scores(cells, first, second, how.passes, entropy, both_ways=how.both_ways)
        return grouped_by_scores(scores, variances, least_step(second))
    threshold = 0 if how.both_ways else chosen_threshold(first, how.failure_rate)
    return ordered_groups(cells, threshold + _ceiling_of_laplace(first, entropy), both_ways=how.both_ways)


def finite(second_epsilon: Amount | None) -> Amount | None:
    """Return None for an infinite amount, which means no noise."""
    infinite = isinstance(second_epsilon, float | Decimal) and second_epsilon == math.inf
    return None if infinite else second_epsilon


def chosen_threshold(epsilon: Amount, failure_rate: Amount = "0.05") -> int:
    """Return ln(1 / failure_rate) / epsilon, rounded up: with Laplace noise it is seldom below 0."""
    rate, chance = checked_rate(epsilon, 1), checked_probability(failure_rate, "failure_rate")
    return math.ceil((math.log(chance.denominator) - math.log(chance.numerator)) / float(rate))


def _ceiling_of_laplace(rate: Fraction, entropy: Entropy) -> int:
    """Draw Laplace noise of scale 1 / rate, rounded up. Whole counts depend on the rounded number only.

    It is 1 + k or -k, with probability one half each, where P[k] is proportional to exp(-rate k).
    """
    size = int(geometric(rate, 1, entropy=entropy)[0])
    return 1 + size if bool(chances("0.5", 1, entropy)[0]) else -size
