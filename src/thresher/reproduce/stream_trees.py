"""Errors of private counts at all nodes of a binary tree of streams, level by level, and at the busiest nodes.

The mean over all nodes is mostly one over nearly empty ones, where saying 0 is hard to beat; so levels stand apart.
Reads: public or made-up streams, entropy. Writes: nothing. Never: protected data; errors are counted against truth.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from thresher.amounts import exact_fraction
from thresher.noise import Entropy
from thresher.reproduce.stream_data import Counts, StreamSet
from thresher.reproduce.stream_draws import EPSILONS
from thresher.reproduce.stream_windows import Values
from thresher.reproduce.streams import LAPLACE, THETAS, ZERO
from thresher.streams.hierarchy import Hierarchy
from thresher.streams.tree import Tree

BUSY = 16
_GROUPS = "0.2"


@dataclass(frozen=True, slots=True)
class TreeError:
    """One method at one epsilon: mean absolute errors over steps and nodes, all of them, by level, the busiest."""

    data: str
    epsilon: str
    method: str
    nodes: float
    spread: float
    levels: tuple[float, ...]
    busy: float
