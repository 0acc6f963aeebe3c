"""Leases: how the owner of a reservation says that it lives, on whatever machine and in whatever container.

A reservation is leased for some seconds, and a thread of its owner renews the lease while the question runs, also
during a long scan. If the owner dies, the lease runs out, and the next writing transaction of anybody forfeits the
reservation: its worst case stays charged. An owner that wakes later cannot settle any more.
Reads and writes: through the function that it is given. Never: gives anything back; keeps a program from ending.
"""

import os
import threading
from collections.abc import Callable, Collection

# How long a reservation is leased, and how many renewals fit into that time.
LEASE_SECONDS = 60.0
_RENEWALS = 4


class Leases:
    """The leases of one book in one process. `renew` extends those of the reservations that it is given."""

    def __init__(self, renew: Callable[[Collection[int]], None], seconds: float = LEASE_SECONDS) -> None:
        self.seconds, self._renew = seconds, renew
        self._begin()

    def _begin(self) -> None:
        self._process = os.getpid()
        self._changed = threading.Condition()
        self._held: set[int] = set()
        self._renewer: threading.Thread | None = None

    @property
    def milliseconds(self) -> int:
        """Return how long a lease is."""
        return int(self.seconds * 1000)

    def hold(self, reservation: int) -> None:
        """Renew the lease of this reservation until it is dropped."""
        if self._process != os.getpid():
            # Threads do not survive a fork, and what the parent reserved is the parent's.
            self._begin()
        with self._changed:
            self._held.add(reservation)
            # A thread that failed, or could not be started, is replaced.
            if self._renewer is None or not self._renewer.is_alive():
                self._renewer = threading.Thread(target=self._run, name="thresher-leases", daemon=True)
                self._renewer.start()

    def drop(self, reservation: int) -> None:
        """Renew it no longer."""
        if self._process == os.getpid():
            with self._changed:
                self._held.discard(reservation)

    def drop_all(self) -> None:
        """Renew no lease any more, and end the thread: the book is stopped or closed."""
        if self._process == os.getpid():
            with self._changed:
                self._held.clear()
                self._changed.notify_all()

    def _run(self) -> None:
        """Renew in turn; end when there was nothing to renew for a whole turn."""
        while True:
            with self._changed:
                self._changed.wait(self.seconds / _RENEWALS)
                held = tuple(self._held)
                if not held:
                    self._renewer = None
                    return
            self._renew(held)
