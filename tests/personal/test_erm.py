"""Private risks: printed constants, exact losses in one dimension, distances of minima, gradients as promised."""

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from thresher.errors import ArgumentError, BugError
from thresher.personal.learners import risks as room
from thresher.personal.learners.erm import (
    _rounding,
    objective_terms,
    output_terms,
    perturbed_objective,
    perturbed_output,
)
from thresher.personal.learners.membership import group_of, halved
from thresher.personal.learners.risks import HuberHinge, LogisticLoss, Risk, accelerated, near_minimum
from thresher.personal.roster import Roster

LOSSES = [LogisticLoss(), HuberHinge(), HuberHinge(0.1)]
BUDGETS = ["0.2", "0.5", "1"]


@pytest.mark.parametrize(("regularisation", "left", "extra"), [("0.1", 0.2644, 0), ("0.02", 0.25, 0.0739)])
def test_printed_constants_of_objective_perturbation(regularisation, left, extra):
    """n = 20, epsilon = 0.5, for changed records: half of epsilon when one comes or goes, and half of what is left."""
    group = group_of(halved(Roster.of(["0.5"] * 20)), "minimum")
    terms = objective_terms(group, Fraction(regularisation), LogisticLoss())
    assert 2 * float(terms.rate) * 0.25 == pytest.approx(left, abs=1e-4)
    assert terms.extra == pytest.approx(extra, abs=1e-4)


def test_printed_length_of_output_noise():
    """Gamma(d, 2 / (n regularisation epsilon)) for changed records, but for the slack that is paid on top."""
    group = group_of(halved(Roster.of(["0.5"] * 1000)), "minimum")
    terms = output_terms(group, Fraction(1, 100), 5, LogisticLoss())
    printed = math.sqrt(5 * 6) * 2 / (1000 * 0.01 * 0.5)
    assert printed < terms.noise_length < printed * 1.0001


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_slopes_and_bends_are_derivatives_within_their_bounds(loss):
    margins = np.linspace(-4, 4, 4001)
    slopes = np.gradient(loss.values(margins), margins)
    assert loss.slopes(margins)[1:-1] == pytest.approx(slopes[1:-1], abs=0.01)
    assert np.abs(loss.slopes(margins)).max() <= 1
    assert loss.bends(margins).max() <= loss.curvature
    assert np.abs(np.diff(loss.slopes(margins)) / np.diff(margins)).max() <= loss.curvature * (1 + 1e-9)


def risk_of(signed, group, loss, ridge, present):
    weights = group.nano[group.roster.classes] * np.asarray(present)
    taken = weights > 0
    return Risk(loss, signed[taken], weights[taken] / group.total, ridge, np.zeros(signed.shape[1]))


def neighbours(people):
    """All sets of those present, each with one more person."""
    for present in itertools.product([0, 1], repeat=people):
        for more in range(people):
            if not present[more]:
                yield present, tuple(int(at or place == more) for place, at in enumerate(present)), more


GROUPS = [("weighted", None), ("minimum", None), ("threshold", "0.5")]


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize(("method", "threshold"), GROUPS)
def test_no_person_loses_more_than_the_own_weight_by_output_perturbation(method, threshold, loss):
    """In one dimension the noise is exp(-|z| / spread): the loss is the distance of places over spread, exactly."""
    group = group_of(Roster.of(BUDGETS), method, threshold)
    weights = group.nano[group.roster.classes]
    worst = Fraction(0)
    for ridge in (Fraction(1, 20), Fraction(3)):
        terms = output_terms(group, ridge, 1, loss)
        for signed in [(1, 1, 1), (-1, 1, 1), (1, -1, 1), (1, 1, -1), (0.3, 1, -1), (1, 0.3, 0.3)]:
            places = {
                present: int(np.rint(near_minimum(risk, terms.tolerance) / terms.step)[0])
                for present in itertools.product([0, 1], repeat=3)
                for risk in [risk_of(np.array(signed, dtype=float)[:, None], group, loss, float(ridge), present)]
            }
            for fewer, more, person in neighbours(3):
                lost = Fraction(abs(places[fewer] - places[more]), terms.spread)
                assert lost <= Fraction(int(weights[person]), 10**9)
                if weights[person]:
                    worst = max(worst, lost / Fraction(int(weights[person]), 10**9))
    assert worst > (Fraction(2, 5) if isinstance(loss, LogisticLoss) else Fraction(99, 100))


