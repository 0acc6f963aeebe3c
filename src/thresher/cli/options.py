"""Options that several commands share, and how they find an engine and a ledger.

Reads: arguments, `thresher.toml`. Writes: nothing. Never: a default that spends.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import click
from rich.console import Console

from thresher.errors import ArgumentError

_Command = TypeVar("_Command", bound=Callable[..., Any])
CONFIG = "thresher.toml"

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
config_option = click.option(
    "--config", "-c", default=CONFIG, show_default=True, metavar="FILE", help="The declarations: see `thresher init`."
)
ledger_option = click.option(
    "--ledger", "url", metavar="URL", help="sqlite:///FILE or postgresql://... Default: the one of the declarations."
)


def wish_options(command: _Command) -> _Command:
    """What the asker can live with."""
    for option in reversed(
        [
            click.option("--miss-rate", help="Chance of missing a group that qualifies. Default 0.05."),
            click.option("--false-alarm-rate", help="Chance of calling a group above that is not. Default 0.10."),
            click.option(
                "--uncertain-region",
                metavar="WIDTH",
                help="How near the line either verdict will do, as a half width: 20 (in each aggregate's own units),"
                " 'COUNT(*)=20, AVG(age)=3' (a number for each), or 10% (of the declared range). Default 30%.",
            ),
            click.option("--max-epsilon", help="Refuse if the question would cost more than this."),
            click.option("--mechanism", help="How to decide. Default tslm: threshold shift on one margin."),
        ]
    ):
        command = option(command)
    return command


def question_text(sql: str) -> str:
    """The question as typed, from a file (`@question.sql`) or from standard input (`-`)."""
    if sql == "-":
        if sys.stdin is None or sys.stdin.closed:
            raise ArgumentError("SQL", "-", "standard input is closed", "Pass the question as an argument")
        return sys.stdin.read()
    if not sql.startswith("@"):
        return sql
    try:
        return Path(sql[1:]).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError, ValueError):
        raise ArgumentError("SQL", sql, "it is no file that can be read as UTF-8 text", "Check its name") from None


def ledger_url(url: str | None, config: str) -> str:
    """The ledger that was named, or that of the declarations, or the usual one where there are none."""
    from thresher.config import load  # noqa: PLC0415

    if url is not None:
        return url
    return load(config).ledger if config != CONFIG or Path(config).exists() else "sqlite:///ledger.db"


@contextmanager
def spinning(*, quiet: bool) -> Iterator[Callable[[str], None]]:
    """What is going on, on standard error, for people only: a spinner with the present step and the time it takes."""
    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield lambda _: None
        return
    with console.status("") as status:
        yield lambda step: status.update(f"{step} …")
