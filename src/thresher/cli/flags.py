"""Put refusals into the words of the command line: `miss_rate` is typed `--miss-rate`; a near word is suggested.

Reads: errors, the options of the command that was called. Writes: nothing. Never: another reason than the error's.
"""

import re
from collections.abc import Sequence
from difflib import get_close_matches

import click

from thresher.errors import ArgumentError, BudgetError, LostAnswerError, ThresherError, TooDearError


def invoked(group: click.Group, arguments: Sequence[str]) -> click.Command:
    """Return the command that these arguments call."""
    command: click.Command = group
    for word in arguments:
        if isinstance(command, click.Group) and word in command.commands:
            command = command.resolve_command(click.Context(command), [word])[1] or command
    return command


def by_flags(error: ThresherError, command: click.Command) -> str:
    """Return the text of the error, with the options of this command written as flags."""
    flags = _flags_of(command)
    if isinstance(error, BudgetError | TooDearError | LostAnswerError):
        return _spelt(str(error), flags)
    if not isinstance(error, ArgumentError):
        return str(error)
    reason = f" {error.reason}"
    start, names = str(error).removesuffix(reason), error.field.split(", ")
    if set(names) <= flags.keys():
        typed = ", ".join(flags[name] for name in names)
        start = typed + start.removeprefix(error.field)
        if error.value is None or isinstance(error.value, bool):
            start, reason = typed, reason if error.value else reason.replace("is refused", "was not given", 1)
    return start + _spelt(reason, flags)


def in_flags(text: str, command: click.Command) -> str:
    """Return a text of a plan with the options of this command written as flags."""
    return _spelt(text, _flags_of(command))


def _flags_of(command: click.Command) -> dict[str, str]:
    """Return the flag of each option, by its name here and by that of its flag."""
    options = [option for option in command.params if isinstance(option, click.Option)]
    flags = {str(option.name): max(option.opts, key=len) for option in options}
    return flags | {flag.lstrip("-").replace("-", "_"): flag for flag in flags.values() if flag.startswith("--")}


def _spelt(text: str, flags: dict[str, str]) -> str:
    """Replace `name=`, and names with an underscore (which are not English words), by their flags."""
    names = "|".join(flags) or "(?!)"
    named = re.compile(rf"(?<![\w-])(?:({names})=|(?=\w*_)({names})(?!\w))")
    return named.sub(lambda match: f"{flags[match[1]]} " if match[1] else flags[match[2]], text)


class Choice(click.Choice[str]):
    """Accept one of several words; a refusal names the nearest."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the word."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as refused:
            near = "".join(f" Did you mean '{word}'?" for word in get_close_matches(str(value), self.choices, n=1))
            raise click.BadParameter(f"{refused.message}{near}", ctx, param) from None