def sampled_laws(group, loss, ridge):
    """The law of a sampled fit of given rows at every place that matters, by all outcomes of the coins."""
    terms = output_terms(group, Fraction(ridge), 1, loss)
    chances = [mpmath.mpf(int(c)) / 2**32 for c in group.chances[group.roster.classes]]
    level = mpmath.mpf(int(group.nano.max()))

    def centres(signed, present):
        for coins in itertools.product([0, 1], repeat=len(present)):
            mass = mpmath.mpf(1)
            for coin, chance in zip(coins, chances, strict=True):
                mass *= chance if coin else 1 - chance
            risk = risk_of(signed, group, loss, ridge, np.array(present) * coins)
            yield mass, int(np.rint(near_minimum(risk, terms.tolerance) / terms.step)[0])

    def log_density(mixture, place):
        return mpmath.log(mpmath.fsum(m * mpmath.exp(-mpmath.mpf(abs(place - c)) / terms.spread) for m, c in mixture))

    return centres, log_density, level


def test_coins_make_of_the_threshold_what_each_allows():
    """Sampling at 1: losses of all neighbours at all places where the law bends, and far away, in thirty digits."""
    group, loss = group_of(Roster.of(BUDGETS), "sampling", "1"), HuberHinge()
    closest = 0
    with mpmath.workdps(30):
        centres, log_density, _ = sampled_laws(group, loss, 3.0)
        for signed in [(1, 1, 1), (-1, 1, 1), (1, -1, 1), (1, 1, -1)]:
            rows = np.array(signed, dtype=float)[:, None]
            mixed = {present: list(centres(rows, present)) for present in itertools.product([0, 1], repeat=3)}
            for fewer, more, person in neighbours(3):
                places = {c for _, c in mixed[fewer] + mixed[more]} | {-(10**9), 10**9}
                lost = max(abs(log_density(mixed[fewer], at) - log_density(mixed[more], at)) for at in places)
                assert lost <= mpmath.mpf(BUDGETS[person]) + mpmath.mpf(10) ** -25
                closest = max(closest, lost / mpmath.mpf(BUDGETS[person]))
    assert closest > 0.9


def objective_log_density(signed, present, group, loss, terms, ridge, points):
    """log density of the tilted minimum at w: the tilt that puts it there, and how fast that moves with w."""
    total = group.total / 1e9
    weights = group.nano[group.roster.classes] / 1e9 * present
    margins = np.outer(points, signed)
    full = total * (ridge + terms.extra)
    tilt = -(loss.slopes(margins) * weights * signed).sum(axis=1) - full * points
    volume = full + (loss.bends(margins) * weights * np.square(signed)).sum(axis=1)
    return -float(terms.rate) * np.abs(tilt) + np.log(volume)


def objective_worst(method, threshold, loss, ridge, rate=None):
    """The largest share of the own weight that anybody loses."""
    group = group_of(Roster.of(BUDGETS), method, threshold)
    terms = objective_terms(group, Fraction(ridge), loss)
    terms = terms if rate is None else type(terms)(Fraction(rate), 0.0)
    points, worst = np.sinh(np.linspace(-4.5, 4.5, 1_201)), 0.0
    for signed in [(1, 1, 1), (-1, 1, 1), (1, -1, 1), (1, 1, -1), (0.3, 1, -1), (1, 0.3, 0.3)]:
        logs = {
            present: objective_log_density(
                np.array(signed), np.array(present), group, loss, terms, float(Fraction(ridge)), points
            )
            for present in itertools.product([0, 1], repeat=3)
        }
        for fewer, more, person in neighbours(3):
            weight = group.nano[group.roster.classes][person] / 1e9
            lost = np.abs(logs[fewer] - logs[more]).max()
            assert weight or lost == 0
            worst = max(worst, lost / weight if weight else 0.0)
    return worst


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize(("method", "threshold"), GROUPS)
def test_no_person_loses_more_than_the_own_weight_by_objective_perturbation(method, threshold, loss):
    """The density in one dimension, by change of variables, for all neighbours of a roster of three."""
    for ridge in ("0.01", "0.3", "5"):
        assert objective_worst(method, threshold, loss, ridge) <= 1 + 1e-9
    assert objective_worst(method, threshold, loss, "0.3") > 0.4


