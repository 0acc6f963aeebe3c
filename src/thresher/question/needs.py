"""What a plan needs from the data, and the seal on the exact values that it gets.

Reads: nothing. Writes: nothing. Never: shows an exact value; only code that adds noise to it may unseal it.
"""

from dataclasses import dataclass, replace
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from thresher.config import Code, Column, Table
from thresher.errors import BugError
from thresher.question.asked import Aggregate
from thresher.question.conditions import ALWAYS, Condition


@dataclass(frozen=True, slots=True)
class Need:
    """These aggregates, for each of these groups, over the rows of `table` that satisfy `where`. One scan.

    `among` names the only rows that exist for this need, such as the rows of one step of a stream. A unit's rows are
    limited among these, and they are read again each time. Other rows neither count nor take the place of a row.
    """

    table: Table
    keys: tuple[Column, ...]
    groups: tuple[tuple[Code, ...], ...]
    where: Condition
    aggregates: tuple[Aggregate, ...]
    among: Condition = ALWAYS


@dataclass(frozen=True, slots=True)
class RowsNeed:
    """The codes of these columns, of one row for each unit. A row that lacks one of them is left out. One scan."""

    table: Table
    columns: tuple[Column, ...]

    @property
    def one_row_each(self) -> Table:
        """Return the table with a limit of one row for each unit."""
        if self.table.contribution is None:
            return self.table
        return replace(self.table, contribution=replace(self.table.contribution, max_groups=1, max_rows=1))


@dataclass(frozen=True, slots=True)
class PeopleNeed:
    """How many units fall between public edges. One scan, in which no limit on the rows of a unit applies.

    A unit is counted once by the groups of `keys` in which it has rows, and once by its most rows in one group. The
    values are one column: the bins of `group_edges`, then those of `row_edges`. Sizes above the last edge count there.
    """

    table: Table
    keys: tuple[Column, ...]
    group_edges: tuple[int, ...]
    row_edges: tuple[int, ...]


AnyNeed = Need | RowsNeed | PeopleNeed


class Exact:
    """True whole numbers: a row for each group and a column for each aggregate, or a row for each row that was read.

    They are sealed: they are never printed, pickled or copied by accident. Only `unseal` opens them, which only
    mechanisms, the `run` of a family, and the audit may call (a test checks this).
    """

    __slots__ = ("__values",)

    def __init__(self, values: NDArray[np.int64] | NDArray[np.object_]) -> None:
        if values.ndim != 2 or values.dtype not in (np.dtype(np.int64), np.dtype(object)):
            raise BugError("exact values are a table of whole numbers")
        self.__values = values

    def unseal(self) -> NDArray[np.int64] | NDArray[np.object_]:
        return self.__values

    def __repr__(self) -> str:
        return "<sealed>"

    def __reduce__(self) -> NoReturn:
        raise BugError("exact values are never written or copied")
