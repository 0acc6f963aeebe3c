"""Make the pictures of `docs/diagnostics.md` again: `python -m papers.pictures.diagnostic_pictures [--data FOLDER]`.

Private panels are drawn from releases. True panels are beside them if the data are made up; of public data sets, which
`--data` names, only releases are drawn, and the truth is in the printed table. Everything is seeded, so the files are
the same each time, and releases are stamped NOT PRIVATE. A test compares the made-up ones.
"""

import argparse
import os
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from papers.pictures.diagnostic_panels import (
    Column,
    Picture,
    private_panel,
    svg_of,
    true_binned,
    true_bins,
    true_residuals,
    true_roc,
)
from papers.residuals.chance_models import BENDS, FITS, LOG_ODDS, labels_and_chances
from papers.residuals.public_fits import ADULT, EARNINGS, adult_scores, earnings_fits
from papers.residuals.residual_models import RIGHT, WRONG, models
from papers.residuals.residual_shape import shape_difference, shape_of
from papers.roc.roc_sets import public_sets
from thresher.audit.attacks.public_files import lack, must_be_there
from thresher.diagnostics.binned_residuals import binned_residual_plot
from thresher.diagnostics.curves import exact_curve, mann_whitney
from thresher.diagnostics.releases import BinnedResiduals, ResidualPlot, RocCurve
from thresher.diagnostics.residual_plot import residual_plot
from thresher.diagnostics.roc_curve import roc_curve
from thresher.diagnostics.scored_rows import scored_rows
from thresher.errors import SourceError
from thresher.noise import SeededEntropy

FOLDER = Path(__file__).parents[2] / "docs" / "pictures" / "diagnostics"
HEADER = "| Picture | Rows | epsilon | Figure | True | Private |\n|---|---|---|---|---|---|"
_SEED, _POINTS, _MORE_POINTS = 7, 310, 900
_NEAR = ((-0.01, 1.01), (-0.25, 0.25))
# By name: how many times x the log odds are.
_RANKINGS = {"good": 6.0, "weak": 1.5}


def made_up_pictures() -> list[Picture]:
    """Return pictures with true and private panels side by side, a right model above a wrong one."""
    return [_residuals(), _roc(), _binned()]


def _residuals() -> Picture:
    rows, epsilon, panels, figures = 5000, "0.2", [], []
    entropy = SeededEntropy(_SEED)
    fits = models(rows, entropy)
    for name, title in ((RIGHT, "Right model"), (WRONG[0], "Spread grows"), (WRONG[1], "A bend is missed")):
        found = residual_plot(*fits[name], epsilon, rows=rows, entropy=entropy)
        shown = thinned(found, _POINTS)
        panels.append((true_residuals(name, title, fits[name], shown), private_panel(name, title, shown)))
        for figure, measure in (("fan", fan), ("bend", bend)):
            pair = measure(*fits[name]), measure(*found.points.T)
            figures.append(_row(f"residuals, {name}", rows, epsilon, figure, *pair))
    return Picture("residuals", "Residuals against fitted values", tuple(panels), tuple(figures))


def _roc() -> Picture:
    rows, epsilon, panels, figures = 2000, "0.5", [], []
    entropy = SeededEntropy(_SEED)
    for name, slope in _RANKINGS.items():
        labels, scores = labels_and_chances(lambda x, slope=slope: slope * x, rows, entropy)  # type: ignore[misc]
        found = roc_curve(labels, scores, epsilon, rows=rows, entropy=entropy)
        truth = scored_rows(labels, scores)
        title = f"{name.capitalize()} model"
        panels.append((true_roc(name, title, exact_curve(truth)), private_panel(name, title, found)))
        figures.append(_area(f"roc, {name}", rows, epsilon, float(mann_whitney(truth)), found))
    return Picture("roc", "ROC curves", tuple(panels), tuple(figures))


def _binned() -> Picture:
    rows, epsilon, panels, figures = 20_000, "0.1", [], []
    entropy = SeededEntropy(_SEED)
    for name, title in ((FITS, "Right model (M1)"), (BENDS, "A bend is missed (M2)")):
        labels, scores = labels_and_chances(LOG_ODDS[name], rows, entropy)
        found = binned_residual_plot(labels, scores, epsilon, rows=rows, entropy=entropy)
        truth = true_bins(labels, scores, 64)
        true = true_binned(name, title, truth, _NEAR[1][1])
        panels.append((true, private_panel(name, title, found, _NEAR)))
        pairs = {
            "shape": tuple(shape_difference(shape_of(each.predicted, each.residual)) for each in (truth, found)),
            "outside": tuple(float((np.abs(each.residual) > each.band).mean()) for each in (truth, found)),
        }
        figures += [_row(f"binned, {name}", rows, epsilon, figure, *pair) for figure, pair in pairs.items()]
    return Picture("binned", "Binned residuals", tuple(panels), tuple(figures))


def public_pictures(folder: Path | None) -> tuple[list[Picture], list[str]]:
    """Return pictures of the data sets in the folder, and a sentence for each that is missing."""
    must_be_there(folder)
    found, missing = [], []
    for (source, name), draw in ((EARNINGS, _earnings), (ADULT, _adult)):
        why = lack(folder, source, [name])
        if why or folder is None:
            missing.append(f"{source}/{name} is left out: {why}.")
        else:
            found.append(draw(folder))
    texts = public_sets(folder)
    return [*found, *([_texts(folder)] if texts.found else [])], [*missing, *texts.missing]


