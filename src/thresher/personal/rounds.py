"""Several rounds: what parts leave of people's budgets is parted again, and released again.

A round spends the level of its part on each of its members, and the next round starts from what they have left. Nobody
spends more than they have, because a level is the least that members of a part have left: `rounds.md`.
Reads: a roster. Writes: nothing. Never: data; a round whose parts depend on an earlier round's release.
"""

from dataclasses import dataclass

import numpy as np

from thresher.amounts import Epsilon, whole_number
from thresher.errors import ArgumentError
from thresher.personal.partition import most_parts, partition
from thresher.personal.parts import Parts
from thresher.personal.roster import Roster


@dataclass(frozen=True, slots=True, eq=False)
class Rounds:
    """Rounds over a roster, first to last. Each one's parts are of a roster of the same people: what they had left.

    `spent`: by each class of the roster, in all rounds together. `leftover`: the roster of what is left in the end.
    """

    roster: Roster
    rounds: tuple[Parts, ...]
    spent: tuple[Epsilon, ...]
    leftover: Roster


def in_rounds(roster: Roster, parts: int, rounds: int, *, least_size: int = 1) -> Rounds:
    """Up to `rounds` rounds of up to `parts` parts of least waste; they end where nothing is left, or too few people.

    Privacy: a function of the roster alone; releases of all parts of all rounds cost each person at most that
    person's budget. Utility: what people have left after a round, squared and summed, is its waste, the least there is.
    Citation: Li, Xiong, Ji, Jiang (2017), section 4.3.
    """
    if (rounds := whole_number(rounds, "rounds")) < 1:
        raise ArgumentError("rounds", rounds, "there is one round at least", "Pass 1 or more")
    made, left = [partition(roster, parts, least_size=least_size)], roster
    while True:
        left = after(made[-1])
        possible = min(parts, most_parts(left, least_size))
        if len(made) == rounds or not possible:
            break
        made.append(partition(left, possible, least_size=least_size))
    kept = np.zeros_like(roster.nano)
    kept[roster.classes] = left.nano[left.classes]
    spent = tuple(Epsilon.from_nano(nano) for nano in (roster.nano - kept).tolist())
    return Rounds(roster, tuple(made), spent, left)


def after(parts: Parts) -> Roster:
    """The roster of what people have left when every part has been released at its level, in the same order."""
    roster, spent = parts.roster, np.array([0, *(level.nano for level in parts.levels)])
    levels, places = np.unique(roster.nano - spent[parts.of_class + 1], return_inverse=True)
    return Roster(levels, places.astype(np.int64)[roster.classes], roster.names)
