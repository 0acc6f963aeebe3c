"""Cauchy noise, drawn exactly onto a public grid.

The noise is a true Cauchy number, known only as far as it takes to tell the grid point next to the sum, so what is put
out is as private as the sum itself. How much noise keeps epsilon: `smooth_median.noise_factor`.
Reads: entropy. Writes: nothing. Never: a float. Proof: `cauchy.md`.
"""

import math
from fractions import Fraction

from thresher.noise import Entropy

_WORD = 64


def point_near(centre: Fraction | int, scale: Fraction, steps: int, entropy: Entropy) -> int:
    """The point 0, 1, ..., steps next to centre + scale C, C standard Cauchy. Centre and scale are secret.

    C = X / Y with a fair sign, for (X, Y) uniform in a quarter disc.
    """
    sign = 1 - 2 * (entropy.read(1)[0] & 1)
    while True:
        x = y = bits = 0
        while x * x + y * y < 1 << 2 * bits:
            x, y = (whole << _WORD | int.from_bytes(entropy.read(_WORD // 8), "little") for whole in (x, y))
            bits += _WORD
            if y and (x + 1) ** 2 + (y + 1) ** 2 <= 1 << 2 * bits:
                # The point is inside the disc, and the noise between these, whatever bits may follow.
                ends = (Fraction(x, y + 1), Fraction(x + 1, y))
                spots = {math.floor(centre + sign * scale * end + Fraction(1, 2)) for end in ends}
                points = {min(max(spot, 0), steps) for spot in spots}
                if len(points) == 1:
                    return points.pop()
