"""The score table of any level, rates and weight: shipped, shifted, stretched from another level, or made when needed.

However it is made, a table is verified at its own level before it is returned. Tables ship for a miss rate of 0.05, the
usual false-alarm rates and the usual levels: one file for each false-alarm rate, made by `tools/make_score_tables.py`.
A file holds scores only; bins and lines follow from the level. Scores are stored as differences of neighbours, in
little-endian words, deflated, behind a digest.
Reads: public numbers, the files beside this module. Writes: nothing. Never: returns a table that is not verified; reads
a file whose digest is wrong. Proof: `score_tables.md`.
"""

import hashlib
import math
import zlib
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from thresher.decisions.score_design import bins_of, designed
from thresher.decisions.score_levels import checked_miss_rate, grid, is_level
from thresher.decisions.score_tables import HEAVIEST, SCORE, ScoreTable, blank_table, line_of, lowered, verified_table
from thresher.errors import ArgumentError, BugError

MISS_RATE = Fraction(1, 20)
FALSE_ALARM_RATES = tuple(Fraction(percent, 100) for percent in (1, 2, 5, 10, 20))
LEVELS = grid(Fraction(1, 256), Fraction(19, 4))
# The weights that a certificate chooses from: see `certificate.py`.
WEIGHTS = tuple(Fraction(hundredths, 100) for hundredths in (65, 104, 143, 195, 260, 390))

_MAGIC = b"thresher score tables 1\n"
_WORD = np.dtype("<i4")
# Below this level whole numbers are so fine that a table made at this level need only be stretched.
COARSE = Fraction(1, 256)
# A false-alarm rate this close to that of a shipped table takes that table, shifted. It gives up a tenth of the credit,
# and no linear program is solved.
_CLOSE = Fraction(1, 10)


def score_table(level: Fraction, miss_rate: Fraction, false_alarm_rate: Fraction, weight: Fraction) -> ScoreTable:
    """Return a verified table for a level of the grid; the same object for the same numbers.

    Runtime: a fraction of a millisecond if shipped, a few if stretched; a few tenths of a second, once, if made.
    """
    if not is_level(level):
        raise ArgumentError("level", level, "it must be a level of the grid", "Pass a level that `ladder` returned")
    checked_miss_rate(miss_rate)
    if not 0 < false_alarm_rate < 1:
        rule = "it must be above 0 and below 1"
        raise ArgumentError("false_alarm_rate", false_alarm_rate, rule, "Pass Fraction(1, 10), say")
    if not 0 < weight <= HEAVIEST:
        raise ArgumentError("weight", weight, f"it must be above 0, and {HEAVIEST} at most", "Pass Fraction(143, 100)")
    return _table_of(level, miss_rate, false_alarm_rate, weight)


@lru_cache(maxsize=4096)
def _table_of(level: Fraction, miss_rate: Fraction, false_alarm_rate: Fraction, weight: Fraction) -> ScoreTable:
    if level < COARSE:
        return stretched(_table_of(COARSE, miss_rate, false_alarm_rate, weight), level, miss_rate)
    nearest = min(FALSE_ALARM_RATES, key=lambda rate: abs(rate - false_alarm_rate))
    if miss_rate == MISS_RATE and abs(nearest - false_alarm_rate) <= _CLOSE * nearest:
        stored = shipped(level, nearest, weight)
        if stored is not None:
            return shifted(stored, false_alarm_rate)
    return designed(level, miss_rate, false_alarm_rate, weight)


def shifted(table: ScoreTable, false_alarm_rate: Fraction) -> ScoreTable:
    """Return the table for another false-alarm rate: a lower rate raises all scores alike, a higher rate none."""
    raised = math.ceil(SCORE * table.weight * max(table.false_alarm_rate - false_alarm_rate, Fraction(0)))
    return verified_table(replace(table, false_alarm_rate=false_alarm_rate, values=table.values + raised))


def stretched(table: ScoreTable, level: Fraction, miss_rate: Fraction) -> ScoreTable:
    """Return the table at a lower level: the same scores on bins that are longer by as much as the noise is wider."""
    steps, _ = line_of(level, miss_rate)
    wider, between = table.level / level, Fraction(steps, max(table.steps, 1))

    def moved(start: int) -> int:
        above_line = start + table.steps
        if above_line <= 1:
            # The line itself stays one value wide.
            return round(above_line * (1 if above_line == 1 else wider)) - steps
        return round(start * (wider if start > 0 else between))

    starts = np.array([moved(start) for start in table.starts.tolist()], dtype=np.int64)
    blank = blank_table(level, miss_rate, table.false_alarm_rate, table.weight, starts)
    return lowered(blank.with_values(table.values))


def shipped(level: Fraction, false_alarm_rate: Fraction, weight: Fraction) -> ScoreTable | None:
    """Return the table as it is in its file, not verified; None if there is none."""
    if false_alarm_rate not in FALSE_ALARM_RATES or level not in LEVELS or weight not in WEIGHTS:
        return None
    differences = _stored(false_alarm_rate)[LEVELS.index(level)][WEIGHTS.index(weight)]
    blank = blank_table(level, MISS_RATE, false_alarm_rate, weight, bins_of(level, MISS_RATE))
    return blank.with_values(np.cumsum(differences, dtype=np.int64))


def file_name(false_alarm_rate: Fraction) -> str:
    """Return the name of a file: it ends with the rate in percent."""
    return f"score_tables_{false_alarm_rate * 100}.bin"


def packed(tables: Iterable[ScoreTable]) -> bytes:
    """Return the content of a file: the number of scores at each level, then the scores, level by level."""
    scores = [np.diff(table.values, prepend=0) for table in tables]
    sizes = [each.size for each in scores[:: len(WEIGHTS)]]
    words = np.concatenate([sizes, *scores]).astype(_WORD).tobytes()
    return _MAGIC + hashlib.sha256(words).digest() + zlib.compress(words, 9)


def unpacked(content: bytes) -> tuple[NDArray[np.int32], ...]:
    """Return for each level a row of score differences for each weight. A file that was changed is refused."""
    head = len(_MAGIC) + hashlib.sha256().digest_size
    try:
        words = zlib.decompress(content[head:])
    except zlib.error:
        words = b""
    if content[:head] != _MAGIC + hashlib.sha256(words).digest():
        raise BugError("a file of score tables is not the one that Thresher was shipped with. Install Thresher again")
    sizes, scores = np.split(np.frombuffer(words, dtype=_WORD), [len(LEVELS)])
    ends = np.cumsum(sizes[:-1]) * len(WEIGHTS)
    return tuple(rows.reshape(len(WEIGHTS), -1) for rows in np.split(scores, ends))


@lru_cache(maxsize=len(FALSE_ALARM_RATES))
def _stored(false_alarm_rate: Fraction) -> tuple[NDArray[np.int32], ...]:
    return unpacked(files("thresher.decisions").joinpath(file_name(false_alarm_rate)).read_bytes())
