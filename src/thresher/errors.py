"""Everything Thresher raises on purpose.

    ThresherError
    ├── AnalystError               the request breaks a rule; depends on the request and on public facts only   exit 2
    │   ├── ArgumentError          one argument breaks one rule: field, value, rule, fix
    │   ├── QuestionError          the SQL breaks a named rule, at a line and column
    │   ├── BudgetError            the account cannot pay: requested, remaining, short by                       exit 3
    │   ├── TooDearError           one question costs more than is allowed for one                              exit 3
    │   ├── KeyReusedError         a key that names a stored answer was used for another question
    │   ├── PendingError           another process is answering the question with this key; it is charged already
    │   └── LostAnswerError        the question with this key was charged, and its answer was lost in a crash   exit 3
    ├── CuratorError               the installation cannot serve: for the person who runs it                    exit 4
    │   ├── DeclarationError       thresher.toml breaks a rule, or the source lacks what it names           exit 2
    │   ├── SourceError            the data cannot be read
    │   │   ├── SourceUnavailableError  the source was never reached: nothing was read, nothing is charged
    │   │   └── SourceFailedError  the source failed or took too long when rows may have been read: charged
    │   ├── EntropyError           the source of randomness failed or ran dry; nothing was drawn in its place
    │   └── LedgerError            the ledger cannot be opened or written
    │       ├── LedgerBusyError    another process held it too long; nothing was written
    │       ├── LedgerCorruptError its content contradicts itself; names the first bad entry
    │       ├── LedgerRolledBackError  it is older than its anchor: a copy, or an attempt to spend again
    │       ├── NoLedgerError      there is no ledger at this address, and none may be made
    │       ├── LedgerStoppedError a commit failed; nothing is written until it is reopened and verified
    │       └── LedgerVersionError a newer Thresher wrote it
    └── BugError                   a promise of our own code does not hold; stop and report                     exit 70

Reads: nothing. Writes: nothing. Never: a value that came from the protected data, in any message.
"""

import reprlib
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from thresher.amounts import Epsilon

_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 60


class ThresherError(Exception):
    """The root of the tree: catch it to catch everything that Thresher raises on purpose."""

    exit_code: ClassVar[int] = 1


class AnalystError(ThresherError):
    """The request is refused before it reads data. The refusal reveals nothing about the data and costs nothing."""

    exit_code = 2


class ArgumentError(AnalystError, ValueError):
    """One argument breaks one rule. The message names the field, the value, the rule and the fix."""

    def __init__(self, field: str, value: object, rule: str, fix: str) -> None:
        self.field, self.value, self.rule, self.fix = field, value, rule, fix
        self.reason = f"is refused: {rule}. {fix}{'' if fix.endswith('?') else '.'}"
        super().__init__(f"{field} = {_shown(value)} {self.reason}")

    def __reduce__(self) -> tuple[type, tuple[str, object, str, str]]:
        return type(self), (self.field, self.value, self.rule, self.fix)


class QuestionError(AnalystError):
    """The SQL breaks a rule of what may be asked. `rule` names it; line and column say where, counted from one."""

    def __init__(self, rule: str, message: str, line: int | None = None, column: int | None = None) -> None:
        self.rule, self.message, self.line, self.column = rule, message, line, column
        where = "" if line is None else f" (line {line}, column {column})"
        super().__init__(f"{message}{where} [{rule}]")

    def __reduce__(self) -> tuple[type, tuple[str, str, int | None, int | None]]:
        return type(self), (self.rule, self.message, self.line, self.column)


