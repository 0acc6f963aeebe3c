"""`thresher demo`: the demonstration as tables and bars, or as JSON."""

import json
import sys
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from thresher.demo import TRIALS, Demonstration, demonstrate
from thresher.noise import SeededEntropy, SystemEntropy

_WIDTH = 96
_BAR = 30


@click.command()
@click.option(
    "--miss-rate", default="0.05", show_default=True, help="The chance you accept of missing a ward that is over."
)
@click.option(
    "--half-width", default=10, show_default=True, help="How many patients below capacity may still be reported."
)
@click.option("--seed", type=int, help="Repeat a run. Whoever knows the seed can remove the noise: NOT PRIVATE.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def demo(*, miss_rate: str, half_width: int, seed: int | None, as_json: bool) -> None:
    """Decide which of twelve made-up hospital wards are over capacity.

    Shows the price of the question before it is asked, the answer, what a second look would cost, and whether the
    promised miss rate holds at its worst case over a million draws.
    """
    shown = demonstrate(miss_rate, half_width, SystemEntropy() if seed is None else SeededEntropy(seed))
    if as_json:
        click.echo(json.dumps(_document(shown), indent=2))
    else:
        _print(shown)


def _print(shown: Demonstration) -> None:
    console = Console(width=_WIDTH, highlight=False, no_color=None if sys.stdout.isatty() else True)
    rate, width = f"{float(shown.miss_rate):g}", shown.half_width
    fresh = shown.epsilon + shown.second_epsilon
    console.print(
        "[bold]Which wards are over capacity?[/bold]",
        f"  asked     miss a ward that is over with probability at most {rate}; half width {width} patients",
        f"  price     epsilon {shown.epsilon}, known before any data is read",
        f"            (the textbook's continuous noise: {shown.continuous_epsilon:.6f})",
        "",
        _findings(shown),
        "",
        f"  A ward that is over is missed with probability at most {rate}. One that is {2 * width} or more below",
        f"  capacity is reported with probability at most {rate}. In between, either verdict may come.",
        "  The truth stands here only because these wards are made up.",
        "",
        "[bold]A second, sharper look[/bold]",
        f"  epsilon {shown.second_epsilon} turns a typical error of {shown.spreads[0]:.1f} patients"
        f" into {shown.spreads[1]:.1f};",
        f"  both looks together cost {shown.second_epsilon}, where fresh noise would cost {fresh}.",
        "",
        "[bold]Does the promise hold?[/bold]",
        f"  {TRIALS:,} wards at the worst case, one patient over: {shown.measured_miss_rate:.3%} missed;",
        f"  by the exact law {shown.promised.high:.5%}, promised at most {float(shown.miss_rate):.5%}.",
        "",
        "[bold]The noise of those wards against its exact law[/bold]",
        *_bars(shown),
        sep="\n",
    )
    if shown.stamp:
        console.print(f"\n[bold red]{shown.stamp}[/bold red]: made with a seed, which anybody can repeat.")


def _bars(shown: Demonstration) -> list[str]:
    widest = max(share for _, share, _ in shown.shape)
    bars = [(first, "█" * round(_BAR * share / widest), share, exact) for first, share, exact in shown.shape]
    return [f"  from {first:>5} {bar:<{_BAR}} {share:8.3%}   exact {exact:8.3%}" for first, bar, share, exact in bars]


def _findings(shown: Demonstration) -> Table:
    table = Table(box=None, padding=(0, 2), header_style="bold")
    for heading in ("ward", "capacity", "noisy count", "verdict", "truth"):
        table.add_column(heading, justify="right" if heading in ("capacity", "noisy count") else "left")
    for finding in shown.findings:
        ward = finding.ward
        truth = f"{ward.patients} {'over' if ward.patients > ward.capacity else 'not over'}"
        verdict = "[bold yellow]reported[/bold yellow]" if finding.over else "not reported"
        table.add_row(ward.name, str(ward.capacity), str(finding.noisy), verdict, truth)
    return table


def _document(shown: Demonstration) -> dict[str, Any]:
    return {
        "miss_rate": float(shown.miss_rate),
        "half_width": shown.half_width,
        "epsilon": shown.epsilon.to_json(),
        "wards": [
            {
                "ward": finding.ward.name,
                "capacity": finding.ward.capacity,
                "noisy_count": finding.noisy,
                "reported": finding.over,
                "true_count_shown_because_made_up": finding.ward.patients,
            }
            for finding in shown.findings
        ],
        "second_look": {"epsilon_of_both": shown.second_epsilon.to_json(), "typical_errors": list(shown.spreads)},
        "worst_case": {
            "trials": TRIALS,
            "measured_miss_rate": shown.measured_miss_rate,
            "exact_miss_rate": shown.promised.high,
        },
        "stamp": shown.stamp,
    }
