"""Which filters a row can satisfy together, from the question's text alone. Proof: `signatures.md`.

A signature is a set of filters, written as a bit mask: the signature of a row is the set of filters that are true for
it. A signature is left out only if its conditions provably contradict each other; what is not understood is possible.
Reads: conditions, declarations. Writes: nothing. Never: data.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from thresher.config import Table
from thresher.question.code_sets import Box, boxes, meet, whole
from thresher.question.conditions import ALWAYS, Condition

# If there are more, no list is made, and every row is taken to satisfy all filters.
MOST_SIGNATURES = 4096


@dataclass(frozen=True, slots=True)
class Signatures:
    """The filters, and the signatures that rows can have, without the empty one; None if there are too many to list."""

    filters: tuple[Condition, ...]
    table: Table
    where: Condition
    masks: tuple[int, ...] | None

    @property
    def all_filters(self) -> int:
        return (1 << len(self.filters)) - 1

    def largest(self) -> tuple[int, ...]:
        """Return the signatures that are not part of another: where more filters cost more, only these matter."""
        if self.masks is None:
            return (self.all_filters,)
        largest: list[int] = []
        for mask in sorted(self.masks, key=int.bit_count, reverse=True):
            if all(mask & other != mask for other in largest):
                largest.append(mask)
        return tuple(sorted(largest))

    def within(self, members: int, most: int) -> tuple[int, ...] | None:
        """Return the signatures among these filters alone, without the empty one; None if more than `most`."""
        if self.masks is not None:
            masks = sorted({mask & members for mask in self.masks} - {0})
            return tuple(masks) if len(masks) <= most else None
        places = [place for place in range(len(self.filters)) if members >> place & 1]
        local = _possible([self.filters[place] for place in places], self.table, self.where, most + 1)
        if local is None:
            return None
        spread = [sum(1 << places[i] for i in range(len(places)) if mask >> i & 1) for mask in local]
        masks = sorted(set(spread) - {0})
        return tuple(masks) if len(masks) <= most else None


def signatures(filters: Sequence[Condition], table: Table, where: Condition = ALWAYS) -> Signatures:
    """Return the signatures that rows of `table` in `where` can have."""
    possible = _possible(filters, table, where, MOST_SIGNATURES)
    masks = None if possible is None else tuple(sorted(mask for mask in possible if mask))
    return Signatures(tuple(filters), table, where, masks)


def exclusive(filters: Sequence[Condition], table: Table, where: Condition = ALWAYS) -> bool:
    """Return whether it is proved that no row satisfies two of these filters."""
    base = meet(whole(table), boxes(where, table))
    held = [meet(base, boxes(condition, table)) for condition in filters]
    return all(not meet(one, other) for one, other in combinations(held, 2))


def _possible(filters: Sequence[Condition], table: Table, where: Condition, most: int) -> list[int] | None:
    """Return the signatures not proved impossible, the empty one included; None as soon as there are more than `most`.

    Filter by filter, each list of boxes is divided into the rows that satisfy the filter and the rows that do not.
    """
    cells: list[tuple[int, list[Box]]] = [(0, meet(whole(table), boxes(where, table)))]
    for place, condition in enumerate(filters):
        met, unmet = boxes(condition, table), boxes(condition, table, holds=False)
        cut = [
            (mask | (1 << place if holds else 0), rest)
            for mask, held in cells
            for holds, side in ((True, met), (False, unmet))
            if (rest := meet(held, side))
        ]
        if len(cut) > most:
            return None
        cells = cut
    masks = [mask for mask, _ in cells]
    # A filter that no row can satisfy is counted too: its number is noise around 0.
    return masks + [1 << place for place in range(len(filters)) if not any(mask >> place & 1 for mask in masks)]
