"""The parts of the reference that follow from the code: the options of a decision, and the command line."""

import importlib
import inspect
import re
from collections.abc import Iterator, Mapping
from fractions import Fraction

import click

from thresher.cli import COMMANDS
from thresher.config import decimal_text
from thresher.decisions.aim import Aim
from thresher.decisions.decision_options import NAMES, REGION, VALUES, WITHIN, DecisionOptions, Options, options_of
from thresher.decisions.mechanisms import MECHANISMS, mechanism_named
from thresher.decisions.uncertain_region import UncertainRegion
from thresher.errors import ArgumentError

# Values that break a rule of each option: their refusals are the rules that the table states.
BROKEN = {
    "miss_rate": ["0"],
    "false_alarm_rate": ["0"],
    "within": ["0", str(1 << 39)],
    "uncertain_region": ["0", str(1 << 39)],
    "max_epsilon": ["0", "0.0000000001"],
    "confidence": ["0.4"],
    "mechanism": ["guess"],
    "bound": ["errors"],
    "levels": [0],
    "first_epsilon": ["0", "0.0000000001"],
    "show": ["rows"],
}
# A value of each option that is allowed.
VALID = {
    "miss_rate": "0.05",
    "false_alarm_rate": "0.1",
    "within": "20",
    "uncertain_region": "20",
    "max_epsilon": "1",
    "confidence": "0.9",
    "mechanism": "tslm",
    "bound": "misses",
    "levels": 3,
    "first_epsilon": "0.01",
    "show": VALUES,
}
CHOICES = ("mechanism", "bound", "show")
_LIST = re.compile(r"^(\w+) {2,}(.*)$")
_STATED = re.compile(r"\s*(?:\[([^\]]+)\]|\bDefault:? ([^.]+(?:\.\d+)?)(?=\.$|\.\s))\.?")


def meanings_of(listed: type) -> dict[str, str]:
    """Return what each name in the docstring of a list of options means."""
    meanings: dict[str, str] = {}
    name = ""
    for line in inspect.cleandoc(listed.__doc__ or "").split("\n"):
        entry = _LIST.match(line)
        if entry:
            name = entry[1]
            meanings[name] = entry[2]
        elif name and line.startswith("  "):
            meanings[name] += f" {line.strip()}"
    return meanings


def options_table() -> str:
    """Return the table of the options of a decision."""
    meanings = meanings_of(DecisionOptions)
    rows = [
        f"| Option of `DecisionOptions` in `{DecisionOptions.__module__}` | Means | Rule | Applies to | Default |",
        "|---|---|---|---|---|",
    ]
    for name in NAMES:
        cells = [f"`{name}`", meanings[name], "; ".join(rules_of(name)), _applies_to(name), _default_of(name)]
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def rules_of(name: str) -> list[str]:
    """Return the rules of an option, as refusals state them; of a choice, what may be chosen."""
    refusals = [_refusal(name, value) for value in BROKEN[name]]
    assert all(refused.field == name for refused in refusals)
    return [_choices(refused.fix) if name in CHOICES else refused.rule for refused in refusals]


def _refusal(name: str, value: object) -> ArgumentError:
    """Return the refusal of a value of an option."""
    try:
        mechanism_named(options_of({name: value}).mechanism)
    except ArgumentError as refused:
        return refused
    raise AssertionError(f"{name} = {value} breaks no rule")


def _choices(fix: str) -> str:
    """Return what a refusal says may be passed, in code type."""
    names = re.split(r", | or ", fix.removeprefix("Pass ").removeprefix("one of "))
    return "one of " + ", ".join(f"`{name}`" for name in names)


def _applies_to(name: str) -> str:
    """Return the mechanisms that take an option, and whether it goes with `show=values`."""
    own = [mechanism for mechanism in MECHANISMS if name in mechanism_named(mechanism).options]
    takers = ", ".join(f"`{mechanism}`" for mechanism in own) or "all mechanisms"
    try:
        options_of({"show": VALUES, name: VALID[name]})
    except ArgumentError:
        return f"{takers}; not to `show=values`"
    return takers


