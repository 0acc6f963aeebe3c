"""A few connections, lent to one transaction at a time, and none carried over a fork.

A database connection in two processes is in neither: SQLite's locks belong to a process, but its idea of them is copied
by a fork, and then two processes write at once. So before a fork every pool waits for its transactions and closes its
connections; if one does not end, the child may not use any ledger.
Reads and writes: nothing itself. Never: lends a connection to two threads, or one that another process made.
"""

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, Generic, Protocol, TypeVar
from weakref import WeakSet

from thresher.errors import LedgerStoppedError

_FORK_WAIT_SECONDS = 2.0


class Lent(Protocol):
    """What the pool needs to know of a connection."""

    @property
    def reusable(self) -> bool:
        """Open, and outside of any transaction."""

    def close(self) -> None: ...


C = TypeVar("C", bound=Lent)


class Pool(Generic[C]):
    """At most `most` connections of this process; callers beyond that wait their turn."""

    _known: ClassVar["WeakSet[Pool[Any]]"] = WeakSet()
    # Set in a child that was forked in the middle of a transaction: SQLite is not to be trusted in it.
    _forked_midway: ClassVar[bool] = False

    def __init__(self, make: Callable[[], C], most: int = 8) -> None:
        self._make, self._most, self._held, self._gate_is_held = make, most, 0, False
        self._start()
        self._known.add(self)

    def _start(self) -> None:
        self._idle: list[C] = []
        self._turns = threading.BoundedSemaphore(self._most)
        # A fork holds it, because a busy thread would always take its next turn before the fork gets it.
        self._gate = threading.Lock()
        self._writer = threading.Lock()

    @contextmanager
    def writer(self) -> Iterator[C]:
        """A connection for a thread that will write. One at a time, so that a process queues for the lock once."""
        with self._writer, self.connection() as lent:
            yield lent

    @contextmanager
    def connection(self) -> Iterator[C]:
        if self._forked_midway:
            raise LedgerStoppedError(
                "this process was forked in the middle of a transaction: ask from a process started otherwise"
            )
        with self._gate:
            # Whoever stands here waits until a fork is over.
            pass
        with self._turns:
            lent = self._take() or self._make()
            try:
                yield lent
            finally:
                if lent.reusable:
                    self._idle.append(lent)
                else:
                    lent.close()

    def _take(self) -> C | None:
        try:
            return self._idle.pop()
        except IndexError:
            return None

    def close(self) -> None:
        """Close what is not lent; what is lent closes when its transaction ends, if the book is not used again."""
        while (connection := self._take()) is not None:
            connection.close()

    @classmethod
    def before_fork(cls) -> None:
        deadline = time.monotonic() + _FORK_WAIT_SECONDS
        for pool in list(cls._known):
            pool._gate_is_held = pool._gate.acquire(timeout=_FORK_WAIT_SECONDS)
            while pool._held < pool._most and pool._turns.acquire(timeout=max(0.0, deadline - time.monotonic())):
                pool._held += 1
            pool.close()

    @classmethod
    def after_fork_in_parent(cls) -> None:
        for pool in list(cls._known):
            while pool._held:
                pool._held -= 1
                pool._turns.release()
            if pool._gate_is_held:
                pool._gate_is_held = False
                pool._gate.release()

    @classmethod
    def after_fork_in_child(cls) -> None:
        for pool in list(cls._known):
            cls._forked_midway |= pool._held < pool._most
            pool._held, pool._gate_is_held = 0, False
            pool._start()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=Pool.before_fork, after_in_parent=Pool.after_fork_in_parent, after_in_child=Pool.after_fork_in_child
    )