def _earnings(folder: Path) -> Picture:
    epsilon, panels, figures = "0.5", [], []
    entropy = SeededEntropy(_SEED)
    for name, fit in earnings_fits(folder).items():
        found = residual_plot(*fit, epsilon, entropy=entropy)
        shown = thinned(found, _MORE_POINTS)
        panels.append(private_panel(name.replace(" ", "-"), name.capitalize(), shown))
        figures.append(_row(f"earnings, {name}", fit[0].size, epsilon, "fan", fan(*fit), fan(*found.points.T)))
    title = "Hourly earnings by least squares (public data; model fitted to the same rows, so not private)"
    return Picture("earnings", title, (tuple(panels),), tuple(figures))


def _adult(folder: Path) -> Picture:
    epsilon, panels, figures = "0.5", [], []
    entropy = SeededEntropy(_SEED)
    for name, (labels, scores) in adult_scores(folder).items():
        curve = roc_curve(labels, scores, epsilon, entropy=entropy)
        bins = binned_residual_plot(labels, scores, epsilon, entropy=entropy)
        title = f"{name.capitalize()} model"
        panels.append((private_panel(f"{name}-roc", title, curve), private_panel(f"{name}-binned", title, bins, _NEAR)))
        rows, truth = labels.size, scored_rows(labels, scores)
        figures.append(_area(f"adult, {name}", rows, epsilon, float(mann_whitney(truth)), curve))
        figures.append(_outside(f"adult, {name}", epsilon, labels, scores, bins))
    title = "Income above 50,000 by logistic regression (public data; rows that the model was not trained on)"
    return Picture("adult", title, tuple(panels), tuple(figures))


def _texts(folder: Path | None) -> Picture:
    epsilon, panels, figures = "1", [], []
    entropy = SeededEntropy(_SEED)
    for each in public_sets(folder).found:
        scores = each.rows.scores
        found = roc_curve(each.rows.positive, scores, epsilon, rows=scores.size, entropy=entropy)
        panels.append(private_panel(each.name.lower(), each.name.capitalize(), found))
        figures.append(_area(f"texts, {each.name}", scores.size, epsilon, float(mann_whitney(each.rows)), found))
    title = "Texts by logistic regression on words (public data; rows that the model was not trained on)"
    return Picture("texts", title, (tuple(panels),), tuple(figures))


def thinned(release: ResidualPlot, most: int) -> ResidualPlot:
    """Return the same release with fewer points, so that files stay small. This costs no epsilon."""
    return replace(release, points=release.points[:: -(-len(release.points) // most)])


def fan(fitted: Column, residuals: Column) -> float:
    """Return how much wider the middle half of residuals is in the upper third of fitted values than in the lower."""
    low, high = np.quantile(fitted, [1 / 3, 2 / 3])
    widths = [np.subtract(*np.quantile(residuals[part], [0.75, 0.25])) for part in (fitted >= high, fitted <= low)]
    return float(widths[0] / widths[1])


def bend(fitted: Column, residuals: Column) -> float:
    """Return how far the middle third's mean residual is below that of the other two."""
    low, high = np.quantile(fitted, [1 / 3, 2 / 3])
    middle = (fitted > low) & (fitted < high)
    return float(residuals[~middle].mean() - residuals[middle].mean())


def _row(picture: str, rows: int, epsilon: str, figure: str, true: float, private: float) -> str:
    return f"| {picture} | {rows:,} | {epsilon} | {figure} | {_shown(true)} | {_shown(private)} |"


def _shown(value: float) -> str:
    """Return two decimals, without a sign for zero."""
    return f"{round(value, 2) + 0.0:.2f}"


def _area(picture: str, rows: int, epsilon: str, true: float, found: RocCurve) -> str:
    private = "undefined" if found.auc is None else f"{found.auc:.3f}"
    return f"| {picture} | {rows:,} | {epsilon} | AUC | {true:.3f} | {private} |"


def _outside(picture: str, epsilon: str, labels: NDArray[np.bool_], scores: Column, found: BinnedResiduals) -> str:
    """Return the row of the share of bins outside the band, for as many true bins as released ones."""
    truth = true_bins(labels, scores, found.counts.size)
    shares = (float((np.abs(each.residual) > each.band).mean()) for each in (truth, found))
    return _row(picture, labels.size, epsilon, "outside", *shares)


def main() -> None:
    """Overwrite the files of the docs, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=os.environ.get("THRESHER_DATA") or None, metavar="FOLDER")
    parser.add_argument("--output", type=Path, default=FOLDER, metavar="FOLDER")
    asked = parser.parse_args()
    data = None if asked.data is None else Path(asked.data)
    try:
        public, missing = public_pictures(data)
    except SourceError as error:
        sys.exit(str(error))
    asked.output.mkdir(parents=True, exist_ok=True)
    print(HEADER)
    for picture in [*made_up_pictures(), *public]:
        (asked.output / f"{picture.name}.svg").write_text(svg_of(picture), encoding="utf-8")
        print("\n".join(picture.figures))
    print("\n".join(missing))


if __name__ == "__main__":
    main()
