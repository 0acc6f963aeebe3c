"""Try models under personal budgets: three people, of whom one is present or absent.

In one dimension the law of the release can be computed; here it is grouped into cells of a public width.
Reads: made-up rows. Writes: nothing. Never: sets a charge: it is what the group states as spent.
"""

import math
from collections.abc import Callable, Hashable, Mapping
from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import NANO, Epsilon
from thresher.audit.subjects import Enumerated, Pair, Sampled, Subject
from thresher.noise import Entropy
from thresher.personal.learners.classifiers import Recipe, fit_classifier
from thresher.personal.learners.erm import ObjectiveTerms, objective_terms, output_terms
from thresher.personal.learners.linear_model import SumTerms, noisy_sums, sum_terms, whole_records
from thresher.personal.learners.membership import FittedGroup, Sharing, group_of
from thresher.personal.learners.norm_noise import norm_noise
from thresher.personal.learners.risks import HuberHinge, LogisticLoss, MarginLoss, Risk, near_minimum
from thresher.personal.roster import Roster

ROSTER = Roster.of(["0.2", "0.5", "1"])
# Larger budgets, because samples show a large loss more easily.
_GENEROUS = Roster.of([2, 3, 4])
HINGE, LOGISTIC = HuberHinge(), LogisticLoss()
# At this ridge three margins lie on the steep side of the hinge: a person moves the minimum by all that is allowed.
RIDGE = Fraction(3)
_SAMPLES = 2_000

# The rows of three people, times their labels; 0 is somebody who is absent.
Rows = tuple[float, float, float]


def subjects() -> tuple[Subject, ...]:
    weighted, sampling = group_of(ROSTER, "weighted"), group_of(_GENEROUS, "sampling", 4)
    told = "weighted, three people, in cells"
    output = partial(output_law, weighted, shares=public_shares)
    sums, coins = partial(sums_law, weighted, sum_terms(weighted, 1)), partial(_sampled_sums, sampling)
    tilts = {
        name: partial(objective_law, weighted, loss, objective_terms(weighted, Fraction(1, 10), loss))
        for name, loss in (("hinge", HINGE), ("logistic", LOGISTIC))
    }
    spent, three = weighted.spent, sampling.spent[1]
    perturbed, tilted = f"output perturbation, {told}", f"objective perturbation for real numbers, {told}"
    fitted = "the classifier as fitted, sampling at 4, a person of budget 3"
    drawn = "two sums as drawn, sampling at 4, a person of budget 3"
    lengths = "two numbers, spread 3, moved by (3, 4)"
    return (
        *(
            Enumerated(f"risk minimum, budget {ROSTER.levels[each]}", perturbed, spent[each], leaving(each), output)
            for each in (0, 2)
        ),
        Sampled("risk minimum with coins", fitted, three, leaving(1)[:1], _fitted, _SAMPLES),
        *(Enumerated(f"tilted risk, {name}", tilted, spent[1], leaving(1), law) for name, law in tilts.items()),
        Enumerated("products for linear regression", f"two sums, {told}", spent[1], leaving(1), sums),
        Sampled("sums for linear regression with coins", drawn, three, leaving(1)[:1], coins, _SAMPLES),
        Sampled("noise by length", lengths, Epsilon(2), _MOVED, _lengths, _SAMPLES),
    )


_MOVED = (Pair("a person moves them by (3, 4)", (0, 0), (3, 4)),)


def leaving(person: int) -> tuple[Pair, ...]:
    """Return pairs with and without one person, beside two others who agree, or one of whom does not."""
    rows: list[Rows] = [(1.0, 1.0, 1.0), (1.0, -1.0, 1.0), (-1.0, 1.0, 1.0), (1.0, 1.0, -1.0)]
    return tuple(
        Pair(f"person {person} present or not, {row}", row, tuple(x * (at != person) for at, x in enumerate(row)))
        for row in rows
    )


def public_shares(group: FittedGroup, weights: NDArray[np.int64]) -> NDArray[np.float64]:
    """Divide weights by their public sum, whoever is present."""
    return weights / group.total


