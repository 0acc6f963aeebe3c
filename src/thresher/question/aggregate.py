"""The whole numbers that are read from the data: counts, sums of codes, and counts of units.

Reads: nothing. Writes: nothing. Never: a value that came from the protected data.
"""

from dataclasses import dataclass
from typing import Literal as OneWord

from thresher.question.conditions import ALWAYS, Condition


@dataclass(frozen=True, slots=True)
class Aggregate:
    """One number for each group, over the rows that satisfy `where`.

    rows     how many there are                          COUNT(*)
    present  how many have a value in `column`           COUNT(x), and what AVG(x) divides by
    total    the sum of the codes of `column` (a grid)   SUM(x), in steps; NULL is passed over
    units    how many privacy units have such a row      COUNT(DISTINCT unit)
    """

    measure: OneWord["rows", "present", "total", "units"]
    column: str | None = None
    where: Condition = ALWAYS
