"""Release binned residuals of a model that predicts a probability: mean residual against mean prediction, by bin.

Bins come from private medians of the predictions; small bins are joined; then two label counts and a centred sum are
measured in each bin.
Reads: arrays, entropy. Writes: nothing. Never: a number of rows that was not declared or paid for; an exact total in
what is returned. Proof: `binned_residuals.md`.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thresher.amounts import NANO, Amount, Epsilon, exact_fraction, whole_number
from thresher.diagnostics.bin_measures import error_band, least_size, means_of, noisy_totals, totals_of
from thresher.diagnostics.bin_merging import MergedBins, merge_bins, merge_terms
from thresher.diagnostics.releases import MODEL_CAVEAT, BinnedResiduals
from thresher.diagnostics.scored_rows import LEAST_ROWS, STEPS, ScoredRows, checked_rows, scored_rows
from thresher.errors import ArgumentError
from thresher.mechanisms.public_grid import grid_of
from thresher.mechanisms.quantiles import recursive_medians
from thresher.noise import Entropy, discrete_laplace
from thresher.noise.entropy import chosen

_LEAST_EPSILON, _MOST_EPSILON = Fraction(1, 1000), Fraction(100)
_DEEPEST = 12
# Cuts lie on a coarser grid than scores: still finer than the eye sees.
_CUT_STEPS = 1 << 14
# More than 128 points are hard to see apart; and each further level takes epsilon from all others.
_DEEPEST_BY_DEFAULT = 7
# Of epsilon: finding bins, joining them, and, where the number of rows is not public, counting those. The rest is for
# means: one tenth of it for predictions, which need little inside narrow bins, and nine for the labels.
_BINS = _MERGING = Fraction(15, 100)
_ROWS = Fraction(5, 100)
_PREDICTIONS = Fraction(1, 10)
_BAND_CAVEAT = (
    "The band is two standard errors of a mean residual if the model is right, noise included: about one bin in twenty"
    " lies outside it by chance."
)
_FEW_CAVEAT = "By the noisy count there are fewer than 2 rows: this picture shows noise."


@dataclass(frozen=True, slots=True)
class BinnedTerms:
    """How epsilon is divided: exact amounts that add up to it. `rows` is zero where the number of rows is public."""

    rows: Fraction
    bins: Fraction
    merging: Fraction
    labels: Fraction
    predictions: Fraction

    @property
    def total(self) -> Fraction:
        return self.rows + self.bins + self.merging + self.labels + self.predictions

    @property
    def split(self) -> dict[str, Epsilon]:
        """Return what is charged by name, rounded up; only one part needs rounding, so these add up too."""
        parts = {
            "rows": self.rows,
            "bins": self.bins,
            "merging": self.merging,
            "label counts": self.labels,
            "predictions": self.predictions,
        }
        return {name: Epsilon.covering(part) for name, part in parts.items() if part}


@dataclass(frozen=True, slots=True)
class BinnedOptions:
    """A checked request; `rows` is the public number of rows, or None where it is private."""

    terms: BinnedTerms
    depth: int | None
    rows: int | None

    def made(self, labels: ArrayLike, scores: ArrayLike, entropy: Entropy | None = None) -> BinnedResiduals:
        """Release the plot of these rows."""
        terms, source = self.terms, chosen(entropy)
        records = scored_rows(labels, scores)
        count = _noisy_rows(records, terms, source) if self.rows is None else self.rows
        cuts = _cuts(records, terms, _depth_for(count, self.depth), source)
        merged = _merged(records, cuts, terms, count, source)
        edges = cuts[[0, *merged.ends]]
        totals = noisy_totals(totals_of(records, edges), terms.labels, terms.predictions, entropy=source)
        means = means_of(totals, edges)
        return BinnedResiduals(
            epsilon=Epsilon.covering(terms.total),
            split=terms.split,
            rows=count,
            rows_public=self.rows is not None,
            caveats=(_BAND_CAVEAT, *((_FEW_CAVEAT,) if count < LEAST_ROWS else ()), MODEL_CAVEAT),
            stamp=source.stamp,
            edges=edges / STEPS,
            counts=means.counts,
            predicted=means.predicted,
            residual=means.residual,
            band=error_band(means, edges, terms.labels, terms.predictions),
        )


def binned_residual_plot(
    labels: ArrayLike,
    scores: ArrayLike,
    epsilon: Amount,
    *,
    depth: int | None = None,
    rows: int | None = None,
    entropy: Entropy | None = None,
) -> BinnedResiduals:
    """Release the mean residual (label less score) against the mean score in bins of about equal size, with a band.

    labels   0 or 1; above 0 is 1, else 0; a record without a label or score is left out
    scores   predicted probabilities, limited to 0 to 1 and kept in steps of 2**-20
    depth    2**depth bins at first, as far as there are rows for them; left out, there are about as many bins as the
             root of the number of rows, and 128 at most
    rows     the number of rows, if that is public; left out, it is counted with noise, and paid for
    Privacy: epsilon, adding or removing one record (`binned_residuals.md`). The model is not made private by this.
    Utility: on the dissertation's two models, right and wrong are told apart from rows * epsilon = 2,000 on.
    Runtime: a sort of the scores, and a draw for every bin.
    Citation: Chen, dissertation 2018, Algorithm 13; step 3 as printed loses 32 times its epsilon in 64 bins.
    """
    return binned_options(epsilon, depth=depth, rows=rows).made(labels, scores, entropy)


def binned_options(epsilon: Amount, *, depth: int | None = None, rows: int | None = None) -> BinnedOptions:
    """Return the checked request of `binned_residual_plot`."""
    terms = binned_terms(epsilon, rows_public=rows is not None)
    levels = None if depth is None else whole_number(depth, "depth")
    if levels is not None and not 1 <= levels <= _DEEPEST:
        raise ArgumentError("depth", depth, f"it must be from 1 to {_DEEPEST}", "Pass 4 for 16 bins")
    return BinnedOptions(terms, levels, None if rows is None else checked_rows(rows))


def binned_terms(epsilon: Amount, *, rows_public: bool) -> BinnedTerms:
    """Divide epsilon: 15 % to find bins, 15 % to join them, 5 % to count rows if needed, the rest for means.

    Parts are whole nanos except the largest, which takes what is left: they add up to epsilon exactly.
    """
    budget = exact_fraction(epsilon, "epsilon")
    if not _LEAST_EPSILON <= budget <= _MOST_EPSILON:
        raise ArgumentError("epsilon", epsilon, "it must lie between 0.001 and 100", "Pass 0.1, for example")
    rows = Fraction(0) if rows_public else _nanos(budget * _ROWS)
    bins, merging = _nanos(budget * _BINS), _nanos(budget * _MERGING)
    means = budget - rows - bins - merging
    predictions = _nanos(means * _PREDICTIONS)
    return BinnedTerms(rows, bins, merging, means - predictions, predictions)


def _nanos(amount: Fraction) -> Fraction:
    return Fraction(math.floor(amount * NANO), NANO)


def _noisy_rows(records: ScoredRows, terms: BinnedTerms, entropy: Entropy) -> int:
    return max(records.scores.size + int(discrete_laplace(terms.rows, 1, entropy=entropy)[0]), 0)


def _depth_for(rows: int, asked: int | None) -> int:
    """Return the number of bins as a power of two: by default at most the root of the rows, never more than rows."""
    most = max(rows, LEAST_ROWS).bit_length() - 1
    wanted = min(most // 2, _DEEPEST_BY_DEFAULT) if asked is None else asked
    return max(1, min(wanted, most))


def _cuts(records: ScoredRows, terms: BinnedTerms, depth: int, entropy: Entropy) -> NDArray[np.int64]:
    medians = recursive_medians(records.points, depth, grid_of(0, STEPS, _CUT_STEPS), terms.bins, entropy=entropy)
    return np.array([0, *medians.points, _CUT_STEPS], dtype=np.int64) * (STEPS // _CUT_STEPS)


def _merged(
    records: ScoredRows, cuts: NDArray[np.int64], terms: BinnedTerms, rows: int, entropy: Entropy
) -> MergedBins:
    bins = cuts.size - 1
    sizes = np.bincount(np.searchsorted(cuts[1:-1], records.points, side="right"), minlength=bins)
    # Half an equal share, as in print; and enough for the noise that is to come.
    least = max(math.ceil(Fraction(rows, 2 * bins)), least_size(terms.labels))
    return merge_bins(sizes, merge_terms(bins, terms.merging, least), entropy=entropy)
