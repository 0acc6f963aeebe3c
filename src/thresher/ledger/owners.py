"""Name the process that makes a reservation, and tell whether such a process is certainly gone.

Reads: /proc and the name of the machine, where the system has them. Writes: nothing.
Never: calls a process gone that may be alive: on another machine, in another container, or without a readable name.
"""

import os
import platform
from pathlib import Path

_UNKNOWN = "?"


def process_name() -> str:
    """Return a name that no other process has had: machine, boot, process namespace, number, and start time."""
    return "/".join((*_machine(), _namespace(), str(os.getpid()), _started(os.getpid()) or _UNKNOWN))


def is_gone(owner: str) -> bool:
    """Tell whether that process ran on this machine and has ended. In doubt the answer is False."""
    parts, here = owner.rsplit("/", 5), _machine()
    if len(parts) != 6 or _UNKNOWN in (parts[2], here[2]):
        return False
    if parts[2] != here[2]:
        # Another boot. If it was of this machine, all its processes have ended; it may be of another machine.
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
    """Return the machine's name, its own number, and the number of this boot."""
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
    """Return when a process started, in clock ticks since boot; "over" if it has ended and its parent has not noticed.

    None if that cannot be read.
    """
    try:
        line = Path(f"/proc/{number}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    # The second field, the name of the command, may hold any text. The other fields follow its closing bracket.
    fields = line.rpartition(")")[2].split()
    return "over" if fields[0] in "ZX" else fields[19]
