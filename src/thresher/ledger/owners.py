"""Which process made a reservation, and whether it is certainly gone.

Reads: /proc and the machine's own name, where there are such. Writes: nothing.
Never: calls a process gone that may be alive: on another machine, in another container, or unreadable.
"""

import os
import platform
from pathlib import Path

_UNKNOWN = "?"


def process_name() -> str:
    """A name that no other process has had: machine, boot, process namespace, number, and start time."""
    return "/".join((*_machine(), _namespace(), str(os.getpid()), _started(os.getpid()) or _UNKNOWN))


def is_gone(owner: str) -> bool:
    """Whether that process ran on this machine and runs no more. In doubt, it does not."""
    parts, here = owner.rsplit("/", 5), _machine()
    if len(parts) != 6 or _UNKNOWN in (parts[2], here[2]):
        return False
    if parts[2] != here[2]:
        # Another boot: of this machine, which then has lost all processes of before; or of another one.
        return parts[:2] == list(here[:2]) and _UNKNOWN not in parts[:2]
    namespace, number, started = parts[3:]
    if namespace != _namespace() or _UNKNOWN in (namespace, started) or not number.isdecimal():
        return False
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    now = _started(int(number))
    return now is not None and now != started


def _machine() -> tuple[str, str, str]:
    """Its name, its own number, and which boot this is."""
    return platform.node() or _UNKNOWN, _text("/etc/machine-id"), _text("/proc/sys/kernel/random/boot_id")


def _text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="ascii").strip() or _UNKNOWN
    except (OSError, UnicodeDecodeError):
        return _UNKNOWN


def _namespace() -> str:
    try:
        return os.readlink("/proc/self/ns/pid").removeprefix("pid:")
    except OSError:
        return _UNKNOWN


def _started(number: int) -> str | None:
    """When a process started, in clock ticks since boot; "over" if it has ended and waits to be noticed; or None."""
    try:
        line = Path(f"/proc/{number}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    # The command name, second in the line, may hold anything; the fields after its closing bracket do not.
    fields = line.rpartition(")")[2].split()
    return "over" if fields[0] in "ZX" else fields[19]
