"""Good scores by a linear program. They are a proposal: nothing rests on them before `score_tables.py` has checked it.

The program makes the scores small on average, for margins spread evenly around the threshold, among the scores that
keep the certificate's conditions on a grid of margins. Logarithms are replaced by tangents.
Reads: public numbers. Writes: nothing. Never: returns a table that is not verified. Why these bins: `score_tables.md`.
"""

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from thresher.decisions.score_tables import SCORE, ScoreTable, blank_table, line_of, lowered
from thresher.errors import BugError

# Lengths in units of the noise: of a bin, of all bins below the line, of all bins above 0, and of what lies outside.
_BIN, _BELOW, _ABOVE, _OUTSIDE = Fraction(1, 10), 6, 7, 20.0
_LEAST_BINS = 3
# Margins at which the program keeps (N): the first few below 0, then one to a bin until this far below the bins.
_NEAR, _BEYOND = 8, 3
_LEAST = 1e-6
_FINE_TANGENTS, _COARSE_TANGENTS = 60, 30


def designed(level: Fraction, miss_rate: Fraction, false_alarm_rate: Fraction, weight: Fraction) -> ScoreTable:
    """Return a verified table made for exactly these numbers."""
    blank = blank_table(level, miss_rate, false_alarm_rate, weight, bins_of(level, miss_rate))
    proposed = np.ceil(-SCORE * np.log(_solved(blank, _conditions(blank)))).astype(np.int64)
    least = _least_scores(blank)
    values = np.maximum(proposed, least)
    values[0], values[-1] = least[0], least[-1]
    return lowered(blank.with_values(values))


def bins_of(level: Fraction, miss_rate: Fraction) -> NDArray[np.int64]:
    """Return where the bins begin: equal bins of about a tenth of the noise's scale on both sides of the line."""
    steps, _ = line_of(level, miss_rate)
    width = max(1, round(_BIN / level))
    below = max(_LEAST_BINS, math.ceil(_BELOW / level / width))
    above = max(_LEAST_BINS, math.ceil((_ABOVE / level + steps) / width))
    left = np.arange(-below, 0, dtype=np.int64) * width - steps
    right = np.arange(above + 1, dtype=np.int64) * width - steps + 1
    return np.concatenate([left, [-steps], right])


def _least_scores(table: ScoreTable) -> NDArray[np.int64]:
    """Return the least scores that (B) allows."""
    least = np.zeros(table.values.size, dtype=np.int64)
    least[: table.on_line + 1] = math.ceil(-table.weight * table.false_alarm_rate * SCORE)
    return least


def _conditions(table: ScoreTable) -> NDArray[np.float64]:
    """Return rows r with r @ exp(-scores) <= 1: (N) at some margins, then (U)."""
    rate, weight, on_line = float(table.level), float(table.weight), table.on_line
    width = max(int(table.starts[1] - table.starts[0]), 1)
    far = int(table.starts[0]) - math.ceil(_BEYOND / rate)
    margins = np.union1d(np.arange(-_NEAR, 0), np.arange(-1, far - 1, -width))
    masses = _split(table, np.diff(_chances_below(rate, table.starts[None, :] - margins[:, None])))
    gains = np.exp(weight * ((np.arange(table.values.size) > on_line) - float(table.false_alarm_rate)))
    # Given that a group which qualifies is unreported, how far below the line it lies does not depend on its margin.
    law = _split(table, np.diff(_chances_below(rate, table.starts[None, :] + table.steps)))[0]
    law[on_line + 1 :] = 0
    return np.vstack([masses * gains, law / law.sum()])


def _chances_below(rate: float, places: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return P[X < place], between a column of zeros and a column of ones."""
    p = math.exp(-rate)
    below = np.exp(rate * np.minimum(places - 1, -1)) * np.where(places <= 0, 1 / (1 + p), 0)
    above = 1 - np.exp(-rate * np.maximum(places, 0)) / (1 + p)
    inner = np.where(places <= 0, below, above)
    ends = np.zeros((len(places), 1))
    return np.hstack([ends, inner, ends + 1])


def _split(table: ScoreTable, by_bin: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return one column for each value: the coin divides the bin on the line in two."""
    on_line, chance = table.on_line, float(table.boundary)
    shared: NDArray[np.float64] = np.repeat(by_bin, np.where(np.arange(by_bin.shape[1]) == on_line, 2, 1), axis=1)
    shared[:, on_line] *= 1 - chance
    shared[:, on_line + 1] *= chance
    return shared


def _lengths(table: ScoreTable, places: NDArray[np.int64], outside: float) -> NDArray[np.float64]:
    """Return the length of the bin of each value, in units of the noise, if the inner bins begin at `places`."""
    inner = np.diff(places) * float(table.level)
    lengths: NDArray[np.float64] = _split(table, np.concatenate([[outside], inner, [outside]])[None, :])[0]
    return lengths


def _solved(table: ScoreTable, rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return exp(-score) of each value: those with the largest mean logarithm."""
    from scipy.optimize import linprog  # noqa: PLC0415 - only tables that are not shipped need it
    from scipy.sparse import csr_array, eye_array, hstack, kron, vstack  # noqa: PLC0415

    size, weight = table.values.size, float(table.weight)
    most = np.exp(-_least_scores(table) / SCORE)
    fine = np.linspace(-weight, 2 * weight, _FINE_TANGENTS)
    coarse = np.linspace(2 * weight, 6 * max(weight, 1.0), _COARSE_TANGENTS)[1:]
    touch = np.exp(-np.concatenate([fine, coarse]))
    # ln q <= q / x + ln x - 1 for every x, with equality at x.
    identity = eye_array(size)
    ones = np.ones((touch.size, 1))
    tangents = hstack([kron(-1 / touch[:, None], identity), kron(ones, identity)])
    kept = hstack([csr_array(rows), csr_array(rows.shape)])
    answer = linprog(
        np.concatenate([np.zeros(size), -_lengths(table, table.starts, _OUTSIDE)]),
        A_ub=vstack([kept, tangents]).tocsr(),
        b_ub=np.concatenate([np.ones(len(rows)), np.repeat(np.log(touch) - 1, size)]),
        bounds=[(_LEAST, bound) for bound in most] + [(None, None)] * size,
        method="highs",
    )
    if answer.x is None:
        raise BugError(f"the linear program for level {table.level} and weight {table.weight} found no scores")
    solution: NDArray[np.float64] = np.maximum(answer.x[:size], _LEAST)
    return solution
