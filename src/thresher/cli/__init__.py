"""The command line: parse, call, show. Every command has `--json`; refusals go to standard error with their code.

Reads: arguments. Writes: standard output and error. Never: a number of its own making.
"""

import importlib
import json
import os
import sys
from collections.abc import Sequence
from typing import TextIO

import click

from thresher import __version__
from thresher.cli.flags import by_flags, invoked
from thresher.cli.help_pages import WIDTH, grouped
from thresher.errors import ArgumentError, BugError, CuratorError, ThresherError

_INTERRUPTED = 130
_TRACEBACK = "THRESHER_TRACEBACK"
_EXIT_CODES = (
    "Exit codes: 0 done, 1 an audit found a fault, 2 refused, 3 over budget, 4 source, ledger or installation, 70 a "
    "fault in Thresher, 130 interrupted."
)
# Of each command: its module, its name there, the heading of the help that it stands under, and its line. To list the
# commands, none of them is loaded.
COMMANDS: dict[str, tuple[str, str, str, str]] = {
    "demo": ("demo", "demo", "Start", "a made-up hospital: plan, answer, ledger"),
    "init": ("init", "init", "Start", "write thresher.toml for your data; reads no rows"),
    "plan": ("ask", "plan_command", "Ask", "cost and promise of a question; reads and spends nothing"),
    "ask": ("ask", "ask_command", "Ask", "show the cost, ask for a yes, pay, answer"),
    "refine": ("ask", "refine_command", "Ask", "make a stored answer finer, for the difference in price"),
    "ledger": ("ledger", "ledger", "Check", "what was spent, what is left, whether the file is intact"),
    "stream": ("stream", "stream", "More", "counts of every step of a stream, windows and alarms"),
    "diagnose": ("diagnose", "diagnose", "More", "does a model fit: ROC curve, binned residuals, residual plot"),
    "personal": ("personal", "personal", "More", "tables in which each person has a budget of their own"),
    "audit": ("audit", "audit", "More", "try to refute what Thresher claims of its privacy and errors"),
}


class _Commands(click.Group):
    """Commands that are listed by their one line, and loaded when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(self.commands)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name, _, rest = super().resolve_command(ctx, args)
        module, attribute, *_ = COMMANDS[str(name)]
        return name, getattr(importlib.import_module(f"thresher.cli.{module}"), attribute), rest

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what Thresher does, the commands in groups, and the exit codes."""
        formatter.width = WIDTH
        self.format_usage(ctx, formatter)
        with formatter.indentation():
            formatter.write_text("Which groups cross a threshold? Private answers with a promised error.")
        formatter.write(grouped({name: (heading, text) for name, (_, _, heading, text) in COMMANDS.items()}))
        with formatter.indentation():
            formatter.write_text(_EXIT_CODES)
            formatter.write_text("Also --version; thresher COMMAND --help explains a command.")


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="thresher")
def commands() -> None:
    """Answer which groups cross a threshold, privately and with a promised error."""


for _name, (*_, _line) in COMMANDS.items():
    commands.add_command(click.Command(_name, help=_line))


def main(group: click.Group = commands, name: str = "thresher") -> None:
    """Run a command of the group; an error of ours becomes one message and its exit code, never a traceback."""
    arguments = sys.argv[1:]
    try:
        _run(group, name, arguments)
    except click.exceptions.Exit as finished:
        sys.exit(finished.exit_code)
    except (click.exceptions.Abort, KeyboardInterrupt) as stopped:
        told = " ".join(["Interrupted.", *getattr(stopped, "__notes__", ["Nothing was charged."])])
        _show(stopped, told, as_json="--json" in arguments)
        sys.exit(_INTERRUPTED)
    except BrokenPipeError:
        # The reader has seen enough, as in `thresher demo | head`.
        _abandon(sys.stdout)
    except OSError as error:
        _abandon(sys.stdout)
        lines = [f"the output could not be written: {error.strerror}.", *getattr(error, "__notes__", [])]
        _show(error, " ".join(lines), as_json="--json" in arguments)
        sys.exit(CuratorError.exit_code)
    except (click.ClickException, ThresherError) as error:
        told = " ".join([_message(error, group, arguments), *getattr(error, "__notes__", [])])
        _show(error, told, as_json="--json" in arguments)
        sys.exit(error.exit_code)
    except Exception as error:
        if os.environ.get(_TRACEBACK):
            raise
        # Its text is not ours, so it may quote anything.
        fault = f"a fault in Thresher ({type(error).__name__}). Its text is held back, for it may quote data"
        _show(error, f"{fault}; {_TRACEBACK}=1 shows it to a curator.", as_json="--json" in arguments)
        sys.exit(BugError.exit_code)


def _run(group: click.Group, name: str, arguments: Sequence[str]) -> None:
    """What click's own `main` does, except that it would turn a closed pipe into exit code 1."""
    if sys.stdout is None:
        raise OSError(0, "standard output is closed")
    with group.make_context(name, list(arguments)) as context:
        group.invoke(context)


def _show(error: BaseException, message: str, *, as_json: bool) -> None:
    """One message on standard error. If that cannot be written either, the exit code must do."""
    try:
        if as_json:
            shape = {"kind": type(error).__name__, "field": _field(error), "message": message}
            click.echo(json.dumps({"error": shape}), err=True)
        elif isinstance(error, click.ClickException):
            error.show()
        else:
            click.echo(f"Error: {message}", err=True)
    except OSError:
        _abandon(sys.stderr)


def _message(error: click.ClickException | ThresherError, group: click.Group, arguments: Sequence[str]) -> str:
    """What is wrong, in the words of the command line."""
    return by_flags(error, invoked(group, arguments)) if isinstance(error, ThresherError) else error.format_message()


def _field(error: BaseException) -> str | None:
    if isinstance(error, ArgumentError):
        return error.field
    return error.param.name if isinstance(error, click.BadParameter) and error.param else None


def _abandon(stream: TextIO | None) -> None:
    """Let the unwritten rest go nowhere, or Python would try it again on its way out and complain."""
    if stream is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
