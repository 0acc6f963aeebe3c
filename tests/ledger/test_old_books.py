"""Books of every earlier schema open in one step: nothing that was lost is less, and what it was lost about is kept."""

import json
import os
import shutil
import signal
import sqlite3
import threading
from contextlib import closing
from multiprocessing import get_context

import psycopg
import pytest
from ledger.older import (
    BOOKS,
    NAMES,
    PATIENTS,
    ROWS,
    SCHEMAS,
    STEP,
    copied,
    downgraded,
    into_postgres,
    kinds_of,
    lines_of,
    plain_lines,
    version_of,
)
from ledger.spendings import charge, common

from thresher.accounting import UNKNOWN, Subject
from thresher.accounting.subject import PERSONAL, STREAM, TABLE
from thresher.errors import (
    DeclarationError,
    KeyReusedError,
    LedgerCorruptError,
    LedgerError,
    LedgerRolledBackError,
    LostAnswerError,
)
from thresher.ledger import StoredRelease, open_book
from thresher.ledger.anchor import Anchor
from thresher.ledger.journal import Journal
from thresher.ledger.old_books import subjects_of
from thresher.ledger.stores.book_tables import SCHEMA_VERSION, Tables

# What each book said of itself when it was written: account, analyst, spent, open reservations.
BALANCES = {
    "without_units": [
        ("patients", "", "0.413648105", 1),
        ("patients", "ann", "0.112244443", 0),
        ("visits", "", "0.6763537", 1),
        ("visits", "ann", "0.224488886", 0),
    ],
    "version_1": [
        ("patients", "", "0.554873028", 1),
        ("patients", "ann", "0.112244443", 0),
        ("visits", "", "0.970545732", 1),
        ("visits", "ann", "0.224488886", 0),
    ],
    "version_2": [
        ("patients", "", "0.654873028", 1),
        ("patients", "ann", "0.112244443", 0),
        ("personal:members", "", "0.3", 0),
        ("stream:campus", "", "0.5", 0),
        ("stream:torn", "", "0.1", 0),
        ("visits", "", "0.970545732", 1),
        ("visits", "ann", "0.224488886", 0),
    ],
    "version_3": [
        ("patients", "", "0.581944968", 1),
        ("patients", "ann", "0.112244443", 0),
        ("personal:members", "", "0.3", 0),
        ("stream:campus", "", "0.5", 0),
        ("stream:torn", "", "0.1", 0),
        ("visits", "", "0.933291186", 1),
        ("visits", "ann", "0.224488886", 0),
    ],
}
PATIENT, NOBODY = Subject(TABLE, "patient"), Subject(TABLE, None)
CAMPUS = Subject(STREAM, None, "2026-01-01T00:00:00+00:00", 300, 2)
SUBJECTS = {
    "without_units": {"patients": UNKNOWN, "visits": UNKNOWN},
    "version_1": {"patients": NOBODY, "visits": PATIENT},
    "version_2": {
        "patients": NOBODY,
        "visits": PATIENT,
        "personal:members": Subject(PERSONAL, None),
        "stream:campus": CAMPUS,
        "stream:torn": Subject(STREAM, None, "2026-01-01T00:00:00+00:00", 60, 1),
    },
}
SUBJECTS["version_3"] = SUBJECTS["version_2"]
# Books of version 3 say themselves what their accounts are about.
ADDED = {name: 0 if name == "version_3" else len(subjects) for name, subjects in SUBJECTS.items()}


def balances(book):
    return sorted((held.account, held.analyst, str(held.spent), held.reserved) for held in book.balances())


def check_whole(book, name):
    """All that the old book held, and one more line for each account whose subject it did not say."""
    assert balances(book) == BALANCES[name]
    assert book.subjects() == SUBJECTS[name]
    assert [entry.document for entry in book.entries()[: len(lines_of(name))]] == lines_of(name)
    assert [entry.kind for entry in book.entries()] == kinds_of(name) + ["subject"] * ADDED[name]
    book.verify()


@pytest.fixture(params=NAMES)
def name(request):
    return request.param


