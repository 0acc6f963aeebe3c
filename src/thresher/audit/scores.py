"""Where two output laws may differ: scores of outputs, learnt on draws that are used for nothing else.

A score is any number that can be computed from an output; the event is that it is at least some cut. Whatever is
learnt here, an event stays a set of outputs fixed before the test draws, so learning badly costs power and nothing else.
Reads: draws to learn from. Writes: nothing. Never: the draws an event is tested on.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from thresher.audit.outputs import Sample

Score = Callable[[Sample], NDArray[np.float64]]
Labels = Callable[[Sample], NDArray[np.int64]]

# Seen this often on both sides beforehand, so to speak: rare outputs do not look telling by chance.
_PRIOR = 3.0
_MOST_LOOKED_AT = 32
_BINS = 64
_MOST_WEIGHED = 128
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, slots=True)
class Scored:
    """A score and what it looks at, in words."""

    about: str
    score: Score


def scores(here: Sample, there: Sample) -> Iterator[Scored]:
    """Scores that are large where `here` is likelier than `there`, learnt from these draws."""
    for about, labels in _labellings(here, there):
        learnt = _ratio_of(labels, here, there)
        if learnt is not None:
            yield Scored(about, learnt)
    for about, number in _numbers(here):
        yield Scored(f"{about} is large", number)
        yield Scored(f"{about} is small", lambda sample, number=number: -number(sample))
    if here.bits.shape[1] > 1:
        yield Scored("all columns, weighed one by one", _summed(here, there))
        together = _weighed_together(here, there)
        if together is not None:
            yield Scored("all columns, weighed together", together)


def _labellings(here: Sample, there: Sample) -> Iterator[tuple[str, Labels]]:
    """Ways to sort outputs into classes."""
    columns = here.bits.shape[1]
    yield "the whole output", lambda sample: _row_marks(sample.bits)
    for j in range(min(columns, _MOST_LOOKED_AT)):
        yield f"column {j + 1}", lambda sample, j=j: sample.bits[:, j]
        if here.floating:
            yield f"the lowest bit of column {j + 1}", lambda sample, j=j: _lowest_bit(sample.numbers[:, j])
            edges = _edges(here.numbers[:, j], there.numbers[:, j])
            yield f"the size of column {j + 1}", lambda sample, j=j, edges=edges: _binned(sample.numbers[:, j], edges)
    if columns > 1:
        yield "how many columns are not zero", lambda sample: np.count_nonzero(sample.bits, axis=1)
        yield "the first column that is not zero", lambda sample: _first(sample.bits)
        yield "what the two halves hold", lambda sample: _halves(sample.bits)
    for j in range(min(columns, _MOST_LOOKED_AT) - 1):
        pair = slice(j, j + 2)
        yield f"columns {j + 1} and {j + 2}", lambda sample, pair=pair: _row_marks(sample.bits[:, pair])


def _numbers(here: Sample) -> Iterator[tuple[str, Score]]:
    """Numbers by which outputs can be ordered."""
    columns = here.numbers.shape[1]
    for j in range(min(columns, _MOST_LOOKED_AT)):
        yield f"column {j + 1}", lambda sample, j=j: sample.numbers[:, j]
    if columns > 1:
        yield "the sum of the columns", lambda sample: sample.numbers.sum(axis=1)
        yield "the largest column", lambda sample: sample.numbers.max(axis=1)
        yield "the smallest column", lambda sample: sample.numbers.min(axis=1)
        half = columns // 2
        yield (
            "the first half less the second",
            lambda sample: sample.numbers[:, :half].sum(axis=1) - sample.numbers[:, half:].sum(axis=1),
        )


def _ratio_of(labels: Labels, here: Sample, there: Sample) -> Score | None:
    """The log ratio at which a class was drawn; classes never drawn come last. None if hardly any class came twice."""
    drawn = [labels(here), labels(there)]
    classes, place = np.unique(np.concatenate(drawn), return_inverse=True)
    if classes.size > (here.runs + there.runs) // 2:
        return None
    counts = [
        np.bincount(part, minlength=classes.size) for part in (place[: drawn[0].size], place[drawn[0].size :])
    ]
    ratio = np.log((counts[0] + _PRIOR) / (counts[1] + _PRIOR))

    def score(sample: Sample) -> NDArray[np.float64]:
        found = labels(sample)
        at = np.minimum(np.searchsorted(classes, found), classes.size - 1)
        return np.where(classes[at] == found, ratio[at], -np.inf)

    return score


def _summed(here: Sample, there: Sample) -> Score:
    """Log ratios of single columns, added up: the best there is if columns are independent."""
    parts: list[Score] = []
    for j in range(here.bits.shape[1]):
        edges = _edges(here.numbers[:, j], there.numbers[:, j])
        part = _ratio_of(lambda sample, j=j, edges=edges: _binned(sample.numbers[:, j], edges), here, there)
        if part is not None:
            parts.append(part)
    return lambda sample: np.sum([np.maximum(part(sample), -30.0) for part in parts], axis=0)


def _weighed_together(here: Sample, there: Sample) -> Score | None:
    """The linear score that sets the sides apart best: it also uses columns that tell nothing but the shared noise."""
    if here.numbers.shape[1] > _MOST_WEIGHED or not (np.isfinite(here.numbers).all() and np.isfinite(there.numbers).all()):
        return None
    spread = np.cov(here.numbers, rowvar=False) + np.cov(there.numbers, rowvar=False)
    floor = 1e-9 * max(float(np.trace(spread)), 1.0)
    weights = np.linalg.solve(spread + floor * np.eye(spread.shape[0]), (here.numbers - there.numbers).mean(axis=0))
    return lambda sample: sample.numbers @ weights


def _row_marks(bits: NDArray[np.int64]) -> NDArray[np.int64]:
    """One number for each row, the same for the same row."""
    marks = np.zeros(bits.shape[0], dtype=np.uint64)
    for j in range(bits.shape[1]):
        marks = (marks ^ bits[:, j].astype(np.uint64)) * _MULTIPLIER
        marks ^= marks >> np.uint64(29)
    return marks.view(np.int64)


def _lowest_bit(numbers: NDArray[np.float64]) -> NDArray[np.int64]:
    """The power of two of the lowest bit that is set: floating noise leaves traces there."""
    mantissa, exponent = np.frexp(np.where(np.isfinite(numbers), numbers, 0.0))
    whole = np.abs(mantissa * 2.0**53).astype(np.int64)
    lowest = np.frexp((whole & -whole).astype(np.float64))[1]
    return np.where(whole == 0, np.int64(1 << 20), exponent.astype(np.int64) + lowest)


def _edges(here: NDArray[np.float64], there: NDArray[np.float64]) -> NDArray[np.float64]:
    both = np.concatenate([here, there])
    values = np.unique(both[: 1 << 16])
    if values.size <= _BINS:
        return values
    return np.unique(np.quantile(both[np.isfinite(both)], np.linspace(0, 1, _BINS + 1)))


def _binned(numbers: NDArray[np.float64], edges: NDArray[np.float64]) -> NDArray[np.int64]:
    return np.searchsorted(edges, numbers, side="right")


def _first(bits: NDArray[np.int64]) -> NDArray[np.int64]:
    there = bits != 0
    return np.where(there.any(axis=1), there.argmax(axis=1), bits.shape[1])


def _halves(bits: NDArray[np.int64]) -> NDArray[np.int64]:
    half = bits.shape[1] // 2
    return np.count_nonzero(bits[:, :half], axis=1) * (bits.shape[1] + 1) + np.count_nonzero(bits[:, half:], axis=1)
