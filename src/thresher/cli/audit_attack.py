"""`thresher audit attack`: a histogram read off a broken threshold tester, as a page, as JSON and as a picture.

Reads: arguments, a folder of public data. Writes: standard output, a picture if asked. Never: a line wider than 78
columns; protected data.
"""

import dataclasses
from pathlib import Path
from typing import Any

import click

from thresher.audit.attacks import Method, Reconstruction, reconstruct
from thresher.audit.attacks.attack_tables import Attacked, AttackTable, Rate, attack_table
from thresher.audit.attacks.targets import Histogram, Histograms, histograms
from thresher.cli.options import json_option, spinning
from thresher.cli.output import show
from thresher.errors import ArgumentError
from thresher.noise import Entropy, SeededEntropy, SystemEntropy
from thresher.pages import Block, Fact, Page
from thresher.pages.page import SPACE, plain_lines
from thresher.views.count_map import count_map
from thresher.views.count_scatter import count_scatter

_RUNS, _NOISY_RUNS = 100, 3
_ABOUT = (
    "The tester on trial compares differences of two cells with one noisy threshold and never stops. Three published"
    " papers take it to be private. Half of epsilon blurs the threshold, the other half the totals of the groups of"
    " cells that its answers give. Shares of cells whose count was found exactly: of all cells, and of those that count"
    " 0 to 5, which point at persons; +- is one standard error."
)
_NO_RELEASE = "Counted against the truth, which is public here. This is no release."
_GETTING = "Name the folder with --data or THRESHER_DATA. docs/reproduce.md says where the data were published."
_KEY = "· one cell or more, ● ten, █ a hundred; right ones lie on the diagonal."


@dataclasses.dataclass(frozen=True, slots=True)
class _Shown:
    """All that a page tells: rates, and one attack to draw."""

    tables: tuple[AttackTable, ...]
    drawn: Histogram
    rebuilt: Reconstruction
    asked: Attacked
    left_out: str


def _kept(context: click.Context, parameter: click.Parameter, value: object) -> None:
    context.meta.setdefault(__name__, {})[parameter.name] = value


@click.command()
@click.option("--data", metavar="FOLDER", envvar="THRESHER_DATA", help="Public data sets. Default: $THRESHER_DATA.")
@click.option("--dataset", metavar="NAME", help="Only this histogram, e.g. HEPTH or made-up-crowded. Default: all.")
@click.option(
    "--epsilon", "epsilons", multiple=True, default=("1",), help="What is claimed in all; may be repeated. Default 1."
)
@click.option(
    "--second-epsilon",
    default="inf",
    show_default=True,
    metavar="EPSILON|inf",
    help="Blurs every answer by itself, as in two of the papers; inf: answers are exact, as in the third.",
    expose_value=False,
    callback=_kept,
)
@click.option(
    "--passes",
    type=int,
    default=10,
    show_default=True,
    help="How often noisy answers are asked for.",
    expose_value=False,
    callback=_kept,
)
@click.option(
    "--runs",
    type=int,
    help=f"How often each attack is made. Default {_RUNS}, with noisy answers {_NOISY_RUNS}.",
    expose_value=False,
    callback=_kept,
)
@click.option("--seed", type=int, help="Repeat a measurement.")
@click.option("--picture", metavar="FILE.svg", help="Draw the true and the found counts of one attack.")
@json_option
@click.pass_context
def attack(
    context: click.Context,
    *,
    data: str | None,
    dataset: str | None,
    epsilons: tuple[str, ...],
    seed: int | None,
    picture: str | None,
    as_json: bool,
) -> None:
    """Reconstruct a histogram from the answers of a broken sparse vector, and show how much of it is right.

    The answers put all cells in the order of their counts; a noisy total for each group of equals does the rest. On the
    histograms of the dissertation that found this attack, beside its numbers, where the folder has them; else on
    made-up ones.

    \b
      thresher audit attack --dataset made-up-crowded --picture attack.svg
      thresher audit attack --epsilon 1 --epsilon 0.5 --epsilon 0.1
      thresher audit attack --dataset made-up-falling --second-epsilon 0.5
    """  # noqa: D301 - click reads the backslash
    plans = [_asked(epsilon, context.meta[__name__]) for epsilon in epsilons]
    file = _checked_picture(picture)
    entropy = SystemEntropy() if seed is None else SeededEntropy(seed)
    sets = histograms(Path(data) if data else None, dataset)
    with spinning(quiet=as_json) as progress:
        tables = [attack_table(one, plan, entropy, progress) for one in sets.found for plan in plans]
        shown = _shown(tables, sets, plans[0], entropy)
    if file is not None:
        title = f"{shown.drawn.name}: counts found at a claimed epsilon of {shown.rebuilt.claimed}"
        file.write_text(count_scatter(title, shown.drawn.counts, shown.rebuilt.estimates), encoding="utf-8")
    show(_page(shown, seed, picture), as_json=as_json)


