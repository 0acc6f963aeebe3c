"""Find the parts that estimate a frequency best: those whose precisions have the largest sum.

A part of n people at level e estimates a frequency with variance 2 / (n e)^2 + variance / n: noise, and the chance of
who is in the part. Weights of 1 over that variance are best, and then precisions (1 over variance) add up. This assumes
that budgets are independent of what is counted, which is not checked here. In print the variance itself is maximised,
which prefers the worst parts; minimised, it would always choose one part.
Reads: a roster. Writes: nothing. Never: data.
"""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import NANO, Amount, exact_fraction, whole_number
from thresher.errors import ArgumentError
from thresher.personal.partition import first_ends
from thresher.personal.parts import Parts, first_class
from thresher.personal.roster import Roster

ASSUMPTION = "budgets are assumed to be independent of what is counted"
HALF_SPLIT = Fraction(1, 4)
MOST_PARTS, MOST_PLACES = 20, 1000
WORTH = 1e-3  # a part that adds a smaller share of precision is left out


def precision_partition(
    roster: Roster,
    parts: int | None = None,
    *,
    least_size: int = 1,
    variance: Amount = HALF_SPLIT,
    most_places: int = MOST_PLACES,
) -> Parts:
    """Return the parts of greatest total precision: `parts` of them, or the fewest, up to 20, within 0.1 % of the best.

    Privacy: a function of the roster alone; a release of each part at its level costs each person at most that
    person's budget. Utility: the greatest precision there is, within floating point (1e-12 of it), over all cuts; if
    the roster has more than `most_places` classes, over cuts at that many places that hold equally many people.
    `variance` is that of one person's value: p (1 - p) for a frequency p, 1/4 at most. Assumption: budgets are
    independent of what is counted. Runtime: O(parts · places²). Why these precisions: `precision_partition.md`.
    Citation: Li, Xiong, Ji, Jiang (2017), Algorithm 2, with a precision in place of a variance.
    """
    first = first_class(roster)
    least_size = whole_number(least_size, "least_size")
    people = np.concatenate([[0], np.cumsum(roster.sizes[first:])])
    wanted = 1 if parts is None else whole_number(parts, "parts")
    ends = first_ends(people, wanted, least_size)
    places = np.union1d(_places(people, whole_number(most_places, "most_places")), ends)
    chance = float(_variance(variance))
    levels = roster.nano[first:][places[:-1]] / NANO
    gains = _gains(people[places], levels, least_size, chance)
    cuts = _best(gains, wanted if parts is not None else MOST_PARTS, exactly=parts is not None)
    return Parts.of(roster, tuple(first + int(places[cut]) for cut in cuts))


def precision(parts: Parts, variance: Amount = HALF_SPLIT) -> Fraction:
    """Return the sum over parts of 1 / (2 / (n e)^2 + variance / n), exactly; `variance` 0 counts noise alone."""
    chance = _variance(variance)
    return sum(
        (
            1 / (2 / (size * level.fraction) ** 2 + chance / size)
            for size, level in zip(parts.sizes, parts.levels, strict=True)
        ),
        Fraction(0),
    )


def _variance(variance: Amount) -> Fraction:
    chance = exact_fraction(variance, "variance")
    if chance < 0:
        raise ArgumentError(
            "variance", variance, "a variance must be 0 or more", "Pass 0.25, the largest that a share can have"
        )
    return chance


def _places(people: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """Return where cuts may be: before each class, or before about `most`, with equally many people between them."""
    last = people.size - 1
    if last <= most:
        return np.arange(people.size)
    aims = np.arange(1, most) * (int(people[-1]) / most)
    return np.unique(np.concatenate([[0], np.clip(np.searchsorted(people, aims), 1, last - 1), [last]]))


def _gains(
    people: NDArray[np.int64], levels: NDArray[np.float64], least_size: int, chance: float
) -> NDArray[np.float64]:
    """Return the precision of each part from place j to before place i; minus infinity if it is too small."""
    sizes = people[None, :] - people[:-1, None]
    noise = sizes * levels[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        gains = noise**2 / (2 + chance * noise * levels[:, None])
    return np.where(sizes >= least_size, gains, -np.inf)


def _best(gains: NDArray[np.float64], most: int, *, exactly: bool) -> list[int]:
    """Return the cuts of the greatest sum with `most` parts, or with the fewest that come within `WORTH` of it."""
    size = gains.shape[1]
    value, chosen, ends = gains[0].copy(), [], [gains[0, -1]]
    for _ in range(2, most + 1):
        sums = value[:-1, None] + gains
        begun = np.argmax(sums, axis=0)
        value = sums[begun, np.arange(size)]
        chosen.append(begun)
        ends.append(value[-1])
    made = most if exactly else int(np.argmax(np.array(ends) >= max(ends) * (1 - WORTH))) + 1
    cuts = [size - 1]
    for begun in reversed(chosen[: made - 1]):
        cuts.append(int(begun[cuts[-1]]))
    return cuts[:0:-1]
