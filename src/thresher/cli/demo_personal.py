"""`thresher demo personal`: count people with budgets of their own, and compare the error of each method.

Reads: arguments. Writes: standard output, a picture if one is asked for. Never: a line of text wider than 78 columns.
"""

from pathlib import Path

import click

from thresher.cli.options import json_option, repeat_option, spinning
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
@repeat_option
@click.option(
    "--people", type=int, metavar="NUMBER", default=MANY, show_default=True, help="How many people to make up."
)
@click.option("--picture", metavar="FILE", help="Draw the measured error of each method as FILE.svg.")
@json_option
def demo_personal(*, seed: int | None, people: int, picture: str | None, as_json: bool) -> None:
    """Count people who each set a privacy budget.

    There are the eight people of a paper's figure, and a hundred thousand. Shows the budgets, the parts of least waste,
    what each method promises, and how far from the truth each method was on the same made-up people.
    """
    if not _FEWEST <= people <= 10 * MANY:
        raise ArgumentError("people", people, f"it must be from {_FEWEST:,} to {10 * MANY:,}", f"Pass {MANY}")
    if picture is not None and (not picture.lower().endswith(".svg") or not Path(picture).absolute().parent.is_dir()):
        raise ArgumentError("picture", picture, "it must be an .svg file in a folder that exists", "Pass errors.svg")
    entropy = SystemEntropy() if seed is None else SeededEntropy(seed)
    few, crowd = eight(), many(people)
    with spinning(quiet=as_json) as progress:
        progress("forecasting")
        outlooks = forecast(few.roster, 3), forecast(crowd.roster)
        progress(f"running each method {RUNS} times on {people:,} people")
        errors = measured(crowd, entropy)
    if picture is not None:
        title = f"Error by method, {people:,} people, {RUNS} runs"
        drawing = error_picture(title, [(error.method, error.seen) for error in errors])
        Path(picture).write_text(drawing, encoding="utf-8")
    show(_page(outlooks, crowd, errors, entropy.stamp), as_json=as_json)


def _page(outlooks: tuple[Forecast, Forecast], crowd: People, errors: list[Measured], stamp: str) -> Page:
    document = {
        "private": not stamp,
        "runs": RUNS,
        "eight": forecast_document(outlooks[0]),
        "many": forecast_document(outlooks[1]),
        "measured": [{"method": error.method, "forecast": error.forecast, "seen": error.seen} for error in errors],
    }
    blocks = (*_eight(outlooks[0]), plain_lines([""]), *_many(crowd, outlooks[1], errors))
    return Page(blocks, document, stamp)


def _eight(found: Forecast) -> Blocks:
    """Show the people of the figure, and the parts of least waste when there are two, three and four."""
    rows = [f"  {name:<8} earns {salary:>7,}  allows {budget}" for name, salary, budget in FIGURE]
    cuts = [partition(found.roster, number) for number in _CUTS]
    parts = [
        f"  {len(cut.levels)} parts begin at {', '.join(map(str, cut.levels)):<28} waste {float(sum(cut.waste)):.4f}"
        for cut in cuts
    ]
    small = (
        f"The question is which share earns {SALARY:,} or more. For eight people with such budgets the noise is larger "
        "than any share (a share is at most 1), so the numbers above show only the order of the methods: of those that "
        "add noise, the weighted release is best. Choice draws one of the possible counts and says little more: a "
        "share that is picked blindly would be off by 0.32."
    )
    return (
        heading("Eight people, each with a budget of their own", " (Li, Xiong, Ji, Jiang 2017, Figure 1)"),
        plain_lines([*rows, "", *parts, ""]),
        *parts_section(found),
        plain_lines([""]),
        *errors_section(found),
        Fact("", small),
    )


def _many(people: People, found: Forecast, errors: list[Measured]) -> Blocks:
    """Show the budgets of the many, and the error of each method, forecast and measured."""
    rows = tuple(line(f"  {error.method}", f"{error.forecast:.3g}", f"{error.seen:.3g}") for error in errors)
    hold = (
        "The forecast is a standard deviation known beforehand; measured is the root mean square error. They agree "
        "because these budgets have nothing to do with who is counted. Where budgets do, the methods with a star above "
        "are biased."
    )
    about = f", measured: a share of {people.truth:.4f}, released {RUNS} times of other people"
    return (
        *budgets_section(found),
        plain_lines([""]),
        heading("Error by method", about),
        plain_lines(error_bars([(error.method, error.seen) for error in errors])),
        Table(("  method", "forecast", "measured"), rows, (1, 2)),
        Fact("", hold),
    )
