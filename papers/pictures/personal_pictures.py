"""Make the pictures of personal budgets in `docs/reproduce.md` again: `python -m papers.pictures.personal_pictures`.

It takes seconds. Seeded, and of made-up people, so the files are the same every time; a test compares them. They show
parts of what `python -m papers personal` measures in full.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from papers.personal import personal_models as models
from papers.personal.personal_counts import sweep_errors
from papers.personal.personal_data import LAWS, Asked, Law, made_up, made_up_labels, roster_of
from papers.personal.personal_methods import (
    AWARE,
    MINIMUM,
    PRECISION,
    WEIGHTED,
    Shares,
    Trials,
    by_class,
    of_parts,
    of_plan,
)
from papers.pictures.line_chart import Line, line_chart, written_to
from thresher.noise import SeededEntropy
from thresher.personal.baselines import minimum_plan
from thresher.personal.part_releases import combined, frequency_weights
from thresher.personal.partition import partition
from thresher.personal.precision_partition import precision_partition
from thresher.personal.weighted import weighted_plan
from thresher.views.svg import Axis, even_axis

_FOLDER = Path(__file__).parents[2] / "docs" / "pictures" / "personal"
_SEED, _RUNS, _MODEL_RUNS = 7, 10, 2
_SHOWN = (models.WEIGHTED, models.BY_NOISE, models.FIVE, models.VOTE, models.MINIMUM)


def pictures() -> dict[str, str]:
    """Return all pictures by the names of their files."""
    return {**pictures_of_shares(), **pictures_of_areas()}


def pictures_of_shares() -> dict[str, str]:
    return {f"shares_{name}.svg": _shares(law) for name, law in LAWS.items()}


def pictures_of_areas() -> dict[str, str]:
    """Fit the models, which takes twice as long as the other pictures."""
    return {"areas.svg": _areas(LAWS["uniform"])}


def _shares(law: Law) -> str:
    """Draw figures 2 and 3: sampling by threshold, and methods without a threshold as level lines."""
    data, trials = made_up(), Trials(_RUNS, SeededEntropy(_SEED))
    sweep = sweep_errors(data, law, trials)
    lines = [Line("sampling", [one.threshold for one in sweep], [one.error * 1e4 for one in sweep])]
    for name, shares in _levels(data, law, trials).items():
        lines.append(_level_line(name, lines[0].xs, float(np.abs(shares - data.shares).mean()) * 1e4))
    y_axis = even_axis("mean error of a share, in ten thousandths", 0, 12, range(0, 13, 2))
    return line_chart(f"Shares of 100,000 people, {law.name} budgets", (_thresholds(law), y_axis), lines)


def _levels(data: Asked, law: Law, trials: Trials) -> dict[str, Shares]:
    roster = roster_of(law, data.people)
    counts = by_class(roster, data.answers)
    found = {name: of_plan(plan, counts, trials) for name, plan in (
        (WEIGHTED, weighted_plan(roster)), (MINIMUM, minimum_plan(roster)),
    )}  # fmt: skip
    for name, parts in ((PRECISION, precision_partition(roster)), (AWARE, partition(roster, 5))):
        found[name] = combined(frequency_weights(parts).weights, of_parts(parts, data.answers, trials))
    return found


def _areas(law: Law) -> str:
    """Draw figure 4: the same for support vector machines."""
    data, trials = made_up_labels(), Trials(_MODEL_RUNS, SeededEntropy(_SEED))
    sweep = models.model_sweep(data, law, trials, (models.SVM,))
    lines = [Line("sampling", [one.threshold for one in sweep], [one.area for one in sweep])]
    for one in models.model_scores(data, law, trials, (models.OBJECTIVE,), (models.SVM,)):
        if one.method in _SHOWN:
            lines.append(_level_line(one.method, lines[0].xs, one.area))
    y_axis = even_axis("area below the ROC curve", 0.5, 0.9, (0.5, 0.6, 0.7, 0.8, 0.9))
    title = f"Support vector machines, {law.name} budgets, objective perturbation"
    return line_chart(title, (_thresholds(law), y_axis), lines, ("An area of 0.5 is that of a guess.",))


def _level_line(name: str, thresholds: Sequence[float], height: float) -> Line:
    """Return the level line of a method without a threshold."""
    return Line(name, (thresholds[0], thresholds[-1]), (height, height), dashed=name == MINIMUM)


def _thresholds(law: Law) -> Axis:
    return even_axis("threshold of the sample", 0, law.most, [law.most * i / 5 for i in range(6)])


if __name__ == "__main__":
    written_to(_FOLDER, pictures())
