"""Running the papers' experiments as people do: in a process of their own, from the project's folder or another."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def papers(*arguments, env=None, cwd=None):
    command = [sys.executable, "-m", "papers", *arguments]
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONPATH": path, **(env or {})}
    return subprocess.run(
        command, capture_output=True, text=True, check=False, env=environment, cwd=cwd, stdin=subprocess.DEVNULL
    )
