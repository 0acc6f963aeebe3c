"""Compile loops where a compiler is installed. Each loop (a kernel) is written once, in Python.

With the `fast` extra a kernel is compiled at its first call; without it, the same Python runs. Either way the numbers
are the same: no fast-math flag allows a compiler to reorder or to round otherwise than Python does.
Reads: nothing. Writes: nothing. Never: a switch, a file of compiled code, a kernel that calls another kernel.
"""

from collections.abc import Callable
from functools import cache, wraps
from typing import Any, TypeVar, cast

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


def compiled(kernel: Kernel) -> Kernel:
    """Return the kernel, compiled at its first call if a compiler is there. `inspect.unwrap` gives the Python."""

    @cache
    def made() -> Callable[..., Any]:
        return kernel if (compile_ := compiler()) is None else compile_(kernel)

    @wraps(kernel)
    def run(*arguments: Any) -> Any:
        return made()(*arguments)

    return cast(Kernel, run)


@cache
def compiler() -> Callable[[Callable[..., Any]], Callable[..., Any]] | None:
    """Return numba's compiler, or None if numba is not installed. The import takes long, so it is left to the last."""
    try:
        from numba import njit  # noqa: PLC0415
    except ImportError:
        return None
    return cast(Callable[[Callable[..., Any]], Callable[..., Any]], njit(cache=False, fastmath=False))
