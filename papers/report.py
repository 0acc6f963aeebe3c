"""Define what the reports of all papers share: options, the page, the JSON object, and one remark.

Reads: arguments. Writes: standard output, and the current step on standard error. Never: a line wider than 78 columns.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from thresher.cli.options import json_option, spinning
from thresher.cli.output import say
from thresher.noise import Entropy, SeededEntropy, SystemEntropy
from thresher.views.text import paragraph

_TRUTH = "Errors are counted against the truth, which is public here. This is not a release."
_GETTING = (
    "Name the folder with --data or THRESHER_DATA. docs/reproduce.md says which columns the files need and where the"
    " data were published."
)


@dataclass(frozen=True, slots=True)
class Request:
    """The options that all reports have: the folder of public data, the number of runs, and the source of noise."""

    data: Path | None
    runs: int
    seed: int | None
    entropy: Entropy
    progress: Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Report:
    """What was measured: how to read it, tables as lines, remarks, and the same numbers for JSON."""

    about: str
    tables: Sequence[str]
    missing: Sequence[str]
    remarks: Sequence[str]
    document: dict[str, Any]

    def page(self) -> str:
        lines = [paragraph(self.about), paragraph(_TRUTH), *self.tables, "", *map(paragraph, self.missing)]
        lines += [paragraph(_GETTING), ""] if self.missing else []
        lines += ["Remarks, from these numbers", *(paragraph(remark, "-", 2) for remark in self.remarks)]
        return "\n".join(lines)

    def json(self) -> str:
        """Return the report as JSON; `private` is false, because errors are counted against the truth."""
        sentences = {"left_out": list(self.missing), "remarks": list(self.remarks)}
        return json.dumps({"private": False, **self.document, **sentences}, indent=2)


def near_reference(what: str, ratios: Sequence[float]) -> tuple[str, ...]:
    """Say how many measured numbers are within a tenth of those of our reference simulation."""
    if not ratios:
        return ()
    near = sum(0.9 <= ratio <= 1 / 0.9 for ratio in ratios)
    rest = f"; all are {min(ratios):.2f} to {max(ratios):.2f} times as large" if near < len(ratios) else ""
    return (f"{near} of {len(ratios)} {what} lie within a tenth of our reference simulation{rest}.",)


class _ReportCommand(click.Command):
    """A command whose function takes a `Request` as `asked`, and its own options; it shows the report returned."""

    def invoke(self, ctx: click.Context) -> None:
        options = ctx.params
        data, runs, seed, as_json = (options.pop(name) for name in ("data", "runs", "seed", "as_json"))
        entropy = SystemEntropy() if seed is None else SeededEntropy(seed)
        with spinning(quiet=as_json) as progress:
            options["asked"] = Request(Path(data) if data else None, runs, seed, entropy, progress)
            report: Report = super().invoke(ctx)
        say(report.json() if as_json else report.page())


def report_command(runs: int, counted: str) -> Callable[[Callable[..., Report]], click.Command]:
    """Make a command of a function that returns a report; `--runs` has the default `runs` and the help `counted`."""
    options = (
        click.option("--data", metavar="FOLDER", envvar="THRESHER_DATA", help="Public data. Default: $THRESHER_DATA."),
        click.option("--runs", type=int, default=runs, show_default=True, help=counted),
        click.option("--seed", type=int, help="Repeat a measurement."),
        json_option,
    )

    def command_of(measured: Callable[..., Report]) -> click.Command:
        for option in reversed(options):
            measured = option(measured)
        return click.command(cls=_ReportCommand)(measured)

    return command_of
