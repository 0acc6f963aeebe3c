"""What the losses of an account are about: one thing for as long as the account is used.

What was lost about rows cannot be counted as lost about persons, nor what was lost in steps of five minutes as lost in
steps of an hour. The ledger keeps the subject of an account with its first charge, and refuses any other.
Reads: nothing. Writes: nothing. Never: a value of the data.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

TABLE, PERSONAL, STREAM = "table", "personal", "stream"


@dataclass(frozen=True, slots=True)
class Subject:
    """Who is protected, and what the account counts.

    kind             a table's budget, shares of people's own budgets, or steps of a stream
    unit             the column that names who is protected; None if each row is a different person
    start, step_seconds, protected_steps    of a stream: its clock, and in how many steps on end somebody is protected
    """

    kind: str
    unit: str | None
    start: str | None = None
    step_seconds: int | None = None
    protected_steps: int | None = None

    def to_json(self) -> dict[str, Any]:
        """The fields that say something, by name."""
        return {name: value for name, value in asdict(self).items() if value is not None or name == "unit"}

    @classmethod
    def from_json(cls, said: Mapping[str, Any]) -> "Subject":
        return cls(**said)
