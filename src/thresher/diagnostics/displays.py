"""Draw releases in the manner of scikit-learn: computed once, held as a release, drawn when asked.

    display = RocCurveDisplay.from_estimator(model, X, y, epsilon="0.5")   # pays, once
    display.plot(ax=ax)                                                     # draws, as often as you like
    RocCurveDisplay(release).plot()                                         # draws a release from elsewhere

`plot` sets `ax_` and `figure_`. A display holds the release and nothing else; epsilon, its division and the caveats
stand under the picture.
Reads: an estimator and arrays, which it passes to a diagnostic; releases. Writes: matplotlib objects. Never: keeps an
array that was not released; draws from data.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar, Unpack

import numpy as np
from numpy.typing import ArrayLike

from thresher.amounts import Amount
from thresher.diagnostics.binned_residuals import binned_residual_plot
from thresher.diagnostics.canvas import DATA, MIDDLE, OUTSIDE, entitled, prepared, pyplot, shades, signed
from thresher.diagnostics.predictions import is_positive, predicted_chances, predictions_of, residuals_of
from thresher.diagnostics.releases import BinnedResiduals, Diagnostic, ResidualPlot, RocCurve
from thresher.diagnostics.residual_options import ResidualChoices
from thresher.diagnostics.residual_plot import residual_plot
from thresher.diagnostics.roc_curve import RocChoices, roc_curve
from thresher.errors import ArgumentError
from thresher.noise import Entropy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Held = TypeVar("Held", bound=Diagnostic)
# More points than this merge into a cloud, and make megabytes of SVG: cells are shaded instead.
MOST_POINTS = 5000


class DisplayOptions(RocChoices, ResidualChoices):
    """The choices of all pictures; each display takes those of the function that makes its release."""


def residual_plot_of(
    actual: ArrayLike,
    predicted: ArrayLike,
    epsilon: Amount,
    *,
    entropy: Entropy | None = None,
    **options: Unpack[ResidualChoices],
) -> ResidualPlot:
    """Release the plot of true values less predictions."""
    return residual_plot(*residuals_of(actual, predicted), epsilon, entropy=entropy, **options)


class Display(ABC, Generic[Held]):
    """What all displays share. `release` was paid for; all of it may be shown."""

    ax_: Any
    figure_: Any
    holds: ClassVar[type[Diagnostic]]
    # How to get two arrays from an estimator, rows and true values; and how to make the release of these arrays.
    arrays: ClassVar[Callable[..., Any]]
    made: ClassVar[Callable[..., Any]]

    def __init__(self, release: Held) -> None:
        if not isinstance(release, self.holds):
            kind, rule = type(release).__name__, f"it must be a {self.holds.__name__}"
            raise ArgumentError("release", kind, rule, "Pass the release of a diagnostic, or call from_predictions")
        self.release = release

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw into `ax`, or into a new figure. This is free."""
        caption = self.release.caption
        axes = prepared(pyplot().figure(), caption) if ax is None else ax
        self._draw(axes)
        signed(axes, caption, self.release.stamp)
        self.ax_, self.figure_ = axes, axes.figure
        return self

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,  # noqa: N803 - scikit-learn's name
        y: ArrayLike,
        *,
        epsilon: Amount,
        entropy: Entropy | None = None,
        ax: "Axes | None" = None,
        **options: Unpack[DisplayOptions],
    ) -> Self:
        """Pay for the release of what an estimator predicts, and draw it. Options: those of `from_predictions`."""
        actual, predicted = cls.arrays(estimator, X, y)
        return cls(cls.made(actual, predicted, epsilon, entropy=entropy, **options)).plot(ax)

    @abstractmethod
    def _draw(self, axes: "Axes") -> None:
        """Draw the release, and nothing else."""


