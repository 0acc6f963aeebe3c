"""Refusals in the words of the command line: `miss_rate` is typed `--miss-rate`, and what is misspelt is named.

Reads: errors, the options of the command that was called. Writes: nothing. Never: another reason than the error gives.
"""

import re
from collections.abc import Sequence
from difflib import get_close_matches

import click

from thresher.errors import ArgumentError, BudgetError, ThresherError, TooDearError


def invoked(group: click.Group, arguments: Sequence[str]) -> click.Command:
    """Return the command that these arguments call."""
    found: click.Command = group
    for word in arguments:
        if isinstance(found, click.Group) and word in found.commands:
            found = found.resolve_command(click.Context(found), [word])[1] or found
    return found


def by_flags(error: ThresherError, command: click.Command) -> str:
    """Return what the error says, with the options of this command called as they are typed."""
    flags = {str(one.name): max(one.opts, key=len) for one in command.params if isinstance(one, click.Option)}
    flags |= {flag.lstrip("-").replace("-", "_"): flag for flag in flags.values() if flag.startswith("--")}
    if isinstance(error, BudgetError | TooDearError):
        return _spelt(str(error), flags)
    if not isinstance(error, ArgumentError):
        return str(error)
    reason = f" is refused: {error.rule}. {error.fix}."
    start, names = str(error).removesuffix(reason), error.field.split(", ")
    if set(names) <= flags.keys():
        typed = ", ".join(flags[name] for name in names)
        start = typed + start.removeprefix(error.field)
        if isinstance(error.value, bool):
            start, reason = typed, reason if error.value else reason.replace("is refused", "was not given", 1)
    return start + _spelt(reason, flags)


def _spelt(text: str, flags: dict[str, str]) -> str:
    """The text with `name=`, and names with a line below, which are nobody's prose, as flags."""
    names = "|".join(flags) or "(?!)"
    named = re.compile(rf"(?<![\w-])(?:({names})=|(?=\w*_)({names})(?!\w))")
    return named.sub(lambda found: f"{flags[found[1]]} " if found[1] else flags[found[2]], text)


class Choice(click.Choice[str]):
    """One of several words; a misspelt one is refused with the nearest."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the word."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as refused:
            near = "".join(f" Did you mean '{one}'?" for one in get_close_matches(str(value), self.choices, n=1))
            raise click.BadParameter(f"{refused.message}{near}", ctx, param) from None
