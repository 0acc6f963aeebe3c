"""Binned residuals on trial: the joining of bins by its law, the totals and the whole plot by sampling.

Reads: entropy. Writes: nothing. Never: a claim of its own.
"""

from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import Epsilon
from thresher.audit.comparison_laws import Noise, one_sided, transcript_law
from thresher.audit.subjects import Enumerated, Pair, Promised, Sampled, Subject
from thresher.diagnostics.bin_measures import BinTotals, noisy_totals, totals_of
from thresher.diagnostics.bin_merging import SMALL_BIN_RATE, MergeTerms, closing_runs, merge_terms
from thresher.diagnostics.binned_residuals import binned_residual_plot, binned_terms
from thresher.diagnostics.scored_rows import STEPS, scored_rows
from thresher.mechanisms.sparse_terms import Setting, sparse_terms
from thresher.noise import Entropy

_ONE = Epsilon(1)
_CUTOFF = 6
# The top one of 64 bins, where sums as printed leak most.
_CUTS = np.array([0, STEPS // 64 * 63, STEPS], dtype=np.int64)
_SMALL_BINS, _LEAST = 8, 4

Records = tuple[tuple[int, float], ...]


def subjects() -> tuple[Subject, ...]:
    terms = binned_terms(_ONE, rows_public=True)
    few: Records = ((1, 0.99), (0, 0.985), (1, 0.999), (0, 0.2))
    pairs = (
        Pair("one more record at the upper end", few, (*few, (1, 1.0))),
        Pair("one more record at a cut", few, (*few, (0, 63 / 64))),
        Pair("no record, and one", (), ((1, 1.0),)),
    )
    return (
        Enumerated(
            "bin merging, law",
            "four bins, cutoff 6",
            _ONE,
            (
                Pair("a record more in the first bin", (3, 4, 1, 9), (4, 4, 1, 9)),
                Pair("a record more in the second bin", (5, 0, 6, 0), (5, 1, 6, 0)),
                Pair("a record more in the last bin", (3, 4, 1, 4), (3, 4, 1, 5)),
                Pair("no record, and one", (0, 0, 0, 0), (0, 0, 1, 0)),
            ),
            _merging_law,
        ),
        Sampled(
            "binned residuals, totals",
            "two bins, the narrow one as printed sums leak in",
            Epsilon.covering(terms.labels + terms.predictions),
            pairs,
            _totals,
            100_000,
        ),
        Sampled("binned residual plot", "two bins, all three steps", _ONE, pairs[:1], _plots, 1_500),
        Promised(
            "bin merging, small bins",
            "eight bins, four records wanted",
            SMALL_BIN_RATE,
            (
                ("all bins empty", (0,) * _SMALL_BINS),
                ("one record short in the first bin", (_LEAST - 1, *(0,) * (_SMALL_BINS - 1))),
            ),
            _closed_too_small,
        ),
    )


def closings_law(
    sizes: Sequence[int], cutoff: int, threshold: Noise, query: Noise
) -> dict[tuple[tuple[int, ...], bool], float]:
    """The probability of every list of places behind which a merged bin was closed, and whether bins are left over."""
    law: dict[tuple[tuple[int, ...], bool], float] = {}

    def spread(places: tuple[int, ...], mass: float) -> None:
        start = places[-1] if places else 0
        if start == len(sizes):
            law[places, False] = mass
            return
        margins = np.cumsum(sizes[start:]) - cutoff
        for row, chance in transcript_law(margins.tolist(), 1, threshold, query).items():
            if row[-1]:
                spread((*places, start + len(row)), mass * chance)
            else:
                law[places, True] = mass * chance

    spread((), 1.0)
    return law


def _merging_law(sizes: tuple[int, ...]) -> Mapping[Hashable, float]:
    noise = one_sided(float(_ONE.fraction))
    return dict(closings_law(sizes, _CUTOFF, noise, noise).items())


def _totals(records: Records, runs: int, entropy: Entropy) -> NDArray[np.int64]:
    terms = binned_terms(_ONE, rows_public=True)
    labels, scores = (
        (np.array(column, dtype=np.float64) for column in zip(*records, strict=True)) if records else ((), ())
    )
    exact = totals_of(scored_rows(labels, scores), _CUTS)
    many = BinTotals(*(np.tile(each, runs) for each in (exact.positives, exact.negatives, exact.offsets)))
    noisy = noisy_totals(many, terms.labels, terms.predictions, entropy=entropy)
    columns = [each.reshape(runs, -1) for each in (noisy.positives, noisy.negatives, noisy.offsets)]
    return np.concatenate(columns, axis=1)


def _plots(records: Records, runs: int, entropy: Entropy) -> NDArray[np.float64]:
    labels, scores = zip(*records, strict=True)
    found = np.zeros((runs, 8))
    for row in found:
        release = binned_residual_plot(labels, scores, _ONE, depth=1, rows=4, entropy=entropy)
        bins = release.counts.size
        row[0], row[1] = bins, release.edges[1]
        for place, numbers in ((2, release.counts), (4, release.predicted), (6, release.residual)):
            row[place : place + bins] = numbers
    return found


def _closed_too_small(sizes: tuple[int, ...], runs: int, entropy: Entropy) -> NDArray[np.bool_]:
    """Whether the first merged bin, if one was closed, has fewer records than wanted."""
    terms = merge_terms(_SMALL_BINS, Fraction(1, 2), _LEAST)
    closed = closing_runs(np.array(sizes, dtype=np.int64), terms, runs, entropy)
    size = np.cumsum(sizes)[closed.argmax(axis=1)]
    return np.asarray(closed.any(axis=1) & (size < _LEAST))


def merging_terms(bins: int, cutoff: int, epsilon: Fraction) -> MergeTerms:
    """A merging with a cutoff of one's own."""
    return MergeTerms(bins, cutoff, sparse_terms(1, epsilon, Setting(kind="nested")))
