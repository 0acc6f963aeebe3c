"""The rules of the SQL that may be asked, by name, and refusals with their place in the text.

Reads: nothing. Writes: nothing. Never: a message that depends on private data.
"""

from typing import TYPE_CHECKING, Literal, get_args

from thresher.errors import QuestionError

if TYPE_CHECKING:
    from sqlglot import exp
    from sqlglot.tokenizer_core import Token

Rule = Literal[
    "readable-text",
    "query-size",
    "one-select",
    "readable-sql",
    "known-words",
    "row-level-output",
    "select-keys",
    "group-and-having",
    "plain-groups",
    "declared-domains",
    "group-limit",
    "declared-tables-only",
    "public-joins-only",
    "known-columns",
    "allowed-functions",
    "total-expressions",
    "no-subquery",
    "no-set-operation",
    "no-window",
    "declared-order",
    "column-and-constant",
    "comparable-values",
    "known-values",
    "no-text-order",
    "null-by-is",
    "exact-numbers",
    "aggregates-in-having",
    "constant-thresholds",
    "no-equality",
    "linear-forms",
    "declared-bounds",
    "distinct-unit",
    "too-many-conditions",
    "known-options",
]
RULES: tuple[Rule, ...] = get_args(Rule)

_SHOWN = 60


class Refusal(Exception):  # noqa: N818 - a step on the way to QuestionError, never seen outside this room
    """A broken rule at an offset of the text; `read_question.py` makes it a `QuestionError` with line and column."""

    def __init__(self, rule: Rule, message: str, at: "Token | exp.Expr | int | None" = None) -> None:
        self.rule, self.message, self.offset = rule, message, _offset(at)
        super().__init__(message)

    def located(self, text: str) -> QuestionError:
        """Return the refusal as an error with line and column, counted from one."""
        if self.offset is None:
            return QuestionError(self.rule, self.message)
        before = text[: self.offset]
        return QuestionError(self.rule, self.message, before.count("\n") + 1, len(before) - before.rfind("\n"))


def shown(text: str) -> str:
    """Return what the user wrote, short and printable, between backticks."""
    cut = text if len(text) <= _SHOWN else text[:_SHOWN] + "..."
    return "`" + "".join(c if c.isprintable() else f"\\u{{{ord(c):x}}}" for c in cut) + "`"


def bare(text: str) -> str:
    """Return the same without the backticks, for text between other signs."""
    return shown(text)[1:-1]


def _offset(at: "Token | exp.Expr | int | None") -> int | None:
    """Return the place of a token or of the first name or constant in a tree; the parser keeps no other places."""
    if at is None or isinstance(at, int):
        return at
    start = getattr(at, "start", None)
    if isinstance(start, int):
        return start
    # Only trees are left here; tokens have a start.
    places = [node.meta["start"] for node in at.walk() if "start" in node.meta]  # type: ignore[union-attr]
    return min(places, default=None)
