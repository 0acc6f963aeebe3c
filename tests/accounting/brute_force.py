"""Answers by trying everything: the yardsticks of this folder."""

import itertools
import math
import operator

from accounting.paper_recursion import box_bounds, entropy


def box_least(losses):
    """The least entropy over all vertices of the box cut by the simplex."""
    bounds, best = box_bounds(losses), math.inf
    for inside in range(len(losses)):
        others = bounds[:inside] + bounds[inside + 1 :]
        low, high = bounds[inside]
        for ends in itertools.product(*others):
            rest = 1.0 - sum(ends)
            if low - 1e-12 <= rest <= high + 1e-12:
                best = min(best, entropy([*ends, rest]))
    return best


def box_least_by_counts(levels, counts):
    """As `box_least` for many equal losses: every count at each level, and every level for the group inside."""
    losses = [level for level, count in zip(levels, counts, strict=True) for _ in range(count)]
    bound = dict(zip(losses, box_bounds(losses), strict=True))
    term = {level: [entropy([end]) for end in bound[level]] for level in levels}
    best = math.inf
    for inside, level in enumerate(levels):
        others = [count - (i == inside) for i, count in enumerate(counts)]
        low, high = bound[level]
        for ups in itertools.product(*(range(count + 1) for count in others)):
            ends = list(zip(levels, ups, others, strict=True))
            rest = 1.0 - sum(up * bound[t][1] + (n - up) * bound[t][0] for t, up, n in ends)
            if low - 1e-12 <= rest <= high + 1e-12:
                value = sum(up * term[t][1] + (n - up) * term[t][0] for t, up, n in ends) + entropy([rest])
                best = min(best, value)
    return best


def cone_least_by_counts(levels, counts):
    best = math.inf
    for ups in itertools.product(*(range(count + 1) for count in counts)):
        t = [(math.exp(e), up) for e, up in zip(levels, ups, strict=True)]
        t += [(math.exp(-e), n - up) for e, up, n in zip(levels, ups, counts, strict=True)]
        total = sum(x * n for x, n in t)
        best = min(best, sum(n * entropy([x / total]) for x, n in t))
    return best


def cone_least(losses):
    best = math.inf
    for signs in itertools.product((-1, 1), repeat=len(losses)):
        t = [math.exp(sign * e) for sign, e in zip(signs, losses, strict=True)]
        best = min(best, entropy([x / sum(t) for x in t]))
    return best


COMPARE = {
    "=": operator.eq,
    "in": lambda x, values: x in values,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def account_by_rows(releases, domain):
    """The largest sum over all rows of a finite domain; a release is (conditions, columns, amounts by key)."""
    names = sorted(domain)
    most = 0
    for values in itertools.product(*(domain[name] for name in names)):
        row = dict(zip(names, values, strict=True))
        total = 0
        for conditions, columns, amounts in releases:
            if all(COMPARE[compare](row[column], value) for column, compare, value in conditions):
                total += amounts.get(tuple(row[column] for column in columns), 0)
        most = max(most, total)
    return most
