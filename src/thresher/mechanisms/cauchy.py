"""Draw Cauchy noise exactly onto a public grid.

The noise is a true Cauchy number. Only as many of its bits are drawn as decide which grid point is nearest to the sum,
so the point is as private as the sum itself. `smooth_median.noise_factor` says how much noise keeps epsilon.
Reads: entropy. Writes: nothing. Never: a float. Proof: `cauchy.md`.
"""

import math
from fractions import Fraction

from thresher.noise import Entropy

_WORD = 64


def point_near(centre: Fraction | int, scale: Fraction, steps: int, entropy: Entropy) -> int:
    """Draw the point of 0, 1, ..., steps nearest to centre + scale C, C standard Cauchy. Centre and scale are secret.

    C = X / Y with a fair sign, for (X, Y) uniform in a quarter disc.
    """
    sign = 1 - 2 * (entropy.read(1)[0] & 1)
    while True:
        x = y = bits = 0
        while x * x + y * y < 1 << 2 * bits:
            x, y = (whole << _WORD | int.from_bytes(entropy.read(_WORD // 8), "little") for whole in (x, y))
            bits += _WORD
            if y and (x + 1) ** 2 + (y + 1) ** 2 <= 1 << 2 * bits:
                # Whatever bits follow, (x, y) is inside the disc and x / y lies between these two.
                ends = (Fraction(x, y + 1), Fraction(x + 1, y))
                spots = {math.floor(centre + sign * scale * end + Fraction(1, 2)) for end in ends}
                points = {min(max(spot, 0), steps) for spot in spots}
                if len(points) == 1:
                    return points.pop()
