"""Integer noise with an exact law, from the operating system's randomness. No other package draws.

    entropy, arguments            where bits come from; what the functions accept
    coins, chances, enclosure,    exact choices one at a time; many coins at once; certified brackets of real numbers;
    draw_tables                   exact draws from a finite law
    laplace, gradual, choices     the noise itself; noise that is refined later; the exponential mechanism
    tails, zones, sums            how far noise strays, and the least epsilon for an error rate. These draw nothing

Read them in this order, each with the proof of the same name (`*.md`) beside it.
Reads: entropy. Writes: nothing. Never: sees data, knows a database, forms a float on the way to a draw.
"""

from thresher.noise.chances import chances
from thresher.noise.choices import choose, choose_many, pick, uniform
from thresher.noise.entropy import NOT_PRIVATE, Entropy, NotPrivate, SeededEntropy, SystemEntropy
from thresher.noise.gradual import chain, refine
from thresher.noise.laplace import discrete_laplace, geometric
from thresher.noise.sums import NoiseSum, least_distance
from thresher.noise.tails import (
    Bracket,
    cheapest_offer,
    conditional_shift,
    history_shift,
    refined_tail,
    smallest_epsilon,
    smallest_refinement,
    tail,
)
from thresher.noise.zones import Zone, smallest_zone

__all__ = [
    "NOT_PRIVATE",
    "Bracket",
    "Entropy",
    "NoiseSum",
    "NotPrivate",
    "SeededEntropy",
    "SystemEntropy",
    "Zone",
    "chain",
    "chances",
    "cheapest_offer",
    "choose",
    "choose_many",
    "conditional_shift",
    "discrete_laplace",
    "geometric",
    "history_shift",
    "least_distance",
    "pick",
    "refine",
    "refined_tail",
    "smallest_epsilon",
    "smallest_refinement",
    "smallest_zone",
    "tail",
    "uniform",
]