class BudgetError(AnalystError):
    """The account cannot pay for the question. Nothing was read and nothing was charged."""

    exit_code = 3

    def __init__(
        self,
        account: str,
        requested: "Epsilon",
        remaining: "Epsilon",
        short_by: "Epsilon",
        affordable: str | None = None,
    ) -> None:
        self.account, self.requested, self.remaining = account, requested, remaining
        self.short_by, self.affordable = short_by, affordable
        super().__init__(
            f"the budget of {account} cannot pay for this question: {requested} requested, {remaining} remaining for "
            f"these groups, {short_by} short. Nothing was read or paid. "
            f"{affordable or 'Ask for a larger half width or a larger miss rate'}."
        )

    def __reduce__(self) -> tuple[type, tuple[str, "Epsilon", "Epsilon", "Epsilon", str | None]]:
        return type(self), (self.account, self.requested, self.remaining, self.short_by, self.affordable)


class TooDearError(AnalystError):
    """The question costs more than one question may. Nothing was read and nothing was charged."""

    exit_code = 3

    def __init__(self, limit_name: str, cost: "Epsilon", limit: "Epsilon", affordable: str | None = None) -> None:
        self.limit_name, self.cost, self.limit, self.affordable = limit_name, cost, limit, affordable
        super().__init__(
            f"the question costs {cost}, more than {limit}, the {limit_name}. Nothing was read or paid. "
            f"{affordable or 'Ask for a larger half width or a larger miss rate'}."
        )

    def __reduce__(self) -> tuple[type, tuple[str, "Epsilon", "Epsilon", str | None]]:
        return type(self), (self.limit_name, self.cost, self.limit, self.affordable)


class KeyReusedError(AnalystError):
    """The key names the stored answer to another question."""


class PendingError(AnalystError):
    """The question is charged and its answer is not stored yet. The same key will return it, at no further charge."""


class LostAnswerError(AnalystError):
    """The question is charged and its answer was lost. To ask again takes a new key and a new charge."""

    exit_code = 3


class CuratorError(ThresherError):
    """The curator must mend something: a source, the ledger, a declaration, the machine."""

    exit_code = 4


class DeclarationError(CuratorError):
    """A declaration breaks a rule. The message names the place in the file, the rule and the fix. No data were read."""

    exit_code = 2

    def __init__(self, place: str, message: str, line: int | None = None) -> None:
        self.place, self.message, self.line = place, message, line
        where = place if line is None else f"{place}, line {line}"
        super().__init__(f"{where}: {message}")

    def __reduce__(self) -> tuple[type, tuple[str, str, int | None]]:
        return type(self), (self.place, self.message, self.line)


class SourceError(CuratorError):
    """The data cannot be read. The database's own words are never repeated: they may quote rows."""


class SourceUnavailableError(SourceError):
    """The source was never reached, so no data was read and nothing is charged."""


class SourceFailedError(SourceError):
    """The source failed, or took too long, after reading may have begun. The question stays charged."""


class EntropyError(CuratorError):
    """The source of randomness failed. Thresher stops: weaker noise is never drawn instead."""


class LedgerError(CuratorError):
    """The ledger cannot be opened or written, so nothing can be asked."""


class NoLedgerError(LedgerError):
    """There is no ledger at the place that was named."""


class LedgerBusyError(LedgerError):
    """Another process held the ledger for too long. Nothing was written; try again."""


class LedgerCorruptError(LedgerError):
    """The content of the ledger contradicts itself."""


class LedgerRolledBackError(LedgerError):
    """The ledger is older than the anchor beside it."""


class LedgerStoppedError(LedgerError):
    """A commit failed, and whether it is on disk is unknown. Reopen the ledger, which verifies it."""


class LedgerVersionError(LedgerError):
    """The ledger was written by a newer Thresher."""


class BugError(ThresherError):
    """An invariant of Thresher's own does not hold. Nothing after it can be trusted."""

    exit_code = 70


def _shown(value: object) -> str:
    """Return a short form of what the caller passed, also for objects whose repr is huge or fails."""
    try:
        return _SHORT.repr(value)
    except Exception:  # noqa: BLE001 - whatever a caller's repr does, the refusal must come out
        return f"<{type(value).__name__}>"
