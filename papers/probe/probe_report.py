"""Run `python -m papers probe`: formulas of one to six conditions, by ProBE and by the certified decision.

Reads: arguments, a folder of public data. Writes: standard output. Never: a line wider than 78 columns.
"""

import dataclasses
from collections.abc import Mapping
from typing import Any

import click

from papers.probe.formula_remarks import formula_remarks
from papers.probe.formula_standins import ABOUT, formula_stand_ins
from papers.probe.formulas import METHODS, SHAPES, Cell, measured, scenes
from papers.probe.outliers import Counted
from papers.report import Report, Request, report_command
from thresher.errors import ArgumentError
from thresher.views.text import paragraph

Rows = dict[str, list[Cell]]
_MOST_RUNS = 10_000
_KEY = (
    "Mean epsilon of the answered runs; d: runs denied (their cost is lost, and not in the mean); !: runs whose false"
    " alarms broke the promise, which is 0.1 for ProBE and the certificate for certified. Certified measures one margin"
    " for each group, whatever the number of conditions."
)


@report_command(10, "How often each method is asked.")
@click.option("--shape", "shapes", multiple=True, help="Only this formula, e.g. AND3; may be repeated.")
def probe(asked: Request, shapes: tuple[str, ...]) -> Report:
    """Decisions on AND/OR of counts: by naive, the ProBE family, and certified.

    Groups are made up (574 of each kind), then those of public data that stand in for the paper's, if the folder has
    them. Miss rate 0.05, false alarm rate 0.1, confidence 0.98, epsilon at most 5.
    """
    if not 1 <= asked.runs <= _MOST_RUNS:
        raise ArgumentError("runs", asked.runs, f"it must be from 1 to {_MOST_RUNS:,}", "Pass 10, say")
    for shape in shapes:
        if shape not in SHAPES:
            raise ArgumentError("shape", shape, "it is not a formula of the report", f"Pass one of {', '.join(SHAPES)}")
    stand_ins = formula_stand_ins(asked.data)

    def table(name: str, counted: Counted, allowed: tuple[str, ...]) -> Rows:
        rows: Rows = {}
        for shape in shapes or allowed:
            if shape in allowed:
                asked.progress(f"{name}, {shape}")
                cells = (measured(each, SHAPES[shape], counted, asked.runs, asked.entropy) for each in METHODS)
                rows[shape] = list(cells)
        return rows

    made_up = {name: table(name, *scene) for name, scene in scenes().items()}
    public = {name: table(name, *scene) for name, scene in stand_ins.found.items()}
    document = {
        "runs": asked.runs,
        "seed": asked.seed,
        "tables": _document(made_up),
        "stand_ins": _document(public),
    }
    tables, remarks = _part(made_up) + _part(public), formula_remarks(made_up, public)
    return Report(f"{asked.runs:,} runs each. {_KEY}", tables, stand_ins.missing, remarks, document)


def _document(tables: Mapping[str, Rows]) -> dict[str, Any]:
    return {
        name: {shape: [dataclasses.asdict(cell) for cell in cells] for shape, cells in rows.items()}
        for name, rows in tables.items()
    }


def _part(tables: Mapping[str, Rows]) -> list[str]:
    """Return a heading, a description of public data, and a line for each formula."""
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
