"""Read a histogram off a broken threshold tester, and count how many cells come out exactly.

Read `reconstruct` first: the whole attack. `cell_groups` and `noisy_answers` sort cells by the answers, `decoders` turn
totals into counts. `targets` and `public_files` load what is attacked; `attack_tables` repeats published tables.
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
