"""What is accepted can be made: no request is charged and then refused."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from thresher.diagnostics.diagnosis_plan import KINDS
from thresher.diagnostics.residual_plot import residual_plot
from thresher.diagnostics.roc_curve import roc_curve
from thresher.errors import ArgumentError
from thresher.mechanisms.histograms import MECHANISMS
from thresher.noise import SeededEntropy

EPSILONS = ("1e-7", "0.000001", "0.00002", "0.0001", "0.00011", "0.001", "1", "100", "100.1")
ROWS = (None, 0, 2, 5_000, 10**12, 1 << 41)
NONE = np.empty(0)


def requests(kind):
    """More than a hundred, at the ends of what each option takes and beyond."""
    chosen = {"depth": (None, 0, 1, 10, 11), "thresholds": ("medians", "fixed"), "histogram": (*MECHANISMS, "none")}
    names = [name for name in KINDS[kind].choices if name in chosen]
    every = list(product(EPSILONS, ROWS, *(chosen[name] for name in names)))
    chance = np.random.default_rng(3)
    for place in chance.permutation(len(every))[:120]:
        epsilon, rows, *values = every[place]
        given = {"rows": rows, **dict(zip(names, values, strict=True))}
        yield Fraction(epsilon), {name: value for name, value in given.items() if value is not None}


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_accepted_can_be_made_of_no_rows(kind):
    refused = made = 0
    for epsilon, given in requests(kind):
        try:
            options = KINDS[kind].options(epsilon, **given)
        except ArgumentError:
            refused += 1
            continue
        release = KINDS[kind].made(options, NONE, NONE, SeededEntropy(1))
        assert release.epsilon.fraction - epsilon < Fraction(1, 10**9)
        made += 1
    assert min(refused, made) > 15, "both are tried"


@pytest.mark.parametrize("made", [roc_curve, residual_plot])
def test_an_unknown_choice_is_refused_by_its_name(made):
    with pytest.raises(TypeError, match="'dept'"):
        made([0.0], [0.5], 1, dept=3)
