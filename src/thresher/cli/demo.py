"""`thresher demo`: the demonstration as tables and bars, or as JSON.

Reads: arguments. Writes: standard output. Never: a line wider than 78 columns, unless its numbers need more.
"""

import io
import json
import math
import sys
import textwrap
from typing import Any

import click
from rich.console import Console, RenderableType
from rich.table import Table

from thresher.demo import TRIALS, WARDS, Band, Demonstration, demonstrate
from thresher.noise import SeededEntropy, SystemEntropy

_TEXT_WIDTH, _TABLE_WIDTH = 78, 120
_BAR = 30
# With fewer misses than this the bell curve behind "95 %" does not hold.
_MEASURABLE = 10


@click.command()
@click.option(
    "--miss-rate", default="0.05", show_default=True, help="The chance you accept of missing a ward that is over."
)
@click.option(
    "--half-width",
    default=10,
    show_default=True,
    help="Half the width of the undecided band: wards fewer than 2x this below capacity may be reported too.",
)
@click.option("--seed", type=int, help="Repeat a run. Whoever knows the seed can remove the noise: NOT PRIVATE.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def demo(*, miss_rate: str, half_width: int, seed: int | None, as_json: bool) -> None:
    """Decide which of twelve made-up hospital wards are over capacity.

    Shows the price of the question before it is asked, the answer, what a second look would cost, and whether the
    promised miss rate holds at its worst case over a million draws.
    """
    shown = demonstrate(miss_rate, half_width, SystemEntropy() if seed is None else SeededEntropy(seed))
    click.echo(json.dumps(_document(shown), indent=2) if as_json else _page(shown))


def _page(shown: Demonstration) -> str:
    """The whole page, drawn in memory. Click drops the colours where the output is no terminal."""
    parts: list[RenderableType] = [
        "[bold]Which wards are over capacity?[/bold]",
        *_terms(shown),
        "",
        _findings(shown),
        "",
        _promise(shown),
        "",
        "[bold]A second, sharper look: the closer counts[/bold]",
        _second_look(shown),
        "",
        "[bold]Does the promise hold?[/bold]",
        _measurement(shown),
        "",
        "[bold]The noise of those wards against its exact law[/bold]",
        *_bars(shown.bands),
    ]
    if shown.stamp:
        stamp = f"[bold red]{shown.stamp}[/bold red]"
        parts = [f"{stamp}: made with a seed, which anybody can repeat.", "", *parts, "", stamp]
    drawn = io.StringIO()
    Console(file=drawn, width=_TABLE_WIDTH, highlight=False, force_terminal=True).print(*parts, sep="\n")
    return "\n".join(line.rstrip() for line in drawn.getvalue().splitlines())


def _terms(shown: Demonstration) -> list[str]:
    return [
        _paragraph(f"miss rate {shown.miss_rate}, half width {shown.half_width} patients", "asked"),
        _paragraph(f"epsilon {shown.epsilon}, known before any data is read", "price"),
        _paragraph(f"(continuous noise with the same promises: {shown.continuous_epsilon:.9f})", " "),
        _paragraph(
            "epsilon-differential privacy for one patient being present or not, each counted in one ward;"
            " ward names and capacities are public",
            "privacy",
        ),
    ]


def _findings(shown: Demonstration) -> Table:
    table = Table(box=None, padding=(0, 0, 0, 2), header_style="")
    for heading in ("ward", "capacity", "reported\nabove", "noisy\ncount", "reported", "closer\ncount", "truth"):
        numeric = heading in ("capacity", "reported\nabove") or heading.endswith("count")
        table.add_column(heading, justify="right" if numeric else "left", vertical="bottom")
    for finding in shown.findings:
        ward = finding.ward
        table.add_row(
            ward.name,
            *map(str, (ward.capacity, finding.reported_above, finding.noisy)),
            "[bold yellow]yes[/bold yellow]" if finding.reported else "no",
            str(finding.closer),
            f"{ward.patients} {ward.standing(shown.half_width)}",
        )
    return table


def _promise(shown: Demonstration) -> str:
    rate, band = shown.miss_rate, 2 * shown.half_width
    small = sum(ward.capacity < band for ward in WARDS)
    empty = f"Capacity is below {band} in {small} of {len(WARDS)} wards: unless over, these lie in between. "
    return _paragraph(
        f"A ward is reported if its noisy count is above capacity - {shown.half_width}. For each ward: if it is over,"
        f" it is missed with probability at most {rate}; if it is {band} or more below capacity, it is reported with"
        f" probability at most {rate}. In between, either verdict is possible. {empty if small else ''}"
        "The truth is shown only because these wards are made up."
    )


def _second_look(shown: Demonstration) -> str:
    before, after = shown.mean_errors
    return _paragraph(
        f"Mean absolute error {after:.1f} patients instead of {before:.1f}. Both looks together cost epsilon"
        f" {shown.second_epsilon}; with fresh noise they would cost {shown.epsilon + shown.second_epsilon}. If you"
        " choose what to refine after seeing the noisy counts, the privacy stands, but the miss rate needs a wider"
        " margin: see conditional_shift."
    )


def _measurement(shown: Demonstration) -> str:
    share = shown.exact_miss_rate.high
    expected = TRIALS * share
    measured = f"Of {TRIALS:,} wards at the worst case, one patient over, {shown.missed:,} were missed."
    if expected < _MEASURABLE:
        return _paragraph(f"{measured} The exact law expects {expected:.2g}: too rare to see in so many draws.")
    chance = 1.96 * math.sqrt(expected * (1 - share))
    return _paragraph(f"{measured} The exact law expects {expected:,.0f}; chance moves this by +-{chance:,.0f} (95 %).")


def _bars(bands: tuple[Band, ...]) -> list[str]:
    labels, widest, block = [_label(band) for band in bands], max(band.share for band in bands), _block()
    wide = max(map(len, labels))
    return [f"  {'noise':>{wide}}    drawn    exact"] + [
        f"  {label:>{wide}} {band.share:8.3%} {band.exact:8.3%}  {block * round(_BAR * band.share / widest)}"
        for label, band in zip(labels, bands, strict=True)
    ]


def _label(band: Band) -> str:
    if band.low is None:
        return f"{band.high} or less"
    if band.high is None:
        return f"{band.low} or more"
    return f"{band.low}..{band.high}" if band.low < band.high else str(band.low)


def _block() -> str:
    """A full block, or # where the output's encoding has none."""
    try:
        "█".encode(sys.stdout.encoding)
    except UnicodeEncodeError:
        return "#"
    return "█"


def _paragraph(text: str, label: str = "") -> str:
    """Indented lines of at most 78 columns, with a label in front of the first one."""
    indent = f"  {label:<9}" if label else "  "
    return textwrap.fill(
        text, _TEXT_WIDTH, initial_indent=indent, subsequent_indent=" " * len(indent), break_long_words=False
    )


def _document(shown: Demonstration) -> dict[str, Any]:
    return {
        "private": not shown.stamp,
        "stamp": shown.stamp,
        "miss_rate": shown.miss_rate,
        "half_width": shown.half_width,
        "epsilon": shown.epsilon.to_json(),
        "wards": [
            {
                "ward": finding.ward.name,
                "capacity": finding.ward.capacity,
                "reported_above": finding.reported_above,
                "noisy_count": finding.noisy,
                "reported": finding.reported,
                "closer_count": finding.closer,
                "true_count_shown_because_made_up": finding.ward.patients,
            }
            for finding in shown.findings
        ],
        "second_look": {
            "epsilon_of_both": shown.second_epsilon.to_json(),
            "mean_absolute_errors": list(shown.mean_errors),
        },
        "worst_case": {
            "trials": TRIALS,
            "missed": shown.missed,
            "exact_miss_rate": shown.exact_miss_rate.high,
        },
    }
