"""Running the papers' experiments: `papers` in this process, which saves loading them for every test."""

import contextlib
import io
import os
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

from papers.__main__ import papers as commands
from thresher.cli import main

ROOT = Path(__file__).parents[2]


def papers(*arguments, env=None, cwd=None):
    """What `python -m papers` prints, and its exit code; THRESHER_DATA is not set unless `env` sets it."""
    out, err = io.StringIO(), io.StringIO()
    environment = mock.patch.dict(os.environ, {"THRESHER_DATA": "", **(env or {})})
    typed = mock.patch("sys.argv", ["papers", *arguments])
    where = contextlib.chdir(cwd or ROOT)
    with environment, typed, where, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(commands, "python -m papers")
            code = 0
        except SystemExit as ended:
            code = ended.code
    return SimpleNamespace(returncode=code, stdout=out.getvalue(), stderr=err.getvalue())
