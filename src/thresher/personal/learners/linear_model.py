"""Fit a linear model to noisy sums: products of clipped numbers, weighted by budgets, and then ordinary algebra.

    sums of W_j x_i x_k and of W_j x_i y, all whole numbers, each with discrete Laplace noise  ─►  a ridge solution

Reads: rows, targets, a roster, entropy. Writes: nothing. Never: a sum without noise beyond this file; a person of
budget 0. Proof: `linear_model.md`.
"""

import math
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thresher.amounts import NANO, Amount, exact_fraction
from thresher.errors import ArgumentError
from thresher.noise import Entropy
from thresher.noise.entropy import chosen
from thresher.noise.laplace import laplace_draws
from thresher.personal.learners.classifiers import WHOLE_NUMBERS, Planes, check_choice, in_groups, planes_of
from thresher.personal.learners.clipped_rows import shape_of, targets_of
from thresher.personal.learners.erm import checked_regularisation
from thresher.personal.learners.membership import METHODS, FittedGroup, Sharing
from thresher.personal.roster import Roster

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
_BITS = 12
_ONE = 1 << _BITS
# Sums of weights times products stay below _ROOM, the scale of the noise below _LARGEST_SCALE.
_ROOM, _LARGEST_SCALE = 1 << 60, 1 << 50


@dataclass(frozen=True, slots=True)
class LinearRecipe:
    """How to fit, all of it public. Targets are clipped to -bound .. bound, rows to the length `norm`."""

    bound: Amount = 1
    sharing: Sharing = field(default_factory=Sharing)
    regularisation: Amount = "0.001"
    norm: Amount = 1
    intercept: bool = True


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class LinearFit(Planes):
    """Fitted lines, one for each group. `noise_sd` is that of each mean product, in units of clipped numbers."""

    noise_sd: tuple[float, ...]

    def predicted(self, features: ArrayLike) -> Floats:
        """Return the weighed mean of the lines at each row."""
        return self.heights(features) @ self.weights


@dataclass(frozen=True, slots=True)
class SumTerms:
    """Public numbers: weights are counted in `grain` nano; the products of one record add up to at most `most`."""

    grain: int
    most: int
    rate: Fraction
    mean_sd: float


def fit_line(
    features: ArrayLike,
    targets: ArrayLike,
    budgets: Roster | ArrayLike,
    recipe: LinearRecipe,
    entropy: Entropy | None = None,
) -> LinearFit:
    """Fit a linear predictor of targets to one row for each person on the roster, NaN for somebody who is absent.

    Privacy: for each person on the roster the chances of all outcomes differ by a factor of at most exp(that person's
    budget), exactly; somebody whose budget is 0 is not read.
    Utility: each of the d (d + 3) / 2 mean products errs by `noise_sd`. Runtime: O(rows · features²).
    Citation: the specification's weighted release, applied to the sums that least squares needs.
    """
    bound, ridge = exact_fraction(recipe.bound, "bound"), exact_fraction(recipe.regularisation, "regularisation")
    if not Fraction(1, 10**12) <= bound <= 10**12:
        raise ArgumentError("bound", recipe.bound, "it must lie between 1e-12 and 1e12", "Pass the largest target")
    check_choice("method", recipe.sharing.method, METHODS)
    check_choice("combine", recipe.sharing.combine, ("weighted",))
    shape, source = shape_of(recipe.norm, intercept=recipe.intercept), chosen(entropy)
    floor = float(checked_regularisation(ridge))
    rows, there, groups = in_groups(features, budgets, shape, recipe.sharing)
    records = whole_records(rows, targets_of(targets, rows.shape[0]) / float(bound), there)
    terms = [sum_terms(group, rows.shape[1]) for group in groups]
    lines = [
        shape.unscaled(_solved(noisy_sums(records, group, term, source), group, term, floor) * float(bound))
        for group, term in zip(groups, terms, strict=True)
    ]
    return LinearFit(
        **planes_of(lines, groups, recipe.sharing),
        proof=WHOLE_NUMBERS,
        stamp=source.stamp,
        noise_sd=tuple(term.mean_sd for term in terms),
    )


def whole_records(rows: Floats, targets: Floats, there: NDArray[np.bool_]) -> Whole:
    """Return rows with their target at the end, in whole numbers of 2**-12; all 0 where there is no record."""
    known = there & ~np.isnan(targets)
    with np.errstate(all="ignore"):
        clipped = np.clip(np.where(known, targets, 0.0), -1.0, 1.0)
    table = np.column_stack([np.clip(rows, -1.0, 1.0), clipped]) * known[:, None]
    return np.asarray(np.rint(table * _ONE).astype(np.int64))


def sum_terms(group: FittedGroup, dimension: int) -> SumTerms:
    """Return grain, bound and rate such that a person of weight W loses at most W."""
    # Rounding moves a row of length 1 by at most half a step in each number.
    length = Fraction(_ONE + math.isqrt(dimension) + 2)
    root = Fraction(math.isqrt(dimension << 40) + 1, 1 << 20)
    most = math.ceil(length * length * (dimension + 1) / 2 + root * length * _ONE)
    grain = max(-(-group.most * _ONE * (_ONE + 2) // _ROOM), -(-most * NANO // _LARGEST_SCALE))
    return SumTerms(grain, most, Fraction(grain, NANO * most), math.sqrt(2) * most * NANO / (group.total * _ONE * _ONE))


def noisy_sums(records: Whole, group: FittedGroup, terms: SumTerms, entropy: Entropy) -> Whole:
    """Return noisy sums of the weighted products of each record's numbers (each pair once, without target squared)."""
    weights = group.weights(entropy) // terms.grain
    taken = records[weights > 0]
    products = taken[:, :-1].T @ (weights[weights > 0][:, None] * taken)
    upper = np.triu_indices(products.shape[0], m=products.shape[1])
    return products[upper] + laplace_draws(terms.rate, upper[0].size, entropy)


def _solved(sums: Whole, group: FittedGroup, terms: SumTerms, regularisation: float) -> Floats:
    """Solve ridge regression on what was released. The ridge is raised by the size of the noise, which is public."""
    dimension = (math.isqrt(8 * sums.size + 9) - 3) // 2
    full = np.zeros((dimension, dimension + 1))
    full[np.triu_indices(dimension, m=dimension + 1)] = sums * (terms.grain / (group.total * _ONE * _ONE))
    square, cross = full[:, :-1], full[:, -1]
    levels, axes = np.linalg.eigh(square + np.triu(square, 1).T)
    ridge = regularisation + terms.mean_sd * math.sqrt(dimension)
    return np.asarray(axes @ ((axes.T @ cross) / (np.maximum(levels, 0.0) + ridge)))
