"""What the losses of an account are about: one subject for as long as the account is used.

What was lost about rows cannot be counted as lost about persons, nor what was lost in steps of five minutes as lost in
steps of an hour. The ledger keeps the subject of an account with its first charge, and refuses any other.
Reads: nothing. Writes: nothing. Never: a value of the data.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

TABLE, PERSONAL, STREAM = "table", "personal", "stream"

# The families of plans, and the kind of account that pays for each. A plan of another family is never charged.
FAMILIES: Mapping[str, str] = {
    "decision": TABLE,
    "values": TABLE,
    "refinement": TABLE,
    "diagnosis": TABLE,
    "personal count": PERSONAL,
    "personal decision": PERSONAL,
    "stream step": STREAM,
}


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

    def differences(self, other: "Subject") -> tuple[str, ...]:
        """Name the fields in which two subjects differ."""
        mine, theirs = asdict(self), asdict(other)
        return tuple(name for name in mine if mine[name] != theirs[name])


# Of an account whose old entries do not say what they are about. No plan has this subject, so nothing can be charged.
UNKNOWN = Subject("unknown", None)
