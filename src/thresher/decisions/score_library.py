"""The score table of any level, rates and weight: shipped, shifted, stretched from a coarser one, or made on the spot.

Whatever it is made from, a table is verified at its own level before it is handed out.
Reads: public numbers, the shipped file. Writes: nothing. Never: an unverified table. Proof: `score_tables.md`.
"""

import math
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache

import numpy as np

from thresher.decisions.score_design import designed
from thresher.decisions.score_levels import checked_miss_rate, is_level
from thresher.decisions.score_tables import SCORE, ScoreTable, blank_table, line_of
from thresher.decisions.score_verification import HEAVIEST, lowered, verified
from thresher.decisions.shipped_scores import FALSE_ALARM_RATES, MISS_RATE, shipped
from thresher.errors import ArgumentError

# Below this level integers are so fine that a table made here need only be stretched.
COARSE = Fraction(1, 256)
# A false-alarm rate this close to that of a shipped table takes it, shifted: a tenth of the credit for no solving.
_CLOSE = Fraction(1, 10)


def table_of(level: Fraction, miss_rate: Fraction, false_alarm_rate: Fraction, weight: Fraction) -> ScoreTable:
    """A verified table for a level of the grid; the same object for the same numbers.

    Runtime: a fraction of a millisecond if shipped, a few if stretched; a few tenths of a second, once, if made.
    """
    if not is_level(level):
        raise ArgumentError("level", level, "tables exist for the levels of a ladder", "Pass one that `ladder` gave")
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
    """The table for another false-alarm rate: a lower one raises all scores alike, a higher one changes none."""
    raised = math.ceil(SCORE * table.weight * max(table.false_alarm_rate - false_alarm_rate, Fraction(0)))
    return verified(replace(table, false_alarm_rate=false_alarm_rate, values=table.values + raised))


def stretched(table: ScoreTable, level: Fraction, miss_rate: Fraction) -> ScoreTable:
    """The table at a lower level: the same scores on bins that are longer by as much as the noise is wider."""
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
