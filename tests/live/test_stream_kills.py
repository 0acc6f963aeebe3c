"""kill -9 at any moment of a running stream: every step has one charge and one value, and no draw is made twice."""

import pytest
from ledger.crash_folders import chances, quick_folder
from ledger.crash_zygote import Zygote, emitted
from live.campuses import PEGASUS, campus, counts

from thresher.ledger import open_book
from thresher.live.open_stream import open_stream
from thresher.live.recorded_noise import RecordedEntropy
from thresher.streams.step_release import RELEASED, TORN

SEED, STEPS = 7, 400
KILLS, SOAKED = 201, 1000
KILLS_PER_STREAM = 20
KEYED = 'key_file = "stream.key"\nwindows'
VARIANTS = {
    "laplace": (),
    "grouped": (("windows", PEGASUS),),
    "grouped and sealed": (("windows", PEGASUS), ("windows", KEYED)),
}


@pytest.fixture(scope="module")
def zygote():
    zygote = Zygote(worker="live.stream_worker")
    yield zygote
    zygote.close()


def uninterrupted(changes) -> dict[int, bytes]:
    """The same noise, never interrupted."""
    with quick_folder() as folder, open_stream(campus(folder, *changes), "campus", entropy=RecordedEntropy(SEED)) as s:
        return {step: s.put_counts(step, counts(step)).to_bytes() for step in range(STEPS)}


def killed_often(zygote, folder, kills, chance) -> tuple[dict[int, bytes], list[int]]:
    """All that left a stream whose workers died so often, by step; and the steps that it was opened at again."""
    left, opened = {}, []
    for _ in range(kills):
        said = zygote.run(
            "run",
            path=str(folder / "thresher.toml"),
            seed=SEED,
            steps=STEPS,
            kill_after=chance.uniform(0.001, 0.05),
            await_ready=chance.random() < 0.75,
        )
        opened += [line["ready"] for line in said if "ready" in line]
        for step, body in emitted(said).items():
            assert int(step) not in left, "a step was handed out by two workers"
            left[int(step)] = body
    return left, opened


def check(folder, declared, left, opened, whole, sealed) -> tuple[int, int]:
    with open_stream(declared, "campus", entropy=RecordedEntropy(SEED)) as stream:
        records = list(stream.records())
        steps, torn = len(records), [record.step for record in records if record.kind == TORN]
        assert [record.step for record in records] == list(range(steps))
        assert all(record.kind in (RELEASED, TORN) for record in records)
        # Equal until the first restart without sealed groups, and until the first lost step with them.
        restarts = [step for step in opened if step] or [steps]
        alike = min(torn, default=steps) if sealed else min([*restarts, *torn], default=steps)
        for record in records:
            if record.kind == RELEASED:
                assert record.to_bytes() == left.get(record.step, record.to_bytes())
                expected = type(record).from_bytes(whole[record.step], record.names)
                assert record.drawn.noisy.tolist() == expected.drawn.noisy.tolist()
                assert record.step >= alike or record.to_bytes() == whole[record.step]
    book = open_book(declared.ledger)
    entries = book.entries()
    keys = [entry.facts["key"] for entry in entries if entry.kind == "reserve"]
    ends = [entry.kind for entry in entries if entry.kind in ("settle", "forfeit", "cancel")]
    assert len(keys) == len(set(keys)) == steps
    assert (ends.count("settle"), ends.count("forfeit"), ends.count("cancel")) == (steps - len(torn), len(torn), 0)
    assert str(book.balance("stream:campus").spent) == "0.5"
    book.close()
    return steps, len(torn)


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_step_has_one_charge_and_one_value(zygote, trials, measured, variant):
    changes, chance = VARIANTS[variant], chances(SEED)
    whole, total = uninterrupted(changes), [0, 0]
    kills = trials(KILLS, SOAKED) // len(VARIANTS)
    for start in range(0, kills, KILLS_PER_STREAM):
        with quick_folder() as folder:
            declared = campus(folder, *changes)
            left, opened = killed_often(zygote, folder, min(KILLS_PER_STREAM, kills - start), chance)
            found = check(folder, declared, left, opened, whole, "sealed" in variant or variant == "laplace")
            total = [before + now for before, now in zip(total, found, strict=True)]
    assert total[0] > kills / 4
    measured(f"stream, {variant}: {kills} kill -9 over {total[0]} steps, each charged once; {total[1]} torn")


def test_the_check_has_teeth(zygote):
    """Noise that differs from the recorded one is found."""
    with quick_folder() as folder:
        declared = campus(folder)
        said = zygote.run("run", path=str(folder / "thresher.toml"), seed=SEED, steps=3)
        left = {int(step): body for step, body in emitted(said).items()}
        other = uninterrupted((("windows = [4, 12]", "windows = [4]"),))
        with pytest.raises(AssertionError):
            check(folder, declared, {**left, 0: b"another"}, [], other, True)
        with pytest.raises(AssertionError):
            check(folder, declared, left, [], other, True)
