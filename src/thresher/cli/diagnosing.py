"""`thresher diagnose`: does the model fit? A priced picture of private rows, on the terminal and as a file.

Reads: arguments, declarations. Writes: standard output, a picture; the ledger, through the engine. Never: charges
unasked; charges for a picture that cannot be written.
"""

import json

import click

import thresher
from thresher.cli.asking import budget_line, confirm
from thresher.cli.flags import Choice
from thresher.cli.options import config_option, json_option, spinning
from thresher.cli.output import drawn, say
from thresher.codec import document
from thresher.diagnostics.diagnosis_plan import KINDS
from thresher.diagnostics.pictures import check_picture, save_picture, sparkline
from thresher.diagnostics.releases import Diagnostic
from thresher.ledger import Balance
from thresher.mechanisms.histograms import MECHANISMS
from thresher.views import inert, paragraph


@click.command()
@click.argument("kind", type=Choice(list(KINDS)))
@config_option
@click.option("--table", metavar="NAME", required=True, help="A declared table.")
@click.option("--label", metavar="COLUMN", help="What came true, declared as 0 or 1 (roc, binned).")
@click.option("--score", metavar="COLUMN", help="What was predicted, declared from 0 to 1 (roc, binned).")
@click.option("--actual", metavar="COLUMN", help="The number that was to be predicted (residuals).")
@click.option("--fitted", metavar="COLUMN", help="The number that was predicted (residuals).")
@click.option("--epsilon", metavar="EPSILON", help="What it may cost.")
@click.option("--auc-error", metavar="ERROR", help="Instead, for roc: the error of the AUC you can live with.")
@click.option("--rows", type=int, help="The number of rows, if public. Left out, it is counted, noisily.")
@click.option("--depth", type=int, help="So many halvings of the scores. Default: by rows times epsilon.")
@click.option("--thresholds", type=Choice(["medians", "fixed"]), help="Of roc. Default: medians.")
@click.option("--histogram", type=Choice(list(MECHANISMS)), help="Of roc and residuals. Default: laplace.")
@click.option("--output", "-o", metavar="FILE", help="Draw it as FILE.svg or FILE.png.")
@click.option("--key", help="A name for this answer. The same key gives it again; a new key buys a fresh one.")
@click.option("--yes", "-y", is_flag=True, help="Pay without being asked.")
@click.option("--analyst", default="", help="On whose behalf, if the curator gives budgets to analysts.")
@json_option
def diagnose(
    *,
    kind: str,
    config: str,
    table: str,
    label: str | None,
    score: str | None,
    actual: str | None,
    fitted: str | None,
    epsilon: str | None,
    auc_error: str | None,
    rows: int | None,
    depth: int | None,
    thresholds: str | None,
    histogram: str | None,
    output: str | None,
    key: str | None,
    yes: bool,
    analyst: str,
    as_json: bool,
) -> None:
    """Does the model fit? A private ROC curve, binned residuals or residual plot of a declared table.

    The rows that were scored are protected, one row of each privacy unit. The model is not: if it was trained on the
    same rows without a budget of its own, no picture makes it private.

    \b
      thresher diagnose roc --table loans --label defaulted --score risk --epsilon 0.5 -o roc.svg
      thresher diagnose roc --table loans --label defaulted --score risk --auc-error 0.02 --rows 5000
      thresher diagnose binned --table loans --label defaulted --score risk --epsilon 0.5
      thresher diagnose residuals --table people --actual income --fitted predicted --epsilon 0.5 -o fan.png
    """  # noqa: D301 - click reads the backslash
    if output is not None:
        check_picture(output)
    with thresher.open(config, analyst=analyst) as engine:
        plan = engine.plan_diagnosis(
            kind,
            table=table,
            label=label,
            score=score,
            actual=actual,
            fitted=fitted,
            epsilon=epsilon,
            auc_error=auc_error,
            rows=rows,
            thresholds=thresholds,
            depth=depth,
            histogram=histogram,
        )
        found = engine.stored(plan, key=key)
        if found is None:
            if not yes:
                confirm(engine, plan, "thresher diagnose --help")
            with spinning(quiet=as_json) as progress:
                found = engine.answer(plan, key=key, progress=progress)
        _show(found, engine.balance(plan), output, as_json=as_json)


def _show(found: Diagnostic, balance: Balance, output: str | None, *, as_json: bool) -> None:
    """Draw it if it is to be drawn, and say it."""
    try:
        if output is not None:
            save_picture(found, output)
        say(_json(found, balance) if as_json else _page(found, balance, output))
    except OSError as error:
        error.add_note(f"The answer is paid for and stored: ask again with --key {found.key}")
        raise


def _page(found: Diagnostic, balance: Balance, output: str | None) -> str:
    charge = (
        f"0 now: paid for before (epsilon {found.epsilon}, key {found.key})"
        if found.repeated
        else (f"epsilon {found.epsilon}; stored under key {found.key}: asking again is free")
    )
    parts = [
        "\n".join(inert(line) for line in sparkline(found).splitlines()),
        "",
        paragraph(inert(found.caption), "caption"),
        paragraph(charge, "charge"),
        budget_line(balance),
        *([paragraph(inert(f"written to {output}"), "picture")] if output else []),
    ]
    return drawn(parts)


def _json(found: Diagnostic, balance: Balance) -> str:
    shown = {
        **document(found),
        "caption": found.caption,
        "key": found.key,
        "repeated": found.repeated,
        "budget": {
            "account": balance.account,
            "cap": None if balance.cap is None else balance.cap.to_json(),
            "spent": balance.spent.to_json(),
        },
    }
    return json.dumps(shown, indent=2)
