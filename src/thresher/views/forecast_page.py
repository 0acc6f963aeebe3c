"""Write the page of a roster: the budgets as bars, the parts with their waste, and the error of each method.

Reads: forecasts. Writes: nothing. Never: private rows; a line of text wider than 78 columns.
"""

from collections.abc import Sequence
from typing import Any

from thresher.pages import Block, Fact, Page, Table, line
from thresher.pages.page import heading, plain_lines
from thresher.personal.budget_classes import ClassLeft
from thresher.personal.forecast import Forecast
from thresher.personal.personal_release import INDEPENDENT
from thresher.views.budget_levels import error_bars, level_bars

_MOST_CLASSES = 12
_ASSUMES = "a star: " + INDEPENDENT[0].lower() + INDEPENDENT[1:]
_METHODS = 15

Blocks = tuple[Block, ...]


def forecast_page(found: Forecast, left: Sequence[ClassLeft] = ()) -> Page:
    """Return the whole page; `left` is what each class has left, for the curator."""
    space = plain_lines([""])
    blocks = (
        *budgets_section(found),
        space,
        *parts_section(found),
        space,
        *errors_section(found),
        *_left_section(left),
    )
    return Page(blocks, forecast_document(found, left))


def budgets_section(found: Forecast) -> Blocks:
    """Return the budgets as bars, cut where parts begin."""
    roster, levels = found.roster, [float(level) for level in found.roster.levels]
    cuts = [float(level) for level in found.parts.levels[1:]]
    title = f"{roster.people:,} people, {len(levels):,} levels from {levels[0]:.4g} to {levels[-1]:.4g}"
    return heading("Budgets", f": {title}"), plain_lines(level_bars(levels, roster.sizes.tolist(), cuts))


def parts_section(found: Forecast) -> Blocks:
    """Return the parts of least waste."""
    parts = found.parts
    rows = tuple(
        line(f"  {n}", str(level), f"{size:,}", f"{float(waste):.4g}")
        for n, (level, size, waste) in enumerate(zip(parts.levels, parts.sizes, parts.waste, strict=True), start=1)
    )
    waste = (
        f"Waste: what members allow beyond the least budget of their part, squared and summed. "
        f"It is {float(sum(parts.waste)):.4g} in all; no other division into as many parts wastes less."
    )
    table = Table(("  part", "each gives", "people", "waste"), rows, (1, 2, 3))
    return heading("Parts of least waste"), table, Fact("", waste)


def errors_section(found: Forecast) -> Blocks:
    """Return forecasts as bars, the best first, and how each method works."""
    starred = [(f"{one.method}{'*' if one.assumes else ''}", one.predicted_sd) for one in found.outlooks]
    return (
        heading("Error by method", ": standard deviation of a share of the roster, forecast"),
        plain_lines(error_bars(starred)),
        *(Fact(one.method, one.how, _METHODS) for one in found.outlooks),
        *((Fact("", _ASSUMES),) if any(one.assumes for one in found.outlooks) else ()),
    )


def _left_section(left: Sequence[ClassLeft]) -> Blocks:
    classes = [one for one in left if one.people]
    if not classes:
        return ()
    step = -(-len(classes) // _MOST_CLASSES)
    rows = tuple(line(f"  {one.budget}", f"{one.people:,}", str(one.left)) for one in classes[::step])
    more = (Fact("", f"One in {step} classes is shown; --json has all."),) if step > 1 else ()
    table = Table(("  budget", "people", "left of it"), rows, (1, 2))
    return plain_lines([""]), heading("What is left", ": for the curator only"), table, *more


def forecast_document(found: Forecast, left: Sequence[ClassLeft] = ()) -> dict[str, Any]:
    """Return the same for programs."""
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
