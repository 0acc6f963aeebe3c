"""`thresher reproduce histograms`: the regret of every histogram mechanism, in one and in two dimensions.

Reads: arguments, a folder of public data. Writes: standard output. Never: a line wider than 78 columns.
"""

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path

import click

from thresher.audit.for_comparison import leaking_histograms
from thresher.cli.options import json_option, spinning
from thresher.cli.output import say
from thresher.noise import SeededEntropy, SystemEntropy
from thresher.reproduce.histogram_sets import HistogramSet, made_up_histograms, public_histograms
from thresher.reproduce.histograms import (
    EPSILONS,
    ERRORS,
    PRINTED,
    Measured,
    histogram_remarks,
    measured,
    regrets,
)
from thresher.views.text import paragraph

# What is no release, for comparison; the same with the noise that its proof needs, and the better private way.
LEAK, SISTERS = "dawa published", ("dawa-argmin", "dawa")
_KEY = (
    "Regret: the error of a method over the least error of a private one on the same data at the same epsilon, averaged"
    " over data sets. Errors are mean absolute errors: of a cell, and of a prefix, which is the sum over a box that"
    " begins at the first cell."
)
_GETTING = (
    "Name the folder with --data or THRESHER_DATA. docs/reproduce.md says which columns the files need and where the"
    " data were published."
)


@click.command()
@click.option("--data", metavar="FOLDER", envvar="THRESHER_DATA", help="Public data sets. Default: $THRESHER_DATA.")
@click.option("--runs", type=int, default=3, show_default=True, help="How often each mechanism is run.")
@click.option("--side", type=int, default=128, show_default=True, help="Rows and columns of maps; 256 as published.")
@click.option("--seed", type=int, help="Repeat a measurement.")
@json_option
def histograms(*, data: str | None, runs: int, side: int, seed: int | None, as_json: bool) -> None:
    """Noisy histograms: Laplace, uniform, trees, grids, clusters, learned sums, partitions, side by side.

    On made-up lists and residual plots, then on the public histograms of DPBench, where the folder has them, at epsilon
    0.01, 0.1 and 1.
    """
    entropy = SystemEntropy() if seed is None else SeededEntropy(seed)
    public = public_histograms(Path(data) if data else None, side)
    with spinning(quiet=as_json) as progress:

        def table(sets: Sequence[HistogramSet]) -> list[Measured]:
            return [
                one for each in sets for one in measured(each, runs, entropy, leaking_histograms(), progress=progress)
            ]

        made_up, found = table(made_up_histograms()), table(public.found)
    remarks = {name: histogram_remarks(one, LEAK, SISTERS) for name, one in _parts(made_up, found).items()}
    if as_json:
        document = {
            "private": False,  # errors are counted against the truth
            "runs": runs,
            "side": side,
            "seed": seed,
            "epsilons": EPSILONS,
            "made_up": [dataclasses.asdict(one) for one in made_up],
            "public": [dataclasses.asdict(one) for one in found],
            "regrets": {name: _regrets(one) for name, one in _parts(made_up, found).items()},
            "left_out": list(public.missing),
            "remarks": remarks,
        }
        say(json.dumps(document, indent=2))
        return
    lines = [paragraph(f"{runs:,} runs each. {_KEY}")]
    lines += [paragraph("Errors are counted against the truth, which is public here. This is no release.")]
    for name, one in _parts(made_up, found).items():
        lines += _page(name, one)
    lines += [""]
    if public.missing:
        lines += [*map(paragraph, public.missing), paragraph(_GETTING), ""]
    lines += ["Remarks, from these numbers"]
    lines += [paragraph(f"{name}: {remark}", "-", 2) for name, those in remarks.items() for remark in those]
    say("\n".join(lines))


def _parts(made_up: list[Measured], found: list[Measured]) -> dict[str, list[Measured]]:
    return {"made up": made_up, **({"DPBench": found} if found else {})}


def _regrets(found: Sequence[Measured]) -> dict[str, dict[str, dict[str, float]]]:
    """By dimension, error and method."""
    return {
        str(dimensions): {
            kind: regrets([one for one in found if one.dimensions == dimensions], kind) for kind in ERRORS
        }
        for dimensions in sorted({one.dimensions for one in found})
    }


def _page(name: str, found: Sequence[Measured]) -> list[str]:
    """A table for each number of dimensions: both errors by epsilon, and over all."""
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
            lines += ["! leaks: no release, and not counted among the best"]
        if printed:
            text = "printed: regret in the dissertation (Table 4.2), in terms of similarity, on its own residual plots"
            lines += [paragraph(text)]
    return lines


def _column(found: Sequence[Measured], kind: str, epsilon: str | None) -> dict[str, float]:
    return regrets([one for one in found if epsilon in (None, one.epsilon)], kind)


def _short(regret: float | None) -> str:
    """Three digits, or whole thousands: a regret is about 1, or it is large."""
    if regret is None:
        return "-"
    return f"{regret:.3g}" if regret < 999.5 else f"{round(regret / 1000, 1):g}k" if regret < 99_950 else "huge"
