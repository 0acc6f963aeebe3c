"""Set up the printed grouper of PeGaSus: two-sided Laplace noise, half of epsilon for the threshold, our cost.

Reads: arguments. Writes: nothing. Never: data.
Citation: Chen, Machanavajjhala, Hay, Miklau 2017 (PeGaSus, Algorithm 2).
"""

from dataclasses import replace

from thresher.amounts import Amount, exact_fraction
from thresher.mechanisms.sparse_terms import Setting, sparse_terms
from thresher.streams.grouper import SENSITIVITY, GrouperTerms, grouper_terms


def printed_terms(epsilon: Amount, theta: Amount) -> GrouperTerms:
    """Return the terms of a grouper that differs from ours in the noise and its split only."""
    ours, half = grouper_terms(epsilon, theta), exact_fraction(epsilon, "epsilon") / 2
    rates = half / SENSITIVITY, half / (2 * SENSITIVITY)
    sparse = sparse_terms(1, epsilon, Setting(sensitivity=SENSITIVITY, noise="two-sided"))
    return replace(ours, sparse=replace(sparse, threshold_rate=rates[0], query_rate=rates[1]))
