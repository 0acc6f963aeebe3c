"""Pictures of releases in the manner of scikit-learn: computed once, held as a release, drawn when asked.

    display = RocCurveDisplay.from_estimator(model, X, y, epsilon="0.5")   # pays, once
    display.plot(ax=ax)                                                     # draws, as often as you like
    RocCurveDisplay(release).plot()                                         # of a release from elsewhere

`plot` sets `ax_` and `figure_`. A display holds the release and nothing else; epsilon, its division and the caveats
stand under the picture.
Reads: arrays and an estimator on their way to a diagnostic, releases. Writes: matplotlib objects. Never: keeps an array
that was not released; draws again from data.
"""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from thresher.amounts import Amount
from thresher.diagnostics.binned_residuals import binned_residual_plot
from thresher.diagnostics.canvas import prepared, pyplot, signed
from thresher.diagnostics.predictions import chances_of, is_positive, predictions_of, residuals_of
from thresher.diagnostics.releases import BinnedResiduals, Diagnostic, ResidualPlot, RocCurve
from thresher.diagnostics.residual_plot import residual_plot
from thresher.diagnostics.roc_curve import roc_curve
from thresher.errors import ArgumentError
from thresher.noise import Entropy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Held = TypeVar("Held", bound=Diagnostic)
# More points than this are one dark cloud, and megabytes of SVG: shade the cells instead.
MOST_POINTS = 5000


