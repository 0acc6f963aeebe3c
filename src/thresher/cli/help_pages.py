"""Help on one screen: commands in groups, and the options that most people need; `--help-all` lists the rest.

Reads: commands and their options. Writes: text. Never: loads a command to list it.
"""

from collections.abc import Mapping, Sequence

import click

# These options stand in the last line.
_SHARED = frozenset({"--config", "--json", "--help"})
_EVERYTHING = "thresher.help_all"
WIDTH, _COLUMN = 80, 28


class RareOption(click.Option):
    """An option that only `--help-all` lists."""


class ShortHelp(click.Command):
    """A command whose `--help` fits on one screen."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the arguments and options, with `--help-all` where some options are rare."""
        params = super().get_params(ctx)
        return [*params, _HELP_ALL] if any(isinstance(option, RareOption) for option in params) else params

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the usage, what the command does, its usual options, and the others in one line."""
        formatter.width = WIDTH
        self.format_usage(ctx, formatter)
        self.format_help_text(ctx, formatter)
        options = [option for option in self.get_params(ctx) if isinstance(option, click.Option)]
        rare = [] if _EVERYTHING in ctx.meta else [option for option in options if isinstance(option, RareOption)]
        usual = [option for option in options if option not in rare and not _SHARED.intersection(option.opts)]
        rows = [record for option in usual if (record := option.get_help_record(ctx)) is not None]
        formatter.write_paragraph()
        with formatter.indentation():
            if rows:
                formatter.write_dl(rows, col_max=_COLUMN)
            formatter.write_text(_others(options, rare))


def grouped(commands: Mapping[str, tuple[str, str]]) -> str:
    """Return lines that list commands: of each its name, the heading that it stands under, and its line of help."""
    lines, before = [], ""
    for name, (heading, text) in commands.items():
        lines.append(f"  {'' if heading == before else heading:<8}{name:<10}{text}\n")
        before = heading
    return "".join(lines)


def _others(options: Sequence[click.Option], rare: Sequence[click.Option]) -> str:
    """Name the options that every command has, and what lists the rare ones."""
    named = ["/".join(sorted(option.opts, key=len)) for option in options if _SHARED.intersection(option.opts)]
    told = [f"{flags} FILE" if flags.endswith("--config") else flags for flags in named]
    return f"Also {', '.join(told)}{'; rarer options: --help-all' if rare else ''}"


def _show_all(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:  # noqa: FBT001 - click calls it so
    """Print the help with every option, and end."""
    if wanted and not ctx.resilient_parsing:
        ctx.meta[_EVERYTHING] = True
        click.echo(ctx.get_help(), color=ctx.color)
        ctx.exit()


_HELP_ALL = RareOption(
    ["--help-all"], is_flag=True, is_eager=True, expose_value=False, callback=_show_all, help="List all options."
)
