"""`thresher reproduce probe`: formulas of one to six conditions, ProBE beside the certified decision.

Reads: arguments, a folder of public data. Writes: standard output. Never: a line wider than 78 columns.
"""

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from thresher.cli.options import json_option, spinning
from thresher.cli.output import say
from thresher.errors import ArgumentError
from thresher.noise import SeededEntropy, SystemEntropy
from thresher.reproduce.formula_remarks import formula_remarks
from thresher.reproduce.formula_standins import ABOUT, formula_stand_ins
from thresher.reproduce.formulas import METHODS, SHAPES, Cell, measured, scenes
from thresher.reproduce.outliers import Counted
from thresher.views.text import paragraph

Rows = dict[str, list[Cell]]
_MOST_RUNS = 10_000
_KEY = (
    "Mean epsilon of the answered runs; d: runs denied (what they cost is lost, and not in the mean); !: runs whose"
    " false alarms broke the promise, 0.1 for ProBE and its own certificate for certified. The number of conditions"
    " does not matter to certified, because it measures one margin for each group."
)
_GETTING = (
    "Name the folder with --data or THRESHER_DATA. docs/reproduce.md says which columns the files need and where the"
    " data were published."
)


@click.command()
@click.option("--data", metavar="FOLDER", envvar="THRESHER_DATA", help="Public data sets. Default: $THRESHER_DATA.")
@click.option("--runs", type=int, default=10, show_default=True, help="How often each method is asked.")
@click.option("--shape", "shapes", multiple=True, help="Only this formula, e.g. AND3; may be repeated.")
@click.option("--seed", type=int, help="Repeat a measurement.")
@json_option
def probe(*, data: str | None, runs: int, shapes: tuple[str, ...], seed: int | None, as_json: bool) -> None:
    """Decisions on AND/OR of counts: naive, ProBE and its kin, and certified.

    On made-up groups (574 each), then on public data that stand in for those of the paper, where the folder has them.
    Miss rate 0.05, false alarm rate 0.1, confidence 0.98, epsilon at most 5.
    """
    if not 1 <= runs <= _MOST_RUNS:
        raise ArgumentError("runs", runs, f"it must be from 1 to {_MOST_RUNS:,}", "Pass 10, say")
    for shape in shapes:
        if shape not in SHAPES:
            raise ArgumentError("shape", shape, "there is no such formula", f"Pass one of {', '.join(SHAPES)}")
    entropy = SystemEntropy() if seed is None else SeededEntropy(seed)
    stand_ins = formula_stand_ins(Path(data) if data else None)
    with spinning(quiet=as_json) as progress:

        def table(name: str, counted: Counted, allowed: tuple[str, ...]) -> Rows:
            rows: Rows = {}
            for shape in shapes or allowed:
                if shape in allowed:
                    progress(f"{name}, {shape}")
                    rows[shape] = [measured(method, SHAPES[shape], counted, runs, entropy) for method in METHODS]
            return rows

        made_up = {name: table(name, *scene) for name, scene in scenes().items()}
        public = {name: table(name, *scene) for name, scene in stand_ins.found.items()}
    remarks = formula_remarks(made_up, public)
    if as_json:
        document = {
            "private": False,  # errors are counted against the truth
            "runs": runs,
            "seed": seed,
            "tables": _document(made_up),
            "stand_ins": _document(public),
            "left_out": list(stand_ins.missing),
            "remarks": list(remarks),
        }
        say(json.dumps(document, indent=2))
    else:
        lines = [paragraph(f"{runs:,} runs each. {_KEY}")]
        lines += [paragraph("Errors are counted against the truth, which is public here. This is no release.")]
        lines += _part(made_up) + _part(public) + [""]
        if stand_ins.missing:
            lines += [*map(paragraph, stand_ins.missing), paragraph(_GETTING), ""]
        lines += ["Remarks, from these numbers", *(paragraph(remark, "-", 2) for remark in remarks)]
        say("\n".join(lines))


def _document(tables: Mapping[str, Rows]) -> dict[str, Any]:
    return {
        name: {shape: [dataclasses.asdict(cell) for cell in cells] for shape, cells in rows.items()}
        for name, rows in tables.items()
    }


def _part(tables: Mapping[str, Rows]) -> list[str]:
    """A heading, what stands in if it is no made-up data, and a line for each formula."""
    lines = []
    heading = f"{'formula':<16}" + "".join(f"{method:>12}" for method in METHODS)
    for name, rows in tables.items():
        if rows:
            about = [paragraph(ABOUT[name])] if name in ABOUT else []
            lines += ["", name, *about, heading]
            lines += [f"{shape:<16}" + "".join(map(_cell, cells)) for shape, cells in rows.items()]
    return lines


def _cell(cell: Cell) -> str:
    marks = (f"{cell.denied}d" if cell.denied else "") + (f"{cell.broken}!" if cell.broken else "")
    epsilon = "denied" if cell.epsilon is None else f"{cell.epsilon:.3g} {marks}".rstrip()
    return f"{epsilon:>12}"
