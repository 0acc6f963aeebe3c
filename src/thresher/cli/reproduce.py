"""`thresher reproduce mide`: the papers' tables as a page, or as JSON.

Reads: arguments, a folder of public data. Writes: standard output. Never: a line wider than 78 columns.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from thresher.cli.options import json_option, spinning
from thresher.cli.output import say
from thresher.cli.reproducing_histograms import histograms
from thresher.cli.reproducing_personal import personal
from thresher.cli.reproducing_probe import probe
from thresher.cli.reproducing_roc import roc
from thresher.cli.reproducing_streams import streams
from thresher.noise import SeededEntropy, SystemEntropy
from thresher.reproduce import (
    FINE,
    WHOLE,
    DataSet,
    Grid,
    Row,
    Settings,
    StandIns,
    Table,
    remarks_on,
    settings_of,
    stand_ins,
    synthetic,
    table_of,
)
from thresher.reproduce.standins import ABOUT
from thresher.views.text import paragraph

_COLUMNS = ("epsilon", "worst", "mean", "box", "cone", "FNR", "FPR", "width")
_HEADING = f"{'mechanism':<20}" + "".join(f"{column:>{7}}" for column in _COLUMNS)
_KEY = (
    "epsilon is the largest loss of a group (ex-post) and worst what it could have been; mean is the mean loss of a"
    " group; box and cone are min-entropies as shares of ln k, as in the paper and tight: 1 is all secret; FNR and FPR"
    " are shares of groups missed and wrongly reported; width is the half width reached."
)
_GETTING = (
    "Name the folder with --data or THRESHER_DATA. docs/reproduce.md says which columns the files need and where the"
    " data were published."
)


@click.group()
def reproduce() -> None:
    """Measure the tables of the papers anew, with remarks on what holds and what does not."""


reproduce.add_command(histograms)
reproduce.add_command(personal)
reproduce.add_command(probe)
reproduce.add_command(roc)
reproduce.add_command(streams)


@reproduce.command()
@click.option("--data", metavar="FOLDER", envvar="THRESHER_DATA", help="Public data sets. Default: $THRESHER_DATA.")
@click.option("--runs", type=int, default=100, show_default=True, help="How often each mechanism decides.")
@click.option("--miss-rate", default="0.05", show_default=True, help="Chance of missing a group that is above.")
@click.option("--half-width", type=int, default=1, show_default=True, help="How near the line either verdict will do.")
@click.option("--seed", type=int, help="Repeat a measurement.")
@json_option
def mide(*, data: str | None, runs: int, miss_rate: str, half_width: int, seed: int | None, as_json: bool) -> None:
    """Decisions on one count, one look against many (MIDE): losses, min-entropies and errors side by side.

    On made-up groups far from, not so far from and near their thresholds, beside the numbers of our reference
    simulation; then the paper's four questions on public data that stand in for its own, where the folder has them.
    """
    settings = settings_of(runs, miss_rate, half_width)
    entropy = SystemEntropy() if seed is None else SeededEntropy(seed)
    found = stand_ins(Path(data) if data else None)
    with spinning(quiet=as_json) as progress:

        def measured(sets: Iterable[DataSet], grid: Grid) -> list[Table]:
            return [table_of(one, grid, settings, entropy, progress) for one in sets]

        fine, whole = measured(synthetic(), FINE), measured(synthetic(), WHOLE)
        standing = {source: measured(sets, WHOLE) for source, sets in found.found.items()}
    if as_json:
        say(json.dumps(_document(settings, seed, fine + whole, standing, found), indent=2))
    else:
        say("\n".join(_page(settings, fine, whole, standing, found)))


def _page(
    settings: Settings, fine: list[Table], whole: list[Table], standing: dict[str, list[Table]], found: StandIns
) -> list[str]:
    lines = [
        paragraph(
            f"Miss rate and false-alarm rate {float(settings.miss_rate):g}, half width {settings.half_width}, first"
            f" epsilon {settings.first_epsilon}, {settings.levels} levels; means of {settings.runs:,} runs. {_KEY}"
        ),
        paragraph("Errors are counted against the truth, which is public here. This is no release."),
    ]
    lines += _part(
        f"Made-up data on a fine grid ({FINE.scale:,} steps to a unit): near the continuous noise of the paper."
        + (" Below each row: the numbers of our reference simulation." if settings.as_printed else ""),
        fine,
    )
    lines += _part("Made-up data on whole numbers: the same promise for what Thresher really charges.", whole)
    for source, tables in standing.items():
        lines += _part(ABOUT[source], tables)
    lines += ["", *(paragraph(sentence) for sentence in found.missing)]
    if found.missing:
        lines += [paragraph(_GETTING), ""]
    lines += ["Remarks, from these numbers"]
    lines += [paragraph(remark, "-", 2) for remark in remarks_on([*fine, *whole, *_all(standing)], settings)]
    return lines


def _part(about: str, tables: list[Table]) -> list[str]:
    lines = ["", paragraph(about), ""]
    for table in tables:
        lines += [f"{table.data}: {table.groups:,} groups, {table.above:,} above", _HEADING]
        lines += [line for row in table.rows for line in _lines(row)]
        lines.append("")
    return lines[:-1]


def _lines(row: Row) -> list[str]:
    losses = f"{row.epsilon:7.3f}{float(row.worst):7.3f}{row.mean:7.3f}"
    secret = f"{row.box:7.3f}{row.cone:7.3f}"
    line = f"{row.mechanism:<20}{losses}{secret}{_share(row.missed)}{_share(row.alarmed)}{row.half_width:7.2f}"
    if row.reference is None:
        return [line]
    known = row.reference
    secret = f"{known.box:7.3f}{known.cone:7.3f}"
    return [
        line,
        f"{'  reference':<20}{known.epsilon:7.3f}{'':14}{secret}{_share(known.missed)}{_share(known.alarmed)}",
    ]


def _share(share: float | None) -> str:
    return f"{'-':>7}" if share is None else f"{share:7.4f}"


def _all(standing: dict[str, list[Table]]) -> list[Table]:
    return [table for tables in standing.values() for table in tables]


def _document(
    settings: Settings, seed: int | None, made_up: list[Table], standing: dict[str, list[Table]], found: StandIns
) -> dict[str, Any]:
    return {
        "private": False,  # errors are counted against the truth
        "settings": {
            "runs": settings.runs,
            "miss_rate": float(settings.miss_rate),
            "false_alarm_rate": float(settings.miss_rate),
            "half_width": settings.half_width,
            "first_epsilon": settings.first_epsilon.to_json(),
            "levels": settings.levels,
            "seed": seed,
        },
        "made_up": [_table(table) for table in made_up],
        "stand_ins": [
            {"source": source, "about": ABOUT[source], "tables": [_table(table) for table in tables]}
            for source, tables in standing.items()
        ],
        "left_out": list(found.missing),
        "remarks": list(remarks_on([*made_up, *_all(standing)], settings)),
    }


def _table(table: Table) -> dict[str, Any]:
    return {
        "data": table.data,
        "grid": table.grid,
        "groups": table.groups,
        "above": table.above,
        "rows": [_row(row) for row in table.rows],
    }


def _row(row: Row) -> dict[str, Any]:
    known = row.reference
    return {
        "mechanism": row.mechanism,
        "epsilon": row.epsilon,
        "worst_epsilon": row.worst.to_json(),
        "mean_epsilon": row.mean,
        "box_min_entropy": row.box,
        "cone_min_entropy": row.cone,
        "fnr": row.missed,
        "fpr": row.alarmed,
        "half_width": row.half_width,
        "reference": None
        if known is None
        else {
            "epsilon": known.epsilon,
            "box_min_entropy": known.box,
            "cone_min_entropy": known.cone,
            "fnr": known.missed,
            "fpr": known.alarmed,
        },
    }