def test_a_tilt_that_forgets_the_change_of_volume_is_caught():
    assert objective_worst("minimum", None, LogisticLoss(), "0.05", rate=1) > 1.5
    assert objective_worst("weighted", None, HuberHinge(), "0.3", rate=1) > 1.2


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_minima_of_random_neighbours_lie_within_the_promised_distance(loss):
    rng = np.random.default_rng(5)
    group = group_of(Roster.of(rng.uniform(0.05, 1, 30).round(3)), "weighted")
    weights = group.nano[group.roster.classes]
    for ridge in (0.001, 0.1, 2.0):
        terms = output_terms(group, Fraction(ridge), 4, loss)
        for _ in range(20):
            signed = rng.normal(size=(30, 4))
            signed /= np.linalg.norm(signed, axis=1)[:, None]
            present, person = rng.integers(0, 2, 30), int(rng.integers(30))
            places = []
            for here in (0, 1):
                present[person] = here
                risk = risk_of(signed, group, loss, ridge, present)
                point = near_minimum(risk, terms.tolerance)
                assert np.linalg.norm(risk.gradient(point)) <= terms.tolerance
                places.append([int(p) for p in np.rint(point / terms.step)])
            distance = math.isqrt(sum((a - b) ** 2 for a, b in zip(*places, strict=True))) + 1
            assert (distance + 1) * 10**9 <= int(weights[person]) * terms.spread


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_the_second_method_alone_arrives_at_the_same_minimum(loss, monkeypatch):
    rng = np.random.default_rng(6)
    signed = rng.normal(size=(200, 3)) / 3
    risk = Risk(loss, signed, np.full(200, 1 / 200), 0.01, np.array([0.0, 0.1, -0.2]))
    first = near_minimum(risk, 1e-12)
    second = accelerated(risk, np.zeros(3), 1e-10)
    assert np.abs(first - second).max() < 3e-8
    monkeypatch.setattr(room, "_NEWTON_STEPS", 1)
    assert np.linalg.norm(risk.gradient(near_minimum(risk, 1e-10))) <= 1e-10
    with pytest.raises(BugError):
        accelerated(risk, np.zeros(3), 1e-19)


def test_with_much_budget_both_ways_give_the_minimum(entropy):
    """Noise of a ten-thousandth: the plane is the risk's own minimum to three decimals, but for 1e-6."""
    rng = np.random.default_rng(7)
    signed = rng.normal(size=(500, 3)) / 4
    group = group_of(Roster.of([1000] * 500), "minimum")
    exact = near_minimum(risk_of(signed, group, LogisticLoss(), 0.05, np.ones(500)), 1e-12)
    for perturbed in (perturbed_output, perturbed_objective):
        found = perturbed(signed, group, LogisticLoss(), Fraction(1, 20), entropy)
        assert np.abs(found - exact).max() < 0.005


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_computed_gradients_err_by_less_than_is_paid_for(loss):
    """Against margins and sums in exact fractions; the slope of a float is right to a few units."""
    rng = np.random.default_rng(8)
    signed = rng.normal(size=(2500, 2)) / 2
    signed /= np.maximum(np.linalg.norm(signed, axis=1), 1)[:, None]
    group = group_of(Roster.of(rng.uniform(0.05, 1, 2500).round(3)), "weighted")
    risk = risk_of(signed, group, loss, 0.01, np.ones(2500))
    for w in (np.array([0.3, -0.7]), np.array([150.0, 90.0])):
        margins = [
            sum(Fraction(x) * Fraction(v) for x, v in zip(row, w.tolist(), strict=True)) for row in signed.tolist()
        ]
        slopes = loss.slopes(np.array([float(margin) for margin in margins])).tolist()
        pulls = [Fraction(share) * Fraction(slope) for share, slope in zip(risk.shares.tolist(), slopes, strict=True)]
        for place, computed in enumerate(risk.gradient(w).tolist()):
            exact = sum(pull * Fraction(x) for pull, x in zip(pulls, signed[:, place].tolist(), strict=True))
            error = abs(Fraction(computed) - exact - Fraction(0.01) * Fraction(w[place]))
            assert error < _rounding(group, 2, 0.01, loss) / 2


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("perturbed", [perturbed_output, perturbed_objective])
def test_minima_are_reached_however_small_the_roster_and_its_budgets(loss, perturbed, entropy):
    rng = np.random.default_rng(9)
    for people, features, ridge in itertools.product((1, 3, 40), (1, 6, 30), ("0.00001", "0.01", "10")):
        signed = rng.normal(size=(people, features))
        signed /= np.linalg.norm(signed, axis=1)[:, None]
        group = group_of(Roster.of(rng.choice(["0.00001", "0.01", "5"], people).tolist()), "weighted")
        assert np.isfinite(perturbed(signed, group, loss, Fraction(ridge), entropy)).all()


def test_regularisation_too_small_for_the_machine_is_refused():
    group = group_of(Roster.of([1]), "minimum")
    with pytest.raises(ArgumentError, match="rounding"):
        output_terms(group, Fraction(1, 10**8), 10_000, HuberHinge(0.01))
