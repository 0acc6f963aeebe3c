"""`thresher reproduce roc`: errors of private ROC curves, by epsilon, beside what was printed of them.

Reads: arguments, a folder of public data. Writes: standard output. Never: a line wider than 78 columns.
"""

import dataclasses
import json
from pathlib import Path

import click

from thresher.cli.options import json_option, spinning
from thresher.cli.output import say
from thresher.noise import SeededEntropy, SystemEntropy
from thresher.reproduce.diagnostics_roc import (
    EPSILONS,
    ERRORS,
    METHODS,
    REFERENCE,
    RocErrors,
    RocTruth,
    roc_errors,
    roc_remarks,
    truth_of,
)
from thresher.reproduce.roc_sets import made_up_sets, public_sets
from thresher.views.text import paragraph

_KEY = (
    "area: mean error of the AUC, where an undefined one counts as 0.5; curve: mean area between the private and the"
    " true curve. medians: thresholds by private medians, 8 to 32 bins by rows times epsilon; fixed: evenly spaced"
    " ones; dawa: medians with another histogram; smooth area: the AUC with Cauchy noise, and a binormal curve of it."
)
_GETTING = (
    "Name the folder with --data or THRESHER_DATA. docs/reproduce.md says which columns the files need and where the"
    " data were published."
)


@click.command()
@click.option("--data", metavar="FOLDER", envvar="THRESHER_DATA", help="Public data sets. Default: $THRESHER_DATA.")
@click.option("--runs", type=int, default=20, show_default=True, help="How often each method is run.")
@click.option("--seed", type=int, help="Repeat a measurement.")
@json_option
def roc(*, data: str | None, runs: int, seed: int | None, as_json: bool) -> None:
    """Private ROC curves: how far area and curve are off, with several ways to choose thresholds and to add noise.

    On made-up rows of the sizes of the dissertation's two sets, then on the public texts themselves, where the folder
    has them, scored by a logistic regression trained on the other part, at epsilon 0.1, 0.5 and 1.
    """
    entropy = SystemEntropy() if seed is None else SeededEntropy(seed)
    public = public_sets(Path(data) if data else None)
    sets = (*made_up_sets(), *public.found)
    with spinning(quiet=as_json) as progress:
        found = [one for each in sets for one in roc_errors(each, runs, entropy, progress=progress)]
    truths = [truth_of(each) for each in sets]
    if as_json:
        document = {
            "private": False,  # errors are counted against the truth
            "runs": runs,
            "seed": seed,
            "epsilons": EPSILONS,
            "sets": [dataclasses.asdict(truth) for truth in truths],
            "errors": [dataclasses.asdict(one) for one in found],
            "reference": [
                {"data": name, "method": method, "kind": kind, "errors": errors}
                for (name, method, kind), errors in REFERENCE.items()
            ],
            "left_out": list(public.missing),
            "remarks": list(roc_remarks(found)),
        }
        say(json.dumps(document, indent=2))
        return
    lines = [paragraph(f"{runs:,} runs each. {_KEY}")]
    lines += [paragraph("Errors are counted against the truth, which is public here. This is no release.")]
    for truth in truths:
        lines += _table(truth, [one for one in found if one.data == truth.data])
    lines += ["", *map(paragraph, public.missing)]
    if public.missing:
        lines += [paragraph(_GETTING), ""]
    lines += ["Remarks, from these numbers"]
    lines += [paragraph(remark, "-", 2) for remark in roc_remarks(found)]
    say("\n".join(lines))


def _table(truth: RocTruth, found: list[RocErrors]) -> list[str]:
    known = {(one.method, one.epsilon): one for one in found}
    heads = "".join(f"{epsilon:>8}" for epsilon in EPSILONS)
    lines = ["", f"{truth.data}: {truth.rows:,} rows, {truth.positives:,} positive, AUC {truth.auc:.4f}"]
    lines += [f"{'':<18}{'area':>24}   {'curve':>24}", f"{'error at epsilon':<18}{heads}   {heads}"]
    for method in METHODS:
        rows = [known[method, epsilon] for epsilon in EPSILONS]
        parts = ["".join(f"{one.error(kind):8.4f}" for one in rows) for kind in ERRORS]
        lines += [f"{method:<18}{'   '.join(parts)}"]
        reference = [REFERENCE.get((truth.data, method, kind)) for kind in ERRORS]
        if any(reference):
            shown = ["".join(f"{error:8.4f}" for error in errors) if errors else f"{'':24}" for errors in reference]
            lines += [f"{'  reference':<18}{'   '.join(shown)}".rstrip()]
        nowhere = sum(one.undefined for one in rows)
        lines += [f"  no area in {nowhere:,} runs"] if nowhere else []
    return lines
