"""Hold mechanisms known to be wrong, which the audit must catch. Each is a function named `broken_...`.

Each module lists its mutants in `subjects()`. Their names and descriptions are those of the functions: the first line
of a docstring states the fault.
`broken_dawa` alone is not listed: it is the whole published mechanism, for comparison of errors.
Reads: entropy. Writes: nothing. Never: imported by anything but the audit; a contract of the project forbids it.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from thresher.amounts import Epsilon
from thresher.audit.subjects import Enumerated, Pair, Promised, Sampled

ONE = Epsilon(1)


def by_samples(run: Callable[..., Any], *pairs: Pair, charged: Epsilon = ONE, samples: int = 20_000) -> Sampled:
    """Return a mutant that loses more than it is charged, as samples show."""
    return Sampled(*_described(run), charged, pairs, run, samples)


def by_law(law: Callable[..., Any], *pairs: Pair, charged: Epsilon = ONE, missing: float = 0.0) -> Enumerated:
    """Return a mutant that loses more than it is charged, as its law shows."""
    return Enumerated(*_described(law), charged, pairs, law, missing)


def by_errors(run: Callable[..., Any], rate: Fraction, worst: tuple[str, Any], samples: int = 20_000) -> Promised:
    """Return a mutant that errs more often than it promises."""
    return Promised(*_described(run), rate, (worst,), run, samples)


def _described(function: Any) -> tuple[str, str]:
    """Return the name of a function, also of a `partial` of it, and the first line of its docstring."""
    function = getattr(function, "func", function)
    return function.__name__, (function.__doc__ or "").partition("\n")[0]
