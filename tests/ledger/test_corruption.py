"""Damaged, swapped, aged and foreign files: refused in words, or whole; never silently different."""

import contextlib
import json
import shutil
import sqlite3
from collections import Counter
from pathlib import Path

import pytest
from ledger import crash_answers as answers
from ledger.crash_folders import chances, quick_folder

from thresher.errors import (
    LedgerCorruptError,
    LedgerError,
    LedgerRolledBackError,
    LedgerVersionError,
)
from thresher.ledger import open_book
from thresher.ledger.anchor import Anchor
from thresher.ledger.entries import canonical, digest

SEED = 20_261_118
STEP = 512
ANSWERS, ANSWERS_IN_LOG = 28, 5
# In the log, which is longer than the ledger, only every so many steps are damaged; each one in soak.
LOG_STRIDE = 3
FILE, LOG, ANCHOR = "ledger.db", "ledger.db-wal", "ledger.db.anchor"


def url_in(folder: Path) -> str:
    return f"sqlite:///{folder}/{FILE}"


def write_answers(book, numbers) -> None:
    for number in numbers:
        reservation = answers.reserve(book, f"key{number}")
        answers.settle(book, reservation, f"key{number}")


def content(book) -> object:
    """All that a reader can learn of a book, and the tables themselves as statements: rows, constraints, triggers."""
    with book._store.reading() as tables:
        rows = [tables.accounts(), tables.reservations(), list(tables.lines()), tables.head()]
        releases = {number: tables.release(number) for number in tables.released()}
    with book._store._pool.connection() as connection:
        dump = list(connection._raw.iterdump())
    return [dump, rows, releases, book.balances(), book.losses(answers.ACCOUNT), book.entries()]


@pytest.fixture(scope="module")
def ledgers():
    """One ledger closed, and one caught with its last answers in the log; each with what it holds.

    They hold reservations that this process, which lives, has not ended: opening ends none of them.
    """
    with quick_folder() as folder:
        live, closed, logged = folder / "live", folder / "closed", folder / "logged"
        live.mkdir()
        book = open_book(url_in(live))
        book.open_account(answers.ACCOUNT, answers.CAP)
        write_answers(book, range(ANSWERS - ANSWERS_IN_LOG))
        book.forfeit(answers.reserve(book, "forfeited"))
        book.cancel(answers.reserve(book, "cancelled"))
        answers.reserve(book, "open")
        book.close()
        book = open_book(url_in(live))
        write_answers(book, range(ANSWERS - ANSWERS_IN_LOG, ANSWERS))
        before = content(book)
        shutil.copytree(live, logged)
        book.close()
        shutil.copytree(live, closed)
        assert not (closed / LOG).exists()
        assert (logged / LOG).stat().st_size > 10 * STEP
        yield {"closed": closed, "logged": logged, "content": before}


def damages(size: int, stride: int = 1):
    """One bit in every step, anywhere in it; and the file cut at every step."""
    chance = chances(SEED)
    for start in range(0, size, STEP * stride):
        yield "flip", start + chance.randrange(min(STEP, size - start)), 1 << chance.randrange(8)
        yield "cut", start, 0


def dense_flips(end: int, stride: int):
    """One bit in every byte of SQLite's header, and in every so many of the first pages, where the rules stand."""
    chance = chances(SEED)
    for at in [*range(100), *range(100, end, stride)]:
        yield "flip", at, 1 << chance.randrange(8)


def damage(path: Path, how: str, at: int, bit: int) -> None:
    whole = bytearray(path.read_bytes())
    if how == "cut":
        del whole[at:]
    else:
        whole[at] ^= bit
    path.write_bytes(whole)


def damaged_everywhere(original: Path, name: str, expected: object, variants) -> Counter:
    outcomes = Counter()
    with quick_folder() as folder:
        for how, at, bit in variants:
            copy = folder / "copy"
            shutil.copytree(original, copy)
            damage(copy / name, how, at, bit)
            try:
                book = open_book(url_in(copy))
                try:
                    assert content(book) == expected, f"silently different: {name} {how} {at} {bit}"
                finally:
                    book.close()
                outcomes[how, "unharmed"] += 1
            except LedgerError as error:
                outcomes[how, type(error).__name__] += 1
            except Exception as error:
                error.add_note(f"unhandled: {name} {how} {at} {bit}")
                raise
            shutil.rmtree(copy)
    print(f"{name}: {dict(outcomes)}, {outcomes.total()} variants")
    return outcomes


def size_of(path: Path) -> int:
    return path.stat().st_size


