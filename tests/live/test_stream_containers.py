"""kill -9 in a namespace of its own, as in a container: streams and questions go on, and each is charged once."""

import os
import sys
import threading
from contextlib import closing, suppress

import pytest
from engine.clinics import DECLARATIONS, clinic
from ledger.conftest import postgres_server, postgres_url, url  # noqa: F401 - both stores
from ledger.crash_folders import chances, quick_folder
from ledger.crash_zygote import Zygote, emitted
from live.campuses import campus, counts

import thresher
from thresher.amounts import Epsilon
from thresher.errors import CuratorError, LostAnswerError, SourceUnavailableError
from thresher.ledger import Book, open_book
from thresher.live.open_stream import open_stream
from thresher.live.recorded_noise import RecordedEntropy
from thresher.streams.step_release import RELEASED, TORN

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0, reason="NO NAMESPACES: they need Linux and root"
)
SEED, STEPS = 11, 100_000
LEASED = 'lease_seconds = 1\nurl = "{}"'
SQLITE = 'url = "sqlite:///ledger.db"'
COUNT = "SELECT ward FROM patients GROUP BY ward HAVING COUNT(*) > 30"


@pytest.fixture(scope="module")
def zygote():
    zygote = Zygote(worker="live.container_worker")
    yield zygote
    zygote.close()


@pytest.fixture(params=["sqlite", "postgres"])
def leased(request):
    """How a ledger is declared whose leases are short."""
    address = "sqlite:///ledger.db" if request.param == "sqlite" else request.getfixturevalue("postgres_url")
    return SQLITE, LEASED.format(address)


def kills_of(entries):
    """The keys that were charged, and how often each ending was written."""
    keys = [entry.facts["key"] for entry in entries if entry.kind == "reserve"]
    ends = [entry.kind for entry in entries if entry.kind in ("settle", "forfeit", "cancel")]
    assert len(keys) == len(set(keys)) == len(ends)
    assert "cancel" not in ends
    return keys, ends


def in_the_middle(zygote, work, chance, **order):
    """Run a worker and kill it at a random moment after it has begun."""
    return zygote.run(work, kill_after=chance.uniform(0.0, 0.05), await_ready=True, seed=SEED, steps=STEPS, **order)


def test_streams_go_on_when_the_lease_has_run_out(zygote, leased, trials, measured, monkeypatch):
    """Nobody outside can tell that the process is gone. Meanwhile anybody may look at what is stored."""
    kills, chance, left = trials(2, 300), chances(SEED), {}
    with quick_folder() as folder:
        declared = campus(folder, leased)
        for _ in range(kills):
            said = in_the_middle(zygote, "stream", chance, path=str(folder / "thresher.toml"))
            new = {int(step): body for step, body in emitted(said).items()}
            assert not set(left) & set(new), "a step was handed out by two workers"
            left |= new
            with monkeypatch.context() as patched:
                patched.setattr(Book, "await_end", lambda *_: pytest.fail("it waited"))
                with open_stream(declared, "campus", reading=True) as shown:
                    stored = {record.step: record.to_bytes() for record in shown.records()}
            assert all(stored[step] == body for step, body in new.items())
        with open_stream(declared, "campus", entropy=RecordedEntropy(SEED)) as stream:
            records = list(stream.records())
            assert stream.put_counts(stream.next_step, counts(stream.next_step)).kind == RELEASED
        torn = [record.step for record in records if record.kind == TORN]
        assert [record.step for record in records] == list(range(len(records)))
        assert all(record.to_bytes() == left.get(record.step, record.to_bytes()) for record in records)
        with closing(open_book(declared.ledger, folder=folder)) as book:
            keys, ends = kills_of(book.entries())
            assert len(keys) == len(records) + 1
            assert ends.count("forfeit") == len(torn)
            assert str(book.balance("stream:campus").spent) == "0.5"
            book.verify()
    name = leased[1].split('"')[1].split(":")[0]
    measured(f"{name}: {kills} kill -9 of streams in namespaces, {len(records)} steps charged once, {len(torn)} torn")


def test_questions_go_on_too(zygote, leased, trials, measured):
    kills, chance, handed_out = trials(2, 300), chances(SEED), {}
    with quick_folder() as folder:
        text = DECLARATIONS.replace('"10"', '"100000"').replace(SQLITE, leased[1])
        path = clinic(folder, declarations=text)
        assert "lease_seconds" in path.read_text()
        for number in range(kills):
            said = in_the_middle(zygote, "ask", chance, path=str(path), sql=COUNT, first=number * 10_000)
            handed_out |= emitted(said)
        with thresher.open(path) as engine:
            lost = 0
            for entry in engine.ledger.entries():
                if entry.kind == "reserve" and entry.facts["key"] not in handed_out:
                    try:
                        assert engine.decide(
                            COUNT, uncertain_region=10, mechanism="tslm", key=entry.facts["key"]
                        ).repeated
                    except LostAnswerError:
                        lost += 1
            for key, body in handed_out.items():
                assert engine.decide(COUNT, uncertain_region=10, mechanism="tslm", key=key).to_bytes() == body
            engine.decide(COUNT, uncertain_region=10, mechanism="tslm", key="after")
            keys, ends = kills_of(engine.ledger.entries())
            assert ends.count("forfeit") == lost
            assert engine.ledger.balance("patients").spent == len(keys) * Epsilon("0.218725417")
            engine.ledger.verify()
    name = leased[1].split('"')[1].split(":")[0]
    measured(f"{name}: {kills} kill -9 of askers in namespaces, {len(keys)} questions charged once, {lost} lost")


# In the middle of a step, for certain


def held_open(path, step, reached, go_on):
    """Another owner that is in the middle of a step and shows no sign of life; it wakes at the end of the test."""

    def fetch():
        reached.set()
        go_on.wait()
        raise SourceUnavailableError("too late")

    with open_stream(path, "campus", entropy=RecordedEntropy(SEED)) as stream:
        stream._book.leases._renew = lambda held: None
        for number in range(stream.next_step, 2):
            stream.put_counts(number, counts(number))
        with suppress(CuratorError, LostAnswerError):
            stream.put(step, fetch)


@pytest.mark.parametrize("step", [2, 4], ids=["next", "behind a gap"])
def test_a_step_in_the_middle_is_waited_for_by_who_goes_on_and_by_nobody_else(tmp_path, leased, step):
    declared, reached, go_on = campus(tmp_path, leased), threading.Event(), threading.Event()
    owner = threading.Thread(target=held_open, args=(declared, step, reached, go_on))
    owner.start()
    try:
        assert reached.wait(30)
        with open_stream(declared, "campus", reading=True) as shown:
            assert [record.kind for record in shown.records()] == [RELEASED] * 2
            with pytest.raises(CuratorError, match="opened for reading"):
                shown.put_counts(2, counts(2))
        with open_stream(declared, "campus", entropy=RecordedEntropy(SEED)) as stream:
            kinds = [stream.put_counts(number, counts(number)).kind for number in range(stream.next_step, 6)]
            assert kinds == ([RELEASED] * 3 if step == 2 else [RELEASED, RELEASED, TORN, RELEASED])
            assert [record.step for record in stream.records() if record.kind == TORN] == [step]
    finally:
        go_on.set()
        owner.join()
    with closing(open_book(declared.ledger, folder=tmp_path)) as book:
        keys, ends = kills_of(book.entries())
        assert (len(keys), ends.count("forfeit")) == (6, 1)
