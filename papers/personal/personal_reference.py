"""List reference numbers: of our reference simulation of personal budgets, and of the paper's text.

Its figures have no numbers in the text, so its sentences are kept as claims, which the remarks count. Made-up people
of the reference came from the same laws, but were not the same people: its means of 25 runs on one set of 40 questions
stray by some hundredths in noise, and by a tenth or two where the chance of who is weighed counts.
Reads: nothing. Writes: nothing. Never: a number measured here.
"""

from collections.abc import Mapping
from types import MappingProxyType

from papers.personal import personal_models as models
from papers.personal.personal_methods import (
    AWARE,
    AWARE_SUMMED,
    AWARE_TEN,
    EXPONENTIAL,
    MINIMUM,
    NOISE_ALONE,
    PRECISION,
    PRECISION_SUMMED,
    ROUNDS,
    SAMPLING,
    THRESHOLD,
    WEIGHTED,
    WEIGHTED_MEAN,
)

# Mean absolute errors of shares of 100,000 made-up people, by law of budgets.
COUNTS: Mapping[tuple[str, str], float] = MappingProxyType(
    {
        ("uniform", WEIGHTED_MEAN): 3.00e-4,
        ("uniform", WEIGHTED): 3.46e-4,
        ("uniform", SAMPLING): 4.29e-4,
        ("uniform", PRECISION): 5.60e-4,
        ("uniform", NOISE_ALONE): 5.78e-4,
        ("uniform", AWARE): 6.94e-4,
        ("uniform", AWARE_TEN): 7.93e-4,
        ("uniform", ROUNDS): 7.15e-4,
        ("uniform", THRESHOLD): 7.35e-4,
        ("uniform", MINIMUM): 9.97e-4,
        ("uniform", AWARE_SUMMED): 1.17e-3,
        ("uniform", PRECISION_SUMMED): 1.31e-3,
        ("uniform", EXPONENTIAL): 1.84e-3,
        ("normal", WEIGHTED_MEAN): 3.30e-4,
        ("normal", WEIGHTED): 1.83e-4,
        ("normal", SAMPLING): 5.06e-4,
        ("normal", PRECISION): 2.67e-4,
        ("normal", NOISE_ALONE): 2.62e-4,
        ("normal", AWARE): 4.23e-4,
        ("normal", AWARE_TEN): 3.11e-4,
        ("normal", ROUNDS): 4.55e-4,
        ("normal", THRESHOLD): 8.38e-4,
        ("normal", MINIMUM): 9.79e-4,
        ("normal", AWARE_SUMMED): 9.4e-4,
        ("normal", PRECISION_SUMMED): 1.22e-3,
        ("normal", EXPONENTIAL): 1.33e-3,
    }
)
# What the share of those who say yes is estimated as, where it falls from 0.3 to 0.1 as budgets rise, and the truth.
CORRELATED_TRUTH = 0.1991
CORRELATED: Mapping[str, float] = MappingProxyType({WEIGHTED_MEAN: 0.1818, SAMPLING: 0.1816, THRESHOLD: 0.1501})
# Shares misclassified by logistic regression, 50,000 made-up people of 14 features, ridge 0.001, 8 runs. Which noise it
# was is not said; objective perturbation for people who change comes nearest.
MISCLASSIFIED: Mapping[tuple[str, str], float] = MappingProxyType(
    {
        ("uniform", models.OPEN): 0.229,
        ("uniform", models.SAMPLING): 0.247,
        ("uniform", models.THRESHOLD): 0.280,
        ("uniform", models.TWO): 0.322,
        ("uniform", models.VOTE): 0.376,
        ("uniform", models.MINIMUM): 0.473,
        ("normal", models.SAMPLING): 0.2291,
        ("normal", models.FIVE): 0.2294,
        ("normal", models.VOTE): 0.231,
        ("normal", models.MINIMUM): 0.462,
    }
)
