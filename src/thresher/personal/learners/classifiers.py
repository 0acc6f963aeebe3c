"""Tell two classes apart by logistic regression or a linear support vector machine, within each person's own budget.

Reads: rows, labels, a roster, entropy. Writes: nothing. Never: a label or a row in an error text; a person of budget 0.
Proofs: `membership.md`, `erm.md`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thresher.amounts import Amount, Epsilon, exact_fraction
from thresher.errors import ArgumentError
from thresher.noise import Entropy
from thresher.noise.entropy import chosen
from thresher.personal.learners.clipped_rows import Shape, checked_classes, matrix_of, shape_of, signs_of
from thresher.personal.learners.erm import (
    checked_regularisation,
    output_terms,
    perturbed_objective,
    perturbed_output,
)
from thresher.personal.learners.membership import (
    METHODS,
    FittedGroup,
    Sharing,
    combining_weights,
    fitted_groups,
    halved,
    roster_of,
    spent_by_class,
)
from thresher.personal.learners.risks import MarginLoss
from thresher.personal.roster import Roster

Floats = NDArray[np.float64]
PERTURBATIONS = ("output", "objective")
WHOLE_NUMBERS = "proved for the numbers that the machine computes with"
REAL_NUMBERS = "proved for real numbers only: which floats can come out is not covered"
ASSUMPTION = "what a model says about everybody assumes that budgets are independent of the data"


@dataclass(frozen=True, slots=True)
class Recipe:
    """How to fit, all of it public: how budgets are used, where noise enters, how long rows may be."""

    loss: MarginLoss
    sharing: Sharing = field(default_factory=Sharing)
    perturbation: str = "output"
    regularisation: Amount = "0.001"
    norm: Amount = 1
    classes: tuple[object, object] = (0, 1)
    intercept: bool = True


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Planes:
    """One or more fitted planes, all of which may be shown. Rows of `coefficients` are planes, `weights` add up to 1.

    `spent` is what a person of each class of the roster lost; `proof` says what the proof covers.
    """

    coefficients: Floats
    intercepts: Floats
    weights: Floats
    spent: tuple[Epsilon, ...]
    proof: str
    assumption: str = ASSUMPTION
    stamp: str

    def heights(self, features: ArrayLike) -> Floats:
        """Return the height of each row above each plane."""
        return matrix_of(features) @ self.coefficients.T + self.intercepts


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class LinearClassifier(Planes):
    """A classifier. `noise_length` is that of the noise on each plane, in units of clipped rows (empty for a tilt)."""

    classes: tuple[object, object]
    votes: bool
    noise_length: tuple[float, ...]

    def scores(self, features: ArrayLike) -> Floats:
        """Return scores, above 0 for the second class. With votes: the share of votes for it less that against it."""
        planes = self.heights(features)
        return (np.where(planes >= 0, 1.0, -1.0) if self.votes else planes) @ self.weights

    def predicted(self, features: ArrayLike) -> NDArray[np.generic]:
        """Return the predicted class of each row, one of the two declared."""
        return np.array(self.classes)[(self.scores(features) >= 0).astype(np.int64)]


def fit_classifier(
    features: ArrayLike, labels: ArrayLike, budgets: Roster | ArrayLike, recipe: Recipe, entropy: Entropy | None = None
) -> LinearClassifier:
    """Fit a classifier to rows, one row for each person on the roster, NaN in the row of somebody who is absent.

    Privacy: for each person on the roster, present or absent, the chances of all outcomes differ by a factor of at most
    exp(that person's budget); somebody whose budget is 0 is not read. Budgets, and who is on the roster, are public.
    Utility: the noise on a plane is `noise_length` long. Runtime: about ten passes of O(rows · features²).
    """
    shape, ridge, classes = _checked(recipe)
    source = chosen(entropy)
    rows, there, groups = in_groups(features, budgets, shape, recipe.sharing)
    signed = rows * (signs_of(labels, classes, rows.shape[0]) * there)[:, None]
    perturbed = perturbed_output if recipe.perturbation == "output" else perturbed_objective
    planes = [shape.unscaled(perturbed(signed, group, recipe.loss, ridge, source)) for group in groups]
    return LinearClassifier(
        **planes_of(planes, groups, recipe.sharing),
        proof=WHOLE_NUMBERS if recipe.perturbation == "output" else REAL_NUMBERS,
        stamp=source.stamp,
        classes=classes,
        votes=recipe.sharing.combine == "vote" and len(groups) > 1,
        noise_length=tuple(
            output_terms(group, ridge, rows.shape[1], recipe.loss).noise_length
            for group in groups
            if recipe.perturbation == "output"
        ),
    )


def in_groups(
    features: ArrayLike, budgets: Roster | ArrayLike, shape: Shape, sharing: Sharing
) -> tuple[Floats, NDArray[np.bool_], tuple[FittedGroup, ...]]:
    """Return clipped rows, which of them are records, and the groups in which their people are fitted."""
    rows, there = shape.clipped(features)
    roster = roster_of(budgets, rows.shape[0])
    return rows, there, fitted_groups(halved(roster) if sharing.replace else roster, sharing)


def planes_of(
    planes: Sequence[tuple[Floats, float]], groups: tuple[FittedGroup, ...], sharing: Sharing
) -> dict[str, Any]:
    """Return the fields of `Planes` that follow from the plane of each group."""
    return {
        "coefficients": np.array([plane for plane, _ in planes]),
        "intercepts": np.array([intercept for _, intercept in planes]),
        "weights": combining_weights(groups, sharing.combine),
        "spent": spent_by_class(groups, doubled=sharing.replace),
    }


def _checked(recipe: Recipe) -> tuple[Shape, Fraction, tuple[object, object]]:
    check_choice("method", recipe.sharing.method, METHODS)
    check_choice("perturbation", recipe.perturbation, PERTURBATIONS)
    check_choice("combine", recipe.sharing.combine, ("weighted", "vote"))
    ridge = checked_regularisation(exact_fraction(recipe.regularisation, "regularisation"))
    return shape_of(recipe.norm, intercept=recipe.intercept), ridge, checked_classes(recipe.classes)


def check_choice(field: str, value: object, known: tuple[str, ...]) -> None:
    """Refuse a word that is not a known one."""
    if value not in known:
        raise ArgumentError(field, value, f"it must be one of {', '.join(known)}", f"Pass {known[0]!r}")
