"""Supply random bytes: from the operating system or, for tests and demos, from a seed.

Reads: the operating system's generator. Writes: nothing.
Never: falls back to another generator, shares bytes between threads or across a fork, or hands out a byte twice.
"""

import hashlib
import io
import itertools
import os
import threading
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import whole_number
from thresher.errors import ArgumentError, EntropyError

NOT_PRIVATE = "NOT PRIVATE"
_BUFFER = 2048


class _Lineage:
    """Count the forks that led to this process, so that a child recognises bytes that its parent holds too."""

    forks = 0

    @classmethod
    def fork(cls) -> None:
        cls.forks += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_Lineage.fork)


def this_process() -> tuple[int, int]:
    """Return a mark that differs in a child made by a fork: the count of forks, and the process id for forks in C."""
    return _Lineage.forks, os.getpid()


class Entropy(Protocol):
    """A source of independent fair bits, with the stamp that everything made with it must carry."""

    @property
    def stamp(self) -> str:
        """Be empty for real randomness, and `NOT PRIVATE` otherwise."""

    def read(self, count: int) -> bytes:
        """Return `count` fresh bytes, which are handed out once."""


class SystemEntropy:
    """The operating system's generator, read ahead in small blocks.

    It is safe in threads and across forks: every thread has its own block, and a child drops a block that was made
    before the fork. `source` returns as many bytes as it is asked for. If it fails, an `EntropyError` is raised; a
    source other than the operating system's stamps everything that is made with it.
    """

    def __init__(self, source: Callable[[int], bytes] = os.urandom) -> None:
        self.stamp = "" if source is os.urandom else NOT_PRIVATE
        self._source = source
        self._local = threading.local()

    def read(self, count: int) -> bytes:
        if count > _BUFFER // 4:
            return self._fetch(count)
        owner, mine = this_process(), self._local
        if getattr(mine, "owner", None) == owner:
            # One call in C: a signal handler that draws in the middle of this method gets other bytes.
            block: bytes = mine.block.read(count)
            if len(block) == count:
                return block
        mine.block, mine.owner = io.BytesIO(self._fetch(_BUFFER)), owner
        return self.read(count)

    def _fetch(self, count: int) -> bytes:
        try:
            block = self._source(count)
        except Exception as error:
            raise EntropyError("the operating system's generator failed; no other randomness was used") from error
        if not isinstance(block, bytes) or len(block) != count:
            raise EntropyError(f"the generator did not return {count} bytes as asked; no other randomness was used")
        return block


class SeededEntropy:
    """Reproducible bytes (SHAKE-256 of the seed and a counter) for tests and demos.

    Whoever knows the seed can subtract the noise, so everything that is made with it is stamped `NOT PRIVATE`.
    """

    stamp = NOT_PRIVATE

    def __init__(self, seed: int) -> None:
        number = whole_number(seed, "seed")
        self._seed = b"%x" % number if number >= 0 else b"-%x" % -number
        self._calls = itertools.count()

    def read(self, count: int) -> bytes:
        return hashlib.shake_256(b"%b/%d" % (self._seed, next(self._calls))).digest(count)


class NotPrivate(np.ndarray[Any, np.dtype[np.int64]]):
    """Integers made with seeded entropy. A new array made from them by arithmetic carries the mark too."""

    stamp = NOT_PRIVATE

    def __str__(self) -> str:
        return f"{super().__str__()} {NOT_PRIVATE}"


def chosen(entropy: Entropy | None) -> Entropy:
    """Return the entropy that was passed in, or else the operating system's."""
    if entropy is None:
        return SystemEntropy()
    if not hasattr(entropy, "read") or not hasattr(entropy, "stamp"):
        raise ArgumentError(
            "entropy", entropy, "it must offer read(count) and stamp", "Leave it out, or pass SystemEntropy()"
        )
    return entropy


def marked(draws: NDArray[np.int64], entropy: Entropy, made_from: object = None) -> NDArray[np.int64]:
    """Return the draws, as a `NotPrivate` array if `entropy`, or the array they were made from, is not real."""
    return draws.view(NotPrivate) if entropy.stamp or isinstance(made_from, NotPrivate) else draws


def read_words(count: int, dtype: type[np.unsignedinteger[Any]], entropy: Entropy) -> NDArray[Any]:
    """Read `count` uniform machine words of the given unsigned type."""
    return np.frombuffer(entropy.read(count * np.dtype(dtype).itemsize), dtype=dtype)
