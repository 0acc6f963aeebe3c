"""`thresher reproduce probe`: formulas of one to six conditions, ProBE beside the certified decision.

Reads: arguments. Writes: standard output. Never: a line wider than 78 columns.
"""

import dataclasses
import json
from collections.abc import Mapping

import click

from thresher.cli.options import json_option, spinning
from thresher.cli.output import say
from thresher.errors import ArgumentError
from thresher.noise import SeededEntropy, SystemEntropy
from thresher.reproduce.formulas import METHODS, SHAPES, Cell, measured, scenes
from thresher.views.text import paragraph

_MOST_RUNS = 10_000
_KEY = (
    "Mean epsilon of the answered runs; d: runs denied (what they cost is lost, and not in the mean); !: runs whose"
    " false alarms broke the promise, 0.1 for ProBE and its own certificate for certified. The number of conditions"
    " does not matter to certified, because it measures one margin for each group."
)


@click.command()
@click.option("--runs", type=int, default=10, show_default=True, help="How often each method is asked.")
@click.option("--shape", "shapes", multiple=True, help="Only this formula, e.g. AND3; may be repeated.")
@click.option("--seed", type=int, help="Repeat a measurement.")
@json_option
def probe(*, runs: int, shapes: tuple[str, ...], seed: int | None, as_json: bool) -> None:
    """Decisions on AND/OR of counts: naive, ProBE and its kin, and certified, on made-up groups (574 each).

    Miss rate 0.05, false alarm rate 0.1, confidence 0.98, epsilon at most 5.
    """
    if not 1 <= runs <= _MOST_RUNS:
        raise ArgumentError("runs", runs, f"it must be from 1 to {_MOST_RUNS:,}", "Pass 10, say")
    for shape in shapes:
        if shape not in SHAPES:
            raise ArgumentError("shape", shape, "there is no such formula", f"Pass one of {', '.join(SHAPES)}")
    entropy = SystemEntropy() if seed is None else SeededEntropy(seed)
    tables: dict[str, dict[str, list[Cell]]] = {}
    with spinning(quiet=as_json) as progress:
        for name, (data, allowed) in scenes().items():
            tables[name] = {}
            for shape in shapes or allowed:
                if shape in allowed:
                    progress(f"{name}, {shape}")
                    cells = [measured(method, SHAPES[shape], data, runs, entropy) for method in METHODS]
                    tables[name][shape] = cells
    if as_json:
        document = {
            name: {shape: [dataclasses.asdict(cell) for cell in cells] for shape, cells in rows.items()}
            for name, rows in tables.items()
        }
        say(json.dumps({"runs": runs, "seed": seed, "tables": document}, indent=2))
    else:
        say("\n".join(_page(tables, runs)))


def _page(tables: Mapping[str, Mapping[str, list[Cell]]], runs: int) -> list[str]:
    lines = [paragraph(f"{runs:,} runs each. {_KEY}")]
    for name, rows in tables.items():
        if rows:
            heading = f"{'formula':<16}" + "".join(f"{method:>12}" for method in METHODS)
            lines += [
                "",
                name,
                heading,
                *(f"{shape:<16}" + "".join(map(_cell, cells)) for shape, cells in rows.items()),
            ]
    return lines


def _cell(cell: Cell) -> str:
    marks = (f" {cell.denied}d" if cell.denied else "") + (f" {cell.broken}!" if cell.broken else "")
    epsilon = "denied" if cell.epsilon is None else f"{cell.epsilon:.3g}{marks}"
    return f"{epsilon:>12}"
