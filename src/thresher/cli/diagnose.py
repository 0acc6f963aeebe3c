"""`thresher diagnose`: does the model fit? A priced picture of private rows, on the terminal and as a file.

Reads: arguments, declarations. Writes: standard output, a picture; the ledger, through the engine. Never: charges
unasked; charges for a picture that cannot be written.
"""

from typing import TYPE_CHECKING, Unpack

import click

from thresher.cli.flags import Choice
from thresher.cli.opening import opened, versions_option
from thresher.cli.options import (
    analyst_option,
    config_option,
    json_option,
    key_option,
    yes_option,
)
from thresher.cli.output import show
from thresher.cli.payment import kept, paid
from thresher.diagnostics.diagnosis_plan import KINDS
from thresher.diagnostics.pictures import check_picture, save_picture
from thresher.mechanisms.histograms import MECHANISMS
from thresher.pages import Fact, Page

if TYPE_CHECKING:
    from thresher.diagnostics.diagnosis_plan import DiagnosisOptions


@click.command()
@click.argument("kind", type=Choice(list(KINDS)))
@config_option
@click.option("--table", metavar="NAME", required=True, help="A declared table.")
@click.option("--label", metavar="COLUMN", help="What came true: 0 or 1 (roc, binned).")
@click.option("--score", metavar="COLUMN", help="The predicted chance: 0 to 1 (roc, binned).")
@click.option("--actual", metavar="COLUMN", help="The number that was to be predicted (residuals).")
@click.option("--fitted", metavar="COLUMN", help="The number that was predicted (residuals).")
@click.option("--epsilon", metavar="EPSILON", help="What it may cost.")
@click.option("--auc-error", metavar="ERROR", help="Instead, for roc: the error of the AUC you can live with.")
@click.option("--rows", type=int, help="The number of rows, if it is public. Left out, it is counted with noise.")
@click.option("--depth", type=int, help="How often the scores are halved. Default: by rows and epsilon.")
@click.option("--thresholds", type=Choice(["medians", "fixed"]), help="Of roc: how scores are cut [medians].")
@click.option(
    "--histogram", type=Choice(list(MECHANISMS)), help="Of roc and residuals: how counts get noise [laplace]."
)
@click.option("--output", "-o", metavar="FILE", help="Draw it as FILE.svg or FILE.png.")
@key_option
@yes_option
@analyst_option
@versions_option
@json_option
def diagnose(
    *,
    kind: str,
    config: str,
    output: str | None,
    key: str | None,
    yes: bool,
    analyst: str,
    as_json: bool,
    **options: Unpack["DiagnosisOptions"],
) -> None:
    """Does the model fit? A private ROC curve, binned residuals or residual plot of a declared table.

    It protects the rows that were scored, one row of each person. It does not protect the model: if that was trained
    on the same rows without a budget, no picture makes it private.

    \b
      thresher diagnose roc --table loans --label defaulted --score risk --epsilon 0.5 -o roc.svg
      thresher diagnose roc --table loans --label defaulted --score risk --auc-error 0.02 --rows 5000
      thresher diagnose binned --table loans --label defaulted --score risk --epsilon 0.5
      thresher diagnose residuals --table people --actual income --fitted predicted --epsilon 0.5 -o fan.png
    """  # noqa: D301 - click reads the backslash
    if output is not None:
        check_picture(output)
    with opened(config, analyst) as engine:
        plan = engine.plan_diagnosis(kind, **options)
        release = paid(engine, plan, key=key, yes=yes, quiet=as_json)
        with kept(release.key):
            page = release.page() + engine.balance(plan).page()
            if output is not None:
                save_picture(release, output)
                page += Page((Fact("picture", f"written to {output}"),))
            show(page, as_json=as_json)
