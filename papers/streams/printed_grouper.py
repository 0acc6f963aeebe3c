"""The grouper of PeGaSus in print: Laplace noise on both sides, half of epsilon for the line. It costs what ours costs.

Reads: arguments. Writes: nothing. Never: data.
Citation: Chen, Machanavajjhala, Hay, Miklau 2017 (PeGaSus, Algorithm 2).
"""

from dataclasses import replace

from thresher.amounts import Amount, exact_fraction
from thresher.mechanisms.sparse_terms import Setting, sparse_terms
from thresher.streams.grouper import SENSITIVITY, GrouperTerms, grouper_terms


def printed_terms(epsilon: Amount, theta: Amount) -> GrouperTerms:
    """Return what a grouper is run with, where nothing but the noise and its split differ from ours."""
    ours, half = grouper_terms(epsilon, theta), exact_fraction(epsilon, "epsilon") / 2
    rates = half / SENSITIVITY, half / (2 * SENSITIVITY)
    sparse = sparse_terms(1, epsilon, Setting(sensitivity=SENSITIVITY, noise="two-sided"))
    return replace(ours, sparse=replace(sparse, threshold_rate=rates[0], query_rate=rates[1]))
