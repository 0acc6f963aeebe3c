"""Which filters a row can satisfy together, from the question's text alone. Proof: `signatures.md`.

A signature is a set of filters, written as a bit mask: row r has the signature of all filters that are true for it. One
is struck off only if its conditions are proved to contradict one another; what is not understood is possible.
Reads: conditions, declarations. Writes: nothing. Never: data.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from thresher.config import Table
from thresher.question.code_sets import Box, boxes, meet, whole
from thresher.question.conditions import ALWAYS, Condition

# With more of them than this, no list is kept, and every row is taken to satisfy all filters.
MOST_SIGNATURES = 4096


@dataclass(frozen=True, slots=True)
class Signatures:
    """The filters, and the signatures that rows can have, but for the empty one; None if there are too many to list."""

    filters: tuple[Condition, ...]
    table: Table
    where: Condition
    masks: tuple[int, ...] | None

    @property
    def all_filters(self) -> int:
        return (1 << len(self.filters)) - 1

    def largest(self) -> tuple[int, ...]:
        """Signatures that are part of no other: where more filters cost more, only they matter."""
        if self.masks is None:
            return (self.all_filters,)
        kept: list[int] = []
        for mask in sorted(self.masks, key=int.bit_count, reverse=True):
            if all(mask & other != mask for other in kept):
                kept.append(mask)
        return tuple(sorted(kept))

    def within(self, members: int, most: int) -> tuple[int, ...] | None:
        """What signatures can look like if only these filters are looked at, not empty; None if more than `most`."""
        if self.masks is not None:
            found = sorted({mask & members for mask in self.masks} - {0})
            return tuple(found) if len(found) <= most else None
        places = [place for place in range(len(self.filters)) if members >> place & 1]
        local = _possible([self.filters[place] for place in places], self.table, self.where, most + 1)
        if local is None:
            return None
        spread = [sum(1 << places[i] for i in range(len(places)) if mask >> i & 1) for mask in local]
        found = sorted(set(spread) - {0})
        return tuple(found) if len(found) <= most else None


def signatures(filters: Sequence[Condition], table: Table, where: Condition = ALWAYS) -> Signatures:
    """The signatures that rows of `table` in `where` can have."""
    possible = _possible(filters, table, where, MOST_SIGNATURES)
    masks = None if possible is None else tuple(sorted(mask for mask in possible if mask))
    return Signatures(tuple(filters), table, where, masks)


def exclusive(filters: Sequence[Condition], table: Table, where: Condition = ALWAYS) -> bool:
    """Whether it is proved that no row satisfies two of these filters."""
    base = meet(whole(table), boxes(where, table))
    held = [meet(base, boxes(condition, table)) for condition in filters]
    return all(not meet(one, other) for one, other in combinations(held, 2))


def _possible(filters: Sequence[Condition], table: Table, where: Condition, most: int) -> list[int] | None:
    """Signatures that are not proved impossible, the empty one among them; None as soon as there are more than `most`.

    Filter by filter, every set of boxes is cut into the rows that satisfy it and the rows that do not.
    """
    found: list[tuple[int, list[Box]]] = [(0, meet(whole(table), boxes(where, table)))]
    for place, condition in enumerate(filters):
        met, unmet = boxes(condition, table), boxes(condition, table, holds=False)
        cut = [
            (mask | (1 << place if holds else 0), rest)
            for mask, held in found
            for holds, side in ((True, met), (False, unmet))
            if (rest := meet(held, side))
        ]
        if len(cut) > most:
            return None
        found = cut
    masks = [mask for mask, _ in found]
    # A filter that no row can satisfy is counted all the same: its number is noise around nothing.
    return masks + [1 << place for place in range(len(filters)) if not any(mask >> place & 1 for mask in masks)]
