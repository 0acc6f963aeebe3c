"""Mechanisms of somebody else's, some of them ill-behaved. Loaded by name in a process of their own."""

import os
import random
import time

from thresher.noise import discrete_laplace


def right(data):
    return len(data) + int(discrete_laplace(1, 1)[0])


def leaks(data):
    return len(data) + random.choice([0, 0, 0, 1])


def in_words(data):
    return {"count": [right(data)], "ward": {"eye"}}


def always_raises(data):
    raise ValueError(data)


def raises_on_four(data):
    return [1, 2, 3][len(data) - 1] if len(data) < 4 else {}[0]


def leaves(data):
    raise SystemExit(len(data))


def hangs(data):
    time.sleep(1000)


def dies(data):
    os._exit(3)


def talks(data):
    print("to standard output:", data)
    return right(data)


not_a_function = 3
