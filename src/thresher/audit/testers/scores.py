"""Learn where two output laws may differ: scores of outputs, fitted on draws that serve no other purpose.

A score is any number that can be computed from an output; the event is that it is at least some cut. Whatever is
learnt here, an event is a set of outputs fixed before the test draws, so a bad score costs power, never validity.
Reads: draws to learn from. Writes: nothing. Never: the draws that test an event.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from thresher.audit.outputs.samples import Sample

Score = Callable[[Sample], NDArray[np.float64]]
Labels = Callable[[Sample], NDArray[np.int64]]

# Added to the counts of both sides, so that a rare output does not seem likelier on one side by chance.
_PRIOR = 3.0
_MOST_LOOKED_AT = 32
_MOST_TELLING = 8
_BINS = 64
_MOST_WEIGHED = 128
# Numbers above this are not weighed together, because sums of their squares may overflow.
_SQUARED = 1e100
# What a value of a column that was never drawn takes off the sum.
_UNSEEN = 30.0
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, slots=True)
class Scored:
    """Hold a score and its description."""

    about: str
    score: Score


def scores(here: Sample, there: Sample) -> Iterator[Scored]:
    """Yield scores that are large where `here` is likelier than `there`, learnt from these draws."""
    columns = [_ratio_of(_values(j, here, there), here, there) for j in range(here.bits.shape[1])]
    looked_at = _looked_at(columns, here, there)
    for about, labels in _labellings(looked_at, here, there):
        learnt = _ratio_of(labels, here, there)
        if learnt is not None:
            yield Scored(about, learnt)
    for about, number in _numbers(looked_at, here):
        yield Scored(f"{about} is large", number)
        yield Scored(f"{about} is small", partial(_negated, number))
    if len(columns) > 1:
        yield Scored("all columns, weighed one by one", _summed(columns))
        together = _weighed_together(here, there)
        if together is not None:
            yield Scored("all columns, weighed together", together)


def _looked_at(columns: Sequence[Score | None], here: Sample, there: Sample) -> list[int]:
    """Choose columns to score one by one: the first, those with names, and of the rest those that differ most."""
    first = min(len(columns), _MOST_LOOKED_AT)
    named = range(max(first, len(columns) - len(here.names)), len(columns))
    others = range(first, len(columns) - len(here.names))
    told = {j: _apart_by(columns[j], here, there) for j in others}
    return [*range(first), *sorted(told, key=lambda j: -told[j])[:_MOST_TELLING], *named]


def _apart_by(score: Score | None, here: Sample, there: Sample) -> float:
    """Return by how much the learnt score of a column differs between the sides on average."""
    return 0.0 if score is None else float(score(here).mean() - score(there).mean())


def _labellings(looked_at: Sequence[int], here: Sample, there: Sample) -> Iterator[tuple[str, Labels]]:
    """Yield ways to sort outputs into classes."""
    columns = here.bits.shape[1]
    yield "the whole output", partial(_marks, slice(0, columns))
    for j in looked_at:
        yield here.name(j), partial(_marks, slice(j, j + 1))
        if here.floating and j < here.numbers.shape[1]:
            yield f"the lowest bit of {here.name(j)}", partial(_lowest_bit, j)
            yield f"the size of {here.name(j)}", _bins(j, here, there)
    for j in range(min(columns, _MOST_LOOKED_AT) - 1):
        yield f"{here.name(j)} and {here.name(j + 1)}", partial(_marks, slice(j, j + 2))
    if columns > 1:
        yield "how many columns are not zero", _not_zero
        yield "the first column that is not zero", _first
        yield "what the two halves hold", _halves


def _numbers(looked_at: Sequence[int], here: Sample) -> Iterator[tuple[str, Score]]:
    """Yield numbers by which outputs can be ordered."""
    columns = here.numbers.shape[1]
    for j in looked_at:
        if j < columns:
            yield here.name(j), partial(_weighed, np.eye(1, columns, j)[0])
    if columns > 1:
        half = np.where(np.arange(columns) < columns // 2, 1.0, -1.0)
        yield "the sum of the columns", partial(_weighed, np.ones(columns))
        yield "the first half less the second", partial(_weighed, half)
        yield "the largest column", lambda sample: sample.numbers.max(axis=1)
        yield "the smallest column", lambda sample: sample.numbers.min(axis=1)


def _weighed(weights: NDArray[np.float64], sample: Sample) -> NDArray[np.float64]:
    used = np.flatnonzero(weights)
    # Columns of weight 0 are left out, because 0 times infinity is not a number.
    return np.asarray(sample.numbers[:, used] @ weights[used])


def _negated(score: Score, sample: Sample) -> NDArray[np.float64]:
    return -score(sample)


def _ratio_of(labels: Labels, here: Sample, there: Sample) -> Score | None:
    """Score a class by the log ratio of its draws, a class never drawn lowest. None if hardly any class came twice."""
    drawn = [labels(here), labels(there)]
    classes, place = np.unique(np.concatenate(drawn), return_inverse=True)
    if classes.size > (here.runs + there.runs) // 2:
        return None
    counts = [np.bincount(part, minlength=classes.size) for part in (place[: here.runs], place[here.runs :])]
    ratio = np.log((counts[0] + _PRIOR) / (counts[1] + _PRIOR))

    def score(sample: Sample) -> NDArray[np.float64]:
        marks = labels(sample)
        at = np.minimum(np.searchsorted(classes, marks), classes.size - 1)
        return np.where(classes[at] == marks, ratio[at], -np.inf)

    return score


def _summed(columns: Sequence[Score | None]) -> Score:
    """Add up the log ratios of single columns: the best score if columns are independent."""
    parts = [part for part in columns if part is not None]
    return lambda sample: np.sum(
        [np.zeros(sample.runs), *(np.maximum(part(sample), -_UNSEEN) for part in parts)], axis=0
    )


def _weighed_together(here: Sample, there: Sample) -> Score | None:
    """Return the linear score that separates the sides best. It also uses columns that only show a shared noise."""
    if not 1 < here.numbers.shape[1] <= _MOST_WEIGHED or max(np.abs(x.numbers).max() for x in (here, there)) > _SQUARED:
        return None
    spread = np.cov(here.numbers, rowvar=False) + np.cov(there.numbers, rowvar=False)
    floor = 1e-9 * max(float(np.trace(spread)), 1.0)
    apart = here.numbers.mean(axis=0) - there.numbers.mean(axis=0)
    return partial(_weighed, np.linalg.solve(spread + floor * np.eye(spread.shape[0]), apart))


def _values(j: int, here: Sample, there: Sample) -> Labels:
    """Classify a column: bins of a number, or a mark as it is."""
    return _bins(j, here, there) if j < here.numbers.shape[1] else partial(_marks, slice(j, j + 1))


def _bins(j: int, here: Sample, there: Sample) -> Labels:
    """Classify a column by its values, or by bins if there are many values."""
    both = np.concatenate([here.numbers[:, j], there.numbers[:, j]])
    edges = np.unique(both)
    if edges.size > _BINS:
        edges = np.unique(np.quantile(both[np.isfinite(both)], np.linspace(0, 1, _BINS + 1)))
    return lambda sample: np.searchsorted(edges, sample.numbers[:, j], side="right")


def _marks(columns: slice, sample: Sample) -> NDArray[np.int64]:
    """Return one number for each row, the same for rows with the same columns."""
    marks = np.zeros(sample.runs, dtype=np.uint64)
    for bits in sample.bits[:, columns].T:
        marks = (marks ^ bits.astype(np.uint64)) * _MULTIPLIER
        marks ^= marks >> np.uint64(29)
    return marks.view(np.int64)


def _lowest_bit(j: int, sample: Sample) -> NDArray[np.int64]:
    """Return the power of two of the lowest bit that is set, where noise made of floats leaves traces."""
    numbers = sample.numbers[:, j]
    mantissa, exponent = np.frexp(np.where(np.isfinite(numbers), numbers, 0.0))
    whole = np.abs(mantissa * 2.0**53).astype(np.int64)
    lowest = np.frexp((whole & -whole).astype(np.float64))[1]
    return np.where(whole == 0, np.int64(1 << 20), exponent.astype(np.int64) + lowest)


def _not_zero(sample: Sample) -> NDArray[np.int64]:
    return np.asarray(np.count_nonzero(sample.bits, axis=1))


def _first(sample: Sample) -> NDArray[np.int64]:
    there = sample.bits != 0
    return np.asarray(np.where(there.any(axis=1), there.argmax(axis=1), sample.bits.shape[1]))


def _halves(sample: Sample) -> NDArray[np.int64]:
    columns = sample.bits.shape[1]
    halves = [np.count_nonzero(part, axis=1) for part in np.split(sample.bits, [columns // 2], axis=1)]
    return np.asarray(halves[0] * (columns + 1) + halves[1])