def _default_of(name: str) -> str:
    options = Options()
    if name == REGION:
        return f"as of `{WITHIN}`"
    if name == WITHIN:
        free = [f"`{mechanism}`" for mechanism in MECHANISMS if mechanism_named(mechanism).width_optional]
        share = f"{decimal_text(100 * UncertainRegion().share)} % of the declared range"
        few = "for few groups `certified` takes a twentieth of each threshold"
        return f"{share}; {' and '.join(free)} find one by measuring, and {few}"
    if name == "confidence":
        delta = next(field.default for field in Aim.__dataclass_fields__.values() if field.name == "delta")
        return decimal_text(1 - delta)
    if name == "first_epsilon":
        return "by the range"
    value = getattr(options, name)
    if value is None:
        return "none"
    return (
        decimal_text(value) if isinstance(value, Fraction) else f"`{value}`" if isinstance(value, str) else str(value)
    )


def commands() -> Iterator[tuple[str, click.Command]]:
    """Yield each command with its full name, a group before what it holds."""
    for name, (module, attribute, *_) in COMMANDS.items():
        yield from _under(name, getattr(importlib.import_module(f"thresher.cli.{module}"), attribute))


def _under(name: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    yield name, command
    inner: Mapping[str, click.Command] = command.commands if isinstance(command, click.Group) else {}
    for part, under in inner.items():
        yield from _under(f"{name} {part}", under)


def commands_page() -> str:
    """Return the sections of all commands: usage, what they do, and their options."""
    return "\n\n".join(_section(name, command) for name, command in commands())


def _section(name: str, command: click.Command) -> str:
    context = click.Context(command, info_name=f"thresher {name}")
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    parts = [f"## `thresher {name}`", f"`{usage}`", *_paragraphs(command.help or "")]
    options = [option for option in command.params if isinstance(option, click.Option)]
    if options:
        rows = [f"| {' | '.join(_option(option, context))} |" for option in options]
        parts.append("\n".join(["| Option | Meaning | Default |", "|---|---|---|", *rows]))
    return "\n\n".join(parts)


def _paragraphs(text: str) -> Iterator[str]:
    """Yield the paragraphs of a help text; lines that keep their breaks become a block."""
    for paragraph in re.split(r"\n\s*\n", inspect.cleandoc(text)):
        if paragraph.startswith("\b"):
            lines = inspect.cleandoc("\n" + paragraph.partition("\n")[2])
            yield f"```text\n{lines}\n```"
        elif paragraph.strip():
            yield plain(" ".join(paragraph.split()))


def _option(option: click.Option, context: click.Context) -> tuple[str, str, str]:
    """Return the cells of an option: how it is written, what it means, and its default."""
    shown = ", ".join(sorted(option.opts, key=len, reverse=True))
    value = "" if option.is_flag else f" {option.make_metavar(context)}"
    meaning, default = split_default(option.help or "")
    if option.required:
        default = "required"
    elif option.is_flag:
        default = "off"
    elif option.show_default and option.default not in (None, ""):
        default = str(option.default)
    return f"`{shown}{value}`".replace("|", r"\|"), plain(meaning), plain(default or "none")


def split_default(text: str) -> tuple[str, str]:
    """Return a help text without the default that it states, and the default."""
    stated = _STATED.search(text)
    if stated is None:
        return text, ""
    before, after = text[: stated.start()].rstrip(), text[stated.end() :]
    end = "" if before.endswith(".") or not before else "."
    return f"{before}{end}{after}".strip(), (stated[1] or stated[2]).strip()


def plain(text: str) -> str:
    """Return a text in which Markdown sees no sign of its own outside of code."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if i % 2 else re.sub(r"([*_<|])", r"\\\1", part) for i, part in enumerate(parts))
