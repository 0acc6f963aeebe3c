"""Algorithm 5 of the MIDE paper with erratum 13 (the lower entropy is kept). A yardstick: exponential in k."""

import math


def box_bounds(losses):
    highest, lowest = sum(math.exp(e) for e in losses), sum(math.exp(-e) for e in losses)
    return [(math.exp(-e) / highest, min(1.0, math.exp(e) / lowest)) for e in losses]


def entropy(p):
    return -sum(x * math.log(x) for x in p if x > 0)


def paper_min_entropy(losses):
    bounds = sorted(box_bounds(losses), key=lambda bound: (bound[1], -bound[0]))
    return entropy(_recursion(bounds, 1.0 - sum(low for low, _ in bounds)))


def _recursion(bounds, slack):
    low, high = bounds[-1]
    if len(bounds) == 1:
        return [low + slack]
    given = min(high - low, slack)
    first = [*_recursion(bounds[:-1], slack - given), low + given]
    kept = min(sum(upper - lower for lower, upper in bounds[:-1]), slack)
    second = [*_recursion(bounds[:-1], kept), low + slack - kept]
    return first if entropy(first) < entropy(second) else second