class Display(ABC, Generic[Held]):
    """What all displays do. `release` is what was paid for; all of it may be shown."""

    ax_: Any
    figure_: Any
    holds: ClassVar[type[Diagnostic]]

    def __init__(self, release: Held) -> None:
        if not isinstance(release, self.holds):
            kind, rule = type(release).__name__, f"it must be a {self.holds.__name__}"
            raise ArgumentError("release", kind, rule, "Pass what the diagnostic returned, or call from_predictions")
        self.release = release

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draws into `ax`, or into a new figure. Costs nothing."""
        caption = self.release.caption
        axes = prepared(pyplot().figure(), caption) if ax is None else ax
        self._draw(axes)
        signed(axes, caption, self.release.stamp)
        self.ax_, self.figure_ = axes, axes.figure
        return self

    @abstractmethod
    def _draw(self, axes: "Axes") -> None:
        """Draws the release, and nothing else."""


class RocCurveDisplay(Display[RocCurve]):
    """A ROC curve and the diagonal of a guess."""

    holds = RocCurve

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        epsilon: Amount,
        thresholds: str | ArrayLike = "medians",
        depth: int | None = None,
        rows: int | None = None,
        histogram: str = "laplace",
        entropy: Entropy | None = None,
        ax: "Axes | None" = None,
    ) -> Self:
        """The curve of labels and scores, drawn. Privacy and options: `roc_curve`."""
        found = roc_curve(
            y_true,
            y_score,
            epsilon,
            thresholds=thresholds,
            depth=depth,
            rows=rows,
            histogram=histogram,
            entropy=entropy,
        )
        return cls(found).plot(ax)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,  # noqa: N803 - scikit-learn's name
        y: ArrayLike,
        *,
        epsilon: Amount,
        depth: int | None = None,
        rows: int | None = None,
        entropy: Entropy | None = None,
        ax: "Axes | None" = None,
    ) -> Self:
        """The curve of a fitted classifier of two classes; the second is the positive one."""
        labels, scores = is_positive(estimator, y), chances_of(estimator, X)
        return cls.from_predictions(labels, scores, epsilon=epsilon, depth=depth, rows=rows, entropy=entropy, ax=ax)

    def _draw(self, axes: "Axes") -> None:
        found = self.release
        area = "AUC undefined under noise" if found.auc is None else f"AUC = {found.auc:.3f}"
        axes.plot([0, 1], [0, 1], linestyle="--", linewidth=1, color="0.6", label="guessing", gid="chance")
        axes.plot(found.false_positive_rate, found.true_positive_rate, label=area, gid="roc-curve", marker=".")
        axes.set(xlabel="False positive rate", ylabel="True positive rate", xlim=(-0.01, 1.01), ylim=(-0.01, 1.01))
        axes.set_title(f"ROC curve, epsilon {found.epsilon}")
        axes.legend(loc="lower right")


class BinnedResidualDisplay(Display[BinnedResiduals]):
    """Mean residuals by bin, and the band within which those of a right model lie nineteen times in twenty."""

    holds = BinnedResiduals

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        epsilon: Amount,
        depth: int | None = None,
        rows: int | None = None,
        entropy: Entropy | None = None,
        ax: "Axes | None" = None,
    ) -> Self:
        """The plot of labels and predicted chances, drawn. Privacy and options: `binned_residual_plot`."""
        found = binned_residual_plot(y_true, y_score, epsilon, depth=depth, rows=rows, entropy=entropy)
        return cls(found).plot(ax)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,  # noqa: N803 - scikit-learn's name
        y: ArrayLike,
        *,
        epsilon: Amount,
        depth: int | None = None,
        rows: int | None = None,
        entropy: Entropy | None = None,
        ax: "Axes | None" = None,
    ) -> Self:
        """The plot of a fitted classifier of two classes; the second is the positive one."""
        labels, scores = is_positive(estimator, y), chances_of(estimator, X)
        return cls.from_predictions(labels, scores, epsilon=epsilon, depth=depth, rows=rows, entropy=entropy, ax=ax)

    def _draw(self, axes: "Axes") -> None:
        found = self.release
        outside = np.abs(found.residual) > found.band
        axes.fill_between(found.predicted, -found.band, found.band, color="tab:blue", alpha=0.15, gid="band")
        axes.axhline(0, linewidth=1, color="0.5")
        for chosen, colour, name in ((~outside, "tab:blue", "inside"), (outside, "tab:red", "outside")):
            axes.plot(
                found.predicted[chosen],
                found.residual[chosen],
                linestyle="none",
                marker="o",
                markersize=4,
                color=colour,
                label=f"{name} two standard errors",
                gid=f"{name}-band",
            )
        axes.set(xlabel="Mean prediction of a bin", ylabel="Mean residual", xlim=(-0.01, 1.01))
        axes.set_title(f"Binned residuals, epsilon {found.epsilon}")
        axes.legend(loc="best", fontsize="small")


class ResidualDisplay(Display[ResidualPlot]):
    """Residuals against fitted values: points drawn from noisy counts, or the counts as shades."""

    holds = ResidualPlot

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        *,
        epsilon: Amount,
        rows: int | None = None,
        unit: Amount = "0.001",
        histogram: str = "laplace",
        bins: int | None = None,
        entropy: Entropy | None = None,
        ax: "Axes | None" = None,
    ) -> Self:
        """The plot of what came true less what was fitted, drawn. Privacy and options: `residual_plot`."""
        fitted, residuals = residuals_of(y_true, y_pred)
        found = residual_plot(
            fitted, residuals, epsilon, rows=rows, unit=unit, histogram=histogram, bins=bins, entropy=entropy
        )
        return cls(found).plot(ax)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,  # noqa: N803 - scikit-learn's name
        y: ArrayLike,
        *,
        epsilon: Amount,
        rows: int | None = None,
        unit: Amount = "0.001",
        entropy: Entropy | None = None,
        ax: "Axes | None" = None,
    ) -> Self:
        """The plot of a fitted regressor."""
        fitted = predictions_of(estimator, X)
        return cls.from_predictions(y, fitted, epsilon=epsilon, rows=rows, unit=unit, entropy=entropy, ax=ax)

    def _draw(self, axes: "Axes") -> None:
        found = self.release
        if len(found.points) > MOST_POINTS:
            axes.imshow(
                found.counts,
                origin="lower",
                extent=(*found.fitted_range, *found.residual_range),
                aspect="auto",
                interpolation="nearest",
                cmap="Blues",
                gid="density",
            )
        else:
            across, up = found.points.reshape(-1, 2).T
            axes.plot(across, up, linestyle="none", marker=".", markersize=3, alpha=0.5, gid="points")
        axes.axhline(0, linewidth=1, color="0.5")
        axes.set(xlabel="Fitted value", ylabel="Residual", xlim=found.fitted_range, ylim=found.residual_range)
        axes.set_title(f"Residuals, epsilon {found.epsilon}")