def test_damage_to_a_closed_ledger(ledgers):
    file = ledgers["closed"] / FILE
    outcomes = damaged_everywhere(file.parent, FILE, ledgers["content"], damages(size_of(file)))
    assert outcomes["cut", "unharmed"] == 0
    assert outcomes["flip", "LedgerCorruptError"] > outcomes["flip", "unharmed"]


def test_damage_to_the_first_pages(ledgers, soak):
    damaged_everywhere(ledgers["closed"], FILE, ledgers["content"], dense_flips(8192, 1 if soak else 23))


def test_damage_to_a_ledger_with_a_log(ledgers, soak):
    file = ledgers["logged"] / FILE
    variants = damages(size_of(file), 1 if soak else LOG_STRIDE)
    damaged_everywhere(file.parent, FILE, ledgers["content"], variants)


def test_damage_to_the_log_loses_commits_and_the_anchor_knows(ledgers, soak):
    log = ledgers["logged"] / LOG
    variants = damages(size_of(log), 1 if soak else LOG_STRIDE)
    outcomes = damaged_everywhere(log.parent, LOG, ledgers["content"], variants)
    assert outcomes["cut", "LedgerRolledBackError"] > 0
    assert outcomes["flip", "LedgerRolledBackError"] > 0


# The anchor, and files that are not this ledger


@pytest.fixture
def copy(ledgers, tmp_path):
    """A fresh copy of the closed ledger."""
    return Path(shutil.copytree(ledgers["closed"], tmp_path / "copy"))


def test_damage_to_the_anchor(ledgers, copy):
    """Cut short it is refused, unless a slot is left, which then is what an older anchor was; so is a changed bit."""
    whole, refused = (copy / ANCHOR).read_bytes(), 0
    latest = Anchor(copy / ANCHOR).read().head.sequence
    for at in [*range(0, len(whole), 501), *range(len(whole) - 3, len(whole))]:
        for damaged in (whole[:at], whole[:at] + bytes([whole[at] ^ 1 << at % 8]) + whole[at + 1 :]):
            (copy / ANCHOR).write_bytes(damaged)
            try:
                assert Anchor(copy / ANCHOR).read().head.sequence <= latest
            except LedgerError:
                refused += 1
                with pytest.raises(LedgerError):
                    open_book(url_in(copy))
    assert refused
    (copy / ANCHOR).write_bytes(whole)
    book = open_book(url_in(copy))
    assert content(book) == ledgers["content"]
    book.close()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "null",
        "7",
        "[" * 100_000,
        '{"book": "x", "hash": "y", "sequence": "3"}',
        '{"book": "x", "hash": "y", "sequence": 1e3}',
        '{"book": "x", "hash": "y", "sequence": true}',
        '{"book": null, "hash": "y", "sequence": 3}',
        f'{{"book": "x", "hash": "y", "sequence": {10**30}}}',
        '{"book": "x", "hash": "y", "sequence": -1}',
        "é",
    ],
)
def test_an_anchor_that_is_none(copy, text):
    (copy / ANCHOR).write_text(text)
    with pytest.raises(LedgerCorruptError, match=r"anchor .* cannot be read"):
        open_book(url_in(copy))


def test_an_older_copy_beside_the_newer_anchor(copy):
    older = (copy / FILE).read_bytes()
    book = open_book(url_in(copy))
    write_answers(book, [1000])
    book.close()
    (copy / FILE).write_bytes(older)
    with pytest.raises(LedgerRolledBackError, match="older copy"):
        open_book(url_in(copy))


def test_an_older_copy_that_was_written_on(copy):
    """As many entries as the anchor has seen, but other ones: a fork of the book."""
    older, anchor = (copy / FILE).read_bytes(), (copy / ANCHOR).read_bytes()
    book = open_book(url_in(copy))
    write_answers(book, [1000])
    book.close()
    newer_anchor = (copy / ANCHOR).read_bytes()
    (copy / FILE).write_bytes(older)
    (copy / ANCHOR).write_bytes(anchor)
    book = open_book(url_in(copy))
    write_answers(book, [2000, 2001])
    book.close()
    (copy / ANCHOR).write_bytes(newer_anchor)
    with pytest.raises(LedgerRolledBackError, match="is not the one that the anchor has seen"):
        open_book(url_in(copy))


