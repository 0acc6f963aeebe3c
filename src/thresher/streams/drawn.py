"""What one step releases, and how its groups are written down. All of it may be shown; everything else follows from it.

A group of steps with similar counts is written by one mark for each step and stream: it OPENS a group, JOINS the open
group, or stands ALONE, which closes the group before it. So the last group at any time is the step itself if it stands
alone, and otherwise all steps back to the last one that opened.
Reads: noisy numbers. Writes: JSON of them. Never: a true count.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

JOINS, OPENS, ALONE = 0, 1, 2


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """One step of all series, in declared order.

    `marks`: how each series is grouped; None without a grouper.
    `nano`: at how many nano-epsilon each series was measured, 0 if it was not (then its noisy count is 0); None if all
    were measured as declared. `more`, `more_nano`: a second measurement of the same counts, where one was made.
    """

    noisy: NDArray[np.int64]
    marks: NDArray[np.int8] | None = None
    nano: NDArray[np.int64] | None = None
    more: NDArray[np.int64] | None = None
    more_nano: NDArray[np.int64] | None = None

    def document(self) -> dict[str, Any]:
        """For JSON; what is None is left out."""
        fields = {name: getattr(self, name) for name in self.__slots__}
        return {name: values.tolist() for name, values in fields.items() if values is not None}

    @classmethod
    def from_document(cls, said: Mapping[str, Any]) -> "Drawn":
        def whole(name: str) -> NDArray[np.int64] | None:
            return np.array(said[name], dtype=np.int64) if name in said else None

        marks = np.array(said["marks"], dtype=np.int8) if "marks" in said else None
        noisy = np.array(said["noisy"], dtype=np.int64)
        return cls(noisy, marks, whole("nano"), whole("more"), whole("more_nano"))
