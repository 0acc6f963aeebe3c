"""Running the command as people do: in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

FULL = Path("/dev/full")


def thresher(*arguments, env=None, cwd=None, stdin=subprocess.DEVNULL):
    command = [sys.executable, "-m", "thresher", *arguments]
    environment = {**os.environ, **(env or {})}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=cwd, stdin=stdin)


def in_shell(script, cwd=None):
    """Run a script in which $THRESHER is the command, for what only a shell can do to its streams."""
    env = {**os.environ, "THRESHER": f"{sys.executable} -m thresher"}
    return subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False, env=env, cwd=cwd)
