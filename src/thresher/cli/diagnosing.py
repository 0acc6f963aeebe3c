"""`thresher diagnose`: does the model fit? A priced picture of private rows, on the terminal and as a file.

Reads: arguments, declarations. Writes: standard output, a picture; the ledger, through the engine. Never: charges unasked.
"""

import json
from pathlib import Path
from typing import Any

import click

import thresher
from thresher.cli.asking import budget_line, confirm
from thresher.cli.options import config_option, json_option, spinning
from thresher.cli.output import drawn, say
from thresher.diagnostics import Choices, Diagnostic
from thresher.diagnostics.pictures import check_picture, save_picture, sparkline
from thresher.ledger import Balance
from thresher.mechanisms.histograms import MECHANISMS
from thresher.views import inert, paragraph

_PRICE = click.option("--epsilon", metavar="EPSILON", help="What it may cost.")
_ROWS = click.option("--rows", type=int, help="The number of rows, if that is public. Else it is counted, noisily.")
_DEPTH = click.option("--depth", type=int, help="So many halvings of the scores. Default: by rows times epsilon.")
_HISTOGRAM = click.option("--histogram", type=click.Choice(list(MECHANISMS)), default="laplace", show_default=True)
_LABEL = click.option("--label", metavar="COLUMN", required=True, help="What came true: declared as 0 or 1.")
_SCORE = click.option("--score", metavar="COLUMN", required=True, help="What was predicted: declared from 0 to 1.")
_COMMON = (
    config_option,
    click.option("--table", metavar="NAME", required=True, help="A declared table."),
    click.option("--output", "-o", metavar="FILE", help="Draw it: FILE.svg or FILE.png."),
    click.option("--key", help="A name for this answer. The same key gives it again; a new key buys a fresh one."),
    click.option("--yes", "-y", is_flag=True, help="Pay without being asked."),
    click.option("--analyst", default="", help="On whose behalf, if the curator gives budgets to analysts."),
    json_option,
)


def _shared(command: Any) -> Any:
    for option in reversed(_COMMON):
        command = option(command)
    return command


@click.group()
def diagnose() -> None:
    """Does the model fit? Private ROC curves, binned residuals and residual plots of a declared table.

    The rows that are scored are protected, one row of each privacy unit. The model is not: if it was trained on the same
    rows without a budget of its own, no picture makes it private.
    """


@diagnose.command()
@_LABEL
@_SCORE
@_PRICE
@click.option("--auc-error", metavar="ERROR", help="Instead: the error of the AUC you can live with; needs --rows.")
@_ROWS
@_DEPTH
@click.option("--thresholds", type=click.Choice(["medians", "fixed"]), default="medians", show_default=True)
@_HISTOGRAM
@_shared
def roc(
    *,
    label: str,
    score: str,
    epsilon: str | None,
    auc_error: str | None,
    rows: int | None,
    depth: int | None,
    thresholds: str,
    histogram: str,
    **shared: Any,
) -> None:
