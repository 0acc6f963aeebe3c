"""A few connections, lent to one transaction at a time.

Reads and writes: nothing itself. Never: lends a connection to two threads, or one that another process made.
"""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, Protocol, TypeVar


class Lent(Protocol):
    """What the pool needs to know of a connection."""

    @property
    def usable(self) -> bool: ...

    def close(self) -> None: ...


C = TypeVar("C", bound=Lent)


class Pool(Generic[C]):
    """At most `most` connections of this process; callers beyond that wait their turn."""

    def __init__(self, make: Callable[[], C], most: int = 8) -> None:
        self._make, self._most = make, most
        self._inherited: list[C] = []
        self._start()

    def _start(self) -> None:
        self._process = os.getpid()
        self._idle: list[C] = []
        self._turns = threading.BoundedSemaphore(self._most)
        self._writer = threading.Lock()

    @contextmanager
    def writer(self) -> Iterator[C]:
        """A connection for a thread that will write. One at a time, so that a process queues for the lock once."""
        self._renew_after_fork()
        with self._writer, self.connection() as lent:
            yield lent

    @contextmanager
    def connection(self) -> Iterator[C]:
        self._renew_after_fork()
        with self._turns:
            lent = self._take() or self._make()
            try:
                yield lent
            finally:
                if lent.usable:
                    self._idle.append(lent)

    def _renew_after_fork(self) -> None:
        if self._process != os.getpid():
            # The parent's connections are kept, not closed: closing them could disturb the parent.
            self._inherited += self._idle
            self._start()

    def _take(self) -> C | None:
        try:
            return self._idle.pop()
        except IndexError:
            return None

    def close(self) -> None:
        """Close what is not lent; what is lent is closed by nobody and forgotten after its transaction."""
        if self._process == os.getpid():
            while (connection := self._take()) is not None:
                connection.close()
