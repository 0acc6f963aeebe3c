"""Release a private ROC curve (PriROC): private thresholds, noisy label counts between them, a curve that never falls.

Reads: arrays, entropy. Writes: nothing. Never: a refusal, a number of thresholds or an undefined area that depends on
exact rows.
Proof: `roc_curve.md`. Citations: Chen, dissertation 2018, Algorithm 11, with full epsilon for both label histograms.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thresher.amounts import Amount, Epsilon, exact_fraction
from thresher.diagnostics.curves import CountedCurve, curve_of_counts
from thresher.diagnostics.releases import MODEL_CAVEAT, RocCurve
from thresher.diagnostics.scored_rows import ScoredRows, checked_rows, scored_rows
from thresher.errors import ArgumentError
from thresher.mechanisms.histograms import LEAST_EPSILONS, MECHANISMS, TWO_DIMENSIONS_ONLY, noisy_histogram
from thresher.mechanisms.histograms.estimate import checked_epsilon
from thresher.mechanisms.public_grid import grid_of
from thresher.mechanisms.quantiles import recursive_medians
from thresher.noise import Entropy, discrete_laplace
from thresher.noise.arguments import checked_whole
from thresher.noise.entropy import chosen

DEFAULT_SHARE = Fraction(1, 5)
# The share of epsilon that counts the rows, where their number is needed and not declared.
ROWS_SHARE = Fraction(1, 20)
UNDEFINED = "The AUC is undefined under noise: the noisy number of positives or negatives is not above zero."
FAINT = (
    "The noisy number of positives or negatives is within three standard deviations of zero: the curve may show noise"
    " and nothing else."
)
_DEEPEST, _MOST_THRESHOLDS = 10, 1 << 16
_LEAST_SHARE, _MOST_SHARE = Fraction(1, 100), Fraction(9, 10)
_WAYS = ("medians", "fixed")
_THRESHOLDS = 'Pass "medians", "fixed", or a list of public thresholds'


class RocChoices(TypedDict, total=False):
    """The choices of a curve; `roc_curve` says what each means."""

    thresholds: str | ArrayLike
    depth: int | None
    rows: int | None
    histogram: str
    share: Amount


@dataclass(frozen=True, slots=True, eq=False)
class RocOptions:
    """A checked request, and how epsilon is divided. Nothing in it depends on rows.

    `thresholds` are a public list, or None where they are fixed or found.
    """

    epsilon: Fraction
    thresholds: NDArray[np.float64] | None
    depth: int | None
    rows: int | None
    histogram: str
    parts: dict[str, Fraction]

    @property
    def split(self) -> dict[str, Epsilon]:
        """Return what is charged for each part; the parts add up to the whole charge."""
        charged = {name: Epsilon.covering(part) for name, part in self.parts.items() if name != "counts"}
        return charged | {"counts": Epsilon.covering(self.epsilon) - Epsilon.total(charged.values())}

    def made(self, labels: ArrayLike, scores: ArrayLike, entropy: Entropy | None = None) -> RocCurve:
        """Release the curve of these rows."""
        given, source = scored_rows(labels, scores), chosen(entropy)
        known = self.rows
        if "rows" in self.parts:
            known = given.scores.size + int(discrete_laplace(self.parts["rows"], 1, entropy=source)[0])
        cuts = _cuts(given, self, known, source)
        counts = noisy_counts(given, cuts, self.parts["counts"], self.histogram, source)
        counted = curve_of_counts(*counts)
        if known is None:
            known = round(counted.positives + counted.negatives)
        return RocCurve(
            epsilon=Epsilon.covering(self.epsilon),
            split=self.split,
            rows=max(known, 0),
            rows_public=self.rows is not None,
            caveats=(MODEL_CAVEAT, *_remarks(counted, cuts.size + 1, self.parts["counts"])),
            stamp=source.stamp,
            thresholds=cuts,
            false_positive_rate=counted.curve.false_positive_rate,
            true_positive_rate=counted.curve.true_positive_rate,
            auc=counted.area,
            positives=counted.positives,
            negatives=counted.negatives,
        )


def roc_curve(
    labels: ArrayLike,
    scores: ArrayLike,
    epsilon: Amount,
    *,
    entropy: Entropy | None = None,
    **choices: Unpack[RocChoices],
) -> RocCurve:
    """Release the ROC curve of scores from 0 to 1; a row is called positive where its score is above the threshold.

    thresholds   "medians" (default): `share` of epsilon cuts the scores evenly into 2**depth bins; "fixed":
                 i / 2**depth; or a list of public numbers
    depth        left out, it follows from rows times epsilon
    rows         the number of rows, if that is public; left out, it is counted with 1/20 of epsilon where it is needed
    histogram    how label counts are made noisy: "laplace", or another of `thresher.mechanisms.histograms.MECHANISMS`
    share        the share of epsilon for thresholds, 1/5
    A label above 0 is positive; scores are limited to 0 to 1; a row with NaN is left out.
    Privacy: epsilon, adding or removing one row (`roc_curve.md`). It covers the rows, not the model that scored them.
    Utility: with "laplace" each sum over k bins has a noise variance near 2 k / epsilon**2 of what counts are given;
    `roc_price.epsilon_for_auc` estimates what that does to the area.
    Runtime: a sort of the scores.
    """
    return roc_options(epsilon, **choices).made(labels, scores, entropy)


def fitting_depth(rows: int, epsilon: Amount) -> int:
    """Return how often the scores are halved: 3 to 5 times, more often where rows times epsilon is large."""
    weight = rows * exact_fraction(epsilon, "epsilon")
    return 3 + (weight >= 512) + (weight >= 1024)


def fixed_thresholds(depth: int) -> NDArray[np.float64]:
    """Return all i / 2**depth strictly between 0 and 1, in falling order."""
    return np.arange((1 << depth) - 1, 0, -1) / (1 << depth)


def noisy_counts(
    rows: ScoredRows, thresholds: NDArray[np.float64], epsilon: Fraction, histogram: str, entropy: Entropy
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Count positives and negatives between public, falling thresholds, both with noise for all of epsilon.

    A row has one label, so it is counted in only one of the two histograms.
    """
    positives, negatives = (
        noisy_histogram(counts, epsilon, histogram, entropy).counts for counts in rows.counts(thresholds)
    )
    return positives, negatives


