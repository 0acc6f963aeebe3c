"""Measure the mechanisms of MIDE: their losses, min-entropies and errors.

Reads: data sets, entropy. Writes: nothing. Never: a number that was not measured or priced here.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from papers.mide.cone_min_entropy import cone_min_entropy
from papers.mide.dataset import DataSet
from papers.mide.synthetic import Reference, reference
from thresher.accounting import box_min_entropy
from thresher.amounts import Amount, Epsilon, exact_fraction, whole_number
from thresher.decisions import Look, Verdicts
from thresher.decisions.adaptive_ladder import adaptive_ladder_of
from thresher.decisions.ladder import ladder_of
from thresher.decisions.margin import TrueMargins
from thresher.decisions.shift import shift_of
from thresher.errors import ArgumentError
from thresher.noise import Entropy

BEST_EFFORT, STRICT = "dppwlm best effort", "dppwlm strict"
MECHANISMS = ("nlm", "tslm", "ppwlm", BEST_EFFORT, STRICT)
_FIRST = Epsilon("0.00001")
_MOST_RUNS, _WIDEST = 100_000, 100_000


@dataclass(frozen=True, slots=True)
class Grid:
    """The number of steps in a unit: many steps come near the papers' continuous noise; counts have one."""

    name: str
    scale: int

    def margins(self, data: DataSet) -> NDArray[np.int64]:
        """Return margins in steps, for whole thresholds: one step above the threshold is 0."""
        return self.scale * (data.margins + 1) - 1


FINE, WHOLE = Grid("fine grid", 1000), Grid("whole numbers", 1)


@dataclass(frozen=True, slots=True)
class Settings:
    """The rates and the half width of the promise, and the levels; the defaults are the paper's."""

    runs: int = 100
    miss_rate: Fraction = Fraction(1, 20)
    half_width: int = 1
    first_epsilon: Epsilon = _FIRST
    levels: int = 4

    @property
    def as_printed(self) -> bool:
        """Whether these are the paper's settings, for which reference numbers are known."""
        return replace(self, runs=1) == Settings(runs=1)


@dataclass(frozen=True, slots=True)
class Row:
    """One mechanism on one data set: means over all runs.

    epsilon      the largest loss of a group
    worst        what that could have been, known beforehand
    mean         the mean loss of a group
    box, cone    min-entropy as a share of ln k: as in the paper, and the tight one
    missed       share of the groups above that are not reported (FNR); None where there are none
    alarmed      share of the others that are reported (FPR)
    half_width   that of the last look
    """

    mechanism: str
    epsilon: float
    worst: Epsilon
    mean: float
    box: float
    cone: float
    missed: float | None
    alarmed: float | None
    half_width: float
    reference: Reference | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """All mechanisms on one data set and one grid."""

    data: str
    grid: str
    groups: int
    above: int
    rows: tuple[Row, ...]

    def row(self, mechanism: str) -> Row:
        return next(row for row in self.rows if row.mechanism == mechanism)


def settings_of(runs: int, miss_rate: Amount, half_width: int) -> Settings:
    """Return settings after checks."""
    for field, value, most in (("runs", runs, _MOST_RUNS), ("half_width", half_width, _WIDEST)):
        if not 1 <= whole_number(value, field) <= most:
            raise ArgumentError(field, value, f"it must be 1 to {most:,}", "Pass 10, say")
    rate = exact_fraction(miss_rate, "miss_rate")
    if not 0 < rate < Fraction(1, 2):
        rule = "it must be above 0 and below 1/2"
        raise ArgumentError("miss_rate", miss_rate, rule, "Pass 0.05, say")
    return Settings(runs, rate, half_width)


def table_of(
    data: DataSet,
    grid: Grid,
    settings: Settings,
    entropy: Entropy | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Table:
    """Measure each mechanism; `progress` gets the name of what is being measured."""
    margins = grid.margins(data)
    above, rows = margins >= 0, []
    for mechanism in MECHANISMS:
        progress(f"{data.name}, {grid.name}: {mechanism}")
        look = look_of(mechanism, settings, grid.scale)
        seen = [_measured(look.decide(TrueMargins.of(margins), entropy), above) for _ in range(settings.runs)]
        known = reference(data.name, mechanism) if grid == FINE and settings.as_printed else None
        epsilon, mean, box, cone, missed, alarmed, width = np.mean(seen, axis=0).tolist()
        rows.append(
            Row(
                mechanism=mechanism,
                epsilon=epsilon,
                worst=look.epsilon,
                mean=mean,
                box=box,
                cone=cone,
                missed=missed / int(above.sum()) if above.any() else None,
                alarmed=alarmed / int((~above).sum()) if not above.all() else None,
                half_width=width,
                reference=known,
            )
        )
    return Table(data.name, grid.name, above.size, int(above.sum()), tuple(rows))


def look_of(mechanism: str, settings: Settings, scale: int) -> Look:
    """Return a priced mechanism. False alarms are bounded at the miss rate, as the paper's decisions are symmetric."""
    rates, steps = (settings.miss_rate, settings.miss_rate), settings.half_width * scale
    if mechanism in ("nlm", "tslm"):
        shift = shift_of(*rates, steps, scale)
        return shift if mechanism == "tslm" else replace(shift, steps=0, sure=steps, clear=shift.clear - steps)
    climb = steps, scale, settings.levels, settings.first_epsilon
    if mechanism == "ppwlm":
        return ladder_of(*rates, *climb)
    return replace(adaptive_ladder_of(*rates, *climb), best_effort=mechanism == BEST_EFFORT)


def _measured(seen: Verdicts, above: NDArray[np.bool_]) -> tuple[float, ...]:
    """Return losses, min-entropies, how many groups are missed and reported wrongly, and the half width reached."""
    losses = np.array([float(epsilon) for epsilon in seen.levels])[seen.stopped]
    return (
        float(seen.loss),
        float(losses.mean()),
        box_min_entropy(losses).normalised_low,
        cone_min_entropy(losses).normalised_low,
        float((above & ~seen.reported).sum()),
        float((~above & seen.reported).sum()),
        int(seen.steps[seen.stopped == seen.stopped.max()].max()) / seen.scale,
    )