class ScoreDisplay(Display[Held]):
    """What the displays of a classifier share; of its two classes the second is the positive one."""

    arrays = staticmethod(
        lambda estimator, rows, labels: (is_positive(estimator, labels), predicted_chances(estimator, rows))
    )

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        epsilon: Amount,
        entropy: Entropy | None = None,
        ax: "Axes | None" = None,
        **options: Unpack[RocChoices],
    ) -> Self:
        """Pay for the release of labels and scores, and draw it. Options: those of the function that makes it."""
        return cls(cls.made(y_true, y_score, epsilon, entropy=entropy, **options)).plot(ax)


class RocCurveDisplay(ScoreDisplay[RocCurve]):
    """A ROC curve, and the diagonal of guessing."""

    holds = RocCurve
    made = staticmethod(roc_curve)

    def _draw(self, axes: "Axes") -> None:
        release = self.release
        area = "AUC undefined under noise" if release.auc is None else f"AUC = {release.auc:.3f}"
        rates = release.false_positive_rate, release.true_positive_rate
        axes.plot([0, 1], [0, 1], linestyle="--", linewidth=1, color=MIDDLE, label="guessing", gid="chance")
        axes.plot(*rates, label=area, gid="roc-curve", marker=".", color=DATA)
        axes.set(xlabel="False positive rate", ylabel="True positive rate", xlim=(-0.01, 1.01), ylim=(-0.01, 1.01))
        entitled(axes, f"ROC curve, epsilon {release.epsilon}", legend=True)


class BinnedResidualDisplay(ScoreDisplay[BinnedResiduals]):
    """Mean residuals by bin, and the band that holds about 95 % of those of a right model."""

    holds = BinnedResiduals
    made = staticmethod(binned_residual_plot)

    def _draw(self, axes: "Axes") -> None:
        release = self.release
        outside = np.abs(release.residual) > release.band
        axes.fill_between(release.predicted, -release.band, release.band, color=DATA, alpha=0.15, gid="band")
        axes.axhline(0, linewidth=1, color=MIDDLE)
        for chosen, colour, name in ((~outside, DATA, "inside"), (outside, OUTSIDE, "outside")):
            axes.plot(
                release.predicted[chosen],
                release.residual[chosen],
                linestyle="none",
                marker="o",
                markersize=4,
                color=colour,
                label=f"{name} the band",
                gid=f"{name}-band",
            )
        axes.set(xlabel="Mean prediction of a bin", ylabel="Mean residual", xlim=(-0.01, 1.01))
        entitled(axes, f"Binned residuals, epsilon {release.epsilon}", legend=True)


class ResidualDisplay(Display[ResidualPlot]):
    """Residuals against fitted values: points drawn from noisy counts, or the counts as shades."""

    holds = ResidualPlot
    arrays = staticmethod(lambda estimator, rows, actual: (actual, predictions_of(estimator, rows)))
    made = staticmethod(residual_plot_of)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        *,
        epsilon: Amount,
        entropy: Entropy | None = None,
        ax: "Axes | None" = None,
        **options: Unpack[ResidualChoices],
    ) -> Self:
        """Pay for the plot of true values less fitted ones, and draw it. Privacy and options: `residual_plot`."""
        return cls(cls.made(y_true, y_pred, epsilon, entropy=entropy, **options)).plot(ax)

    def _draw(self, axes: "Axes") -> None:
        release = self.release
        if len(release.points) > MOST_POINTS:
            axes.imshow(
                release.counts,
                origin="lower",
                extent=(*release.fitted_range, *release.residual_range),
                aspect="auto",
                interpolation="nearest",
                cmap=shades(),
                zorder=1,  # above the grid
                gid="density",
            )
        else:
            across, up = release.points.reshape(-1, 2).T
            axes.plot(across, up, linestyle="none", marker=".", markersize=4, alpha=0.8, color=DATA, gid="points")
        axes.axhline(0, linewidth=1, color=MIDDLE)
        axes.set(xlabel="Fitted value", ylabel="Residual", xlim=release.fitted_range, ylim=release.residual_range)
        entitled(axes, f"Residuals, epsilon {release.epsilon}")