def _cuts(rows: ScoredRows, asked: RocOptions, known: int | None, entropy: Entropy) -> NDArray[np.float64]:
    if asked.thresholds is not None:
        return asked.thresholds
    depth = fitting_depth(known or 0, asked.epsilon) if asked.depth is None else asked.depth
    if "thresholds" not in asked.parts:
        return fixed_thresholds(depth)
    medians = recursive_medians(rows.scores, depth, grid_of(0, 1), asked.parts["thresholds"], entropy=entropy)
    return np.array(medians.values[::-1])


def _remarks(counted: CountedCurve, bins: int, epsilon: Fraction) -> tuple[str, ...]:
    """Return caveats, a function of released numbers."""
    if counted.area is None:
        return (UNDEFINED,)
    deviation = math.sqrt(2 * bins) / float(epsilon)
    return (FAINT,) if min(counted.positives, counted.negatives) < 3 * deviation else ()


def roc_options(
    epsilon: Amount,
    *,
    thresholds: str | ArrayLike = "medians",
    depth: int | None = None,
    rows: int | None = None,
    histogram: str = "laplace",
    share: Amount = DEFAULT_SHARE,
) -> RocOptions:
    """Return the checked request of `roc_curve`."""
    spend, part = checked_epsilon(epsilon), exact_fraction(share, "share")
    if not _LEAST_SHARE <= part <= _MOST_SHARE:
        raise ArgumentError("share", share, "it must lie between 0.01 and 0.9", 'Leave it out for "0.2"')
    if histogram not in MECHANISMS or histogram in TWO_DIMENSIONS_ONLY:
        names = ", ".join(name for name in MECHANISMS if name not in TWO_DIMENSIONS_ONLY)
        raise ArgumentError(
            "histogram", histogram, "there is no such histogram mechanism for curves", f"Pass one of {names}"
        )
    known = None if rows is None else checked_rows(rows)
    if depth is not None:
        depth = checked_whole(depth, "depth", 1, _DEEPEST, "Leave it out, or pass 3")
    public = None if isinstance(thresholds, str) else _public(thresholds)
    if public is None and thresholds not in _WAYS:
        raise ArgumentError("thresholds", thresholds, "there is no such choice", _THRESHOLDS)
    if public is not None and depth is not None:
        raise ArgumentError("depth", depth, "it does not apply to a list of thresholds", "Leave it out")
    parts = {"rows": spend * ROWS_SHARE} if public is None and depth is None and known is None else {}
    parts |= {"thresholds": spend * part} if public is None and thresholds == "medians" else {}
    # Whole nano-epsilons, so that what is charged for the parts is what they spend; the rest goes to the counts.
    parts = {name: Epsilon.covering(amount).fraction for name, amount in parts.items()}
    parts["counts"] = checked_epsilon(spend - sum(parts.values()))
    if parts["counts"] < LEAST_EPSILONS.get(histogram, 0):
        raise ArgumentError(
            "epsilon", epsilon, f"it is too little for the histogram {histogram}", "Pass 0.1, for example"
        )
    return RocOptions(spend, public, depth, known, histogram, parts)


def _public(thresholds: ArrayLike) -> NDArray[np.float64]:
    try:
        cuts = np.asarray(thresholds, dtype=np.float64)
    except (ValueError, TypeError, OverflowError, RecursionError):
        rule = "it must be one list of numbers"
        raise ArgumentError("thresholds", type(thresholds).__name__, rule, _THRESHOLDS) from None
    if cuts.ndim != 1 or not 1 <= cuts.size <= _MOST_THRESHOLDS:
        rule = f"it must be one list of 1 to {_MOST_THRESHOLDS:,} numbers"
        raise ArgumentError("thresholds", f"{cuts.ndim} dimensions, {cuts.size} numbers", rule, _THRESHOLDS)
    if not ((cuts >= 0) & (cuts <= 1)).all() or np.unique(cuts).size < cuts.size:
        rule = "its numbers must lie between 0 and 1, and differ"
        raise ArgumentError("thresholds", f"{cuts.size} numbers", rule, "Pass [0.25, 0.5, 0.75], for example")
    return np.sort(cuts)[::-1].copy()
