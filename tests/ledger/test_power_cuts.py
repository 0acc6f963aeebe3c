"""Power cuts: only what was synced survives, and every answer that left is among it."""

import pytest
from ledger.crash_check import Findings, check
from ledger.crash_folders import chances
from ledger.crash_power import Disk
from ledger.crash_zygote import emitted

SEED = 20_261_117
CUTS, CUTS_SOAK = 50, 1_000
NORMAL_CUTS = 60
# The process dies just before its n-th call of a kind. The first calls make the book itself.
EXACT = {"fsync": range(1, 41), "write": range(1, 400, 7), "rename": range(1, 11), "unlink": range(1, 3)}
EXACT_SOAK = {"fsync": range(1, 251), "write": range(1, 600), "rename": range(1, 101), "unlink": range(1, 3)}
AGAIN = {"fsync": range(10, 50), "write": range(150, 400, 6)}
AGAIN_SOAK = {"fsync": range(1, 251), "write": range(1, 600)}
SHORTEST, LONGEST = 0.001, 0.030


def cut_many(disk: Disk, cuts: int, **order) -> Findings:
    """Cut the power at random moments; every second disk tears what it had not synced."""
    chance, found = chances(SEED), Findings()
    for cut in range(cuts):
        disk.clear()
        said = disk.zygote.run(
            "answer",
            url=disk.url,
            trial=f"cut{cut}",
            kill_after=chance.uniform(SHORTEST, LONGEST),
            await_ready=chance.random() < 0.75,
            checkpoint_pages=chance.choice([None, 8]),
            **order,
        )
        found.counts["emitted"] += len(emitted(said))
        disk.cut_power(chance if cut % 2 else None)
        left = check(disk.restored_url, emitted(said))
        if left.counts["refused"]:
            # The anchor has caught it; count what is lost behind that refusal, too.
            (disk.restored / "ledger.db.anchor").unlink(missing_ok=True)
            left += check(disk.restored_url, emitted(said), accept_anchor=True)
        found += left
    return found


def test_no_answer_is_forgotten_in_a_power_cut(disk, trials, measured):
    found = cut_many(disk, trials(CUTS, CUTS_SOAK))
    measured(f"power cuts: {found}")
    assert not found.wrong
    assert found.counts["emitted"] > 0
    assert found.counts["forfeit"] > 0


@pytest.mark.parametrize("call", EXACT)
def test_no_answer_is_forgotten_whichever_call_is_the_last(disk, call, soak, measured):
    found = Findings()
    for at in (EXACT_SOAK if soak else EXACT)[call]:
        disk.clear()
        said = disk.zygote.run("answer", url=disk.url, trial="exact", call=call, at=at, checkpoint_pages=8)
        found.counts["emitted"] += len(emitted(said))
        disk.cut_power()
        found += check(disk.restored_url, emitted(said))
    measured(f"last call {call}: {found}")
    assert not found.wrong
    assert found.counts["emitted"] > 0


@pytest.mark.parametrize("call", AGAIN)
def test_an_answer_handed_out_again_after_a_crash_is_on_disk(disk, call, soak, measured):
    """A worker dies between writing a commit and syncing it. The next one finds that commit in the system's memory and
    hands its answer out; then the power goes. What was handed out must be there, and the anchor not ahead."""
    found = Findings()
    for at in (AGAIN_SOAK if soak else AGAIN)[call]:
        disk.clear()
        first = emitted(disk.zygote.run("answer", url=disk.url, trial="twice", call=call, at=at))
        again = emitted(disk.zygote.run("replay", url=disk.url, trial="twice", most=len(first) + 1))
        found.counts["emitted"] += len(first)
        found.counts["handed out again"] += len(again)
        assert first.items() <= again.items()
        disk.cut_power()
        found += check(disk.restored_url, again)
    measured(f"handed out again, last call {call}: {found}")
    assert not found.wrong
    if call == "fsync":
        assert found.counts["handed out again"] > found.counts["emitted"], "no commit was found before it was synced"


def test_a_store_that_syncs_less_is_caught(disk, measured):
    """The power of the tests above: SQLite's synchronous = NORMAL forgets answers."""
    found = cut_many(disk, NORMAL_CUTS, synchronous="NORMAL")
    measured(f"synchronous=NORMAL: {found}")
    assert found.wrong
    assert found.counts["forgotten"] > 0
