"""What a plan needs from the data, and the sealed form in which it gets it.

Reads: nothing. Writes: nothing. Never: shows an exact value; only what adds noise to it may unseal it.
"""

from dataclasses import dataclass, replace
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from thresher.config import Code, Column, Table
from thresher.errors import BugError
from thresher.question.aggregate import Aggregate
from thresher.question.conditions import ALWAYS, Condition


@dataclass(frozen=True, slots=True)
class Need:
    """These aggregates, for each of these groups, over the rows of `table` that satisfy `where`. One scan.

    `among`: the only rows there are as far as this need goes. What a unit may contribute is bounded among these, and
    they are read anew each time: the rows of one step of a stream. Other rows neither count nor take another's place.
    """

    table: Table
    keys: tuple[Column, ...]
    groups: tuple[tuple[Code, ...], ...]
    where: Condition
    aggregates: tuple[Aggregate, ...]
    among: Condition = ALWAYS


@dataclass(frozen=True, slots=True)
class RowsNeed:
    """The codes of these columns: of each unit one row is chosen, and left out if it lacks one of them. One scan."""

    table: Table
    columns: tuple[Column, ...]

    @property
    def one_row_each(self) -> Table:
        """The table as it is read: whatever a unit may contribute elsewhere, here it is one row."""
        if self.table.contribution is None:
            return self.table
        return replace(self.table, contribution=replace(self.table.contribution, max_groups=1, max_rows=1))


AnyNeed = Need | RowsNeed


class Exact:
    """True whole numbers: a row for each group and a column for each aggregate, or a row for each row that was read.

    Sealed: it prints as nothing, cannot be pickled or copied by accident, and is opened by `unseal` alone, which only
    mechanisms, the `run` of a family, and the audit may call (a test looks).
    """

    __slots__ = ("__values",)

    def __init__(self, values: NDArray[np.int64] | NDArray[np.object_]) -> None:
        if values.ndim != 2 or values.dtype not in (np.dtype(np.int64), np.dtype(object)):
            raise BugError("exact aggregates are whole numbers, by group and aggregate")
        self.__values = values

    def unseal(self) -> NDArray[np.int64] | NDArray[np.object_]:
        return self.__values

    def __repr__(self) -> str:
        return "<sealed>"

    def __reduce__(self) -> NoReturn:
        raise BugError("exact aggregates are never written anywhere")
