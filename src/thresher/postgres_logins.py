"""Say why a PostgreSQL server cannot be used, in words of ours that are chosen by code.

A login that fails gives the driver no code, only the server's words, in the server's language. So the kind is found by
other means: whether a server answers at all, and, if one does, the code that it sends when the login is tried again.
Reads: an address; one more connection to it. Writes: nothing. Never: the words of the server or the driver; a part of
an address that could belong to a password.
"""

import os
import re
import select
import time
from collections.abc import Mapping
from contextlib import suppress

import psycopg
from psycopg import pq

_PLAIN = re.compile(r"[\w.-]{1,63}", re.ASCII)
_CODE = re.compile(rb'\tErrorResponse\t[^\n]*? C "([0-9A-Z]{5})"')
_PATIENCE_SECONDS = 10
_MOST_BYTES = 100_000
_NO_SUCH_HOST = "No server is known by the name in {at}. Check the host in {setting}"
_NO_ANSWER = "No PostgreSQL server answered at {at}. Check host and port in {setting}"
_ADDRESS = (
    "{setting} cannot be read as an address of PostgreSQL. Write postgresql://USER@HOST:5432/DATABASE, with the "
    "signs : / @ % of a password written as %3A %2F %40 %25"
)
_OTHER = "The server at {at} does not open {base}. Check user, password, database and settings in {setting}"
_BUSY = "The server at {at} is starting or stopping. Ask again when it runs"
# The first of these codes that the server's code begins with.
_BY_CODE = (
    ("28", "The server at {at} refused the login{role}. Check user and password in {setting}"),
    ("3D000", "The server at {at} does not have {base}. Check the name of the database in {setting}"),
    ("42501", "The login{role} may not connect to {base}. Grant it CONNECT, or name another login in {setting}"),
    ("53300", "The server at {at} has no connection left. Close some, or ask again later"),
    ("55000", "The server at {at} accepts no connections to {base}. Name another database in {setting}"),
    ("57P0", _BUSY),
    ("22", "The server at {at} refused a setting of {setting}. Check the part after the question mark"),
    ("42", "The server at {at} refused a setting of {setting}. Check the part after the question mark"),
)


def why_unusable(url: str, error: Exception, setting: str) -> str:
    """Return why the server at an address cannot be used, and what to check in the setting that holds the address.

    It may try the login once more, to learn the code of the refusal.
    """
    return _kind(url, error).format(**_parts(url), setting=setting) + "."


def _kind(url: str, error: Exception) -> str:
    if isinstance(error, psycopg.ProgrammingError) and error.sqlstate is None:
        return _ADDRESS
    if isinstance(error, psycopg.errors.ConnectionTimeout):
        return _NO_ANSWER
    if isinstance(error, psycopg.Error) and error.sqlstate is not None:
        return _by_code(error.sqlstate)
    if isinstance(error, psycopg.Error) and error.pgconn is None:
        # The driver found no address of the host, and made no connection.
        return _NO_SUCH_HOST
    return _by_answer(url)


def _by_code(code: str | None) -> str:
    return next((text for start, text in _BY_CODE if (code or "").startswith(start)), _OTHER)


def _by_answer(url: str) -> str:
    answer = _answer(url)
    if answer == pq.Ping.OK:
        return _by_code(_code_of_refusal(url))
    return {pq.Ping.NO_ATTEMPT: _ADDRESS, pq.Ping.NO_RESPONSE: _NO_ANSWER}.get(answer, _BUSY)


def _answer(url: str) -> pq.Ping:
    """Return whether a server answers at the address, whatever it thinks of the login."""
    return pq.Ping(pq.PGconn.ping(psycopg.conninfo.make_conninfo(url, connect_timeout=_PATIENCE_SECONDS).encode()))


def _code_of_refusal(url: str) -> str | None:
    """Try the login again, and return the code of the server's refusal, if the library of PostgreSQL shows it.

    The library writes all that passes over the connection into a file, which here is one in memory that nobody else
    sees. Elsewhere than on Linux, and before version 18 of the library, the code is not known.
    """
    if not hasattr(os, "memfd_create"):
        return None
    record = os.memfd_create("thresher")
    try:
        with suppress(psycopg.Error, OSError, ValueError):
            _try_login(url, record)
        os.lseek(record, 0, os.SEEK_SET)
        code = _CODE.search(os.read(record, _MOST_BYTES))
    finally:
        os.close(record)
    return code[1].decode() if code else None


def _try_login(url: str, record: int) -> None:
    connection = pq.PGconn.connect_start(url.encode())
    try:
        connection.trace(record)
        deadline = time.monotonic() + _PATIENCE_SECONDS
        state = pq.PollingStatus.WRITING
        while state not in (pq.PollingStatus.OK, pq.PollingStatus.FAILED) and time.monotonic() < deadline:
            waiting = [connection.socket]
            reading = state == pq.PollingStatus.READING
            select.select(waiting if reading else [], [] if reading else waiting, [], _PATIENCE_SECONDS)
            state = pq.PollingStatus(connection.connect_poll())
        connection.untrace()
    finally:
        connection.finish()


def _parts(url: str) -> dict[str, str]:
    """Return the place, the role and the database of an address, as far as they can be shown.

    A password with an unescaped sign spills into the other parts: then none of them is shown.
    """
    parts: Mapping[str, object] = {}
    with suppress(psycopg.Error):
        parts = psycopg.conninfo.conninfo_to_dict(url)
    named = {name: str(parts.get(name) or "") for name in ("host", "port", "user", "dbname")}
    host = named["host"]
    is_plain = all(_PLAIN.fullmatch(text) for name, text in named.items() if text and name != "host")
    is_plain &= not host or host.startswith("/") or ":" in host or bool(_PLAIN.fullmatch(host))
    if not is_plain or "@" in host or not (named["port"] or "0").isdigit():
        return {"at": "this address", "role": "", "base": "the database"}
    at = "this machine" if not host or host.startswith("/") else f"{host}:{named['port'] or 5432}"
    return {
        "at": at,
        "role": f" of `{named['user']}`" if named["user"] else "",
        "base": f"the database `{named['dbname']}`" if named["dbname"] else "the database",
    }
