"""The shim from the tests' side: built, given a folder to watch, and asked what a power cut would leave."""

import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from ledger.crash_zygote import Zygote

SOURCE = Path(__file__).with_name("durable_shim.c")
SECTOR = 512


def built_shim(folder: Path) -> Path:
    """The shim, compiled; where it cannot be had these tests are skipped, and fail where all must run."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None or sys.platform != "linux":
        lacking = (
            "C compiler (cc, gcc, clang)" if sys.platform == "linux" else "Linux, whose calls the shim stands before"
        )
        reason = f"no {lacking}: power cuts and failing disks are NOT tested"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    shim = folder / "durable_shim.so"
    subprocess.run([compiler, "-O2", "-shared", "-fPIC", "-o", str(shim), str(SOURCE), "-ldl"], check=True)
    return shim


class Disk:
    """A watched folder `live`, its shadow, and a zygote whose workers write there."""

    def __init__(self, folder: Path) -> None:
        self.live, self.shadow, self.restored = folder / "live", folder / "shadow", folder / "restored"
        self.url, self.restored_url = (f"sqlite:///{place}/ledger.db" for place in (self.live, self.restored))
        self.zygote = Zygote(built_shim(folder), self.live, self.shadow)
        self.clear()

    def clear(self) -> None:
        """An empty folder, which is on disk."""
        for place in (self.live, self.shadow, self.restored):
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir()
        for part in ("files", "unnamed", "fresh", "draft"):
            (self.shadow / part).mkdir()

    def cut_power(self, torn: random.Random | None = None) -> None:
        """Put into `restored` what is on disk. With `torn`, any sector not synced may have reached it all the same."""
        shutil.rmtree(self.restored)
        shutil.copytree(self.shadow / "files", self.restored)
        for kept in self.restored.iterdir() if torn else ():
            if not (self.shadow / "fresh" / kept.name).exists() and (self.live / kept.name).exists():
                kept.write_bytes(_torn(kept.read_bytes(), (self.live / kept.name).read_bytes(), torn))


def _torn(synced: bytes, latest: bytes, chance: random.Random) -> bytes:
    size = chance.choice([len(synced), len(latest)])
    likely = chance.random()
    sources = [part.ljust(size, b"\0") for part in (synced, latest)]
    return b"".join(
        sources[chance.random() < likely][start : min(start + SECTOR, size)] for start in range(0, size, SECTOR)
    )