@pytest.fixture(params=["sqlite", "postgres"])
def old_url(request, name, tmp_path):
    if request.param == "sqlite":
        return copied(name, tmp_path)
    url = request.getfixturevalue("postgres_url")
    into_postgres(name, url)
    return url


def test_every_loss_is_kept(name, old_url):
    for _ in range(2):
        with closing(open_book(old_url)) as book:
            check_whole(book, name)


def test_answers_and_states_are_kept(name, old_url):
    with closing(sqlite3.connect(BOOKS / name / "ledger.db")) as raw:
        stored = raw.execute(
            "SELECT account, key, question, analyst, body FROM releases JOIN reservations ON sequence = reservation"
        ).fetchall()
        states = raw.execute("SELECT name, body FROM states").fetchall() if SCHEMAS[name] > 1 else []
    assert len(stored) == kinds_of(name).count("settle")
    with closing(open_book(old_url)) as book:
        for account, key, question, analyst, body in stored:
            assert book.answered(account, key, question, analyst).body == body
            # Asked again with another identity, it is no second draw under the same key.
            with pytest.raises(KeyReusedError):
                book.reserve(charge(account, common("0.01"), key, "asked otherwise", analyst))
        assert {said: book.state(said) for said, _ in states} == dict(states)
        assert balances(book) == BALANCES[name]


def test_the_anchor_follows(name, tmp_path):
    url = copied(name, tmp_path)
    with closing(open_book(url)) as book:
        entries = len(book.entries())
    said = Anchor(tmp_path / "ledger.db.anchor").read()
    assert said.head.sequence == entries == len(lines_of(name)) + ADDED[name]


def test_an_account_is_charged_for_its_old_subject_only(old_url, name):
    closed = name == "without_units"
    refused = (LedgerError, "closed") if closed else (DeclarationError, "another unit.*[Rr]estore the declaration")
    with closing(open_book(old_url)) as book:
        for account, other in (("patients", PATIENT), ("visits", NOBODY), ("visits", Subject(TABLE, "ward"))):
            with pytest.raises(refused[0], match=f"account {account}.*{refused[1]}"):
                book.reserve(charge(account, common("0.01"), "new", "q", subject=other))
        check_whole(book, name)
        if not closed:
            book.reserve(charge("visits", common("0.01"), "new", "q", subject=PATIENT))
            # What an older version had reserved and not ended has no lease: it is forfeited, and stays charged.
            assert book.balance("visits").reserved == 1
            assert [entry.kind for entry in book.entries()][-3:] == ["forfeit", "forfeit", "reserve"]


def test_an_account_that_does_not_say_whom_it_protects_stays_closed(tmp_path):
    url = copied("without_units", tmp_path)
    with closing(open_book(url)) as book:
        for account in ("patients", "visits"):
            for subject in (NOBODY, PATIENT):
                for analyst in ("", "ann", "bob"):
                    with pytest.raises(LedgerError, match=f"account {account} is closed"):
                        book.reserve(charge(account, common("0.01"), "new", "q", analyst, subject=subject))
        check_whole(book, "without_units")
        # What it holds may still be looked at, and other accounts are used as ever.
        found = book.recalled("patients", "patients-1")
        again = charge("patients", common("0.01"), "patients-1", found.question, subject=NOBODY)
        assert isinstance(book.reserve(again), StoredRelease)
        book.set_cap("patients", "9")
        book.open_account("wards", "1")
        book.reserve(charge("wards", common("0.01"), "new", "q"))


def test_open_reservations_end_as_ever(tmp_path):
    url = copied("version_2", tmp_path)
    with closing(open_book(url)) as book, book._store.reading() as tables:
        (held,) = tables.open_reservations("visits")
    with closing(open_book(url)) as book:
        before = {row[0]: row[2] for row in balances(book) if not row[1]}
        with pytest.raises(LostAnswerError, match="no sign of life"):
            book.settle(held, held.worst_case, b"too late")
        book.set_cap("visits", "9")
        assert {row[0]: row[2] for row in balances(book) if not row[1]} == before
        with pytest.raises(LostAnswerError):
            book.reserve(charge("visits", common("0.01"), "visits-open", held.question, subject=PATIENT))
        book.verify()


