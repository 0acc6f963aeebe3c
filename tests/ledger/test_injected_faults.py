"""A failing disk: whichever call fails, no answer leaves without a charge on disk, and a failed commit stops the book.

Each trial makes a book, answers through the fault, and is then checked twice: as the files are, and as a power cut at
the end would leave them.
"""

import shutil
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from ledger.crash_check import Findings, check
from ledger.crash_zygote import Zygote, emitted

# Which calls fail. Small: making the book and the first answers closely, later ones in steps; soak: each.
FAILING = {
    "fsync": [*range(1, 25), *range(25, 80, 5)],
    "write": [*range(1, 200, 9), *range(200, 500, 23)],
    "open": [*range(1, 25), *range(25, 80, 5)],
    "rename": [1],
    "read": [*range(1, 60, 5)],
}
FAILING_SOAK = {
    "fsync": range(1, 201),
    "write": range(1, 601),
    "open": range(1, 201),
    "rename": [1, 2],
    "read": range(1, 201),
}
# A failing sector answers EIO once; a full disk stays full until somebody makes room.
ERRORS = {"EIO": False, "ENOSPC": True}


@pytest.mark.parametrize(
    ("call", "error"), [(call, error) for call in FAILING for error in ERRORS if (call, error) != ("read", "ENOSPC")]
)
def test_no_answer_leaves_without_a_charge_on_disk(disk, call, error, soak, measured):
    found, outcomes = Findings(), Counter()
    for at in (FAILING_SOAK if soak else FAILING)[call]:
        disk.clear()
        said = disk.zygote.run(
            "endure",
            url=disk.url,
            trial=f"{call}{at}",
            call=call,
            at=at,
            error=error,
            sticky=ERRORS[error],
            # Else a log short enough for checkpoints, whose own failures nobody is told of, to be hit as well.
            checkpoint_pages=8 if at % 2 else None,
        )
        outcomes += Counter(name for line in said for name in line)
        assert not [line for line in said if "disobeyed" in line], f"{call} {at}"
        disk.cut_power()
        for url in (disk.url, disk.restored_url):
            trial = check(url, emitted(said))
            assert not trial.wrong, f"{call} {at} {error}: {trial.wrong} after {said}"
            found += trial
    measured(f"{call} {error}: {dict(outcomes)}; {found}")
    assert outcomes["fired"] == found.counts["trials"] / 2, "a worker did not end"
    # The faults did hit, at opening and later.
    assert outcomes["refused"] > 0
    if call not in ("read", "rename"):
        assert outcomes["stopped"] > 0


def test_a_worker_that_answers_in_spite_of_a_failed_commit_is_caught(disk, measured):
    """The power of the test above, with its own checker."""
    found = Findings()
    for at in range(10, 30):
        disk.clear()
        said = disk.zygote.run(
            "endure", url=disk.url, trial="careless", call="fsync", at=at, error="EIO", sticky=False, careless=True
        )
        found += check(disk.url, emitted(said))
    measured(f"careless worker: {found}")
    assert found.counts["forgotten"] > 0


@pytest.fixture
def folder():
    """Below /tmp and open to all: other users than ours must be able to come this far."""
    folder = Path(tempfile.mkdtemp(prefix="thresher-rights-"))
    folder.chmod(0o755)
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def zygote():
    zygote = Zygote()
    yield zygote
    zygote.close()


def test_a_full_disk_stops_the_book_and_room_starts_it_again(zygote, folder):
    url = f"sqlite:///{folder}/ledger.db"
    said = zygote.run("fill_disk", url=url, folder=str(folder))
    assert [line for line in said if "stopped" in line], "the limit was never met"
    assert not [line for line in said if "disobeyed" in line]
    assert {key for key in emitted(said) if key.startswith("room")} == {f"room-{number}" for number in range(5)}
    assert not check(url, emitted(said)).wrong


@pytest.mark.parametrize("what", ["folder", "file", "anchor"])
def test_what_cannot_be_written_is_refused(zygote, folder, what):
    """With real rights: the worker lays down root's, where the tests run as root."""
    url, anchor = f"sqlite:///{folder}/ledger.db", folder / "anchors" / "ledger.anchor"
    anchor.parent.mkdir()
    assert not check(url, {}, anchor).wrong
    for path in folder.rglob("*"):
        path.chmod(0o777 if path.is_dir() else 0o666)
    folder.chmod(0o777)
    assert zygote.run("open_as_nobody", url=url, anchor=str(anchor)) == [], "with all rights it opens"
    match what:
        case "folder":
            folder.chmod(0o555)
            for path in folder.glob("ledger.db*"):
                path.chmod(0o444)
        case "file":
            (folder / "ledger.db").chmod(0o444)
        case "anchor":
            anchor.parent.chmod(0o555)
            for path in anchor.parent.iterdir():
                path.chmod(0o444)
    (said,) = zygote.run("open_as_nobody", url=url, anchor=str(anchor))
    assert said["refused"] == "LedgerError"
    assert ("cannot be read or written" if what == "anchor" else "cannot be written") in said["text"]
