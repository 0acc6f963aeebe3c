"""Offer the models as scikit-learn's estimators: fit, predict, get_params, clone, pipelines.

They need the extra "diagnostics". Classes are declared: if they were found in the labels, they would reveal who is
there. Budgets come with `fit(X, y, budgets=...)`: a roster, or an amount of epsilon for each row. Absent people have
NaN in their row.
Reads: rows, labels, budgets, entropy. Writes: fitted attributes, which may all be shown. Never: a person of budget 0.
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from thresher.amounts import Amount
from thresher.noise import Entropy
from thresher.personal.learners.classifiers import LinearClassifier, Recipe, fit_classifier
from thresher.personal.learners.linear_model import LinearFit, LinearRecipe, fit_line
from thresher.personal.learners.membership import Sharing
from thresher.personal.learners.risks import HuberHinge, LogisticLoss, MarginLoss, logistic_chance
from thresher.personal.parts import Parts
from thresher.personal.roster import Roster

Floats = NDArray[np.float64]


# Fields are the parameters: scikit-learn reads them from the signature that a dataclass makes of them.
@dataclass(kw_only=True, eq=False, repr=False)
class PersonalEstimator(BaseEstimator):  # type: ignore[misc]  # scikit-learn ships no types
    """What all estimators share. Parameters are those of `Sharing` and of the recipe."""

    method: str = "weighted"
    regularisation: Amount = "0.001"
    norm: Amount = 1
    fit_intercept: bool = True
    threshold: Amount | None = None
    parts: Parts | int = 2
    replace: bool = False

    def fit(
        self,
        X: ArrayLike,  # noqa: N803
        y: ArrayLike,
        budgets: Roster | ArrayLike,
        entropy: Entropy | None = None,
    ) -> Self:
        """Fit within each person's budget; see `fit_classifier` and `fit_line` for what is promised."""
        self.release_: Any = self._fitted(X, y, budgets, entropy)
        # scikit-learn expects a row of coefficients from a classifier, a plain list from a regressor.
        weights = self.release_.weights[None, :] if isinstance(self, ClassifierMixin) else self.release_.weights
        self.coef_, self.intercept_ = weights @ self.release_.coefficients, weights @ self.release_.intercepts
        self.n_features_in_ = self.release_.coefficients.shape[1]
        self.stamp_ = self.release_.stamp
        return self

    def predict(self, X: ArrayLike) -> NDArray[Any]:  # noqa: N803
        """Return the class, or the predicted target, of each row."""
        check_is_fitted(self)
        predicted: NDArray[Any] = self.release_.predicted(X)
        return predicted

    @abstractmethod
    def _fitted(
        self, rows: ArrayLike, labels: ArrayLike, budgets: Roster | ArrayLike, entropy: Entropy | None
    ) -> LinearClassifier | LinearFit: ...


@dataclass(kw_only=True, eq=False, repr=False)
class PersonalClassifier(ClassifierMixin, PersonalEstimator):  # type: ignore[misc]  # as above
    """What both classifiers share."""

    perturbation: str = "output"
    classes: tuple[object, object] = (0, 1)
    combine: str = "weighted"
    loss: ClassVar[MarginLoss]

    @property
    def classes_(self) -> NDArray[Any]:
        """Return the declared classes, once it is fitted."""
        return np.array(self.release_.classes)

    def decision_function(self, X: ArrayLike) -> Floats:  # noqa: N803
        """Return the score of each row, above 0 for the second class."""
        check_is_fitted(self)
        scores: Floats = self.release_.scores(X)
        return scores

    def _fitted(
        self, rows: ArrayLike, labels: ArrayLike, budgets: Roster | ArrayLike, entropy: Entropy | None
    ) -> LinearClassifier:
        sharing = Sharing(self.method, self.threshold, self.parts, self.combine, self.replace)
        ways = self.perturbation, self.regularisation, self.norm, self.classes, self.fit_intercept
        return fit_classifier(rows, labels, budgets, Recipe(self.loss, sharing, *ways), entropy)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.classifier_tags.multi_class = False
        return tags


class PersonalLogisticRegression(PersonalClassifier):
    """Logistic regression in which each person loses at most their own budget."""

    loss = LogisticLoss()

    def predict_proba(self, X: ArrayLike) -> Floats:  # noqa: N803
        """Return the chances of both classes; with votes, their shares of the votes."""
        scores = self.decision_function(X)
        second = (1 + scores) / 2 if self.release_.votes else logistic_chance(scores)
        return np.column_stack([1 - second, second])


class PersonalLinearSVC(PersonalClassifier):
    """A linear support vector machine (its hinge rounded off) in which each person loses at most their own budget."""

    loss = HuberHinge()


@dataclass(kw_only=True, eq=False, repr=False)
class PersonalLinearRegression(RegressorMixin, PersonalEstimator):  # type: ignore[misc]  # as above
    """Linear regression in which each person loses at most their own budget. See `LinearRecipe` and `Sharing`."""

    bound: Amount = 1

    def _fitted(
        self, rows: ArrayLike, targets: ArrayLike, budgets: Roster | ArrayLike, entropy: Entropy | None
    ) -> LinearFit:
        sharing = Sharing(self.method, self.threshold, self.parts, replace=self.replace)
        recipe = LinearRecipe(self.bound, sharing, self.regularisation, self.norm, self.fit_intercept)
        return fit_line(rows, targets, budgets, recipe, entropy)
