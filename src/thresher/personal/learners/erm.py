"""Minimise a regularised risk in private: noise on the minimum, or a random tilt of what is minimised.

    risk(w) = sum over people of W_j / S loss(label_j row_j . w)  +  regularisation / 2 |w|²

W_j is a person's weight, an amount of epsilon; S is the public sum of weights. With equal weights this is the
literature's method, here for records that come or go (its noise is for records that change: twice as much).
Reads: clipped rows, a group's weights, entropy. Writes: nothing. Never: a sum over those present as a divisor.
Proof: `erm.md`. Citation: Chaudhuri, Monteleoni, Sarwate, "Differentially Private Empirical Risk Minimization", 2011.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import NANO
from thresher.errors import ArgumentError
from thresher.noise import Entropy
from thresher.personal.learners.membership import FittedGroup
from thresher.personal.learners.norm_noise import noise_length, norm_noise
from thresher.personal.learners.risks import AT_ONCE, MarginLoss, Risk, near_minimum

Floats = NDArray[np.float64]
_UNIT = 2.0**-52
# How much longer than 1 a clipped row may be: rounding of its length, with room.
_LONGER = Fraction(1, 1 << 30)
_STEPS_OF_LEAST = 1 << 20
_MOST_PLACES = 1 << 44
_FINE = 1 << 40
# The literature adds regularisation only when nothing is left. With little left the tilt is far too long.
_LEFT = 0.5


@dataclass(frozen=True, slots=True)
class OutputTerms:
    """Public numbers of output perturbation: the minimum goes to a grid of `step`, with noise of `spread` grid steps.

    `tolerance` is how long the computed gradient at the minimum may be.
    """

    step: float
    spread: int
    tolerance: float
    dimension: int

    @property
    def noise_length(self) -> float:
        """Return the root of the mean squared length of the noise."""
        return noise_length(self.spread, self.dimension) * self.step


@dataclass(frozen=True, slots=True)
class ObjectiveTerms:
    """Public numbers of objective perturbation: a tilt of density exp(-rate |b|), and `extra` regularisation.

    `rate` times the weight is the literature's epsilon prime.
    """

    rate: Fraction
    extra: float


def output_terms(group: FittedGroup, regularisation: Fraction, dimension: int, loss: MarginLoss) -> OutputTerms:
    """Return grid, noise and tolerance such that a person of weight W loses at most W. A function of public numbers."""
    ridge, total, least = float(regularisation), group.total / NANO, group.least / NANO
    excess = max(1.0, group.most / group.total)
    if dimension**1.5 * loss.curvature * excess * 2 * _UNIT > ridge / 4:
        rule = "it is so small that rounding errors would be large beside it"
        raise ArgumentError("regularisation", float(ridge), rule, "Pass more, or fewer features")
    rounding = _rounding(group, dimension, ridge, loss)
    tolerance = least / total / (1 << 24) + rounding
    # Grid steps for one unit of weight: many for the least weight, but places must stay whole numbers in a float.
    per_weight = max(1, math.floor(min(_STEPS_OF_LEAST / least, _MOST_PLACES / (excess * total))))
    slack = 2 * (tolerance + rounding) * total * per_weight + math.sqrt(dimension) + 2
    spread = math.ceil(per_weight * (1 + _LONGER) + Fraction(slack) * (1 + _LONGER) / Fraction(group.least, NANO))
    return OutputTerms(1 / (total * ridge * per_weight), spread, tolerance, dimension)


def objective_terms(group: FittedGroup, regularisation: Fraction, loss: MarginLoss) -> ObjectiveTerms:
    """Return the rate of the tilt once the change of volume is paid, and the regularisation to add if little is left.

    With equal weights w and n people: rate w = w - log(1 + c / (n regularisation)); if that is below w / 2, so much
    regularisation is added that half of w is left.
    """
    total, least, ridge = group.total / NANO, group.least / NANO, float(regularisation)
    bend = loss.curvature * (1 + float(_LONGER)) / (total * ridge)
    left = 1 - math.log1p(bend * least) / least
    if left >= _LEFT:
        return ObjectiveTerms(Fraction(math.floor(left * _FINE) - 2, _FINE), 0.0)
    enough = loss.curvature * (1 + 2 * float(_LONGER)) * least / (total * math.expm1(least / 2))
    return ObjectiveTerms(Fraction(_FINE // 2 - 2, _FINE), max(enough - ridge, 0.0))


def perturbed_output(
    signed: Floats, group: FittedGroup, loss: MarginLoss, regularisation: Fraction, entropy: Entropy
) -> Floats:
    """Return the minimum with noise on it.

    Privacy: a person of weight W loses at most W; proved for the numbers as the machine computes them.
    """
    terms = output_terms(group, regularisation, signed.shape[1], loss)
    risk = _risk(signed, group, loss, float(regularisation), entropy)
    places = np.rint(near_minimum(risk, terms.tolerance) / terms.step).astype(np.int64)
    return (places + norm_noise(terms.spread, places.size, entropy=entropy)).astype(np.float64) * terms.step


def perturbed_objective(
    signed: Floats, group: FittedGroup, loss: MarginLoss, regularisation: Fraction, entropy: Entropy
) -> Floats:
    """Return the minimum of a tilted risk.

    Privacy: a person of weight W loses at most W, for real numbers. The tilt here lies on a fine grid and the minimum
    is a float: which floats can come out depends on the rows, and no proof covers what that reveals.
    """
    terms = objective_terms(group, regularisation, loss)
    draws = norm_noise(math.ceil(_FINE / terms.rate), signed.shape[1], entropy=entropy)
    tilt = np.asarray(draws).astype(np.float64) / _FINE / (group.total / NANO)
    risk = _risk(signed, group, loss, float(regularisation) + terms.extra, entropy, tilt)
    tolerance = group.least / group.total / (1 << 24) + _rounding(group, tilt.size, risk.ridge, loss)
    # A long tilt makes long minima, whose margins are rounded by more.
    return near_minimum(risk, tolerance * (1 + float(np.linalg.norm(tilt))))


def checked_regularisation(regularisation: Fraction) -> Fraction:
    if not Fraction(1, 10**8) <= regularisation <= 10**4:
        rule = "it must lie between 1e-8 and 1e4"
        raise ArgumentError("regularisation", regularisation, rule, "Pass 0.001, or more if the noise is too large")
    return regularisation


def _risk(
    signed: Floats, group: FittedGroup, loss: MarginLoss, ridge: float, entropy: Entropy, tilt: Floats | None = None
) -> Risk:
    """Return the risk of the people who take part, after the coins. Somebody of weight 0 is not read."""
    weights = group.weights(entropy)
    taken = weights > 0
    shares = weights[taken] / group.total
    return Risk(loss, signed[taken], shares, ridge, np.zeros(signed.shape[1]) if tilt is None else tilt)


def _rounding(group: FittedGroup, dimension: int, ridge: float, loss: MarginLoss) -> float:
    """Return how far the computed gradient may be from the true one: each product and sum may err by a unit."""
    excess = max(1.0, group.most / group.total)
    inner = dimension * (2 + loss.curvature * 2 * excess / ridge) + 64
    sums = min(group.people, AT_ONCE) + group.people // AT_ONCE + 1
    return math.sqrt(dimension) * excess * (sums + inner) * _UNIT
