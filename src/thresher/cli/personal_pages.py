"""Pages about rosters: the budgets as bars, the parts with their waste, and every method's error side by side.

Reads: forecasts. Writes: nothing. Never: private rows; a line of text wider than 78 columns.
"""

from collections.abc import Sequence
from typing import Any

from rich.console import RenderableType

from thresher.personal.budget_classes import ClassLeft
from thresher.personal.forecast import Forecast
from thresher.personal.personal_release import INDEPENDENT
from thresher.views import paragraph
from thresher.views.budget_levels import error_bars, level_bars

_MOST_CLASSES = 12
_ASSUMES = "a star: " + INDEPENDENT[0].lower() + INDEPENDENT[1:]


def forecast_page(found: Forecast, left: Sequence[ClassLeft] = ()) -> list[RenderableType]:
    """The whole page; `left` is what each class has left, for the curator."""
    return [*budgets_section(found), "", *parts_section(found), "", *errors_section(found), *_left_section(left)]


def budgets_section(found: Forecast) -> list[RenderableType]:
    roster, levels = found.roster, [float(level) for level in found.roster.levels]
    cuts = [float(level) for level in found.parts.levels[1:]]
    title = f"{roster.people:,} people, {len(levels):,} levels from {levels[0]:.4g} to {levels[-1]:.4g}"
    return [f"[bold]Budgets[/bold]: {title}", *level_bars(levels, roster.sizes.tolist(), cuts)]


def parts_section(found: Forecast) -> list[RenderableType]:
    parts = found.parts
    rows = [
        f"  {n:>4}  {level!s:>12}  {size:>10,}  {float(waste):>12.4g}"
        for n, (level, size, waste) in enumerate(zip(parts.levels, parts.sizes, parts.waste, strict=True), start=1)
    ]
    total = float(sum(parts.waste))
    return [
        "[bold]Parts of least waste[/bold]",
        f"  {'part':>4}  {'each gives':>12}  {'people':>10}  {'waste':>12}",
        *rows,
        paragraph(
            f"Waste: what members allow beyond the least budget of their part, squared and summed; {total:.4g} in all, "
            "and no other cuts into as many parts waste less."
        ),
    ]


def errors_section(found: Forecast) -> list[RenderableType]:
    """Forecasts as bars, the best first, and how each method goes about it."""
    starred = [(f"{one.method}{'*' if one.assumes else ''}", one.predicted_sd) for one in found.outlooks]
    return [
        "[bold]Error by method[/bold]: standard deviation of a share of the roster, forecast",
        *error_bars(starred),
        *(paragraph(one.how, one.method, 15) for one in found.outlooks),
        paragraph(_ASSUMES),
    ]


def _left_section(left: Sequence[ClassLeft]) -> list[RenderableType]:
    there = [one for one in left if one.people]
    if not there:
        return []
    step = max(1, -(-len(there) // _MOST_CLASSES))
    rows = [f"  {one.budget!s:>12}  {one.people:>10,}  {one.left!s:>12}" for one in there[::step]]
    more = [f"  one of {step} classes is shown; --json has all"] if step > 1 else []
    return [
        "",
        "[bold]What is left[/bold]: for the curator only",
        f"  {'budget':>12}  {'people':>10}  {'left of it':>12}",
        *rows,
        *more,
    ]


def forecast_json(found: Forecast, left: Sequence[ClassLeft] = ()) -> dict[str, Any]:
    """The same for programs."""
    parts = zip(found.parts.levels, found.parts.sizes, found.parts.waste, strict=True)
    return {
        "people": found.roster.people,
        "levels": [level.to_json() for level in found.roster.levels],
        "sizes": found.roster.sizes.tolist(),
        "parts": [{"level": level.to_json(), "people": size, "waste": float(waste)} for level, size, waste in parts],
        "methods": [
            {
                "method": one.method,
                "how": one.how,
                "predicted_sd": one.predicted_sd,
                "assumes_independence": one.assumes,
            }
            for one in found.outlooks
        ],
        "left": [{"budget": one.budget.to_json(), "people": one.people, "left": one.left.to_json()} for one in left],
    }
