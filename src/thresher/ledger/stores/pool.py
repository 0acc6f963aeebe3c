"""A pool of connections: each is lent to one transaction at a time, and none is carried over a fork.

Two processes must not share a database connection. SQLite's locks belong to a process, but a fork copies what SQLite
believes about them, and then two processes write at once. So before a fork every pool waits for its transactions and
closes its connections. If a transaction does not end in time, the child may not use any ledger.
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
    """A connection, as far as the pool needs it."""

    @property
    def reusable(self) -> bool:
        """Tell whether the connection is open, and outside of any transaction."""

    def close(self) -> None: ...


C = TypeVar("C", bound=Lent)


class Pool(Generic[C]):
    """At most `most` connections of this process; further callers wait their turn."""

    _known: ClassVar["WeakSet[Pool[Any]]"] = WeakSet()
    # True in a child that was forked in the middle of a transaction: SQLite cannot be trusted in it.
    _forked_midway: ClassVar[bool] = False

    def __init__(self, make: Callable[[], C], most: int = 8) -> None:
        self._make, self._most, self._held, self._gate_is_held = make, most, 0, False
        self._start()
        self._known.add(self)

    def _start(self) -> None:
        self._idle: list[C] = []
        self._turns = threading.BoundedSemaphore(self._most)
        # A fork holds the gate; without it a busy thread would always take its next turn before the fork gets one.
        self._gate = threading.Lock()
        self._writer = threading.Lock()

    @contextmanager
    def writer(self) -> Iterator[C]:
        """Lend a connection to a thread that will write; one at a time, so that a process queues for the lock once."""
        with self._writer, self.connection() as lent:
            yield lent

    @contextmanager
    def connection(self) -> Iterator[C]:
        """Lend a connection to one transaction."""
        if self._forked_midway:
            raise LedgerStoppedError(
                "this process was forked in the middle of a transaction, so it cannot use the ledger. Start a new "
                "process and ask there"
            )
        with self._gate:
            # A thread waits here until a fork is over.
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
        """Close the connections that are not lent. The others return to the pool when their transactions end."""
        while (connection := self._take()) is not None:
            connection.close()

    @classmethod
    def before_fork(cls) -> None:
        """Wait for the transactions of all pools, and close their connections."""
        deadline = time.monotonic() + _FORK_WAIT_SECONDS
        for pool in list(cls._known):
            pool._gate_is_held = pool._gate.acquire(timeout=_FORK_WAIT_SECONDS)
            while pool._held < pool._most and pool._turns.acquire(timeout=max(0.0, deadline - time.monotonic())):
                pool._held += 1
            pool.close()

    @classmethod
    def after_fork_in_parent(cls) -> None:
        """Let waiting threads go on."""
        for pool in list(cls._known):
            while pool._held:
                pool._held -= 1
                pool._turns.release()
            if pool._gate_is_held:
                pool._gate_is_held = False
                pool._gate.release()

    @classmethod
    def after_fork_in_child(cls) -> None:
        """Start with empty pools; note whether a transaction was under way."""
        for pool in list(cls._known):
            cls._forked_midway |= pool._held < pool._most
            pool._held, pool._gate_is_held = 0, False
            pool._start()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=Pool.before_fork, after_in_parent=Pool.after_fork_in_parent, after_in_child=Pool.after_fork_in_child
    )
