"""The servers that the sources read from."""

from ledger.conftest import postgres_server  # noqa: F401 - one way to start PostgreSQL