def test_steps_that_were_charged_are_never_drawn_again(tmp_path):
    """The key of a step decides, whatever the step is said to be now."""
    url = copied("version_2", tmp_path)
    with closing(open_book(url)) as book:
        steps = [entry for entry in book.entries() if entry.kind == "reserve" and entry.account == "stream:campus"]
        assert len(steps) == 6
        for entry in steps:
            step = charge(
                "stream:campus",
                common("0.01"),
                entry.facts["key"],
                '{"another": "identity"}',
                family="stream step",
                subject=CAMPUS,
            )
            with pytest.raises(KeyReusedError):
                book.reserve(step, wait_seconds=0)
        assert balances(book) == BALANCES["version_2"]


# What old lines say


def lines(*questions, account="t"):
    """Reserve lines of one account."""

    class Line:
        def __init__(self, question):
            self.kind, self.account, self.facts = "reserve", account, {"question": question}

    return [Line(question) for question in questions]


@pytest.mark.parametrize(
    ("questions", "subject"),
    [
        ([ROWS.format(1), ROWS.format(2)], NOBODY),
        ([PATIENTS.format(1)], PATIENT),
        (['{"diagnostic": "roc", "unit": "patient"}', PATIENTS.format(1)], PATIENT),
        (['{"look": "personal", "unit": "patient"}'], Subject(PERSONAL, "patient")),
        ([STEP.format("2026")], Subject(STREAM, None, "2026", 300, 1)),
        ([STEP.format("2026").replace(': 1, "start', ': null, "start')], Subject(STREAM, None, "2026", 300, None)),
        # They disagree.
        ([ROWS.format(1), PATIENTS.format(1)], UNKNOWN),
        ([STEP.format("2026"), STEP.format("2025")], UNKNOWN),
        ([PATIENTS.format(1), '{"look": "personal", "unit": "patient"}'], UNKNOWN),
        ([ROWS.format(1), "which wards?"], UNKNOWN),
        # They say nothing, or not what they should.
        (["which wards?"], UNKNOWN),
        (['{"look": []}'], UNKNOWN),
        (['{"unit": "patient"}'], UNKNOWN),
        (['{"look": [], "unit": 7}'], UNKNOWN),
        (['{"account": {"start": "2026", "step_seconds": 300, "unit": null}}'], UNKNOWN),
        (['{"account": {"protect": true, "start": "2026", "step_seconds": 300, "unit": null}}'], UNKNOWN),
        (['{"account": "x", "look": [], "unit": null}'], UNKNOWN),
        (["[1]"], UNKNOWN),
        (["null"], UNKNOWN),
        (["[" * 90_000], UNKNOWN),
        ([None], UNKNOWN),
    ],
)
def test_what_old_lines_say_of_an_account(questions, subject):
    assert subjects_of([*lines(*questions), *lines(ROWS.format(1), account="other")]) == {"t": subject, "other": NOBODY}


# Crashes, races, copies, damage


def as_it_was(name, folder):
    """The book is untouched: its version and its lines."""
    assert version_of(folder / "ledger.db") == SCHEMAS[name]
    with closing(sqlite3.connect(folder / "ledger.db")) as raw:
        assert [row[0] for row in raw.execute("SELECT document FROM entries ORDER BY sequence")] == lines_of(name)


@pytest.mark.parametrize("broken", range(1, 6))
def test_a_migration_that_breaks_off_leaves_the_old_book(tmp_path, monkeypatch, broken):
    url, written = copied("version_2", tmp_path), []
    write = Journal._write

    def breaks(book, *line):
        written.append(line)
        if len(written) == broken:
            raise KeyboardInterrupt
        return write(book, *line)

    monkeypatch.setattr(Journal, "_write", breaks)
    with pytest.raises(KeyboardInterrupt):
        open_book(url)
    monkeypatch.undo()
    as_it_was("version_2", tmp_path)
    with closing(open_book(url)) as book:
        check_whole(book, "version_2")


