"""Say why a DuckDB database cannot be opened, or Spark cannot be started, in words of ours that are chosen by facts.

Reads: the first bytes of a database file, names of folders. Writes: nothing. Never: what a driver says.
"""

import os
import re
import shutil
import socket
from contextlib import suppress
from pathlib import Path

_MARK, _MARK_AT = b"DUCK", 8
_ANSWER_SECONDS = 5
_MASTER = re.compile(r"spark://([\w.-]+):(\d{1,5})")


def why_unopened(path: Path, *, in_use: bool) -> str:
    """Return why a database file cannot be opened. `in_use`: this process itself has it open."""
    if in_use:
        # The file is not looked into: to close it would end this process's own lock on it.
        return f"{path} is open for writing in this process. Close that connection first."
    if not path.exists():
        return f"{path}: no such file. Check [source] url; relative paths start at the folder of thresher.toml."
    if not path.is_file():
        return f"{path} is not a file. Name a DuckDB database in [source] url, or a folder without duckdb://."
    if not os.access(path, os.R_OK):
        return f"{path} may not be read by this user. Grant the right to read it."
    with suppress(OSError), path.open("rb") as file:
        if file.read(_MARK_AT + len(_MARK))[_MARK_AT:] != _MARK:
            return f"{path} is not a DuckDB database. Check [source] url."
    return (
        f"{path} cannot be opened. Check that no other program has it open for writing, and that it was not written by "
        "a newer DuckDB than the one installed here."
    )


def why_not_started(master: str, error: Exception) -> str:
    """Return why Spark cannot be started, or why its master cannot be reached."""
    condition = getattr(error, "getCondition", lambda: None)()
    if condition == "JAVA_GATEWAY_EXITED" or isinstance(error, FileNotFoundError):
        home = os.environ.get("JAVA_HOME")
        if home and not shutil.which("java", path=str(Path(home, "bin"))):
            return "Spark needs Java, and JAVA_HOME names a folder without it. Set JAVA_HOME to Java 17 or newer."
        if not home and not shutil.which("java"):
            return "Spark needs Java, which is not installed here. Install Java 17 or newer."
        return "Spark's Java ended at once. Check that it is Java 17 or newer, and that it has enough memory."
    named = _MASTER.fullmatch(master)
    if named and not _answers(named[1], int(named[2])):
        return f"No Spark master answered at {named[1]}:{named[2]}. Check host and port in [source] url."
    return "Spark cannot be started with the master that [source] url names. Write one such as spark://local[2]."


def _answers(host: str, port: int) -> bool:
    try:
        with socket.create_connection((host, port), timeout=_ANSWER_SECONDS):
            return True
    except (OSError, OverflowError):
        return False
