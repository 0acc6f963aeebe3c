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
from thresher.errors import AnalystError, ArgumentError, BugError, CuratorError, ThresherError

_INTERRUPTED = 130
_TRACEBACK = "THRESHER_TRACEBACK"
_COMMANDS = {
    "demo": ("thresher.cli.demo", "demo"),
    "init": ("thresher.cli.init", "init"),
    "plan": ("thresher.cli.asking", "plan_command"),
    "ask": ("thresher.cli.asking", "ask_command"),
    "refine": ("thresher.cli.refining", "refine_command"),
    "ledger": ("thresher.cli.ledger", "ledger"),
    "stream": ("thresher.cli.stream", "stream"),
    "diagnose": ("thresher.cli.diagnosing", "diagnose"),
    "personal": ("thresher.cli.personal", "personal"),
    "audit": ("thresher.cli.audit", "audit"),
    "reproduce": ("thresher.cli.reproduce", "reproduce"),
}


class _Commands(click.Group):
    """Commands whose modules are loaded when they are called: a refusal should not wait for a database driver."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in _COMMANDS:
            return None
        module, name = _COMMANDS[cmd_name]
        command: click.Command = getattr(importlib.import_module(module), name)
        return command


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="thresher")
def commands() -> None:
    """Private decision support: which groups cross a threshold, at a promised error, for the least privacy loss.

    Exit codes: 0 answered, 1 an audit found what should not be, 2 refused, 3 out of budget, 4 source, output or
    installation, 70 a fault in Thresher, 130 interrupted.
    """


def main() -> None:
    """Run a command; an error of ours becomes one message and its exit code, never a traceback."""
    arguments = sys.argv[1:]
    try:
        _run(arguments)
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
        _show(error, " ".join([_message(error), *getattr(error, "__notes__", [])]), as_json="--json" in arguments)
        sys.exit(error.exit_code)
    except Exception as error:
        if os.environ.get(_TRACEBACK):
            raise
        # Its text is not ours, so it may quote anything.
        fault = f"a fault in Thresher ({type(error).__name__}). Its text is held back, for it may quote data"
        _show(error, f"{fault}; {_TRACEBACK}=1 shows it to a curator.", as_json="--json" in arguments)
        sys.exit(BugError.exit_code)


def _run(arguments: Sequence[str]) -> None:
    """What click's own `main` does, except that it would turn a closed pipe into exit code 1."""
    if sys.stdout is None:
        raise OSError(0, "standard output is closed")
    with commands.make_context("thresher", list(arguments)) as context:
        commands.invoke(context)


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


def _message(error: click.ClickException | ThresherError) -> str:
    from thresher.cli.flags import by_flags  # noqa: PLC0415 - only refusals need it

    if isinstance(error, click.ClickException):
        return error.format_message()
    return by_flags(error) if isinstance(error, AnalystError) else str(error)


def _field(error: BaseException) -> str | None:
    if isinstance(error, ArgumentError):
        return error.field
    return error.param.name if isinstance(error, click.BadParameter) and error.param else None


def _abandon(stream: TextIO | None) -> None:
    """Let the unwritten rest go nowhere, or Python would try it again on its way out and complain."""
    if stream is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
