"""Expectations of a score table by plain summation: over all noise and both coins, or over its bins at many margins."""

import math

import numpy as np

from thresher.decisions.score_tables import SCORE

# Noise beyond so many scales has less than 1e-17 of the mass.
_SCALES = 45


def noise_masses(level, further=0):
    """All values that count, and their probabilities; so many values further down where that side is conditioned on."""
    rate, p = float(level), math.exp(-float(level))
    values = np.arange(-further - math.ceil(_SCALES / rate), math.ceil(_SCALES / rate) + 1)
    return values, (1 - p) / (1 + p) * np.exp(-rate * np.abs(values))


def outcomes(table, margin):
    """(probability, reported, exp(-score)) of every noisy value with a lucky and with an unlucky coin."""
    noise, masses = noise_masses(table.level, max(margin + table.steps, 0))
    chance = float(table.boundary)
    parts = []
    for coin, share in ((True, chance), (False, 1 - chance)):
        lucky = np.full(noise.size, coin)
        noisy = margin + noise
        parts.append((share * masses, table.reported(noisy, lucky), np.exp(-table.scores(noisy, lucky) / SCORE)))
    return tuple(np.concatenate(each) for each in zip(*parts, strict=True))


def not_qualifying(table, margin):
    """E[exp(weight (reported - rate) - score)]."""
    masses, reported, kept = outcomes(table, margin)
    gains = np.exp(float(table.weight) * (reported - float(table.false_alarm_rate)))
    return math.fsum((masses * gains * kept).tolist())


def unreported(table, margin):
    """E[exp(-score) | not reported]."""
    masses, reported, kept = outcomes(table, margin)
    return math.fsum((masses * kept)[~reported].tolist()) / math.fsum(masses[~reported].tolist())


def masses_by_value(table, margins):
    """P[v is of each of the table's values], a row for each margin: differences of the law's cumulative sums."""
    rate, p, on_line = float(table.level), math.exp(-float(table.level)), table.on_line
    places = table.starts[None, :] - margins[:, None]
    below = np.where(
        places <= 0, np.exp(-rate * np.abs(places - 1)) / (1 + p), 1 - np.exp(-rate * np.maximum(places, 0)) / (1 + p)
    )
    ends = np.zeros((margins.size, 1))
    by_bin = np.diff(np.hstack([ends, below, ends + 1]), axis=1)
    line, chance = by_bin[:, on_line : on_line + 1], float(table.boundary)
    return np.hstack([by_bin[:, :on_line], (1 - chance) * line, chance * line, by_bin[:, on_line + 1 :]])


def weights(table):
    """exp(weight (reported - rate) - score) of each of the table's values."""
    reported = np.arange(table.values.size) > table.on_line
    return np.exp(float(table.weight) * (reported - float(table.false_alarm_rate)) - table.values / SCORE)
