"""Streams on a ledger that was restored from a backup: what the anchor saw is torn, and later steps go on."""

from contextlib import closing

import pytest
from ledger.conftest import postgres_server, postgres_url  # noqa: F401 - one way to start PostgreSQL
from ledger.set_back import Copy
from live.campuses import PEGASUS, campus, counts

from thresher.accounts import book_options
from thresher.errors import ArgumentError, LedgerRolledBackError
from thresher.ledger import closed_book, open_book
from thresher.ledger.restoring import accept_restore
from thresher.live.open_stream import open_stream
from thresher.live.recorded_noise import RecordedEntropy
from thresher.streams.step_release import GAP, OPENS, RELEASED, TORN

SQLITE = 'url = "sqlite:///ledger.db"'
SEALED = (("windows", PEGASUS), ("windows", 'key_file = "stream.key"\nwindows'))


def opened(declared, seed=3):
    return open_stream(declared, "campus", entropy=RecordedEntropy(seed))


def put_many(stream, *steps):
    # From the second step on the counts stay as they were, so that groups stay open.
    return [stream.put_counts(step, counts(7)) for step in steps]


@pytest.fixture(params=["files", "restore"])
def place(request, tmp_path):
    """Declarations with sealed groups, the address of their ledger, and a way to set it back."""
    if request.param == "files":
        return campus(tmp_path, *SEALED), f"sqlite:///{tmp_path / 'ledger.db'}", request.param
    address = request.getfixturevalue("postgres_url")
    return campus(tmp_path, *SEALED, (SQLITE, f'url = "{address}"')), address, request.param


def accepted(declared):
    book = closed_book(declared.ledger, **book_options(declared))
    with closing(book):
        return accept_restore(book, book.anchor)


def restored(place, folder, before, after):
    """A stream that has put the steps `before` a backup and `after` it, and was restored."""
    declared, address, way = place
    with opened(declared) as stream:
        known = put_many(stream, *before)
        copy = Copy(address, way, folder)
        put_many(stream, *after)
    copy.restore()
    with pytest.raises(LedgerRolledBackError, match="older copy"):
        opened(declared)
    accepted(declared)
    return declared, known


def test_steps_that_the_anchor_saw_are_torn_and_never_drawn_again(place, tmp_path):
    declared, known = restored(place, tmp_path, range(3), range(3, 6))
    for _ in range(2):
        with opened(declared) as stream:
            records = list(stream.records())
            assert [record.kind for record in records] == [RELEASED] * 3 + [TORN] * 3
            assert [record.to_bytes() for record in records[:3]] == [record.to_bytes() for record in known]
            for step in range(6):
                with pytest.raises(ArgumentError, match="that step is over"):
                    stream.put_counts(step, counts(7))
    with opened(declared) as stream:
        later = put_many(stream, 6, 7)
        # What was open in the backup may have been closed since, so that a new group begins.
        assert later[0].drawn.marks.tolist() == [OPENS] * 3
        # The window of four steps covers two that were released since.
        assert later[1].windows[0].covered == 2
    with opened(declared) as stream:
        assert stream.next_step == 8
        assert [record.kind for record in stream.records()] == [RELEASED] * 3 + [TORN] * 3 + [RELEASED] * 2
        # Groups that began since go on.
        assert OPENS not in put_many(stream, 8)[0].drawn.marks.tolist()
    with closing(open_book(declared.ledger, **book_options(declared))) as book:
        keys = [entry.facts["key"] for entry in book.entries() if entry.kind == "reserve"]
        assert len(keys) == len(set(keys)) == 6
        assert str(book.balance("stream:campus").spent) == "0.5"
        book.verify()


def test_a_backup_of_before_the_first_step_draws_none_of_them(place, tmp_path):
    """Gaps are not charged, and the anchor knows only the last step: they count as torn."""
    declared, _ = restored(place, tmp_path, (), (0, 1, 4))
    with opened(declared) as stream:
        assert [record.kind for record in stream.records()] == [TORN] * 5
        assert [record.kind for record in put_many(stream, 5, 8)] == [RELEASED] * 2
        assert [record.kind for record in stream.records(5)] == [RELEASED, GAP, RELEASED]


def test_a_second_restoration_forgets_nothing_of_the_first(place, tmp_path):
    declared, _ = restored(place, tmp_path, (0,), (1, 2, 3))
    _, address, way = place
    with opened(declared) as stream:
        put_many(stream, 4)
        copy = Copy(address, way, tmp_path)
        put_many(stream, 5)
    copy.restore()
    accepted(declared)
    with opened(declared) as stream:
        kinds = [record.kind for record in stream.records()]
        assert kinds == [RELEASED, TORN, TORN, TORN, RELEASED, TORN]
        assert stream.next_step == 6


def test_who_only_reads_sees_it_too(place, tmp_path):
    declared, _ = restored(place, tmp_path, (0,), (1, 2))
    with open_stream(declared, "campus", reading=True) as stream:
        assert [record.kind for record in stream.records()] == [RELEASED, TORN, TORN]
