"""Try plain streams: grouping and PeGaSus, windows of a tree, and the promises of each alarm at its worst case.

The pairs of groupers have the largest exact loss that was found on marks that are not rare: a little more than half of
the charge. The same pairs are tried by their law as well.
Reads: made-up data. Writes: nothing. Never: protected data.
"""

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial
from math import exp
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import Epsilon
from thresher.audit.laws.comparison_laws import log_probability, one_sided, two_sided
from thresher.audit.subjects import Enumerated, Pair, Promised, Sampled, Subject
from thresher.noise import Entropy
from thresher.streams.alarms import CROSSED, QUIET, Alarm, Kind, alarm, tree_alarm
from thresher.streams.group_deviation import OpenGroup
from thresher.streams.grouper import Grouper, GrouperTerms, grouper_terms
from thresher.streams.perturber import perturb
from thresher.streams.step_release import ALONE, JOINS, OPENS
from thresher.streams.tree_windows import TreeWindows

Counts = tuple[int, ...]
_SAMPLES = 100_000
_EPSILON = Epsilon(1)
_MISS_RATE, _ALARM_RATE = Fraction(1, 20), Fraction(1, 10)
_LENGTH = 4
_SUMS: tuple[Literal["low", "high"], ...] = ("low", "high")
_DIFFERENCES: tuple[Kind, ...] = ("jump", "drop", "change")
_GROUPED = (
    (35, Pair("the fourth of six counts", (1, 0, 0, 28, 5, 5), (1, 0, 0, 29, 5, 5))),
    (19, Pair("the second of eight counts", (4, 10, 3, 2, 10, 3, 0, 4), (4, 11, 3, 2, 10, 3, 0, 4))),
)


@dataclass(frozen=True, slots=True)
class _Watched:
    """Hold an alarm, and counts whose last step is the worst case of its promise."""

    alarm: Alarm
    counts: Counts


def subjects() -> tuple[Subject, ...]:
    quiet = (3, 0, 2, 5, 1, 0, 0, 2)
    pairs = tuple(
        Pair(f"one unit more at step {step} of 8", quiet, tuple(c + (t == step) for t, c in enumerate(quiet)))
        for step in (0, 3, 6)
    )
    groupers: list[Subject] = []
    for theta, pair in _GROUPED:
        groupers += _both(f"grouper, theta {theta}", grouper_terms(1, theta), pair)
    return (
        *groupers,
        _pegasus(),
        Sampled("perturb", "eight noisy counts", _EPSILON, pairs[1:2], _perturbed, _SAMPLES),
        Sampled("TreeWindows", "windows of 4 at eight steps", _EPSILON, pairs, _windows, _SAMPLES),
        *(_promised(name, misses=misses) for name in ("sums", "differences", "tree") for misses in (True, False)),
    )


def _both(name: str, terms: GrouperTerms, pair: Pair) -> tuple[Subject, Subject]:
    law = partial(marks_law, terms=terms)
    return (
        Sampled(name, "all marks", terms.epsilon, (pair,), partial(marks, terms), _SAMPLES),
        Enumerated(f"{name}, enumerated", "all marks", terms.epsilon, (pair,), law, missing=1e-12),
    )


def marks(terms: GrouperTerms, counts: Counts, runs: int, entropy: Entropy) -> NDArray[np.int8]:
    """Draw a row of marks for each run: independent series of one grouper."""
    return Grouper(runs, terms, entropy).steps(side_by_side(counts, runs)).T


def _pegasus() -> Sampled:
    """Try noisy counts and marks together, each at half of epsilon. One step costs both."""
    each = _EPSILON.fraction / 2
    terms, pair = grouper_terms(each, 9), Pair("the third of four counts", (0, 0, 4, 0), (0, 0, 5, 0))

    def run(counts: Counts, runs: int, entropy: Entropy) -> NDArray[np.int64]:
        noisy = np.asarray(perturb(side_by_side(counts, runs), each, entropy)).T
        return np.concatenate([noisy, marks(terms, counts, runs, entropy)], axis=1)

    return Sampled("pegasus", "noisy counts and marks", _EPSILON, (pair,), run, _SAMPLES)


