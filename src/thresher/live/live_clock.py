"""Ticks of the wall clock between the items of a feed, so that steps end on time though nobody sends anything.

Reads: the machine's clock. Writes: nothing. Never: a tick that depends on what was sent.
"""

import queue
import threading
import time
from collections.abc import Callable, Iterable, Iterator

from thresher.live.feeds import Item, Tick
from thresher.streams.step_clock import StepClock

_MOST_WAITING = 10_000
# The machine's clock may be set while we wait; nobody waits for longer than this without looking at it.
_PATIENCE_SECONDS = 1.0


def ticking(items: Iterable[Item], clock: StepClock, now: Callable[[], float] = time.time) -> Iterator[Item]:
    """The items as they come, and a tick whenever a step of the clock has begun, until the items end.

    The items are read in a thread of their own, which waits if they are not taken; what goes wrong there is raised
    here. Utility: a tick comes within a second of its step.
    """
    waiting: queue.Queue[Item | None] = queue.Queue(_MOST_WAITING)
    failed: list[BaseException] = []

    def read() -> None:
        try:
            for item in items:
                waiting.put(item)
        except BaseException as error:  # noqa: BLE001 - it is raised where the items are taken
            failed.append(error)
        waiting.put(None)

    threading.Thread(target=read, daemon=True).start()
    told: int | None = None
    while True:
        seconds = now()
        step = clock.step_of(seconds)
        if told is None or step > told:
            told = step
            yield Tick(seconds)
        left = clock.began_at(max(step, -1) + 1).timestamp() - seconds
        try:
            item = waiting.get(timeout=min(max(left, 0.001), _PATIENCE_SECONDS))
        except queue.Empty:
            continue
        if item is None:
            break
        yield item
    if failed:
        raise failed[0]
