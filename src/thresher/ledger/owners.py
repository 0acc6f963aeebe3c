"""Which process made a reservation, and whether it is certainly gone.

Reads: /proc, where there is one. Writes: nothing.
Never: calls a process gone that may be alive: on another host, in another container, or unreadable.
"""

import os
import platform
from pathlib import Path


def this_process() -> str:
    """A name that no other process has had: host, process namespace, number, and start time."""
    return "/".join((platform.node(), _namespace(), str(os.getpid()), _started(os.getpid()) or "?"))


def is_gone(owner: str) -> bool:
    """Whether that process ran here and runs no more."""
    host, namespace, number, started = [*owner.rsplit("/", 3), "", "", ""][:4]
    if (host, namespace) != (platform.node(), _namespace()) or not number.isdecimal() or started in ("", "?"):
        return False
    return _started(int(number)) != started


def _namespace() -> str:
    try:
        return os.readlink("/proc/self/ns/pid").removeprefix("pid:")
    except OSError:
        return "?"


def _started(number: int) -> str | None:
    """The start time of a process in clock ticks since boot, with the boot's own name; None if there is no such one."""
    try:
        # The command name, second in the line, may hold anything; the fields after its closing bracket do not.
        fields = Path(f"/proc/{number}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return None
    return None if fields[0] in "ZX" else f"{boot}:{fields[19]}"
