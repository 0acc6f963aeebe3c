"""A histogram rebuilt from the answers of a threshold tester that has no limit of positive answers (GPTT).

Half of epsilon blurs the tester's threshold. Its answers to all differences of two cells put the cells in groups
(`cell_groups.py`), and every group's total, which the other half of epsilon blurs, is decoded to a count for each cell.
The tester claims that this costs epsilon. It does not: the noise of one threshold hides one number, not a histogram.
Reads: made-up or public counts, entropy. Writes: nothing. Never: a count on its way to the attacker other than through
the tester's answers and noisy totals.
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
from thresher.audit.attacks.noisy_answers import checked_passes, least_step, noisy_scores
from thresher.errors import ArgumentError
from thresher.noise import Entropy, chances, discrete_laplace, geometric
from thresher.noise.arguments import checked_probability, checked_rate
from thresher.noise.entropy import chosen

Whole = NDArray[np.int64]
# Counts of so few people point at persons: the dissertation's Table 3.3.
MOST_SMALL = 5


@dataclass(frozen=True, slots=True)
class Method:
    """How to attack.

    `decoder`: "rounding" as printed, or "increasing", which also uses that the groups are in order.
    `both_ways`: reads the answers about (u, v) and (v, u), with a threshold of 0; else the first ones only, with a
    threshold that stays above 0, noise included, except with probability `failure_rate` / 2.
    `printed_noise`: totals get the printed noise, of scale 2 over their epsilon, which is right if one record may
    change; else 1 over it, which is right for one record more or less.
    `passes`: how often all differences are asked, if the answers are noisy themselves.
    """

    decoder: str = "increasing"
    both_ways: bool = False
    printed_noise: bool = False
    failure_rate: Amount = "0.05"
    passes: int = 2

    def __post_init__(self) -> None:
        checked_decoder(self.decoder)
        checked_probability(self.failure_rate, "failure_rate")
        checked_passes(self.passes)
        for field in ("both_ways", "printed_noise"):
            if not isinstance(getattr(self, field), bool):
                raise ArgumentError(field, getattr(self, field), "it is a yes or a no", "Pass True or False")


@dataclass(frozen=True, slots=True)
class Success:
    """Shares of cells whose count was found exactly: of all, and of the `small_cells` that count 0 to 5."""

    overall: float
    small: float | None
    small_cells: int


@dataclass(frozen=True, slots=True, eq=False)
class Reconstruction:
    """What the attacker ends up with. `claimed` is what the tester and the totals say they have cost together."""

    estimates: Whole
    groups: Groups
    noisy_totals: Whole
    claimed: Epsilon
    stamp: str

    def decoded(self, decoder: str) -> "Reconstruction":
        """The same answers and noisy totals, read by another decoder."""
        estimates = DECODERS[checked_decoder(decoder)](self.noisy_totals, self.groups.sizes)[self.groups.labels]
        return replace(self, estimates=estimates)

    def success(self, truth: ArrayLike) -> Success:
        """How much of it is right."""
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
    """Attacks a tester whose threshold has Laplace noise of scale 2 / epsilon, and rebuilds the histogram.

    `second_epsilon` blurs each answer of the tester by noise of scale 1 / second_epsilon; None, or infinite, does not.
    Privacy: that of the tester is under attack. What is really lost is the histogram, whatever epsilon is.
    Utility: where every count from 0 to k occurs, counts up to k - 2 t get groups of their own with probability
    1 - failure_rate, t being the threshold (Theorem 6). `Reconstruction.success` measures it.
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
    """None for an infinite amount: noise of scale 0 is no noise."""
    infinite = isinstance(second_epsilon, float | Decimal) and second_epsilon == math.inf
    return None if infinite else second_epsilon


def chosen_threshold(epsilon: Amount, failure_rate: Amount = "0.05") -> int:
    """ln(1 / failure_rate) / epsilon, rounded up: so high that Laplace noise of scale 1 / epsilon rarely undoes it."""
    rate, chance = checked_rate(epsilon, 1), checked_probability(failure_rate, "failure_rate")
    return math.ceil((math.log(chance.denominator) - math.log(chance.numerator)) / float(rate))


def _ceiling_of_laplace(rate: Fraction, entropy: Entropy) -> int:
    """Laplace noise of scale 1 / rate, rounded up to a whole number; exact, for that is all that whole counts see.

    It is 1 + k or -k, with a half chance each, where P[k] is proportional to exp(-rate k).
    """
    size = int(geometric(rate, 1, entropy=entropy)[0])
    return 1 + size if bool(chances("0.5", 1, entropy)[0]) else -size
