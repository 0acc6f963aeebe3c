"""Everything Thresher raises on purpose.

    ThresherError
    ├── AnalystError       the request breaks a rule; the text depends on the request and on public facts only   exit 2
    │   └── ArgumentError  one argument breaks one rule: field, value, rule, fix
    ├── CuratorError       the installation cannot serve: its text is for the person who runs it                 exit 4
    │   └── EntropyError   the source of randomness failed or ran dry; nothing was drawn in its place
    └── BugError           a promise of our own code does not hold; stop and report                              exit 70

Reads: nothing. Writes: nothing. Never: a value that came from the protected data, in any message.
"""

import reprlib
from typing import ClassVar

_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 60


class ThresherError(Exception):
    """The root: catch this to catch all that Thresher raises on purpose."""

    exit_code: ClassVar[int] = 1


class AnalystError(ThresherError):
    """The request is refused. Raised before data is read; reveals nothing about them; costs nothing."""

    exit_code = 2


class ArgumentError(AnalystError, ValueError):
    """One argument breaks one rule. The message names the field, the value, the rule and the fix."""

    def __init__(self, field: str, value: object, rule: str, fix: str) -> None:
        self.field, self.value, self.rule, self.fix = field, value, rule, fix
        super().__init__(f"{field} = {_shown(value)} is refused: {rule}. {fix}.")

    def __reduce__(self) -> tuple[type, tuple[str, object, str, str]]:
        return type(self), (self.field, self.value, self.rule, self.fix)


class CuratorError(ThresherError):
    """Something the curator must mend: a source, the ledger, a declaration, the machine."""

    exit_code = 4


class EntropyError(CuratorError):
    """The source of randomness failed. Thresher stops: weaker noise is never drawn instead."""


class BugError(ThresherError):
    """An invariant of Thresher's own does not hold. Nothing after it can be trusted."""

    exit_code = 70


def _shown(value: object) -> str:
    """A short form of what the caller passed, safe for objects whose repr is huge or fails."""
    try:
        return _SHORT.repr(value)
    except Exception:  # noqa: BLE001 - whatever a caller's repr does, the refusal must come out
        return f"<{type(value).__name__}>"