def _killed_while_it_migrates(url, at):
    put, written = Tables.put_account, []

    def dies(tables, account):
        written.append(account)
        if len(written) == at:
            os.kill(os.getpid(), signal.SIGKILL)
        put(tables, account)

    Tables.put_account = dies
    open_book(url)


@pytest.mark.parametrize("at", [1, 5, 99])
def test_a_process_killed_while_it_migrates_leaves_the_old_book(old_url, name, at, tmp_path):
    """It dies at one of the rows of accounts. There are fewer than 99, so that the last process migrates it all."""
    child = get_context("fork").Process(target=_killed_while_it_migrates, args=(old_url, at))
    child.start()
    child.join()
    half_way = at < 99
    assert child.exitcode == (-signal.SIGKILL if half_way else 0)
    if half_way and old_url.startswith("sqlite"):
        as_it_was(name, tmp_path)
    elif half_way:
        with psycopg.connect(old_url) as server:
            assert server.execute("SELECT version FROM thresher_ledger.head").fetchone() == (SCHEMAS[name],)
    with closing(open_book(old_url)) as book:
        check_whole(book, name)


# Which calls the process dies before; the first rename is that of the anchor, after the migration.
DEATHS = {"fsync": range(1, 12), "write": [*range(1, 40, 8), *range(40, 400, 20)], "open": range(1, 12), "rename": [1]}


@pytest.mark.parametrize("call", DEATHS)
@pytest.mark.parametrize("book_name", ["version_2", pytest.param("version_3", marks=pytest.mark.soak)])
def test_a_crash_at_any_call_leaves_the_old_book_or_the_new_one(disk, book_name, call, soak, measured):
    """Killed before an exact call, and then without power: only what was synced is left."""
    versions = []
    for at in range(1, 200) if soak else DEATHS[call]:
        disk.clear()
        for place in (disk.live, disk.shadow / "files"):
            copied(book_name, place)
        survived = disk.zygote.run("migrate", url=disk.url, call=call, at=at)
        disk.cut_power()
        for url, folder in ((disk.url, disk.live), (disk.restored_url, disk.restored)):
            versions.append(version_of(folder / "ledger.db"))
            with closing(open_book(url)) as book:
                check_whole(book, book_name)
        if survived:
            break
    measured(f"{book_name}, {call}: versions found after the crash {versions}")
    assert set(versions) == ({SCHEMA_VERSION} if call == "rename" else {SCHEMAS[book_name], SCHEMA_VERSION})


def _opens(url, name, barrier, results):
    try:
        barrier.wait()
        with closing(open_book(url)) as book:
            check_whole(book, name)
        results.put("whole")
    except BaseException as error:  # noqa: BLE001 - the parent must not wait for ever
        results.put(repr(error))


def test_processes_that_open_it_at_once_migrate_it_once(name, old_url):
    fork = get_context("fork")
    barrier, results = fork.Barrier(4), fork.SimpleQueue()
    children = [fork.Process(target=_opens, args=(old_url, name, barrier, results)) for _ in range(4)]
    for child in children:
        child.start()
    assert [results.get() for _ in children] == ["whole"] * 4
    for child in children:
        child.join()


def test_a_process_of_an_older_version_that_has_it_open_writes_no_more(name, old_url):
    """Its statements lack what the accounts now need, so that its charge fails in the database."""
    more = SCHEMAS[name] == 3
    columns, values = (", subject", ", ''") if more else ("", "")
    older = (
        f"INSERT INTO accounts (name, analyst, cap, loss, losses, coarse{columns})"
        f" VALUES ('patients', '', 9, 0, '[]', 0{values})"
        " ON CONFLICT (name, analyst) DO UPDATE SET cap = excluded.cap, loss = excluded.loss"
    )
    if old_url.startswith("sqlite"):
        with closing(sqlite3.connect(old_url.removeprefix("sqlite:///"), isolation_level=None)) as raw:
            raw.execute("SELECT version FROM head").fetchall()
            open_book(old_url).close()
            with pytest.raises(sqlite3.OperationalError if more else sqlite3.IntegrityError):
                raw.execute(older)
    else:
        with psycopg.connect(old_url, autocommit=True) as raw:
            raw.execute("SET search_path = thresher_ledger")
            raw.execute("SELECT version FROM head").fetchall()
            open_book(old_url).close()
            with pytest.raises(psycopg.errors.UndefinedColumn if more else psycopg.errors.NotNullViolation):
                raw.execute(older)
    with closing(open_book(old_url)) as book:
        check_whole(book, name)


