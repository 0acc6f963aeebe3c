"""How a node of a hierarchy is kept or pruned by a noisy look at its true count: the laws, in print and repaired.

None of them is what Thresher does, which prunes by what is released already. They tell what the print loses.
Reads: nothing. Writes: nothing. Never: a draw.
"""

import math
from collections.abc import Callable, Sequence

# The chance that a node with this count is kept.
Keeps = Callable[[float], float]


def printed(epsilon: float, cutoff: float) -> Keeps:
    """PRUNE in print: count and cutoff each with Laplace noise of scale 2 / epsilon, fresh at every node."""
    scale = 2 / epsilon

    def above(far: float) -> float:
        """The chance that the difference of both noises is at least far, far >= 0."""
        return (2 + far / scale) * math.exp(-far / scale) / 4

    return lambda count: above(cutoff - count) if count < cutoff else 1 - above(count - cutoff)


def by_level(epsilon: float, height: int, cutoff: float) -> Keeps:
    """A repair: Laplace noise of scale (height - 1) / epsilon on the count, none on the cutoff."""
    scale = (height - 1) / epsilon

    def keeps(count: float) -> float:
        tail = math.exp(-abs(cutoff - count) / scale) / 2
        return tail if count < cutoff else 1 - tail

    return keeps


def steepest(epsilon: float, height: int, at_zero: float) -> Keeps:
    """The best repair: as many keeps as levels but one prune at most on a path, so a prune may cost all of epsilon."""

    def keeps(count: float) -> float:
        chance = at_zero
        for _ in range(int(count)):
            chance = min(1.0, chance * math.exp(epsilon / (height - 1)), 1 - (1 - chance) * math.exp(-epsilon))
        return chance

    return keeps


def path_law(keeps: Keeps, path: Sequence[float]) -> dict[int, float]:
    """How many nodes of a path are kept, from the root down; the leaf is not tested."""
    law, reached = {}, 1.0
    for kept, count in enumerate(path):
        law[kept] = reached * (1 - keeps(count))
        reached *= keeps(count)
    return {**law, len(path): reached}


def path_loss(keeps: Keeps, path: Sequence[float]) -> float:
    """What one unit more on the whole path may lose."""
    here, there = path_law(keeps, path), path_law(keeps, [count + 1 for count in path])
    return max(abs(math.log(here[kept] / there[kept])) for kept in here)