def test_the_anchor_of_another_ledger(copy, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    open_book(url_in(other)).close()
    (copy / ANCHOR).write_bytes((other / ANCHOR).read_bytes())
    with pytest.raises(LedgerRolledBackError, match="another ledger"):
        open_book(url_in(copy))


def test_a_missing_anchor_is_accepted_only_on_request(ledgers, copy):
    (copy / ANCHOR).unlink()
    with pytest.raises(LedgerError, match=r"anchor .* is missing"):
        open_book(url_in(copy))
    assert not (copy / ANCHOR).exists(), "a refusal leaves it missing"
    book = open_book(url_in(copy), accept_anchor=True)
    assert content(book) == ledgers["content"]
    book.close()
    open_book(url_in(copy)).close()


@pytest.mark.parametrize("empty", [False, True], ids=["deleted", "emptied"])
def test_a_ledger_that_is_gone_beside_its_anchor(copy, empty):
    (copy / FILE).write_bytes(b"") if empty else (copy / FILE).unlink()
    for _ in range(2):
        with pytest.raises(LedgerRolledBackError, match="the ledger is empty"):
            open_book(url_in(copy))


def test_an_empty_file_without_an_anchor_becomes_a_ledger(tmp_path):
    """It is what a power cut leaves of a ledger that was just being made."""
    (tmp_path / FILE).touch()
    book = open_book(url_in(tmp_path))
    assert [entry.kind for entry in book.entries()] == ["book"]
    book.close()


def a_text(path: Path) -> None:
    path.write_text("Dear diary, this is not a database. " * 100)


def a_short_text(path: Path) -> None:
    path.write_text("x")


def a_folder(path: Path) -> None:
    path.mkdir()


def another_application(path: Path) -> None:
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE songs (title)")


def another_head(path: Path) -> None:
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE head (version)")


@pytest.mark.parametrize("make", [a_text, a_short_text, a_folder, another_application, another_head])
def test_what_is_no_ledger_is_refused_and_left_alone(tmp_path, make):
    make(tmp_path / FILE)
    before = None if (tmp_path / FILE).is_dir() else (tmp_path / FILE).read_bytes()
    with pytest.raises(LedgerError, match=str(tmp_path / FILE)):
        open_book(url_in(tmp_path))
    if make in (a_text, a_short_text):
        assert (tmp_path / FILE).read_bytes() == before
    if before is not None and before.startswith(b"SQLite"):
        with contextlib.closing(sqlite3.connect(tmp_path / FILE)) as connection:
            assert len(connection.execute("SELECT * FROM sqlite_master").fetchall()) == 1
    assert not (tmp_path / ANCHOR).exists()


def test_a_missing_folder(tmp_path):
    with pytest.raises(LedgerError, match="a folder that exists"):
        open_book(url_in(tmp_path / "nowhere"))


def test_a_ledger_in_memory_is_none(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(LedgerError, match="write-ahead log"):
        open_book("sqlite:///:memory:")


# Changes by hand, through SQLite itself


def edit(copy: Path, *statements: str) -> None:
    """As somebody with the file and patience would: the triggers go, and come back."""
    with contextlib.closing(sqlite3.connect(copy / FILE, isolation_level=None)) as connection:
        triggers = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        changed = sum(connection.execute(statement).rowcount for statement in statements)
        assert changed, "the statement changed nothing"
        for _, text in triggers:
            connection.execute(text)


def numbers_of(copy: Path, kind: str) -> list[int]:
    book = open_book(url_in(copy))
    numbers = [entry.sequence for entry in book.entries() if entry.kind == kind]
    book.close()
    return numbers


def refused(copy: Path, match: str) -> None:
    with pytest.raises(LedgerCorruptError, match=match):
        open_book(url_in(copy))


def test_a_newer_schema_is_refused(copy):
    edit(copy, "UPDATE head SET version = version + 1")
    with pytest.raises(LedgerVersionError, match="upgrade Thresher"):
        open_book(url_in(copy))


@pytest.mark.parametrize(
    ("statement", "match"),
    [
        (
            "UPDATE entries SET document = replace(document, 'worst_case', 'worst_cast') WHERE sequence = 9",
            "entry 9 is",
        ),
        ("UPDATE entries SET hash = replace(hash, substr(hash, 1, 1), 'g') WHERE sequence = 9", "entry 9 is damaged"),
        ("UPDATE entries SET document = CAST(document AS BLOB) WHERE sequence = 9", "entry 9 is damaged"),
        ("UPDATE entries SET document = 'x' WHERE sequence = 9", "entry 9 is damaged"),
        ("DELETE FROM entries WHERE sequence = 9", "entry 9 is missing"),
        ("DELETE FROM entries WHERE sequence = (SELECT max(sequence) FROM entries)", "ends at entry"),
        ("DELETE FROM entries", "ends at entry"),
        ("UPDATE entries SET sequence = 1000 WHERE sequence = 9", "entry 9 is missing"),
        ("UPDATE head SET sequence = sequence - 1", "ends at entry"),
        ("UPDATE head SET hash = 'x'", "ends at entry"),
        ("DELETE FROM head", "which version"),
        ("UPDATE head SET version = 'x'", "which version"),
        ("UPDATE accounts SET loss = loss - 1 WHERE analyst = ''", "account sales does not agree"),
        ("UPDATE accounts SET loss = 0, losses = '[]' WHERE analyst = 'ana'", "account sales/ana does not agree"),
        ("UPDATE accounts SET cap = cap - 1 WHERE analyst = ''", "account sales does not agree"),
        ("UPDATE accounts SET losses = 'x' WHERE analyst = ''", "cannot be read"),
        ("UPDATE accounts SET losses = '7' WHERE analyst = ''", "cannot be read"),
        ("UPDATE accounts SET name = CAST(name AS BLOB) WHERE analyst = ''", "does not agree"),
        ("DELETE FROM accounts WHERE analyst = 'ana'", "account sales/ana does not agree"),
        ("INSERT INTO accounts VALUES ('forged', '', 9, 0, '[]', 0, '{}')", "account forged does not agree"),
        ("UPDATE reservations SET state = 'cancelled' WHERE sequence = 3", "reservation 3 does not agree"),
        ("UPDATE reservations SET key = 'another' WHERE sequence = 3", "reservation 3 does not agree"),
        ("UPDATE reservations SET worst_case = '{}' WHERE sequence = 3", "reservation 3 does not agree"),
        ("DELETE FROM reservations WHERE sequence = 3", "reservation 3 does not agree"),
        ("INSERT INTO releases VALUES (1000, x'00')", "no settlement: reservation 1000"),
        ("DELETE FROM releases WHERE reservation = 3", "has no release.*reservation 3"),
        ("UPDATE releases SET body = CAST(body || x'00' AS BLOB) WHERE reservation = 3", "release of entry 4 is not"),
        ("UPDATE releases SET body = CAST(x'ff' AS TEXT) WHERE reservation = 3", "ledger.db is damaged"),
        ("UPDATE releases SET body = 'text' WHERE reservation = 3", "release of entry 4 is not"),
        ("UPDATE releases SET body = 5 WHERE reservation = 3", "release of entry 4 is not"),
    ],
)
def test_a_change_by_hand_is_named(copy, statement, match):
    # An answered question stands in lines 3 and 4, and a reservation in line 9.
    assert 3 in numbers_of(copy, "reserve")
    assert 4 in numbers_of(copy, "settle")
    assert 9 in numbers_of(copy, "reserve")
    edit(copy, statement)
    refused(copy, match)


def test_a_line_rewritten_with_its_hash_breaks_the_chain(copy):
    """Even a change that hashes the changed line anew: the next line still holds the old hash."""
    with contextlib.closing(sqlite3.connect(copy / FILE)) as connection:
        ((document,),) = connection.execute("SELECT document FROM entries WHERE sequence = 9").fetchall()
    said = json.loads(document)
    said["facts"]["question"] = "something else"
    text = canonical(said)
    edit(copy, f"UPDATE entries SET document = '{text}', hash = '{digest(text.encode())}' WHERE sequence = 9")
    refused(copy, "entry 10 is missing, moved or not linked")


@pytest.mark.parametrize(
    "statement",
    [
        "DROP TRIGGER entries_no_update",
        "DROP INDEX one_charge_per_key",
        "CREATE TABLE more (x)",
        "CREATE TRIGGER quiet AFTER INSERT ON entries BEGIN UPDATE accounts SET loss = 0; END",
    ],
)
def test_changed_rules_are_refused(copy, statement):
    with contextlib.closing(sqlite3.connect(copy / FILE, isolation_level=None)) as connection:
        connection.execute(statement)
    refused(copy, "its tables or their rules were changed")


def test_verify_finds_a_change_under_an_open_book(copy):
    book = open_book(url_in(copy))
    edit(copy, "UPDATE accounts SET loss = loss - 1 WHERE analyst = ''")
    with pytest.raises(LedgerCorruptError, match="account sales does not agree"):
        book.verify()
    book.close()


@pytest.mark.parametrize("verb", ["UPDATE {} SET rowid = rowid + 1000", "DELETE FROM {}"])
@pytest.mark.parametrize("table", ["entries", "releases"])
def test_the_database_itself_refuses_to_change_lines(copy, table, verb):
    with contextlib.closing(sqlite3.connect(copy / FILE)) as connection, pytest.raises(sqlite3.IntegrityError):
        connection.execute(verb.format(table))
