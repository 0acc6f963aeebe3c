"""The command line: parse, call, show. Every command has `--json`; refusals go to standard error with their code.

Reads: arguments. Writes: standard output and error. Never: a number of its own making.
"""

import json
import sys

import click

from thresher import __version__
from thresher.cli.demo import demo
from thresher.cli.ledger import ledger
from thresher.errors import ArgumentError, ThresherError


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="thresher")
def commands() -> None:
    """Private decision support: which groups cross a threshold, at a promised error, for the least privacy loss.

    Exit codes: 0 answered, 2 refused, 3 out of budget, 4 source or installation.
    """


commands.add_command(demo)
commands.add_command(ledger)


def main() -> None:
    """Run a command; an error of ours becomes one message and its exit code, never a traceback."""
    try:
        commands.main(prog_name="thresher", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except click.exceptions.Abort:
        sys.exit(130)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
    except ThresherError as error:
        _show(error)
        sys.exit(error.exit_code)


def _show(error: ThresherError) -> None:
    if "--json" in sys.argv:
        field = error.field if isinstance(error, ArgumentError) else None
        shape = {"error": {"kind": type(error).__name__, "field": field, "message": str(error)}}
        click.echo(json.dumps(shape), err=True)
    else:
        click.echo(f"Refused: {error}", err=True)
