"""Attacks: what a broken mechanism gives away, counted in cells of a histogram that are read off exactly.

Reads: made-up or public counts, entropy. Writes: nothing. Never: protected data; a mechanism that Thresher ships.
"""

from thresher.audit.attacks.cell_groups import Groups, ordered_groups
from thresher.audit.attacks.decoders import DECODERS, increasing_wholes, rounded_means
from thresher.audit.attacks.reconstruct import Method, Reconstruction, Success, chosen_threshold, reconstruct

__all__ = [
    "DECODERS",
    "Groups",
    "Method",
    "Reconstruction",
    "Success",
    "chosen_threshold",
    "increasing_wholes",
    "ordered_groups",
    "reconstruct",
    "rounded_means",
]
