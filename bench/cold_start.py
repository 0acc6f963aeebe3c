"""How long a command waits before it works: fresh processes, in multiples of `import numpy, duckdb`.

Commands take turns, so that a busy machine slows all of them alike; times are medians. Compare ratios only.
Run: python bench/cold_start.py [ROUNDS] [PYTHON ...], where each PYTHON has a Thresher of its own to be compared.
"""

import importlib.util
import re
import resource
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROUNDS = 5
ANCHOR = "import numpy, duckdb"
# Where the aim is None, a figure is only shown.
AIMS = {
    ANCHOR: None,
    "--version": None,
    "--help": 0.5,
    "ledger show": None,
    "ask, stored": 3.2,
    "ask, new": 4.5,
    "plan": 4.5,
}
BUILD = "from pathlib import Path; from thresher.demo import QUESTION, build; build(Path()); print(QUESTION)"
SOURCE = "import thresher; print(thresher.__path__[0])"
REGION = ["--uncertain-region", "COUNT(*)=60, AVG(age)=1"]


class Installation:
    """A Python with a Thresher, and a hospital for its commands."""

    def __init__(self, python: str, folder: Path) -> None:
        self.python, self.folder = python, folder
        folder.mkdir()
        self.question = self._output("-c", BUILD).strip()
        declared = folder / "thresher.toml"
        declared.write_text(re.sub("^budget = .*", 'budget = "1000"', declared.read_text(), flags=re.MULTILINE))
        self.source = Path(self._output("-c", SOURCE).strip())
        self._run(["ask", self.question, *REGION, "--yes", "--key", "stored"])

    def bytecode(self) -> str:
        """How many source files have bytecode beside them that Python will take."""
        files = list(self.source.rglob("*.py"))
        return f"{sum(map(compiled, files))} of {len(files)} files compiled"

    def once(self, command: str) -> tuple[float, float]:
        """Wall and processor seconds of one fresh process."""
        arguments = {
            "ask, stored": ["ask", self.question, *REGION, "--yes", "--key", "stored"],
            "ask, new": ["ask", self.question, *REGION, "--yes", "--key", str(time.time_ns())],
            "plan": ["plan", self.question, *REGION],
        }.get(command, command.split())
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        started = time.perf_counter()
        if command == ANCHOR:
            self._output("-c", ANCHOR)
        else:
            self._run(arguments)
        wall = time.perf_counter() - started
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def _run(self, arguments: list[str]) -> None:
        self._output("-m", "thresher", *arguments)

    def _output(self, *arguments: str) -> str:
        done = subprocess.run([self.python, *arguments], cwd=self.folder, check=True, capture_output=True, text=True)
        return done.stdout


def compiled(file: Path) -> bool:
    """Whether there is bytecode made from the file as it is now: Python compares its time and size."""
    cache, stat = Path(importlib.util.cache_from_source(str(file))), file.stat()
    if not cache.exists():
        return False
    _, _, made, size = struct.unpack("<4sLLL", cache.read_bytes()[:16])
    return (made, size) == (int(stat.st_mtime), stat.st_size)


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    pythons = sys.argv[2:] or [sys.executable]
    with tempfile.TemporaryDirectory() as name:
        installed = [Installation(python, Path(name) / str(i)) for i, python in enumerate(pythons)]
        taken: dict[tuple[int, str], list[tuple[float, float]]] = {
            (i, command): [] for i in range(len(installed)) for command in AIMS
        }
        for _ in range(rounds):
            for command in AIMS:
                for i, installation in enumerate(installed):
                    taken[i, command].append(installation.once(command))
    print(f"Cold start on the demo's hospital: medians of {rounds} fresh processes that take turns")
    for i, installation in enumerate(installed):
        print(f"{installation.python}: {installation.bytecode()}")
        print(f"  {'command':22} {'ms':>6} {'CPU ms':>7} {'times the import':>17} {'of CPU':>7} {'aim':>5}")
        wall, used = (
            {command: statistics.median(times[part] for times in taken[i, command]) for command in AIMS}
            for part in (0, 1)
        )
        for command, aim in AIMS.items():
            ratios = f"{wall[command] / wall[ANCHOR]:17.2f} {used[command] / used[ANCHOR]:7.2f}"
            aimed = "" if aim is None else f"{aim:5.1f}"
            print(f"  {command:22} {1000 * wall[command]:6.0f} {1000 * used[command]:7.0f} {ratios} {aimed}")


if __name__ == "__main__":
    main()
