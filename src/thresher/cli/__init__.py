"""The command line: parse arguments, call the engine, show pages.

Read first this module (the list of commands, and how an error becomes one message and an exit code), then `ask` (plan,
ask and refine). `options` holds the options that commands share, `help_pages` what `--help` prints, `flags` puts
refusals into the words of the command line, `payment` shows a price and asks for a yes, `output` prints. Every
other module is one command, loaded when it is called. Every command has `--json`. No price or promise is made here.
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
from thresher.cli.stopping import stopping_like_ctrl_c
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
    "suggest": ("suggest", "suggest", "More", "limits on one person, recommended for a price"),
    "stream": ("stream", "stream", "More", "counts of every step of a stream, windows and alarms"),
    "diagnose": ("diagnose", "diagnose", "More", "does a model fit: ROC curve, binned residuals, residual plot"),
    "personal": ("personal", "personal", "More", "tables in which each person has a budget of their own"),
    "audit": ("audit", "audit", "More", "try to refute what Thresher claims of its privacy and errors"),
}


class _Commands(click.Group):
    """List commands by the line in `COMMANDS`, and load a command when it is called."""

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
    """Run a command of the group. An error becomes one message and its exit code, without a traceback."""
    arguments = sys.argv[1:]
    try:
        with stopping_like_ctrl_c():
            _run(group, name, arguments)
    except click.exceptions.Exit as finished:
        sys.exit(finished.exit_code)
    except (click.exceptions.Abort, KeyboardInterrupt) as stopped:
        text = " ".join(["Interrupted.", *getattr(stopped, "__notes__", ["Nothing was charged."])])
        _show(stopped, text, as_json="--json" in arguments)
        sys.exit(_INTERRUPTED)
    except BrokenPipeError:
        # The reader needs no more, as in `thresher demo | head`.
        _abandon(sys.stdout)
    except OSError as error:
        _abandon(sys.stdout)
        lines = [f"the output could not be written: {error.strerror}.", *getattr(error, "__notes__", [])]
        _show(error, " ".join(lines), as_json="--json" in arguments)
        sys.exit(CuratorError.exit_code)
    except (click.ClickException, ThresherError) as error:
        text = " ".join([_message(error, group, arguments), *getattr(error, "__notes__", [])])
        _show(error, text, as_json="--json" in arguments)
        sys.exit(error.exit_code)
    except Exception as error:
        if os.environ.get(_TRACEBACK):
            raise
        # Thresher did not write the text of this error, so it may quote data.
        fault = f"a fault in Thresher ({type(error).__name__}). Its text is not shown, because it may quote data"
        _show(error, f"{fault}. A curator can see it with {_TRACEBACK}=1.", as_json="--json" in arguments)
        sys.exit(BugError.exit_code)


def _run(group: click.Group, name: str, arguments: Sequence[str]) -> None:
    """Run as click's own `main` does, which would turn a closed pipe into exit code 1."""
    if sys.stdout is None:
        raise OSError(0, "standard output is closed")
    with group.make_context(name, list(arguments)) as context:
        group.invoke(context)


def _show(error: BaseException, message: str, *, as_json: bool) -> None:
    """Write one message to standard error. If that fails too, the exit code alone says what happened."""
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
    """Return what is wrong, in the words of the command line."""
    return by_flags(error, invoked(group, arguments)) if isinstance(error, ThresherError) else error.format_message()


def _field(error: BaseException) -> str | None:
    """Return the argument that an error is about, if it is about one."""
    if isinstance(error, ArgumentError):
        return error.field
    return error.param.name if isinstance(error, click.BadParameter) and error.param else None


def _abandon(stream: TextIO | None) -> None:
    """Send the unwritten rest of a stream to the null device; else Python tries it again when it exits."""
    if stream is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
