"""Requests to stop: SIGTERM and SIGHUP end a command as Ctrl-C does, so that what was charged is said.

A SIGHUP that the parent ignored, as `nohup` does, stays ignored.
Reads: signals. Writes: their handlers, which are put back. Never: stops in the middle of a commit.
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_NAMES = ("SIGTERM", "SIGHUP")


@contextmanager
def stopping_like_ctrl_c() -> Iterator[None]:
    """Raise KeyboardInterrupt where one of these signals would end the process without a word."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]
    replaced = [number for number in numbers if signal.getsignal(number) == signal.SIG_DFL]
    for number in replaced:
        signal.signal(number, _interrupt)
    try:
        yield
    finally:
        for number in replaced:
            signal.signal(number, signal.SIG_DFL)


def _interrupt(_: int, __: FrameType | None) -> None:
    raise KeyboardInterrupt