def test_a_writer_of_an_older_version_ends_before_the_migration(postgres_url):
    into_postgres("version_2", postgres_url)
    with psycopg.connect(postgres_url) as writer:
        writer.execute("SELECT * FROM thresher_ledger.head FOR UPDATE")
        opening = threading.Thread(target=lambda: open_book(postgres_url).close())
        opening.start()
        opening.join(0.5)
        assert opening.is_alive()
        assert writer.execute("SELECT version FROM thresher_ledger.head").fetchone() == (2,)
    opening.join()
    with closing(open_book(postgres_url)) as book:
        check_whole(book, "version_2")


def test_an_older_copy_is_refused_before_it_is_migrated(tmp_path):
    url = copied("version_2", tmp_path)
    said = json.loads((tmp_path / "ledger.db.anchor").read_text())
    (tmp_path / "ledger.db.anchor").write_text(json.dumps({**said, "sequence": said["sequence"] + 1}))
    with pytest.raises(LedgerRolledBackError, match="older copy"):
        open_book(url)
    as_it_was("version_2", tmp_path)


def test_an_anchor_of_after_the_migration_refuses_the_book_of_before_it(tmp_path, name):
    """Restored from a backup of before: what was charged since may be missing."""
    url = copied(name, tmp_path)
    with closing(open_book(url)) as book:
        book.set_cap("visits", "9")
    after = (tmp_path / "ledger.db.anchor").read_bytes()
    for leftover in tmp_path.glob("ledger.db*"):
        leftover.unlink()
    copied(name, tmp_path)
    (tmp_path / "ledger.db.anchor").write_bytes(after)
    with pytest.raises(LedgerRolledBackError, match="older copy"):
        open_book(url)
    as_it_was(name, tmp_path)


def test_an_anchor_of_before_the_migration_follows_the_book_of_after_it(tmp_path, name):
    """A crash may leave the anchor behind, which is harmless; never another book's."""
    url = copied(name, tmp_path)
    open_book(url).close()
    for known in (name, next(other for other in NAMES if other != name)):
        shutil.copy(BOOKS / known / "ledger.db.anchor", tmp_path)
        if known == name:
            with closing(open_book(url)) as book:
                check_whole(book, name)
            assert Anchor(tmp_path / "ledger.db.anchor").read().head.sequence == len(book_lines(tmp_path))
        else:
            with pytest.raises(LedgerRolledBackError, match="another ledger"):
                open_book(url)


def book_lines(folder):
    with closing(sqlite3.connect(folder / "ledger.db")) as raw:
        return raw.execute("SELECT document FROM entries").fetchall()


