"""Two classes told apart: logistic regression and the linear support vector machine, within budgets of one's own.

Reads: rows, labels, a roster, entropy. Writes: nothing. Never: a label or a row in an error text; a person of budget 0.
What is proved where: `taking_part.md`, `erm.md`.
"""

from dataclasses import dataclass
from fractions import Fraction

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
from thresher.personal.learners.margin_losses import MarginLoss
from thresher.personal.learners.taking_part import METHODS, Group, group_of, halved, part_of, roster_of
from thresher.personal.partition import partition
from thresher.personal.parts import Parts
from thresher.personal.roster import Roster

Floats = NDArray[np.float64]
PERTURBATIONS = ("output", "objective")
WHOLE_NUMBERS = "proved for the numbers that the machine computes with"
REAL_NUMBERS = "proved for real numbers only: which floats can come out is not covered"
ASSUMPTION = "what a model says of everybody assumes that budgets do not go with the data"


@dataclass(frozen=True, slots=True)
class Recipe:
    """How to fit, all of it public. `threshold` None: the mean budget, or for weighted the largest.

    `parts`: for the method partition, how many (those of least waste), or a `Parts`. `combine`: weighted or vote.
    `replace`: neighbours are data in which a record is changed, not one that comes or goes; budgets are halved.
    """

    loss: MarginLoss
    method: str = "weighted"
    perturbation: str = "output"
    regularisation: Amount = "0.001"
    norm: Amount = 1
    classes: tuple[object, object] = (0, 1)
    intercept: bool = True
    threshold: Amount | None = None
    parts: Parts | int = 2
    combine: str = "weighted"
    replace: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class LinearClassifier:
    """One or more fitted planes, all of which may be shown. Rows of `coefficients` are planes, `weights` add up to 1.

    `spent`: what a person of each of the roster's classes lost. `noise_length`: of the noise on each plane, in the
    units of clipped rows (none for a tilted objective). `proof`: what the proof covers.
    """

    coefficients: Floats
    intercepts: Floats
    weights: Floats
    classes: tuple[object, object]
    votes: bool
    spent: tuple[Epsilon, ...]
    noise_length: tuple[float, ...]
    proof: str
    assumption: str
    stamp: str

    def scores(self, features: ArrayLike) -> Floats:
        """Above 0 for the second class. With votes: the share of votes for it, less the share against."""
        planes = matrix_of(features) @ self.coefficients.T + self.intercepts
        return (np.where(planes >= 0, 1.0, -1.0) if self.votes else planes) @ self.weights

    def predicted(self, features: ArrayLike) -> NDArray[np.generic]:
        """The declared class of each row."""
        return np.array(self.classes)[(self.scores(features) >= 0).astype(np.int64)]


def fit_classifier(
    features: ArrayLike, labels: ArrayLike, budgets: Roster | ArrayLike, recipe: Recipe, entropy: Entropy | None = None
) -> LinearClassifier:
    """A classifier of rows, one row for each person on the roster, NaN in the row of somebody who is absent.

    Privacy: for each person on the roster, present or absent, the chances of all outcomes differ by a factor of at most
    exp(that person's budget); somebody whose budget is 0 is not read. Budgets, and who is on the roster, are public.
    Utility: the noise on a plane is `noise_length` long. Runtime: about ten passes of O(rows · features²).
    """
    shape, ridge, classes = _checked(recipe)
    source = chosen(entropy)
    rows, there = shape.clipped(features)
    roster = roster_of(budgets, rows.shape[0])
    groups = groups_of(halved(roster) if recipe.replace else roster, recipe)
    signed = rows * (signs_of(labels, classes, rows.shape[0]) * there)[:, None]
    perturbed = perturbed_output if recipe.perturbation == "output" else perturbed_objective
    planes = [shape.unscaled(perturbed(signed, group, recipe.loss, ridge, source)) for group in groups]
    return LinearClassifier(
        np.array([plane for plane, _ in planes]),
        np.array([intercept for _, intercept in planes]),
        combining_weights(groups, recipe.combine),
        classes,
        recipe.combine == "vote" and len(groups) > 1,
        spent_by_class(groups, doubled=recipe.replace),
        _noise_lengths(groups, recipe, ridge, rows.shape[1]),
        WHOLE_NUMBERS if recipe.perturbation == "output" else REAL_NUMBERS,
        ASSUMPTION,
        source.stamp,
    )


def groups_of(roster: Roster, recipe: Recipe) -> tuple[Group, ...]:
    """The groups that are fitted, each by itself."""
    if recipe.method != "partition":
        return (group_of(roster, recipe.method, recipe.threshold),)
    if recipe.threshold is not None:
        raise ArgumentError("threshold", recipe.threshold, "the method partition has none", "Leave it out")
    parts = recipe.parts if isinstance(recipe.parts, Parts) else partition(roster, recipe.parts)
    if not np.array_equal(parts.roster.nano[parts.roster.classes], roster.nano[roster.classes]):
        rule = "they are parts of another roster" + (", for budgets were halved" if recipe.replace else "")
        raise ArgumentError("parts", f"{len(parts.sizes)} parts", rule, "Pass how many parts, or parts of this roster")
    return tuple(part_of(parts.roster, span) for span in parts.spans)


def combining_weights(groups: tuple[Group, ...], combine: str) -> Floats:
    """(n epsilon)² for each group, or the same for all, adding up to 1."""
    sums = np.array([1.0 if combine == "vote" else (group.total / groups[0].total) ** 2 for group in groups])
    return np.asarray(sums / sums.sum())


def spent_by_class(groups: tuple[Group, ...], *, doubled: bool = False) -> tuple[Epsilon, ...]:
    """What a person of each class loses in all groups: they are in one of them at most."""
    each = [Epsilon.total(spent) for spent in zip(*(group.spent for group in groups), strict=True)]
    return tuple(spent * 2 for spent in each) if doubled else tuple(each)


def _noise_lengths(groups: tuple[Group, ...], recipe: Recipe, ridge: Fraction, dimension: int) -> tuple[float, ...]:
    if recipe.perturbation == "objective":
        return ()
    return tuple(output_terms(group, ridge, dimension, recipe.loss).noise_length for group in groups)


def _checked(recipe: Recipe) -> tuple[Shape, Fraction, tuple[object, object]]:
    check_choice("method", recipe.method, METHODS)
    check_choice("perturbation", recipe.perturbation, PERTURBATIONS)
    check_choice("combine", recipe.combine, ("weighted", "vote"))
    ridge = checked_regularisation(exact_fraction(recipe.regularisation, "regularisation"))
    return shape_of(recipe.norm, intercept=recipe.intercept), ridge, checked_classes(recipe.classes)


def check_choice(field: str, value: object, known: tuple[str, ...]) -> None:
    """Refuses a word that is not one of those known."""
    if value not in known:
        raise ArgumentError(field, value, f"it must be one of {', '.join(known)}", f"Pass {known[0]!r}")
