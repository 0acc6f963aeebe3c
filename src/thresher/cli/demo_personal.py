"""`thresher demo personal`: eight people with budgets of their own, and a hundred thousand; error by method.

Reads: arguments. Writes: standard output, a picture if one is asked for. Never: a line of text wider than 78 columns.
"""

from pathlib import Path

import click

from thresher.cli.options import json_option, spinning
from thresher.cli.output import show
from thresher.demo.eight_people import FIGURE, MANY, SALARY, People, eight, many
from thresher.demo.methods import RUNS, Measured, measured
from thresher.errors import ArgumentError
from thresher.noise import SeededEntropy, SystemEntropy
from thresher.pages import Fact, Page, Table, line
from thresher.pages.page import heading, plain_lines
from thresher.personal.forecast import Forecast, forecast
from thresher.personal.partition import partition
from thresher.views.budget_levels import error_bars, error_picture
from thresher.views.forecast_page import Blocks, budgets_section, errors_section, forecast_document, parts_section

_CUTS = (2, 3, 4)
_FEWEST = 1_000


@click.command("personal")
@click.option("--seed", type=int, help="Repeat a run. Whoever knows the seed can remove the noise: NOT PRIVATE.")
@click.option("--people", type=int, default=MANY, show_default=True, help="How many made-up people there are.")
@click.option("--picture", metavar="FILE", help="Draw the measured error of every method as FILE.svg.")
@json_option
def demo_personal(*, seed: int | None, people: int, picture: str | None, as_json: bool) -> None:
    """Count people who each say what may be lost about them: eight of a paper's figure, and a hundred thousand.

    Shows the budgets, the parts of least waste, what every method promises, and how far off each one was when all of
    them were run on the same made-up people, whose truth is known.
    """
    if not _FEWEST <= people <= 10 * MANY:
        raise ArgumentError("people", people, f"from {_FEWEST:,} to {10 * MANY:,} are made up", f"Pass {MANY}")
    if picture is not None and (not picture.lower().endswith(".svg") or not Path(picture).absolute().parent.is_dir()):
        raise ArgumentError("picture", picture, "it names an .svg file in a folder that exists", "Write errors.svg")
    entropy = SystemEntropy() if seed is None else SeededEntropy(seed)
    few, crowd = eight(), many(people)
    with spinning(quiet=as_json) as progress:
        progress("forecasting")
        outlooks = forecast(few.roster, 3), forecast(crowd.roster)
        progress(f"running every method {RUNS} times on {people:,} people")
        seen = measured(crowd, entropy)
    if picture is not None:
        title = f"Error by method, {people:,} people, {RUNS} runs"
        found = error_picture(title, [(one.method, one.seen) for one in seen])
        Path(picture).write_text(found, encoding="utf-8")
    show(_page(outlooks, crowd, seen, entropy.stamp), as_json=as_json)


def _page(outlooks: tuple[Forecast, Forecast], crowd: People, seen: list[Measured], stamp: str) -> Page:
    document = {
        "private": not stamp,
        "runs": RUNS,
        "eight": forecast_document(outlooks[0]),
        "many": forecast_document(outlooks[1]),
        "measured": [{"method": one.method, "forecast": one.forecast, "seen": one.seen} for one in seen],
    }
    blocks = (*_eight(outlooks[0]), plain_lines([""]), *_many(crowd, outlooks[1], seen))
    return Page(blocks, document, stamp)


def _eight(found: Forecast) -> Blocks:
    """The figure's people, and the cuts of least waste for two, three and four parts."""
    rows = [f"  {name:<8} earns {salary:>7,}  allows {budget}" for name, salary, budget in FIGURE]
    cuts = [partition(found.roster, number) for number in _CUTS]
    told = [
        f"  {len(cut.levels)} parts begin at {', '.join(map(str, cut.levels)):<28} waste {float(sum(cut.waste)):.4f}"
        for cut in cuts
    ]
    small = (
        f"Asked which share earns {SALARY:,} or more, eight people with such budgets drown in any noise: the numbers "
        "above are shares of 1. They show the order of the methods: of those that add noise, the weighted release "
        "comes first. Choice only draws from possible counts, and knows no more: a share picked blindly would be off "
        "by 0.32."
    )
    return (
        heading("Eight people, each with a budget of their own", " (Li, Xiong, Ji, Jiang 2017, Figure 1)"),
        plain_lines([*rows, "", *told, ""]),
        *parts_section(found),
        plain_lines([""]),
        *errors_section(found),
        Fact("", small),
    )


def _many(people: People, found: Forecast, seen: list[Measured]) -> Blocks:
    rows = tuple(line(f"  {one.method}", f"{one.forecast:.3g}", f"{one.seen:.3g}") for one in seen)
    hold = (
        "Forecasts are standard deviations known beforehand, measured are roots of mean squares. They hold because "
        "these budgets have nothing to do with who is counted; where they have, all with a star above are biased."
    )
    about = f", measured: a share of {people.truth:.4f}, released {RUNS} times of other people"
    return (
        *budgets_section(found),
        plain_lines([""]),
        heading("Error by method", about),
        plain_lines(error_bars([(one.method, one.seen) for one in seen])),
        Table(("  method", "forecast", "measured"), rows, (1, 2)),
        Fact("", hold),
    )
