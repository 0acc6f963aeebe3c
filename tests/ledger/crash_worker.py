"""What the zygote's children do: answer questions until they are killed, or until a fault has been lived through."""

import codecs
import ctypes
import errno
import itertools
import os
import resource
import time
from pathlib import Path

from ledger import crash_answers as answers

from thresher.errors import LedgerError, LedgerStoppedError, ThresherError
from thresher.ledger import Reservation, StoredRelease, open_book
from thresher.ledger.stores import sqlite as sqlite_store

# In the order of the shim's enumeration.
CALLS = ("fsync", "write", "open", "rename", "read", "unlink")
KILL = -1
MOST_ANSWERS = 150
SYNCED = sqlite_store.SYNCHRONOUS


def opened(order):
    anchor = order.get("anchor")
    sqlite_store.SYNCHRONOUS = order.get("synchronous", SYNCED)
    book = open_book(order["url"], anchor=Path(anchor) if anchor else None)
    if order.get("checkpoint_pages"):
        # A log this short is emptied and started anew many times in one trial.
        with book._store._pool.connection() as connection:
            connection.run(f"PRAGMA wal_autocheckpoint = {order['checkpoint_pages']}")
    if not book.balances():
        book.open_account(answers.ACCOUNT, answers.CAP)
    return book


def answer_one(book, key, emit, *, emit_first=False):
    reservation = answers.reserve(book, key)
    assert isinstance(reservation, Reservation)
    if emit_first:
        emit(key=key, body=answers.release(key).hex())
    answers.settle(book, reservation, key)
    if not emit_first:
        emit(key=key, body=answers.release(key).hex())


def answer(order, emit):
    """Reserve, settle, emit, for ever. The kill comes from outside, or from the shim before an exact call."""
    if order.get("call"):
        arm(order["call"], order["at"], KILL)
    book = opened(order)
    emit(ready=True)
    # With an exact call to die at there is an end, for the case that it never comes.
    for number in range(MOST_ANSWERS) if order.get("call") else itertools.count():
        answer_one(book, f"{order['trial']}-{number}", emit, emit_first=order.get("emit_first", False))


def replay(order, emit):
    """Open what a killed worker left and hand out its stored answers again; then the power goes."""
    book = opened(order)
    for number in range(order["most"]):
        try:
            found = answers.reserve(book, f"{order['trial']}-{number}")
        except ThresherError:
            continue
        if not isinstance(found, StoredRelease):
            break
        emit(key=f"{order['trial']}-{number}", body=found.body.hex())
    os.kill(os.getpid(), 9)


def endure(order, emit):
    """Answer with a fault armed; after a stop, check that nothing is written, recover, and answer on."""
    names = (f"{order['trial']}-{number}" for number in itertools.count())
    shim = arm(order["call"], order["at"], getattr(errno, order["error"]), sticky=order["sticky"])
    try:
        book = opened(order)
    except LedgerError as error:
        emit(refused=type(error).__name__, text=str(error))
        disarm(shim)
        book = opened(order)
    after = 5
    for key in itertools.islice(names, MOST_ANSWERS):
        try:
            answer_one(book, key, emit)
        except LedgerStoppedError as error:
            emit(stopped=str(error))
            if order.get("careless"):
                emit(key=key, body=answers.release(key).hex())
            must_refuse(book, emit)
            if order["sticky"]:
                try:
                    book.recover()
                except LedgerError as still:
                    emit(unrecovered=type(still).__name__)
                    must_refuse(book, emit)
            disarm(shim)
            book.recover()
        except LedgerError as error:
            emit(failed=type(error).__name__, text=str(error))
            disarm(shim)
        after -= bool(shim.shim_fired())
        if after == 0:
            break
    assert shim.shim_fired(), "the fault was never met"
    disarm(shim)
    book.close()
    emit(fired=True)


def must_refuse(book, emit):
    """A stopped book writes nothing: each way of writing is tried."""
    before = lines_of(book)
    reservation = Reservation(1, answers.ACCOUNT, "", "x", "q", "{}", "nobody")
    for name, write in {
        "reserve": lambda: answers.reserve(book, f"stopped-{time.monotonic_ns()}"),
        "settle": lambda: book.settle(reservation, answers.spending(1), b""),
        "forfeit": lambda: book.forfeit(reservation),
        "set_cap": lambda: book.set_cap(answers.ACCOUNT, answers.CAP),
        "open_account": lambda: book.open_account("another", 1),
    }.items():
        try:
            write()
        except LedgerStoppedError:
            continue
        except LedgerError as error:
            emit(disobeyed=f"{name} raised {type(error).__name__}")
            continue
        emit(disobeyed=f"{name} wrote")
    after = lines_of(book)
    if before is not None and after is not None and after != before:
        emit(disobeyed="the book grew")


def lines_of(book):
    try:
        return len(book.entries())
    except LedgerError:
        return None


def fill_disk(order, emit):
    """The kernel's own limit on file sizes, as a disk that is full and is then given room."""
    book = opened(order)
    room = max(path.stat().st_size for path in Path(order["folder"]).iterdir()) + 30_000
    unlimited = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, unlimited[1]))
    for number in range(MOST_ANSWERS):
        try:
            answer_one(book, f"full-{number}", emit)
        except LedgerStoppedError as error:
            emit(stopped=str(error))
            must_refuse(book, emit)
            break
    resource.setrlimit(resource.RLIMIT_FSIZE, unlimited)
    book.recover()
    for number in range(5):
        answer_one(book, f"room-{number}", emit)
    book.close()


def open_as_nobody(order, emit):
    """Without root's power to write everywhere, so that rights mean something."""
    if os.geteuid() == 0:
        # Python itself may lie where only root can read: load what it would load later.
        codecs.lookup("ascii")
        os.setgroups([])
        os.setegid(65534)
        os.seteuid(65534)
    try:
        opened(order)
    except LedgerError as error:
        emit(refused=type(error).__name__, text=str(error))


def arm(call, at, error, *, sticky=False):
    shim = ctypes.CDLL(None)
    shim.shim_arm(CALLS.index(call), at, error, int(sticky))
    return shim


def disarm(shim):
    """Keeps the count of what has fired."""
    fired = shim.shim_fired()
    shim.shim_arm(-1, 0, 0, 0)
    shim.shim_fired = lambda: fired


def migrate(order, emit):
    """Open an old book, and die before an exact call; if it is not met, the book is opened."""
    arm(order["call"], order["at"], KILL)
    open_book(order["url"]).close()
    emit(migrated=True)
