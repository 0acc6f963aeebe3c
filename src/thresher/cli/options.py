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

from thresher.cli.flags import Choice
from thresher.cli.help_pages import RareOption
from thresher.errors import ArgumentError

_Command = TypeVar("_Command", bound=Callable[..., Any])
CONFIG = "thresher.toml"


def together(*options: Callable[[_Command], _Command]) -> Callable[[_Command], _Command]:
    """Return one decorator that adds all of these options."""

    def add(command: _Command) -> _Command:
        for option in reversed(options):
            command = option(command)
        return command

    return add


older_width = click.option("--uncertain-region", cls=RareOption, metavar="WIDTH", help="The older name of --within.")
# The options of a question.
wish_options = together(
    click.option(
        "--within",
        metavar="WIDTH",
        help='How fine: 20, or "COUNT(*)=20, AVG(age)=3", or 10% of the declared range.',
    ),
    older_width,
    click.option("--miss-rate", metavar="RATE", help="Chance of missing a group that qualifies [0.05]."),
    click.option("--max-epsilon", metavar="COST", help="The most this question may cost [as declared]."),
    click.option(
        "--false-alarm-rate",
        cls=RareOption,
        metavar="RATE",
        help="With about 100 groups or more, the largest share of the groups that do not qualify that may be reported; "
        "with another mechanism, the chance of marking such a group above [0.10].",
    ),
    click.option(
        "--confidence",
        cls=RareOption,
        metavar="SHARE",
        help="How sure a statement about the whole list must be (certified) [0.98].",
    ),
    click.option(
        "--mechanism",
        cls=RareOption,
        metavar="NAME",
        help="How to measure [certified]. certified: more and more finely, until the promise about the whole list is "
        "reached; few groups each until its verdict is clear. three-way: the same at fixed levels, and clear groups "
        "stop early. tslm: once. tslm-zone: once, and both rates hold outside of twice the half width. ppwlm: "
        "coarsely, then undecided groups more finely. dppwlm: the same, and each level follows from what was measured.",
    ),
    click.option(
        "--bound",
        cls=RareOption,
        metavar="misses|false-alarms",
        help="Which error to bound first [misses]. With false-alarms, uncertain groups are not reported.",
    ),
    click.option(
        "--levels", cls=RareOption, metavar="NUMBER", help="The most measurements of one group (ppwlm, dppwlm) [4]."
    ),
    click.option(
        "--first-epsilon", cls=RareOption, metavar="COST", help="What the first measurement costs (ppwlm, dppwlm)."
    ),
    click.option(
        "--show",
        cls=RareOption,
        type=Choice(["verdicts", "values"]),
        help="What to release [verdicts]. values: also the noisy numbers behind them, which costs more.",
    ),
)
# The options of a refinement; what is left out stays as it was.
sharper_options = together(
    click.option("--within", metavar="WIDTH", help="How fine: a smaller half width, as for ask."),
    older_width,
    click.option("--miss-rate", metavar="RATE", help="Chance of missing a group that qualifies."),
    click.option("--max-epsilon", metavar="COST", help="Most cost; alone: as fine as it pays for."),
    click.option(
        "--false-alarm-rate",
        cls=RareOption,
        metavar="RATE",
        help="Chance of marking a group above that does not qualify.",
    ),
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


def question_text(sql: str) -> str:
    """Return the question as typed, from a file (`@question.sql`) or from standard input (`-`)."""
    if sql == "-":
        if sys.stdin is None or sys.stdin.closed:
            raise ArgumentError("SQL", "-", "standard input is closed", "Pass the question as an argument")
        try:
            return sys.stdin.buffer.read().decode("utf-8")
        except UnicodeDecodeError:
            raise ArgumentError("SQL", "-", "standard input is not UTF-8 text", "Save the question as UTF-8") from None
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