def marks_law(counts: Counts, terms: GrouperTerms) -> Mapping[Hashable, float]:
    """Return the probability of each row of marks: each group is one sparse vector."""
    law = one_sided if terms.sparse.one_sided else two_sided
    noises = law(float(terms.sparse.threshold_rate)), law(float(terms.sparse.query_rate))
    fixed = terms.theta + terms.sparse.offset

    @cache
    def log_run(start: int, end: int, *, closed: bool) -> float:
        """Return the log probability of one group: the first step opens it, the last stands alone if it is closed."""
        group = OpenGroup(0)
        deviations = [group.add(count) for count in counts[start:end]][1:]
        answers = [*(False,) * (len(deviations) - 1), closed] if deviations else []
        return log_probability(answers, [float(deviation - fixed) for deviation in deviations], *noises)

    def rows(start: int) -> Iterator[tuple[Counts, float]]:
        """Yield each row of marks from a step on: its first group, then any row of the rest."""
        if start == len(counts):
            yield (), 0.0
            return
        yield (OPENS, *(JOINS,) * (len(counts) - start - 1)), log_run(start, len(counts), closed=False)
        for end in range(start + 2, len(counts) + 1):
            for row, rest in rows(end):
                yield (OPENS, *(JOINS,) * (end - start - 2), ALONE, *row), log_run(start, end, closed=True) + rest

    return {row: exp(total) for row, total in rows(0)}


def _perturbed(counts: tuple[int, ...], runs: int, entropy: Entropy) -> NDArray[np.int64]:
    return perturb(side_by_side(counts, runs), _EPSILON, entropy).T


def _windows(counts: tuple[int, ...], runs: int, entropy: Entropy) -> NDArray[np.int64]:
    return TreeWindows(runs, _LENGTH, _EPSILON, entropy).steps(side_by_side(counts, runs)).T


def _promised(name: str, *, misses: bool) -> Promised:
    """Try a promise of an alarm. Each series is a run, and the answer at its last step is right or an error."""
    erred, rate = (QUIET, _MISS_RATE) if misses else (CROSSED, _ALARM_RATE)

    def run(watched: _Watched, runs: int, entropy: Entropy) -> NDArray[np.bool_]:
        counts = side_by_side(watched.counts, runs)
        if watched.alarm.summed:
            shown = TreeWindows(runs, watched.alarm.window, watched.alarm.epsilon, entropy).steps(counts)
        else:
            shown = perturb(counts, watched.alarm.epsilon, entropy)
        return np.asarray(watched.alarm.crossed(shown)[-1] == erred)

    about = "the event only just holds" if misses else "the first value beyond the zone"
    side = "misses" if misses else "false alarms"
    return Promised(f"alarm over {name}, {side}", about, rate, tuple(_worst(name, misses=misses)), run, _SAMPLES)


def _worst(name: str, *, misses: bool) -> list[tuple[str, _Watched]]:
    if name == "tree":
        return [
            (kind, _at_worst(tree_alarm(kind, 90, _LENGTH, 1, _MISS_RATE, _ALARM_RATE), misses=misses))
            for kind in _SUMS
        ]
    kinds: tuple[Kind, ...]
    kinds, windows = (_SUMS, (1, 12)) if name == "sums" else (_DIFFERENCES, (3,))
    return [
        (f"{kind}, window {window}", _at_worst(alarm(kind, 90, window, 1, _MISS_RATE, _ALARM_RATE), misses=misses))
        for kind in kinds
        for window in windows
    ]


def _at_worst(placed: Alarm, *, misses: bool) -> _Watched:
    """Return counts whose last step has the value nearest to the end of the promise."""
    values = np.arange(-200, 400)
    promised = values[placed.true(values) if misses else placed.safe(values)]
    value = int(promised[np.abs(promised - (-90 if placed.kind == "drop" else 90)).argmin()])
    if placed.differs:
        return _Watched(placed, (100,) + (0,) * (placed.window - 1) + (100 + value,))
    each, more = divmod(value, placed.window)
    # A window of a tree adds up the most noise at an odd place, after a first block.
    before = (50,) * (placed.window + 1) if placed.summed else ()
    return _Watched(placed, (*before, *(each,) * (placed.window - 1), each + more))


def side_by_side(counts: Counts, runs: int) -> NDArray[np.int64]:
    """Repeat the same steps in `runs` series."""
    return np.repeat(np.array(counts, dtype=np.int64)[:, None], runs, axis=1)
