"""Hold mechanisms known to be wrong, which the audit must catch. Each is a function named `broken_...`.

Each module lists its mutants in `subjects()`, under the names of their functions. A docstring begins with the fault.
`broken_dawa` alone is not listed: it is the whole published mechanism, for comparison of errors.
Reads: entropy. Writes: nothing. Never: imported by anything but the audit; a contract of the project forbids it.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from thresher.amounts import Epsilon
from thresher.audit.subjects import Enumerated, Pair, Promised, Sampled

ONE = Epsilon(1)


def by_samples(
    run: Callable[..., Any], about: str, *pairs: Pair, charged: Epsilon = ONE, samples: int = 20_000
) -> Sampled:
    """Return a mutant that loses more than it is charged, as samples show."""
    return Sampled(_name(run), about, charged, pairs, run, samples)


def by_law(
    law: Callable[..., Any], about: str, *pairs: Pair, charged: Epsilon = ONE, missing: float = 0.0
) -> Enumerated:
    """Return a mutant that loses more than it is charged, as its law shows."""
    return Enumerated(_name(law), about, charged, pairs, law, missing)


def by_errors(
    run: Callable[..., Any], about: str, rate: Fraction, worst: tuple[str, Any], samples: int = 20_000
) -> Promised:
    """Return a mutant that errs more often than it promises."""
    return Promised(_name(run), about, rate, (worst,), run, samples)


def _name(function: Any) -> str:
    """Return the name of a function, also of a `partial` of it."""
    name: str = getattr(function, "func", function).__name__
    return name
