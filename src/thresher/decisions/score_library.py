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
from thresher.decisions.score_levels import is_level
from thresher.decisions.score_tables import SCORE, ScoreTable, blank_table, line_of
from thresher.decisions.score_verification import lowered, verified
from thresher.decisions.shipped_scores import MISS_RATE, shipped
from thresher.errors import ArgumentError

# Below this level integers are so fine that a table made here need only be stretched.
COARSE = Fraction(1, 256)
_HEAVIEST = 5


def table_of(level: Fraction, miss_rate: Fraction, false_alarm_rate: Fraction, weight: Fraction) -> ScoreTable:
    """A verified table for a level of the grid; the same object for the same numbers.

    Runtime: a fraction of a millisecond if shipped, a few if stretched; a few tenths of a second, once, if made.
    """
    if not is_level(level):
        raise ArgumentError("level", level, "tables exist for the levels of a ladder", "Pass one that `ladder` gave")
    for field, rate, parts in (("miss_rate", miss_rate, 2), ("false_alarm_rate", false_alarm_rate, 1)):
        if not 0 < rate * parts < 1:
            rule = f"it must be above 0 and below {Fraction(1, parts)}"
            raise ArgumentError(field, rate, rule, "Pass Fraction(1, 20), say")
    if not 0 < weight <= _HEAVIEST:
        raise ArgumentError("weight", weight, f"it must be above 0, and {_HEAVIEST} at most", "Pass Fraction(143, 100)")
    return _table_of(level, miss_rate, false_alarm_rate, weight)


@lru_cache(maxsize=4096)
def _table_of(level: Fraction, miss_rate: Fraction, false_alarm_rate: Fraction, weight: Fraction) -> ScoreTable:
    if level < COARSE:
        return stretched(_table_of(COARSE, miss_rate, false_alarm_rate, weight), level, miss_rate)
    stored = shipped(level, weight) if miss_rate == MISS_RATE else None
    if stored is None:
        return designed(level, miss_rate, false_alarm_rate, weight)
    return shifted(stored, false_alarm_rate)


def shifted(table: ScoreTable, false_alarm_rate: Fraction) -> ScoreTable:
    """The table for another false-alarm rate: a lower one raises all scores alike, a higher one changes none."""
    raised = math.ceil(SCORE * table.weight * max(table.false_alarm_rate - false_alarm_rate, Fraction(0)))
    return verified(replace(table, false_alarm_rate=false_alarm_rate, values=table.values + raised))


def stretched(table: ScoreTable, level: Fraction, miss_rate: Fraction) -> ScoreTable:
    """The table at a lower level: the same scores on bins that are longer by as much as the noise is wider."""
    steps, _ = line_of(level, miss_rate)
    wider, between = table.level / level, Fraction(steps, max(table.steps, 1))

    def moved(start: int) -> int:
        if start > 0:
            return round(start * wider)
        if start > 1 - table.steps:
            return round(start * between)
        # The line itself stays one value wide.
        return 1 - steps if start > -table.steps else round((start + table.steps) * wider) - steps

    starts = np.array([moved(start) for start in table.starts.tolist()], dtype=np.int64)
    blank = blank_table(level, miss_rate, table.false_alarm_rate, table.weight, starts)
    return lowered(blank.with_values(table.values))
