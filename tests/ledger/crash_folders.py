"""Folders of the crash tests: in memory where there is room, since a killed process leaves the same there."""

import random
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MEMORY = Path("/dev/shm")  # noqa: S108 - the folder below it is made with a name of its own


def chances(seed: int) -> random.Random:
    """Moments and places to strike at, the same in every run."""
    return random.Random(seed)


@contextmanager
def quick_folder() -> Iterator[Path]:
    """A new folder, without waiting for a disk. Where a real disk matters, tests take pytest's `tmp_path`."""
    folder = Path(tempfile.mkdtemp(prefix="thresher-crash-", dir=MEMORY if MEMORY.is_dir() else None))
    try:
        yield folder
    finally:
        shutil.rmtree(folder)
