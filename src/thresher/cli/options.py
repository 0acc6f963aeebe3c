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
from thresher.cli.help_pages import RareOption
from thresher.errors import ArgumentError

_Command = TypeVar("_Command", bound=Callable[..., Any])
CONFIG = "thresher.toml"


@dataclass(frozen=True, slots=True)
class _Wish:
    name: str
    help: str
    metavar: str | None = None
    type: Any = None
    # Whether only `--help-all` lists it.
    rare: bool = False


_WISHES = (
    _Wish(
        "--uncertain-region",
        'How fine: 20, or "COUNT(*)=20, AVG(age)=3", or 10% of the declared range.',
        "WIDTH",
    ),
    _Wish("--miss-rate", "Chance of missing a group that qualifies [0.05].", "RATE"),
    _Wish("--max-epsilon", "The most this question may cost [as declared].", "COST"),
    _Wish(
        "--false-alarm-rate",
        "With about 50 groups or more, the largest share of the groups that do not qualify that may be reported; with "
        "fewer than 5 groups, or another mechanism, the chance of marking such a group above [0.10].",
        "RATE",
        rare=True,
    ),
    _Wish("--confidence", "How sure a statement about the whole list must be (certified) [0.98].", "SHARE", rare=True),
    _Wish(
        "--mechanism",
        "How to measure [certified]. certified: more and more finely, until the promise about the whole list is "
        "reached; few groups are measured once. three-way: the same at fixed levels, and clear groups stop early. "
        "tslm: once. tslm-zone: once, and both rates hold outside of twice the half width. ppwlm: coarsely, then "
        "undecided groups more finely. dppwlm: the same, and each level follows from what was measured.",
        "NAME",
        rare=True,
    ),
    _Wish(
        "--bound",
        "Which error to bound first [misses]. With false-alarms, uncertain groups are not reported.",
        "misses|false-alarms",
        rare=True,
    ),
    _Wish("--levels", "The most measurements of one group (ppwlm, dppwlm) [4].", "NUMBER", rare=True),
    _Wish("--first-epsilon", "What the first measurement costs (ppwlm, dppwlm).", "COST", rare=True),
    _Wish(
        "--show",
        "What to release [verdicts]. values: also the noisy numbers behind them, which costs more.",
        type=Choice(["verdicts", "values"]),
        rare=True,
    ),
)

_SHARPER = (
    _Wish("--uncertain-region", "How fine: a smaller half width, as for ask.", "WIDTH"),
    _Wish("--miss-rate", "Chance of missing a group that qualifies.", "RATE"),
    _Wish("--max-epsilon", "Most cost; alone: as fine as it pays for.", "COST"),
    _Wish("--false-alarm-rate", "Chance of marking a group above that does not qualify.", "RATE", rare=True),
)

key_option = click.option("--key", metavar="NAME", help="Name of the answer. A new name pays anew.")
yes_option = click.option("--yes", "-y", is_flag=True, help="Pay without being asked.")
all_option = click.option("--all", "every", is_flag=True, help="List groups that are not reported as well.")
analyst_option = click.option(
    "--analyst",
    metavar="NAME",
    default="",
    cls=RareOption,
    help="Who asks, if the curator gives analysts budgets of their own.",
)

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
repeat_option = click.option(
    "--seed",
    type=int,
    metavar="NUMBER",
    help="Repeat a run. Whoever knows the seed can remove the noise: NOT PRIVATE.",
)
config_option = click.option(
    "--config", "-c", default=CONFIG, show_default=True, metavar="FILE", help="The declarations: see `thresher init`."
)
ledger_option = click.option("--ledger", "url", metavar="URL", help="sqlite:///FILE or postgresql://... [as declared]")


def wish_options(command: _Command) -> _Command:
    """Add the options of a question."""
    return _with(_WISHES, command)


def sharper_options(command: _Command) -> _Command:
    """Add the options of a refinement; what is left out stays as it was."""
    return _with(_SHARPER, command)


def _with(options: Sequence[_Wish], command: _Command) -> _Command:
    for option in reversed(options):
        command = click.option(
            option.name,
            cls=RareOption if option.rare else click.Option,
            type=option.type,
            default=None,
            metavar=option.metavar,
            help=option.help,
        )(command)
    return command


def question_text(sql: str) -> str:
    """Return the question as typed, from a file (`@question.sql`) or from standard input (`-`)."""
    if sql == "-":
        if sys.stdin is None or sys.stdin.closed:
            raise ArgumentError("SQL", "-", "standard input is closed", "Pass the question as an argument")
        return sys.stdin.read()
    if not sql.startswith("@"):
        return sql
    try:
        return Path(sql[1:]).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError, ValueError):
        raise ArgumentError("SQL", sql, "it is not a UTF-8 text file that can be read", "Check its name") from None


@contextmanager
def spinning(*, quiet: bool) -> Iterator[Callable[[str], None]]:
    """Show a spinner with the present step on standard error; nothing where that is not a terminal."""
    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield lambda _: None
        return
    with console.status("") as status:
        yield lambda step: status.update(f"{step} …")
