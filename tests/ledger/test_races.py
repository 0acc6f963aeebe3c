"""Many processes and threads on one budget: what is granted equals the cap, exactly.

The power of the check is shown by a careless ledger that reads, checks and then writes: it grants too much.
"""

import sqlite3
import threading
import time
from multiprocessing import get_context

import pytest
from ledger.spendings import charge, common

from thresher.amounts import Epsilon
from thresher.errors import BudgetError
from thresher.ledger import open_book

PROCESSES, THREADS = 8, 4
CAP_IN_QUESTIONS = 500
AMOUNT = "0.001"


def _spend(url, attempts, start, results):
    """One process: its threads ask until their attempts are used up, and report how many were granted, and how fast."""
    book = open_book(url)
    granted, seconds = [], []

    def work(thread):
        for i in range(attempts):
            begun = time.perf_counter()
            try:
                key = f"{id(results)}-{threading.get_native_id()}-{thread}-{i}"
                reservation = book.reserve(charge("patients", common(AMOUNT), key, "q"))
                book.settle(reservation, common(AMOUNT), b"answer")
                granted.append(1)
            except BudgetError:
                pass
            seconds.append(time.perf_counter() - begun)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(THREADS)]
    start.wait()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    book.close()
    results.put((len(granted), sorted(seconds)))


def _race(target, arguments, attempts):
    fork = get_context("fork")
    start, results = fork.Barrier(PROCESSES), fork.SimpleQueue()
    children = [fork.Process(target=target, args=(*arguments, attempts, start, results)) for _ in range(PROCESSES)]
    for child in children:
        child.start()
    reports = [results.get() for _ in children]
    for child in children:
        child.join()
    return reports


def test_racing_processes_spend_the_cap_and_no_more(url, trials, measured):
    attempts = trials(10_000, 100_000) // (PROCESSES * THREADS) + 1
    book = open_book(url)
    book.open_account("patients", Epsilon(AMOUNT) * CAP_IN_QUESTIONS)
    book.close()
    reports = _race(_spend, (url,), attempts)
    tried = attempts * PROCESSES * THREADS
    assert tried >= 10_000
    assert sum(granted for granted, _ in reports) == CAP_IN_QUESTIONS
    book = open_book(url)
    assert book.balance("patients").spent == Epsilon(AMOUNT) * CAP_IN_QUESTIONS
    assert book.verify().releases == CAP_IN_QUESTIONS
    book.close()
    seconds = sorted(second for _, times in reports for second in times)
    p99 = seconds[len(seconds) * 99 // 100] * 1000
    kind = url.split(":", 1)[0]
    measured(f"{kind}: {tried:,} racing attempts, {CAP_IN_QUESTIONS} granted of {CAP_IN_QUESTIONS}, p99 {p99:.1f} ms")


def _spend_carelessly(path, attempts, start, results):
    connection, granted = sqlite3.connect(path, isolation_level=None, timeout=30), 0
    start.wait()
    for _ in range(attempts):
        ((spent,),) = connection.execute("SELECT spent FROM account").fetchall()
        if spent < CAP_IN_QUESTIONS:
            connection.execute("UPDATE account SET spent = ?", (spent + 1,))
            granted += 1
    connection.close()
    results.put((granted, []))


def test_the_race_catches_a_ledger_that_reads_checks_and_writes(tmp_path):
    path = str(tmp_path / "careless.db")
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE account (spent INTEGER)")
        connection.execute("INSERT INTO account VALUES (0)")
    connection.close()
    granted = sum(count for count, _ in _race(_spend_carelessly, (path,), 1_000))
    assert granted > CAP_IN_QUESTIONS


@pytest.mark.parametrize("openings", [8])
def test_processes_that_make_the_ledger_at_once_make_one(url, openings):
    fork = get_context("fork")
    start, results = fork.Barrier(openings), fork.SimpleQueue()
    children = [fork.Process(target=_open, args=(url, start, results)) for _ in range(openings)]
    for child in children:
        child.start()
    firsts = {results.get() for _ in children}
    for child in children:
        child.join()
    assert len(firsts) == 1
    assert len(firsts.pop()) == 64


def _open(url, start, results):
    start.wait()
    try:
        book = open_book(url)
        results.put(book.entries()[0].hash)
        book.close()
    except Exception as error:  # noqa: BLE001 - the parent must not wait for ever
        results.put(repr(error))
