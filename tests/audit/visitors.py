"""Mechanisms of somebody else's, some of them ill-behaved. Loaded by name in a process of their own."""

import os
import random
import subprocess
import sys
import time
from collections import namedtuple
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np

from thresher.noise import discrete_laplace


def right(data):
    return len(data) + int(discrete_laplace(1, 1)[0])


def leaks(data):
    return len(data) + random.choice([0, 0, 0, 1])


def in_words(data):
    return {"count": [right(data)], "ward": {"eye"}}


def always_raises(data):
    raise ValueError("whatever it is given, as on line 12")


def raises_with_the_count(data):
    raise ValueError(f"n={len(data)}")


def raises_with_a_noisy_count(data):
    raise ValueError(f"about {nearly(data)}")


def raises_on_four(data):
    return [1, 2, 3][len(data) - 1] if len(data) < 4 else {}[0]


def leaves(data):
    raise SystemExit(3)


def breaks_off(data):
    raise KeyboardInterrupt


def hangs(data):
    time.sleep(1000)


def hangs_and_says_so(data):
    Path(data[0]).touch()
    time.sleep(1000)


def dies(data):
    os._exit(3)


def dies_on_four(data):
    if len(data) == 4:
        os._exit(3)
    return right(data)


def hangs_on_four(data):
    if len(data) == 4:
        time.sleep(1000)
    return right(data)


def talks(data):
    print("to standard output:", data)
    print("to standard error:", data, file=sys.stderr)
    os.write(1, b"around Python\n")
    os.write(2, b"around Python\n")
    if random.random() < 0.01:
        subprocess.run(["echo", "through a program"], check=True)
    return right(data)


def nearly(data):
    """The count, but for a hundredth: a float that hardly ever comes twice."""
    return len(data) + round(random.gauss(0, 0.01), 6)


@dataclass
class Record:
    count: float


class Plain:
    def __init__(self, value):
        self.value = value


class Slotted:
    __slots__ = ("__hidden",)

    def __init__(self, value):
        self.__hidden = value


Named = namedtuple("Named", "count note")


def wide(data):
    row = np.random.default_rng().normal(size=600)
    row[599] = nearly(data)
    return row


FORMS = {
    "a table": lambda data: {"ward": "eye", "count": nearly(data)},
    "keys": lambda data: {nearly(data): "eye"},
    "rows": lambda data: [[nearly(data)], [2.0]],
    "a hole": lambda data: (nearly(data), None),
    "a record": lambda data: Record(nearly(data)),
    "a named tuple": lambda data: Named(nearly(data), "x"),
    "an object": lambda data: Plain([nearly(data)]),
    "a slotted object": lambda data: Slotted(nearly(data)),
    "a decimal": lambda data: Decimal(str(nearly(data))),
    "a fraction": lambda data: Fraction(nearly(data)),
    "a complex number": lambda data: complex(nearly(data), 0),
    "a text": lambda data: f"count: {nearly(data):.6f}",
    "bytes": lambda data: str(nearly(data)).encode(),
    "numpy scalars": lambda data: [np.float32(nearly(data)), np.int64(random.getrandbits(40))],
    "a set": lambda data: {nearly(data), "eye"},
    "an iterator": lambda data: iter([nearly(data)]),
    "objects in an array": lambda data: np.array([nearly(data), None]),
    "a long number": lambda data: 10**5000 + round(1e6 * nearly(data)),
    "far behind": wide,
    "now and then nothing": lambda data: None if random.random() < 0.01 else nearly(data),
    "rows of any length": lambda data: [nearly(data)] * random.randint(1, 3),
    "with a function": lambda data: (nearly(data), len),
}


def now_and_then_raises(data):
    if random.random() < 0.01:
        raise KeyError(data[0])
    return nearly(data)


def in_a_table(data):
    return {"ward": "eye", "count": nearly(data)}


def empties(data):
    """Gives away the count, and leaves nothing for a later call on the same list."""
    count = len(data)
    data.clear()
    return count


calls = iter(range(10**9))


def counts_calls(data):
    return next(calls) // 100


def tells_the_time(data):
    return {"count": 0, "at": time.perf_counter_ns() // 1_000_000}


async def waits(data):
    return len(data)


def gives_a_function(data):
    return lambda: len(data)


def endless(data):
    while True:
        yield 1


def long_noise(data):
    return 10**5000 + right(data)


not_a_function = 3


def starts_another(data):
    """Leaves a process behind that says so in a file."""
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)", "left-behind-by-a-visitor"])
    time.sleep(1000)
