"""Measure models learnt within personal budgets: the share misclassified, and the area below the ROC curve.

Models learn from four fifths of the people; the rest is for the test. Noise protects whether a person is in the data;
in the literature it protects a change of a person's data, which halves every budget here.
Reads: public or made-up people, entropy. Writes: nothing. Never: protected data; scores are counted against truth.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from papers.personal.personal_counts import mean_and_spread, thresholds_of
from papers.personal.personal_data import Labelled, Law, roster_of
from papers.personal.personal_methods import Trials
from thresher.amounts import NANO
from thresher.diagnostics.curves import mann_whitney
from thresher.diagnostics.scored_rows import ScoredRows
from thresher.personal.learners.classifiers import PERTURBATIONS, Recipe, fit_classifier
from thresher.personal.learners.membership import Sharing, halved
from thresher.personal.learners.risks import HuberHinge, LogisticLoss, MarginLoss
from thresher.personal.precision_partition import precision_partition
from thresher.personal.roster import Roster

Scores = NDArray[np.float64]
LOGISTIC, SVM = "logistic", "svm"
LOSSES: Mapping[str, MarginLoss] = MappingProxyType({LOGISTIC: LogisticLoss(), SVM: HuberHinge()})
OPEN, WEIGHTED, SAMPLING, THRESHOLD, MINIMUM = "nothing private", "weighted", "sampling", "threshold", "minimum"
TWO, FIVE, VOTE, BY_NOISE = "2 parts, weighted", "5 parts, weighted", "5 parts, vote", "parts by noise"
PARTED = (BY_NOISE, TWO, FIVE, VOTE)
OUTPUT, OBJECTIVE = WAYS = PERTURBATIONS
# The literature's, for people who change.
CHANGED = "changed"
_REGULARISATION = "0.001"
# An epsilon whose noise is too small to matter.
_OPEN_NANO = 1_000 * NANO


@dataclass(frozen=True, slots=True)
class ModelScore:
    """One method, one kind of model: shares misclassified and areas, means and spreads over runs.

    `way`: output or objective perturbation, or objective perturbation where people change.
    """

    data: str
    law: str
    model: str
    way: str
    method: str
    misclassified: float
    misclassified_spread: float
    area: float
    area_spread: float


@dataclass(frozen=True, slots=True)
class ModelSweep:
    """Sampling at one threshold."""

    data: str
    law: str
    model: str
    threshold: float
    misclassified: float
    area: float


def model_scores(
    data: Labelled, law: Law, trials: Trials, ways: tuple[str, ...] = WAYS, kinds: tuple[str, ...] = (LOGISTIC, SVM)
) -> list[ModelScore]:
    """Measure all methods for these kinds of models and ways of perturbation."""
    roster, found = roster_of(law, _learnt(data)), []
    for model in kinds:
        for way in ways:
            perturbation, budgets = (OBJECTIVE, halved(roster)) if way == CHANGED else (way, roster)
            for method, seen, sharing in _sharings(budgets):
                trials.progress(f"{data.name}, {law.name}, {model}, {way}, {method}")
                recipe = Recipe(LOSSES[model], sharing, perturbation, _REGULARISATION)
                wrong, areas = _scored(data, seen, recipe, trials)
                numbers = *mean_and_spread(wrong), *mean_and_spread(areas)
                found.append(ModelScore(data.name, law.name, model, way, method, *numbers))
    return found


def model_sweep(data: Labelled, law: Law, trials: Trials, kinds: tuple[str, ...] = (LOGISTIC, SVM)) -> list[ModelSweep]:
    """Measure sampling at thresholds up to the largest budget, by objective perturbation (figures 4 and 5)."""
    roster, found = roster_of(law, _learnt(data)), []
    for model in kinds:
        for threshold in thresholds_of(law):
            trials.progress(f"{data.name}, {law.name}, {model}, sampling at {float(threshold):g}")
            at = min(threshold, Fraction(int(roster.nano[-1]), NANO))
            recipe = Recipe(LOSSES[model], Sharing("sampling", at), OBJECTIVE, _REGULARISATION)
            wrong, areas = _scored(data, roster, recipe, trials)
            found.append(
                ModelSweep(data.name, law.name, model, float(threshold), float(wrong.mean()), float(areas.mean()))
            )
    return found


def _sharings(roster: Roster) -> Iterator[tuple[str, Roster, Sharing]]:
    """Yield each method by name, with the budgets that it sees."""
    yield OPEN, Roster(np.array([_OPEN_NANO]), np.zeros(roster.people, dtype=np.int64)), Sharing("minimum")
    for method in (WEIGHTED, SAMPLING, THRESHOLD, MINIMUM):
        yield method, roster, Sharing(method)
    most = roster.nano.size
    # Noise is all that differs between parts, and its length is 1 / (people times level).
    yield BY_NOISE, roster, Sharing("partition", parts=precision_partition(roster, variance=0))
    yield TWO, roster, Sharing("partition", parts=min(2, most))
    yield FIVE, roster, Sharing("partition", parts=min(5, most))
    yield VOTE, roster, Sharing("partition", parts=min(5, most), combine="vote")


def _scored(data: Labelled, roster: Roster, recipe: Recipe, trials: Trials) -> tuple[Scores, Scores]:
    """Return the share misclassified and the area of each run."""
    people = roster.people
    features, labels = data.features[:people], data.labels[:people].astype(np.int64)
    wrong, areas = np.empty(trials.runs), np.empty(trials.runs)
    for run in range(trials.runs):
        model = fit_classifier(features, labels, roster, recipe, trials.entropy)
        scores, truth = model.scores(data.features[people:]), data.labels[people:]
        wrong[run] = np.mean((scores >= 0) != truth)
        areas[run] = mann_whitney(ScoredRows(truth, scores))
    return wrong, areas


def _learnt(data: Labelled) -> int:
    return len(data.labels) * 4 // 5
