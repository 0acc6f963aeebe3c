"""The dissertation's two models of chance, one that a straight line in x fits and one that it does not; and true plots.

The printed step 3 is here too, for comparison only: it is not private.
"""

import numpy as np

NEWTON_STEPS = 12


def labels_and_scores(model: int, rows: int, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Labels of model 1 (log odds 2x) or 2 (x**2 + 2x - 1), and the chances that a logistic regression on x gives."""
    x = generator.uniform(-1, 1, rows)
    odds = 2 * x if model == 1 else x * x + 2 * x - 1
    labels = (generator.random(rows) < 1 / (1 + np.exp(-odds))).astype(np.int64)
    design, weights = np.stack([np.ones(rows), x], axis=1), np.zeros(2)
    for _ in range(NEWTON_STEPS):
        chance = 1 / (1 + np.exp(-design @ weights))
        curvature = design.T @ (design * (chance * (1 - chance))[:, None])
        weights = weights + np.linalg.solve(curvature, design.T @ (labels - chance))
    return labels, 1 / (1 + np.exp(-design @ weights))


def equal_bins(scores: np.ndarray) -> list[np.ndarray]:
    """Rows in bins of equal size, a power of two of them, at most the root of the rows."""
    return np.array_split(np.argsort(scores), 1 << int(np.log2(np.sqrt(scores.size))))


def true_plot(labels: np.ndarray, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    bins = equal_bins(scores)
    return np.array([scores[b].mean() for b in bins]), np.array([(labels - scores)[b].mean() for b in bins])


def printed_plot(
    labels: np.ndarray, scores: np.ndarray, epsilon: float, generator: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """As printed, but with exact medians, which flatters it: sensitivities 2, r - l and 1 + r - l in step 3."""
    rows, (second, third) = scores.size, (0.15 * epsilon, 0.7 * epsilon)
    bins = equal_bins(scores)
    cutoff = rows / len(bins) / 2 + 4 * np.log(2 / 0.9) / second
    merged, held = [], np.empty(0, dtype=np.int64)
    noisy_cutoff = cutoff + generator.laplace(0, 2 / second)
    for part in bins:
        held = np.concatenate([held, part])
        if held.size + generator.laplace(0, 2 / second) >= noisy_cutoff:
            merged, held = [*merged, held], np.empty(0, dtype=np.int64)
            noisy_cutoff = cutoff + generator.laplace(0, 2 / second)
    merged = [*merged[:-1], np.concatenate([merged[-1], held])] if merged else [held]
    points = []
    for part in merged:
        low, high = scores[part].min(), scores[part].max()
        count = part.size + generator.laplace(0, 2 / (third / 2))
        total = scores[part].sum() + generator.laplace(0, (high - low) / (third / 4))
        residuals = (labels - scores)[part].sum() + generator.laplace(0, (1 + high - low) / (third / 4))
        points.append((np.clip(total / count, low, high), np.clip(residuals / count, -high, 1 - low)))
    return tuple(np.array(points).T)
