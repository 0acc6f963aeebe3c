"""When a measured rate refutes a promised one, for groups that may hang together through the levels they share."""

import math

from scipy.stats import beta

# A true promise is refuted with this probability, at most.
FALSE_FAILURE = 1e-6
CONFIDENCE = 0.999


def too_often(events: int, groups: int, promise: float) -> bool:
    """Whether a true promise would give so many events with a chance below the false-failure probability.

    Given the looks before, events of one look are independent with chances whose sum over the looks keeps the promise.
    So E[exp(l N)] <= exp(groups promise (exp(l) - 1)), and Chernoff's bound for a Poisson number holds.
    """
    mean = groups * promise
    return events > mean and events * math.log(events / mean) - events + mean > -math.log(FALSE_FAILURE)


def refuted(events: int, groups: int, promise: float) -> bool:
    """Whether the 99.9 % lower confidence bound (Clopper and Pearson) of the measured rate lies above the promise."""
    return bool(events and beta.ppf(1 - CONFIDENCE, events, groups - events + 1) > promise)