def test_a_book_that_was_cut_off_is_never_migrated(tmp_path, name, trials):
    """Whatever is missing at its end: it is refused, or it has all that it had."""
    url, whole = copied(name, tmp_path), (BOOKS / name / "ledger.db").read_bytes()
    for part in range(1, trials(20, 200)):
        for leftover in tmp_path.glob("ledger.db*"):
            leftover.unlink()
        copied(name, tmp_path)
        (tmp_path / "ledger.db").write_bytes(whole[: len(whole) * part // trials(20, 200)])
        with pytest.raises(LedgerError):
            open_book(url)


def test_lines_that_are_missing_at_the_end_are_missed(tmp_path, name):
    """The lines, sums and rows agree, as after a restored backup; only the anchor knows of the last line."""
    url = copied(name, tmp_path)
    with closing(sqlite3.connect(tmp_path / "ledger.db", isolation_level=None)) as raw:
        triggers = raw.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for trigger, _ in triggers:
            raw.execute(f"DROP TRIGGER {trigger}")
        last = raw.execute("SELECT max(sequence) FROM entries").fetchone()[0]
        raw.execute("DELETE FROM entries WHERE sequence = ?", (last,))
        raw.execute(
            "UPDATE head SET sequence = ?, hash = (SELECT hash FROM entries WHERE sequence = ?)", (last - 1,) * 2
        )
        for _, text in triggers:
            raw.execute(text)
    with pytest.raises(LedgerRolledBackError, match="older copy"):
        open_book(url)
    with pytest.raises(LedgerRolledBackError):
        open_book(url, accept_anchor=True)
    assert version_of(tmp_path / "ledger.db") == SCHEMAS[name]


def _reserves_and_dies(url):
    book = open_book(url)
    book.reserve(charge("t", common("0.3"), "open", ROWS.format(1)))
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize("version", [1, 2])
def test_a_reservation_of_a_process_that_is_gone_is_spent_when_the_old_book_opens(tmp_path, monkeypatch, version):
    url = f"sqlite:///{tmp_path / 'ledger.db'}"
    plain_lines(monkeypatch)
    with closing(open_book(url)) as book:
        book.open_account("t", "1")
    child = get_context("fork").Process(target=_reserves_and_dies, args=(url,))
    child.start()
    child.join()
    monkeypatch.undo()
    downgraded(tmp_path / "ledger.db", version)
    with closing(open_book(url)) as book:
        assert [entry.kind for entry in book.entries()][-2:] == ["subject", "forfeit"]
        assert balances(book) == [("t", "", "0.3", 0)]
        assert book.subjects() == {"t": NOBODY}
        with pytest.raises(LostAnswerError):
            book.reserve(charge("t", common("0.3"), "open", ROWS.format(1)))
        book.verify()


def test_a_missing_anchor_is_refused_before_it_is_migrated(tmp_path):
    url = copied("version_2", tmp_path)
    (tmp_path / "ledger.db.anchor").unlink()
    with pytest.raises(LedgerError, match=r"anchor .* is missing"):
        open_book(url)
    as_it_was("version_2", tmp_path)
    with closing(open_book(url, accept_anchor=True)) as book:
        check_whole(book, "version_2")


@pytest.mark.parametrize(
    ("statement", "finding"),
    [
        ("UPDATE accounts SET loss = loss - 1 WHERE name = 'visits'", "visits.* does not agree"),
        ("UPDATE entries SET document = replace(document, 'account', 'accounts') WHERE sequence = 4", "entry 4"),
        ("UPDATE states SET body = x'00'", "state"),
        ("CREATE TABLE more (x)", "tables or their rules were changed"),
    ],
)
def test_a_damaged_book_is_refused_before_it_is_migrated(tmp_path, statement, finding):
    url = copied("version_2", tmp_path)
    with closing(sqlite3.connect(tmp_path / "ledger.db", isolation_level=None)) as raw:
        triggers = raw.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for trigger, _ in triggers:
            raw.execute(f"DROP TRIGGER {trigger}")
        raw.execute(statement)
        for _, text in triggers:
            raw.execute(text)
    with pytest.raises(LedgerCorruptError, match=finding):
        open_book(url)
    assert version_of(tmp_path / "ledger.db") == 2


@pytest.mark.parametrize("version", [1, 2])
def test_a_book_whose_lines_disagree_keeps_its_losses_and_is_closed(tmp_path, monkeypatch, version):
    url = f"sqlite:///{tmp_path / 'ledger.db'}"
    with monkeypatch.context() as patched, closing(open_book(url)) as book:
        plain_lines(patched)
        book.open_account("t", "1")
        book.open_account("empty", "1")
        for key, question in (("a", ROWS.format(1)), ("b", PATIENTS.format(1))):
            book.settle(book.reserve(charge("t", common("0.1"), key, question)), common("0.1"), b"answer")
    downgraded(tmp_path / "ledger.db", version)
    with closing(open_book(url)) as book:
        assert str(book.balance("t").spent) == "0.2"
        assert book.subjects() == {"t": UNKNOWN}
        for subject in (NOBODY, PATIENT):
            with pytest.raises(LedgerError, match="closed"):
                book.reserve(charge("t", common("0.1"), "c", "q", subject=subject))
        book.reserve(charge("empty", common("0.1"), "c", "q", subject=PATIENT))
