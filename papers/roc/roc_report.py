"""Run `python -m papers roc`: errors of private ROC curves by epsilon, with what was printed of them.

Reads: arguments, a folder of public data. Writes: standard output. Never: a line wider than 78 columns.
"""

import dataclasses

from papers.report import Report, Request, report_command
from papers.roc.roc_errors import (
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
from papers.roc.roc_sets import made_up_sets, public_sets

_KEY = (
    "area: mean error of the AUC, where an undefined one counts as 0.5; curve: mean area between the private and the"
    " true curve. medians: thresholds by private medians, 8 to 32 bins by rows times epsilon; fixed: evenly spaced"
    " ones; dawa: medians with another histogram; smooth area: the AUC with Cauchy noise, and a binormal curve of it."
)


@report_command(20, "How often each method is run.")
def roc(asked: Request) -> Report:
    """Private ROC curves: errors of area and curve, for several ways to choose thresholds and to add noise.

    Each is measured at epsilon 0.1, 0.5 and 1: on made-up rows of the sizes of the dissertation's two sets, then, if
    the folder has them, on the public texts themselves, scored by a logistic regression trained on the other part.
    """
    public = public_sets(asked.data)
    sets = (*made_up_sets(), *public.found)
    found = [one for each in sets for one in roc_errors(each, asked.runs, asked.entropy, progress=asked.progress)]
    truths = [truth_of(each) for each in sets]
    document = {
        "runs": asked.runs,
        "seed": asked.seed,
        "epsilons": EPSILONS,
        "sets": [dataclasses.asdict(truth) for truth in truths],
        "errors": [dataclasses.asdict(one) for one in found],
        "reference": [
            {"data": name, "method": method, "kind": kind, "errors": errors}
            for (name, method, kind), errors in REFERENCE.items()
        ],
    }
    tables = [line for truth in truths for line in _table(truth, [one for one in found if one.data == truth.data])]
    return Report(f"{asked.runs:,} runs each. {_KEY}", tables, public.missing, roc_remarks(found), document)


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
