"""A small process that forks workers and kills them: the start of Python, and of the shim, is paid once.

Forking here and not in pytest keeps its threads out of the children.
"""

import importlib
import json
import os
import select
import signal
import subprocess
import sys
import time
import traceback
from pathlib import Path

TESTS = Path(__file__).parents[1]


class Zygote:
    """The tests' end. `shim` is preloaded, watches `root` and keeps its shadow in `shadow`; `worker` does the work."""

    def __init__(
        self,
        shim: Path | None = None,
        root: Path | None = None,
        shadow: Path | None = None,
        worker: str = "ledger.crash_worker",
    ) -> None:
        paths = filter(None, [str(TESTS), os.environ.get("PYTHONPATH")])
        env = dict(os.environ, PYTHONPATH=os.pathsep.join(paths), PYTHONDONTWRITEBYTECODE="1")
        if shim:
            env |= {"LD_PRELOAD": str(shim), "SHIM_ROOT": str(root), "SHIM_SHADOW": str(shadow)}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "ledger.crash_zygote", worker],
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, work: str, **order) -> list[dict]:
        """Fork a worker, kill it after `kill_after` seconds (from its `ready` if it is to be awaited), hear it out."""
        print(json.dumps({"work": work, **order}), file=self._process.stdin, flush=True)
        said = json.loads(self._process.stdout.readline())
        for line in said:
            assert "broke" not in line, f"the worker broke:\n{line['broke']}\norder: {order}"
        return said

    def close(self) -> None:
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


def emitted(said: list[dict]) -> dict[str, bytes]:
    """The answers that left the worker, by key."""
    return {line["key"]: bytes.fromhex(line["body"]) for line in said if "key" in line}


def _trial(order: dict) -> list[dict]:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _work(order, writing)
    os.close(writing)
    text, kill_after = b"", order.get("kill_after")
    deadline = None if kill_after is None or order.get("await_ready") else time.monotonic() + kill_after
    while True:
        left = None if deadline is None else deadline - time.monotonic()
        if left is not None and left <= 0:
            os.kill(child, signal.SIGKILL)
            deadline = None
        elif select.select([reading], [], [], left)[0]:
            part = os.read(reading, 65536)
            if not part:
                break
            if deadline is None and kill_after is not None and b'"ready"' in part:
                deadline = time.monotonic() + kill_after
            text += part
    os.close(reading)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    # A pipe takes short lines whole, so a killed worker leaves no half of one.
    return [*map(json.loads, text.splitlines()), *([] if status in (0, -9) else [{"broke": f"exit {status}"}])]


def _work(order: dict, writing: int) -> None:
    # Loaded already, before the fork.
    worker = importlib.import_module(sys.argv[1])

    def emit(**line) -> None:
        os.write(writing, json.dumps(line).encode() + b"\n")

    try:
        getattr(worker, order["work"])(order, emit)
    except BaseException:  # noqa: BLE001 - whatever it is, the test must hear of it
        emit(broke=traceback.format_exc()[-3000:])
    os._exit(0)


def _serve() -> None:
    # Loaded once, before the first fork.
    for module in (sys.argv[1], "thresher.ledger.stores.postgres"):
        importlib.import_module(module)
    for line in sys.stdin:
        print(json.dumps(_trial(json.loads(line))), flush=True)


if __name__ == "__main__":
    _serve()
