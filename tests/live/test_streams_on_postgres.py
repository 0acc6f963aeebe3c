"""Streams whose ledger is in PostgreSQL: kill -9 of the process or the server, and connections cut anywhere."""

import os
import signal
import socket
import threading
import time
from contextlib import closing, suppress
from pathlib import Path

import psycopg
from ledger.conftest import postgres_server, postgres_url  # noqa: F401 - one way to start PostgreSQL
from ledger.crash_folders import chances, quick_folder
from live.campuses import campus, counts
from live.test_stream_kills import SEED, check, killed_often, uninterrupted, zygote  # noqa: F401 - the same workers

from thresher.errors import LedgerError
from thresher.ledger import open_book
from thresher.live.open_stream import open_stream
from thresher.live.recorded_noise import RecordedEntropy
from thresher.streams.step_release import RELEASED, TORN

SQLITE = 'url = "sqlite:///ledger.db"'
DROP = "DROP SCHEMA IF EXISTS thresher_ledger CASCADE"


def declared_at(folder, address):
    return campus(folder, (SQLITE, f'lease_seconds = 1\nurl = "{address}"'))


def test_every_step_has_one_charge_and_one_value(zygote, postgres_url, trials, measured):  # noqa: F811
    kills, chance, whole, total = trials(10, 300), chances(SEED), uninterrupted(()), [0, 0]
    for start in range(0, kills, 15):
        with psycopg.connect(postgres_url, autocommit=True) as server:
            server.execute(DROP)
        with quick_folder() as folder:
            declared = declared_at(folder, postgres_url)
            left, opened = killed_often(zygote, folder, min(15, kills - start), chance)
            found = check(folder, declared, left, opened, whole, sealed=True)
            total = [before + now for before, now in zip(total, found, strict=True)]
    measured(f"stream on PostgreSQL: {kills} kill -9 over {total[0]} steps, each charged once; {total[1]} torn")


def goes_on_after(folder, address, direct, strike, steps):
    """Put steps until the ledger fails, open the stream again, and check it: what was handed out, and what was torn."""
    declared_at(folder, address)
    handed_out = {}
    with (
        suppress(LedgerError),
        open_stream(folder / "thresher.toml", "campus", entropy=RecordedEntropy(SEED)) as stream,
    ):
        strike()
        for step in range(stream.next_step, stream.next_step + steps):
            handed_out[step] = stream.put_counts(step, counts(step)).to_bytes()
    declared = declared_at(folder, direct)
    deadline = time.monotonic() + 60
    while True:
        try:
            with open_stream(declared, "campus", entropy=RecordedEntropy(SEED)) as stream:
                stream.put_counts(stream.next_step, counts(stream.next_step))
                records = list(stream.records())
            break
        except LedgerError:
            # The server recovers.
            assert time.monotonic() < deadline
            time.sleep(0.05)
    assert all(records[step].to_bytes() == body for step, body in handed_out.items())
    assert {record.kind for record in records} <= {RELEASED, TORN}
    with closing(open_book(declared.ledger, folder=folder)) as book:
        entries = book.entries()
        keys = [entry.facts["key"] for entry in entries if entry.kind == "reserve"]
        ends = [entry.kind for entry in entries if entry.kind in ("settle", "forfeit", "cancel")]
        torn = [record for record in records if record.kind == TORN]
        assert len(keys) == len(set(keys)) == len(records) == len(ends)
        assert ends.count("forfeit") == len(torn)
        assert str(book.balance("stream:campus").spent) == "0.5"
        book.verify()
    return len(records), len(torn)


def test_the_server_is_killed_in_the_middle(postgres_url, tmp_path, trials, measured):  # noqa: F811
    """kill -9 of the process that serves the ledger: the server ends all its connections, and recovers from its log."""
    crashes, chance = trials(2, 30), chances(SEED)

    def strike():
        with psycopg.connect(postgres_url) as server:
            others = "datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
            pids = server.execute(f"SELECT pid FROM pg_stat_activity WHERE {others}").fetchall()
        kill = threading.Timer(chance.uniform(0, 0.1), os.kill, (pids[0][0], signal.SIGKILL))
        kill.start()

    for _ in range(crashes):
        found = goes_on_after(tmp_path, postgres_url, postgres_url, strike, 400)
    measured(f"stream on PostgreSQL: {crashes} crashes of the server over {found[0]} steps; {found[1]} torn")


class Wire:
    """A socket beside the server's, whose connections are all cut after so many bytes."""

    def __init__(self, folder: Path, server: str) -> None:
        self._server, self._left, self._open = server, None, []
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(folder / ".s.PGSQL.5432"))
        self._listener.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def cut_after(self, size: int) -> None:
        self._left = size

    def close(self) -> None:
        self._listener.close()
        self._cut()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.socket(socket.AF_UNIX)
                server.connect(self._server)
                self._open += [client, server]
                for source, sink in ((client, server), (server, client)):
                    threading.Thread(target=self._carry, args=(source, sink), daemon=True).start()

    def _carry(self, source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while block := source.recv(1 << 16):
                if self._left is not None:
                    block, self._left = block[: self._left], self._left - len(block)
                sink.sendall(block)
                if self._left is not None and self._left <= 0:
                    break
        self._cut()

    def _cut(self) -> None:
        for end in self._open:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


def test_a_connection_that_is_cut_after_any_number_of_bytes(postgres_url, tmp_path, trials, measured):  # noqa: F811
    cuts, chance = trials(3, 200), chances(SEED)
    options, _, host = postgres_url.rpartition("host=")

    def cut_once(place):
        wire = Wire(place, f"{host}/.s.PGSQL.5432")
        size = chance.randrange(1, 30_000)
        found = goes_on_after(tmp_path, f"{options}host={place}", postgres_url, lambda: wire.cut_after(size), 40)
        wire.close()
        return found

    for number in range(cuts):
        with quick_folder() as place:
            found = cut_once(place)
        assert found[0] > number
    measured(f"stream on PostgreSQL: {cuts} cuts of the connection over {found[0]} steps; {found[1]} torn")
