"""Run `python -m papers histograms`: the regret of each histogram mechanism, in one and in two dimensions.

Reads: arguments, a folder of public data. Writes: standard output. Never: a line wider than 78 columns.
"""

import dataclasses
from collections.abc import Sequence

import click
import numpy as np
from numpy.typing import NDArray

from papers.histograms.histogram_sets import HistogramSet, made_up_histograms, public_histograms
from papers.histograms.regrets import (
    EPSILONS,
    ERRORS,
    PRINTED,
    Measured,
    histogram_remarks,
    measured,
    regrets,
)
from papers.report import Report, Request, report_command
from thresher.audit.mutants.histogram_mutants import broken_dawa
from thresher.noise import Entropy
from thresher.views.text import paragraph

# A mechanism that is not private, for comparison; the same with the noise that its proof needs; a better private one.
LEAK, SISTERS = "dawa published", ("dawa-argmin", "dawa")
_KEY = (
    "Regret: the error of a method over the least error of a private one on the same data at the same epsilon, averaged"
    " over data sets. Errors are mean absolute errors: of a cell, and of a prefix, which is the sum over a box that"
    " begins at the first cell."
)


@report_command(3, "How often each mechanism is run.")
@click.option("--side", type=int, default=128, show_default=True, help="Rows and columns of maps; 256 as published.")
def histograms(asked: Request, side: int) -> Report:
    """Noisy histograms by Laplace, uniform, trees, grids, clusters, learned sums and partitions.

    Each is measured at epsilon 0.01, 0.1 and 1: on made-up lists and residual plots, then on the public histograms of
    DPBench, if the folder has them.
    """
    public = public_histograms(asked.data, side)

    def table(sets: Sequence[HistogramSet]) -> list[Measured]:
        leaking = {LEAK: _published_dawa}
        return [
            one for each in sets for one in measured(each, asked.runs, asked.entropy, leaking, progress=asked.progress)
        ]

    made_up, found = table(made_up_histograms()), table(public.found)
    parts = {"made up": made_up, **({"DPBench": found} if found else {})}
    document = {
        "runs": asked.runs,
        "side": side,
        "seed": asked.seed,
        "epsilons": EPSILONS,
        "made_up": [dataclasses.asdict(one) for one in made_up],
        "public": [dataclasses.asdict(one) for one in found],
        "regrets": {name: _regrets(one) for name, one in parts.items()},
    }
    tables = [line for name, one in parts.items() for line in _page(name, one)]
    remarks = [f"{name}: {told}" for name, one in parts.items() for told in histogram_remarks(one, LEAK, SISTERS)]
    return Report(f"{asked.runs:,} runs each. {_KEY}", tables, public.missing, remarks, document)


def _published_dawa(counts: NDArray[np.int64], epsilon: str, entropy: Entropy) -> NDArray[np.float64]:
    """Return estimated counts of the published code, which does not keep the epsilon that it claims."""
    return broken_dawa(counts, epsilon, entropy=entropy).counts


def _regrets(found: Sequence[Measured]) -> dict[str, dict[str, dict[str, float]]]:
    """Return regrets by dimension, error and method."""
    return {
        str(dimensions): {
            kind: regrets([one for one in found if one.dimensions == dimensions], kind) for kind in ERRORS
        }
        for dimensions in sorted({one.dimensions for one in found})
    }


def _page(name: str, found: Sequence[Measured]) -> list[str]:
    """Return a table for each number of dimensions: both errors by epsilon, and over all."""
    lines = []
    for dimensions in sorted({one.dimensions for one in found}):
        mine = [one for one in found if one.dimensions == dimensions]
        sets = len({one.data for one in mine})
        printed = PRINTED if (name, dimensions) == ("made up", 2) else {}
        lines += ["", f"{name}: {sets} sets of {dimensions} dimension{'s' * (dimensions > 1)}"]
        lines += [f"{'':<17}{'cells':>25}{'prefixes':>28}" + (f"{'printed':>8}" if printed else "")]
        heads = "".join(f"{epsilon:>6}" for epsilon in EPSILONS) + f"{'all':>7}"
        lines += [f"{'regret at epsilon':<17}{heads}   {heads}"]
        columns = [_column(mine, kind, epsilon) for kind in ERRORS for epsilon in (*EPSILONS, None)]
        for method in dict.fromkeys(one.method for one in mine):
            leaks = any(one.leaks for one in mine if one.method == method)
            cells = [_short(column.get(method)) for column in columns]
            row = "".join(f"{cell:>6}" for cell in cells[:3]) + f"{cells[3]:>7}   "
            row += "".join(f"{cell:>6}" for cell in cells[4:7]) + f"{cells[7]:>7}"
            known = f"{PRINTED[method]:8.3g}" if printed and method in PRINTED else ""
            lines += [f"{method + (' !' if leaks else ''):<17}{row}{known}"]
        if any(one.leaks for one in mine):
            lines += ["! leaks: not a release, and not counted among the best"]
        if printed:
            text = "printed: regret in the dissertation (Table 4.2), in terms of similarity, on its own residual plots"
            lines += [paragraph(text)]
    return lines


def _column(found: Sequence[Measured], kind: str, epsilon: str | None) -> dict[str, float]:
    return regrets([one for one in found if epsilon in (None, one.epsilon)], kind)


def _short(regret: float | None) -> str:
    """Return a regret with three digits, or in thousands."""
    if regret is None:
        return "-"
    return f"{regret:.3g}" if regret < 999.5 else f"{round(regret / 1000, 1):g}k" if regret < 99_950 else "huge"