def _asked(epsilon: str, options: dict[str, Any]) -> Attacked:
    second = None if options["second_epsilon"] == "inf" else options["second_epsilon"]
    runs = (_RUNS if second is None else _NOISY_RUNS) if options["runs"] is None else options["runs"]
    return Attacked(epsilon, second, runs, options["passes"])


def _shown(tables: list[AttackTable], sets: Histograms, asked: Attacked, entropy: Entropy) -> _Shown:
    drawn = sets.found[-1]
    method = Method(both_ways=True, passes=asked.passes)
    rebuilt = reconstruct(drawn.counts, asked.epsilon, asked.second_epsilon, method, entropy)
    return _Shown(tuple(tables), drawn, rebuilt, asked, sets.missing)


def _checked_picture(picture: str | None) -> Path | None:
    """Return the file to draw in, checked before the work begins."""
    if picture is None:
        return None
    file = Path(picture)
    if file.suffix != ".svg" or not file.parent.is_dir() or file.is_dir():
        raise ArgumentError(
            "picture", picture, "it must be the name of an .svg file in a folder that is there", "Pass attack.svg"
        )
    return file


def _page(shown: _Shown, seed: int | None, picture: str | None) -> Page:
    blocks: list[Block] = [Fact("", _ABOUT), Fact("", _NO_RELEASE)]
    if shown.asked.second_epsilon is not None:
        blur = f"Every answer has noise of its own, epsilon {shown.asked.second_epsilon}"
        blocks.append(Fact("", f"{blur}, and is asked for {shown.asked.passes} times: nothing forbids it."))
    for table in shown.tables:
        blocks += [SPACE, plain_lines(_table(table))]
    success = shown.rebuilt.success(shown.drawn.counts)
    right = f"{success.overall:.1%} of {shown.drawn.counts.size:,} cells found exactly"
    about = f"{shown.drawn.name}, one attack, {shown.rebuilt.claimed} claimed: {right}."
    drawn = count_map(shown.drawn.counts, shown.rebuilt.estimates)
    blocks += [SPACE, Fact("", f"{about} True counts across. {_KEY}"), plain_lines(drawn.splitlines())]
    if shown.left_out:
        blocks += [SPACE, Fact("", shown.left_out), Fact("", _GETTING)]
    if picture is not None:
        blocks += [SPACE, plain_lines([f"The picture is in {picture}"])]
    return Page(tuple(blocks), _document(shown, seed, picture))


def _table(table: AttackTable) -> list[str]:
    facts = f"{table.cells:,} cells, {table.records:,} records, {table.small_cells:,} cells count 0 to 5"
    lines = [
        f"{table.data}, epsilon {table.epsilon}",
        f"  {facts}",
        f"  {'attack':<16}{'all cells':>18}{'0 to 5':>18}   means of {table.runs:,} runs",
    ]
    if table.printed is not None:
        lines.append(f"  {'dissertation':<16}{table.printed[0]:>9.3f}{'':9}{table.printed[1]:>9.3f}{'':9}   of 10 runs")
    for row in table.rows:
        small = _rate(row.small) if row.small is not None else f"{'-':>9}{'':9}"
        lines.append(f"  {row.attack:<16}{_rate(row.overall)}{small}".rstrip())
    return [line.rstrip() for line in lines]


def _rate(rate: Rate) -> str:
    error = "" if rate.error is None else f" +- {rate.error:.3f}"
    return f"{rate.mean:>9.3f}{error:<9}"


def _document(shown: _Shown, seed: int | None, picture: str | None) -> dict[str, Any]:
    asked = shown.asked
    return {
        "private": False,  # the truth is shown beside it
        "settings": {
            "second_epsilon": None if asked.second_epsilon is None else str(asked.second_epsilon),
            "passes": None if asked.second_epsilon is None else asked.passes,
            "runs": asked.runs,
            "seed": seed,
        },
        "tables": [dataclasses.asdict(table) for table in shown.tables],
        "drawn": {
            "data": shown.drawn.name,
            "claimed_epsilon": shown.rebuilt.claimed.to_json(),
            "groups": int(shown.rebuilt.groups.sizes.size),
            "success": dataclasses.asdict(shown.rebuilt.success(shown.drawn.counts)),
            "picture": picture,
        },
        "left_out": shown.left_out,
    }
