"""Running the command as people do: in a process of its own, or, where only its words matter, in this one."""

import contextlib
import io
import os
import subprocess
import sys
from pathlib import Path

from thresher.cli import main

FULL = Path("/dev/full")


def thresher(*arguments, env=None, cwd=None, stdin=subprocess.DEVNULL):
    command = [sys.executable, "-m", "thresher", *arguments]
    environment = {**os.environ, **(env or {})}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=cwd, stdin=stdin)


def called(*arguments, cwd):
    """The same in this process, which takes a tenth of the time."""
    before, given = os.getcwd(), sys.argv
    out, err = io.StringIO(), io.StringIO()
    os.chdir(cwd)
    sys.argv = ["thresher", *arguments]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main()
        code = 0
    except SystemExit as ended:
        code = ended.code or 0
    finally:
        os.chdir(before)
        sys.argv = given
    return subprocess.CompletedProcess(arguments, code, out.getvalue(), err.getvalue())


def in_shell(script, cwd=None):
    """Run a script in which $THRESHER is the command, for what only a shell can do to its streams."""
    env = {**os.environ, "THRESHER": f"{sys.executable} -m thresher"}
    return subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False, env=env, cwd=cwd)