def output_law(
    group: FittedGroup, rows: Rows, shares: Callable[[FittedGroup, NDArray[np.int64]], NDArray[np.float64]]
) -> Mapping[Hashable, float]:
    """Return the law of the noisy minimum, in cells a quarter of the noise scale wide."""
    terms = output_terms(group, RIDGE, 1, HINGE)
    signed = np.array(rows)[:, None]
    there = signed[:, 0] != 0
    weights = group.nano[group.roster.classes][there]
    risk = Risk(HINGE, signed[there], shares(group, weights), float(RIDGE), np.zeros(1))
    place = int(np.rint(near_minimum(risk, terms.tolerance) / terms.step)[0])
    return laplace_cells(place, Fraction(1, terms.spread), max(terms.spread // 4, 1))


def laplace_cells(place: int, rate: Fraction, width: int, reach: int = 40) -> dict[Hashable, float]:
    """Return the masses of cells of `width` whole numbers under discrete Laplace noise about `place`, with tails."""
    p = math.exp(-float(rate))
    edges = [width * step - place for step in range(-reach, reach + 1)]
    # P[X >= a] and P[X < a], each exact on its own side.
    above = [p**edge / (1 + p) if edge > 0 else 1 - p ** (1 - edge) / (1 + p) for edge in edges]
    below = [p ** (1 - edge) / (1 + p) if edge <= 0 else 1 - p**edge / (1 + p) for edge in edges]
    law: dict[Hashable, float] = {"below": below[0], "above": above[-1]}
    for cell in range(len(edges) - 1):
        inside = below[cell + 1] - below[cell] if edges[cell + 1] <= 0 else above[cell] - above[cell + 1]
        law[cell] = inside
    return law


def objective_law(group: FittedGroup, loss: MarginLoss, terms: ObjectiveTerms, rows: Rows) -> Mapping[Hashable, float]:
    """Return the law of the minimum of the tilted risk. It falls as the tilt rises, so cells are ranges of tilts."""
    total = group.total / NANO
    weights, signed = group.nano[group.roster.classes] / NANO, np.array(rows)
    points = np.linspace(-12.0, 12.0, 241)
    slopes = (loss.slopes(np.outer(points, signed)) * weights * signed).sum(axis=1)
    tilts = -slopes - total * (0.1 + terms.extra) * points
    return _tilt_cells(tilts, float(terms.rate))


def _tilt_cells(tilts: NDArray[np.float64], rate: float) -> dict[Hashable, float]:
    """Return the masses between falling tilts under the density rate / 2 exp(-rate |b|), tails included."""
    ahead, upto = np.exp(-rate * np.abs(tilts)) / 2, tilts <= 0
    below, above = np.where(upto, ahead, 1 - ahead), np.where(upto, 1 - ahead, ahead)
    law: dict[Hashable, float] = {"below": float(above[0]), "above": float(below[-1])}
    for cell in range(tilts.size - 1):
        near = below[cell] - below[cell + 1] if upto[cell] else above[cell + 1] - above[cell]
        law[cell] = float(near)
    return law


def sums_law(group: FittedGroup, terms: SumTerms, rows: Rows) -> Mapping[Hashable, float]:
    """Return the joint law of the sums of x² and of x y with y = 1, in cells a quarter of the noise scale wide."""
    signed = np.array(rows)
    records = whole_records(signed[:, None], np.ones(3), signed != 0)
    weights = group.nano[group.roster.classes] // terms.grain
    products = records[:, :1].T @ (weights[:, None] * records)
    width = math.ceil(1 / terms.rate / 4)
    one, other = (laplace_cells(int(place), terms.rate, width, reach=16) for place in products[0])
    return {(a, b): p * q for a, p in one.items() for b, q in other.items()}


def _fitted(rows: Rows, runs: int, entropy: Entropy) -> NDArray[np.float64]:
    """Fit classifiers by the public function. Somebody who is absent has a missing number."""
    features = np.array([[abs(row) if row else math.nan] for row in rows])
    labels = [int(row > 0) for row in rows]
    recipe = Recipe(HINGE, Sharing("sampling", 4), regularisation=RIDGE, intercept=False)
    fits = (fit_classifier(features, labels, _GENEROUS, recipe, entropy) for _ in range(runs))
    return np.array([fit.coefficients[0] for fit in fits])


def _sampled_sums(group: FittedGroup, rows: Rows, runs: int, entropy: Entropy) -> NDArray[np.int64]:
    signed = np.array(rows)
    records, terms = whole_records(signed[:, None], np.ones(3), signed != 0), sum_terms(group, 1)
    return np.array([noisy_sums(records, group, terms, entropy) for _ in range(runs)])


def _lengths(centre: tuple[int, int], runs: int, entropy: Entropy) -> NDArray[np.int64]:
    return np.asarray(np.array([norm_noise(3, 2, entropy=entropy) for _ in range(runs)]) + np.array(centre))
