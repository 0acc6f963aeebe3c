"""Draw counts that an attack found against the true counts, as SVG text.

The picture shows the true counts: use it for made-up and public data only.
Reads: numbers and text. Writes: nothing. Never: true counts that are not public.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from thresher.errors import ArgumentError
from thresher.views.svg import Surroundings, across, counts_axis, dot, down, number, path, picture


def count_scatter(title: str, truth: ArrayLike, found: ArrayLike) -> str:
    """Draw each cell at its true count (across) and the count that was found (up): right ones lie on the diagonal.

    Cells at the same place are one dot: the more cells, the larger the dot.
    """
    true, seen = np.asarray(truth), np.maximum(np.asarray(found), 0)
    if true.ndim != 1 or true.shape != seen.shape or not true.size:
        rule = "each count that was found needs a true count"
        raise ArgumentError("found", f"{seen.size} counts", rule, f"Pass {true.size} counts")
    right = int((true == seen).sum())
    places, cells = np.unique(np.stack([true, seen]), axis=1, return_counts=True)
    most = int(places.max())
    x_axis, y_axis = counts_axis("true count of a cell", most), counts_axis("count that was found", most)
    marks = [path([(across(x_axis, 0), down(y_axis, 0)), (across(x_axis, most), down(y_axis, most))], "rule")]
    for x, y, size in zip(places[0].tolist(), places[1].tolist(), cells.tolist(), strict=True):
        marks.append(dot(across(x_axis, x), down(y_axis, y), 2.5 + 1.5 * math.log2(size) / 2, 0 if x == y else 1))
    share = f"{right:,} of {true.size:,} cells found exactly ({right / true.size:.1%})"
    about = f"Counts that an attack found against the true counts, both from 0 to {number(most)}. {share}."
    kinds = (("fill0", "found exactly"), ("fill1", "found wrongly"))
    around = Surroundings(kinds, notes=(f"{share}. A larger dot stands for more cells.",))
    return picture(title, about, (x_axis, y_axis), marks, around)
