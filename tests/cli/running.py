"""Running the command: in this process, which saves loading it, or in a process of its own where that is the subject.

`thresher` gives the same exit code, output and error text as a process would. A process of its own is needed for
signals, terminals, closed or full outputs, and for what Python itself does at its end.
"""

import contextlib
import io
import os
import subprocess
import sys
from pathlib import Path
from unittest import mock

from thresher.cli import main

FULL = Path("/dev/full")


def thresher(*arguments, env=None, cwd=None, typed=""):
    """Run the command in this process, with its own folder, environment and standard streams."""
    encoding = (env or {}).get("PYTHONIOENCODING", "utf-8")
    out, err = _stream(encoding=encoding), _stream(encoding=encoding, errors="backslashreplace")
    with (
        mock.patch.dict(os.environ, env or {}),
        mock.patch.multiple(sys, argv=["thresher", *arguments], path=list(sys.path), stdin=_stream(typed)),
        contextlib.chdir(cwd or Path.cwd()),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            main()
            code = 0
        except SystemExit as ended:
            code = ended.code or 0
    return subprocess.CompletedProcess(arguments, code, _text(out), _text(err))


def process(*arguments, env=None, cwd=None):
    """Run the command in a process of its own."""
    command = [sys.executable, "-m", "thresher", *arguments]
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **(env or {})},
        cwd=cwd,
        stdin=subprocess.DEVNULL,
    )


def in_shell(script, cwd=None):
    """Run a script in which $THRESHER is the command, for what only a shell can do to its streams."""
    env = {**os.environ, "THRESHER": f"{sys.executable} -m thresher"}
    return subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False, env=env, cwd=cwd)


def _stream(text="", encoding="utf-8", errors="strict"):
    """Return a stream as Python makes it for a pipe, except that its bytes stay in memory."""
    return io.TextIOWrapper(io.BytesIO(text.encode()), encoding=encoding, errors=errors)


def _text(stream):
    stream.flush()
    return stream.buffer.getvalue().decode()
