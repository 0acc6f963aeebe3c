"""Name the subject of an account: who is protected by it. An account has one subject for as long as it is used.

Losses of rows cannot be counted as losses of persons, nor losses in steps of five minutes as losses in steps of an
hour. The ledger keeps the subject of an account with its first charge, and refuses any other subject.
Reads: nothing. Writes: nothing. Never: a value of the data.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

TABLE, PERSONAL, STREAM = "table", "personal", "stream"

# The families of plans, with the kind of account that each is charged to. A plan of another family is never charged.
FAMILIES: Mapping[str, str] = {
    "decision": TABLE,
    "values": TABLE,
    "refinement": TABLE,
    "diagnosis": TABLE,
    "suggestion": TABLE,
    "personal count": PERSONAL,
    "personal decision": PERSONAL,
    "stream step": STREAM,
}


@dataclass(frozen=True, slots=True)
class Subject:
    """Who is protected, and what the account counts.

    kind             a table's budget, shares of personal budgets, or steps of a stream
    unit             the column that names who is protected; None if each row is a different person
    start, step_seconds, protected_steps    a stream's clock, and in how many consecutive steps a unit is protected
    """

    kind: str
    unit: str | None
    start: str | None = None
    step_seconds: int | None = None
    protected_steps: int | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the fields that have a value, and `unit`, by name."""
        return {name: value for name, value in asdict(self).items() if value is not None or name == "unit"}

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> "Subject":
        return cls(**document)

    def differences(self, other: "Subject") -> tuple[str, ...]:
        """Name the fields in which two subjects differ."""
        mine, theirs = asdict(self), asdict(other)
        return tuple(name for name in mine if mine[name] != theirs[name])


def is_paid_by(family: str, subject: Subject) -> bool:
    """Tell whether an account about this subject pays for a plan of this family.

    A stream that protects persons in all of its steps loses what a question about persons loses, so it may share the
    account of the persons.
    """
    of_people = subject.kind == TABLE and subject.unit is not None
    return subject.kind == FAMILIES[family] or (FAMILIES[family] == STREAM and of_people)


# The subject of an account whose old entries name none. No plan has this subject, so nothing can be charged to it.
UNKNOWN = Subject("unknown", None)
