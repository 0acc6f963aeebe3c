"""Run `python -m papers mide`: the tables of MIDE as a page, or as JSON.

Reads: arguments, a folder of public data. Writes: standard output. Never: a line wider than 78 columns.
"""

from collections.abc import Iterable
from typing import Any

import click

from papers.mide.dataset import DataSet
from papers.mide.mide_remarks import remarks_on
from papers.mide.mide_standins import ABOUT, stand_ins
from papers.mide.mide_tables import FINE, WHOLE, Grid, Row, Settings, Table, settings_of, table_of
from papers.mide.synthetic import synthetic
from papers.report import Report, Request, report_command
from thresher.views.text import paragraph

_COLUMNS = ("epsilon", "worst", "mean", "box", "cone", "FNR", "FPR", "width")
_HEADING = f"{'mechanism':<20}" + "".join(f"{column:>{7}}" for column in _COLUMNS)
_KEY = (
    "epsilon is the largest loss of a group (ex-post) and worst what it could have been; mean is the mean loss of a"
    " group; box and cone are min-entropies as shares of ln k, as in the paper and tight: 1 is all secret; FNR and FPR"
    " are shares of groups missed and wrongly reported; width is the half width reached."
)


@report_command(100, "How often each mechanism decides.")
@click.option("--miss-rate", default="0.05", show_default=True, help="Chance of missing a group that is above.")
@click.option(
    "--half-width",
    type=int,
    default=1,
    show_default=True,
    help="A group nearer to its threshold may get either verdict.",
)
def mide(asked: Request, miss_rate: str, half_width: int) -> Report:
    """Decisions on one count, with one measurement and with several (MIDE): losses, min-entropies and errors.

    Made-up groups lie far from, not so far from and near their thresholds; the numbers of our reference simulation are
    beside theirs. Then the paper's four questions are asked of public data that stand in for its own, if the folder
    has them.
    """
    settings = settings_of(asked.runs, miss_rate, half_width)
    public = stand_ins(asked.data)

    def measured(sets: Iterable[DataSet], grid: Grid) -> list[Table]:
        return [table_of(one, grid, settings, asked.entropy, asked.progress) for one in sets]

    fine, whole = measured(synthetic(), FINE), measured(synthetic(), WHOLE)
    standing = {source: measured(sets, WHOLE) for source, sets in public.found.items()}
    every = [*fine, *whole, *(table for tables in standing.values() for table in tables)]
    about = (
        f"Miss rate and false-alarm rate {float(settings.miss_rate):g}, half width {settings.half_width}, first"
        f" epsilon {settings.first_epsilon}, {settings.levels} levels; means of {settings.runs:,} runs. {_KEY}"
    )
    lines = _page(settings, fine, whole, standing)
    document = _document(settings, asked.seed, fine + whole, standing)
    return Report(about, lines, public.missing, remarks_on(every, settings), document)


def _page(settings: Settings, fine: list[Table], whole: list[Table], standing: dict[str, list[Table]]) -> list[str]:
    lines = _part(
        f"Made-up data on a fine grid ({FINE.scale:,} steps to a unit): near the continuous noise of the paper."
        + (" Below each row: the numbers of our reference simulation." if settings.as_printed else ""),
        fine,
    )
    lines += _part("Made-up data on whole numbers: the same promise for what Thresher really charges.", whole)
    return lines + [line for source, tables in standing.items() for line in _part(ABOUT[source], tables)]


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


def _document(
    settings: Settings, seed: int | None, made_up: list[Table], standing: dict[str, list[Table]]
) -> dict[str, Any]:
    return {
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
