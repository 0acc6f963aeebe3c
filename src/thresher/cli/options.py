"""Options that several commands share, and how they find an engine and a ledger.

Reads: arguments, `thresher.toml`. Writes: nothing. Never: a default that spends.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click
from rich.console import Console

from thresher.cli.flags import Choice
from thresher.errors import ArgumentError

_Command = TypeVar("_Command", bound=Callable[..., Any])
CONFIG = "thresher.toml"


@dataclass(frozen=True, slots=True)
class _Wish:
    name: str
    help: str
    metavar: str | None = None
    type: Any = None


_WISHES = (
    _Wish("--miss-rate", "Chance of missing a group that qualifies. Default 0.05.", "RATE"),
    _Wish("--false-alarm-rate", "Chance of calling a group above that is not. Default 0.10.", "RATE"),
    _Wish(
        "--uncertain-region",
        "How near the line either verdict will do, as a half width: 20 (in each aggregate's own units), 'COUNT(*)=20, "
        "AVG(age)=3' (a number for each), or 10% (of the declared range). Default 30%.",
        "WIDTH",
    ),
    _Wish(
        "--max-epsilon",
        "Refuse if the question would cost more than this; certified stops looking there. Default: as declared.",
        "EPSILON",
    ),
    _Wish("--confidence", "How sure a statement about all groups together must be (certified). Default 0.98.", "SHARE"),
    _Wish(
        "--mechanism",
        "How to decide. certified (default): looks closer until it is sure enough about all groups together; with few "
        "groups, each verdict stands for itself. three-way: the same at fixed levels, clear groups are left alone. "
        "tslm: one look. tslm-zone: one look, both rates kept outside twice the region. ppwlm: a coarse look first, "
        "sharper ones at undecided groups only. dppwlm: the same, each level chosen by what was seen.",
        "NAME",
    ),
    _Wish(
        "--bound",
        "Which error to bound first. With false-alarms, uncertain groups are not reported. Default misses.",
        "misses|false-alarms",
    ),
    _Wish("--levels", "At most so many looks (ppwlm, dppwlm). Default 4.", "NUMBER"),
    _Wish("--first-epsilon", "The level of the first look (ppwlm, dppwlm).", "EPSILON"),
    _Wish(
        "--show",
        "What to release: verdicts, or values: the noisy numbers behind them as well, which costs more. Default "
        "verdicts.",
        type=Choice(["verdicts", "values"]),
    ),
)
WISHES = tuple(wished.name[2:].replace("-", "_") for wished in _WISHES)

_SHARPER = (
    _Wish("--miss-rate", "Chance of missing a group that qualifies.", "RATE"),
    _Wish("--false-alarm-rate", "Chance of calling a group above that is not.", "RATE"),
    _Wish("--uncertain-region", "How near the line either verdict will do, as for `thresher ask`.", "WIDTH"),
    _Wish("--max-epsilon", "Refuse if it costs more; alone: sharpen as far as this pays for.", "EPSILON"),
)

key_option = click.option(
    "--key", help="A name for this answer. The same key gives it again; a new key buys a fresh one."
)
yes_option = click.option("--yes", "-y", is_flag=True, help="Pay without being asked.")
all_option = click.option("--all", "every", is_flag=True, help="List groups that are not reported as well.")
analyst_option = click.option(
    "--analyst", default="", help="On whose behalf, if the curator gives budgets to analysts."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
config_option = click.option(
    "--config", "-c", default=CONFIG, show_default=True, metavar="FILE", help="The declarations: see `thresher init`."
)
ledger_option = click.option(
    "--ledger", "url", metavar="URL", help="sqlite:///FILE or postgresql://... Default: the one of the declarations."
)


def wish_options(command: _Command) -> _Command:
    """What the asker can live with."""
    return _with(_WISHES, command)


def sharper_options(command: _Command) -> _Command:
    """What a refinement can be asked for; what is left out stays as it was."""
    return _with(_SHARPER, command)


def _with(options: Sequence[_Wish], command: _Command) -> _Command:
    for option in reversed(options):
        command = click.option(
            option.name,
            type=option.type,
            default=None,
            metavar=option.metavar,
            help=option.help,
        )(command)
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
