"""The same as scikit-learn's estimators: fit, predict, get_params, clone, pipelines. Needs the extra "diagnostics".

Classes are declared, not found in the labels: to find them would tell who is there. A budget of one's own comes with
`fit(X, y, budgets=...)`: a roster, or an amount of epsilon for each row. Absent people have NaN in their row.
Reads: rows, labels, budgets, entropy. Writes: fitted attributes, which may all be shown. Never: a person of budget 0.
"""

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from thresher.amounts import Amount
from thresher.noise import Entropy
from thresher.personal.learners.classifiers import LinearClassifier, Recipe, fit_classifier
from thresher.personal.learners.fitted_groups import Sharing
from thresher.personal.learners.linear_model import LinearFit, LinearRecipe, fit_line
from thresher.personal.learners.margin_losses import HuberHinge, LogisticLoss, MarginLoss, chance
from thresher.personal.parts import Parts
from thresher.personal.roster import Roster

Floats = NDArray[np.float64]


class _Planes(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn ships no types
    """What both classifiers share. Parameters are those of `Recipe` and `Sharing`."""

    def __init__(
        self,
        *,
        method: str = "weighted",
        perturbation: str = "output",
        regularisation: Amount = "0.001",
        norm: Amount = 1,
        classes: tuple[object, object] = (0, 1),
        fit_intercept: bool = True,
        threshold: Amount | None = None,
        parts: Parts | int = 2,
        combine: str = "weighted",
        replace: bool = False,
    ) -> None:
        self.method, self.perturbation, self.regularisation = method, perturbation, regularisation
        self.norm, self.classes, self.fit_intercept = norm, classes, fit_intercept
        self.threshold, self.parts, self.combine, self.replace = threshold, parts, combine, replace

    def fit(
        self,
        X: ArrayLike,  # noqa: N803
        y: ArrayLike,
        budgets: Roster | ArrayLike,
        entropy: Entropy | None = None,
    ) -> Self:
        """Fits within each person's budget; see `fit_classifier` for what is promised."""
        self.release_: LinearClassifier = fit_classifier(X, y, budgets, self._recipe(), entropy)
        self.classes_ = np.array(self.release_.classes)
        self.coef_ = self.release_.weights[None, :] @ self.release_.coefficients
        self.intercept_ = self.release_.weights[None, :] @ self.release_.intercepts
        self.n_features_in_ = self.release_.coefficients.shape[1]
        self.stamp_ = self.release_.stamp
        return self

    def decision_function(self, X: ArrayLike) -> Floats:  # noqa: N803
        """Above 0 for the second class."""
        check_is_fitted(self)
        return self.release_.scores(X)

    def predict(self, X: ArrayLike) -> NDArray[np.generic]:  # noqa: N803
        """The class of each row."""
        check_is_fitted(self)
        return self.release_.predicted(X)

    def _recipe(self) -> Recipe:
        return Recipe(
            self._loss(),
            Sharing(self.method, self.threshold, self.parts, self.combine, self.replace),
            self.perturbation,
            self.regularisation,
            self.norm,
            self.classes,
            self.fit_intercept,
        )

    @abstractmethod
    def _loss(self) -> MarginLoss: ...

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.classifier_tags.multi_class = False
        return tags


class PersonalLogisticRegression(_Planes):
    """Logistic regression in which each person loses at most a budget of their own."""

    def predict_proba(self, X: ArrayLike) -> Floats:  # noqa: N803
        """The chances of both classes; with votes, their shares of the votes."""
        scores = self.decision_function(X)
        second = (1 + scores) / 2 if self.release_.votes else chance(scores)
        return np.column_stack([1 - second, second])

    def _loss(self) -> MarginLoss:
        return LogisticLoss()


class PersonalLinearSVC(_Planes):
    """A linear support vector machine (its hinge rounded off) in which each person loses at most the own budget."""

    def _loss(self) -> MarginLoss:
        return HuberHinge()


class PersonalLinearRegression(RegressorMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn ships no types
    """Linear regression in which each person loses at most a budget of their own. See `LinearRecipe` and `Sharing`."""

    def __init__(
        self,
        *,
        method: str = "weighted",
        bound: Amount = 1,
        regularisation: Amount = "0.001",
        norm: Amount = 1,
        fit_intercept: bool = True,
        threshold: Amount | None = None,
        parts: Parts | int = 2,
        replace: bool = False,
    ) -> None:
        self.method, self.bound, self.regularisation, self.norm = method, bound, regularisation, norm
        self.fit_intercept, self.threshold, self.parts, self.replace = fit_intercept, threshold, parts, replace

    def fit(
        self,
        X: ArrayLike,  # noqa: N803
        y: ArrayLike,
        budgets: Roster | ArrayLike,
        entropy: Entropy | None = None,
    ) -> Self:
        """Fits within each person's budget; see `fit_line` for what is promised."""
        sharing = Sharing(self.method, self.threshold, self.parts, replace=self.replace)
        recipe = LinearRecipe(self.bound, sharing, self.regularisation, self.norm, self.fit_intercept)
        self.release_: LinearFit = fit_line(X, y, budgets, recipe, entropy)
        self.coef_ = self.release_.weights @ self.release_.coefficients
        self.intercept_ = float(self.release_.weights @ self.release_.intercepts)
        self.n_features_in_ = self.release_.coefficients.shape[1]
        self.stamp_ = self.release_.stamp
        return self

    def predict(self, X: ArrayLike) -> Floats:  # noqa: N803
        """The predicted target of each row."""
        check_is_fitted(self)
        return self.release_.predicted(X)
