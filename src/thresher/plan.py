"""What every family speaks: a frozen Plan, the Guarantee it makes, and the Release that leaves.

    Plan = need + worst-case cost + guarantee + run(exact, entropy) -> (release, what was reached)

Planning touches no data, so a plan, its price and its refusal may be shown to anybody.
Reads: nothing. Writes: bytes of a release. Never: data, noise, a ledger.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Generic, Protocol, Self, TypeVar

from thresher.accounting import MinEntropy, Spending, Subject, box_min_entropy, cone_min_entropy
from thresher.accounting.subject import PERSONAL, TABLE
from thresher.amounts import Epsilon
from thresher.config import Label, Table
from thresher.noise import Entropy
from thresher.question import AnyNeed, Exact, Identity

if TYPE_CHECKING:
    import pyarrow as pa

_MOST_SHOWN = 20
ABOVE, BELOW, UNCERTAIN = "above", "below", "uncertain"
MISSES = "misses"


@dataclass(frozen=True, slots=True)
class Guarantee:
    """What is promised, as numbers and as the sentence shown to people."""

    miss_rate: str
    false_alarm_rate: str
    # In privacy units: a group this far short of its condition, or less, may come out either way.
    half_width: str
    clear_distance: str
    sentence: str

    def __str__(self) -> str:
        return self.sentence


@dataclass(frozen=True, slots=True)
class ShownNumber:
    """A noisy number for each group, as text in its own units; empty where nothing can be said.

    `half_widths`: how far from the truth, with the probability that the promise names; one for all groups, or one each.
    """

    text: str
    numbers: tuple[str, ...]
    half_widths: tuple[str, ...]

    def document(self) -> dict[str, Any]:
        return {"text": self.text, "numbers": list(self.numbers), "half_widths": list(self.half_widths)}

    @classmethod
    def from_document(cls, said: Mapping[str, Any]) -> "ShownNumber":
        return cls(said["text"], tuple(said["numbers"]), tuple(said["half_widths"]))


@dataclass(frozen=True, slots=True)
class Release:
    """What may leave: one verdict for each group, with its promise and its price."""

    question: str
    mechanism: str
    keys: tuple[str, ...]
    groups: tuple[tuple[Label, ...], ...]
    verdicts: tuple[str, ...]
    epsilons: tuple[Epsilon, ...]
    half_width: str
    guarantee: Guarantee
    planned_epsilon: Epsilon
    spent_epsilon: Epsilon
    # Noisy margins behind the verdicts, in 1/`scale` of a privacy unit: by how much the condition seems to be met.
    noisy: tuple[int, ...] = ()
    scale: int = 1
    # The half width at which each group stopped, in 1/`scale` of a unit, where groups may stop at different ones.
    steps: tuple[int, ...] = ()
    # Which error was bounded first: "misses", and uncertain groups are reported, or "false_alarms", and they are not.
    bound: str = MISSES
    # Noisy margins at the last level, where verdicts were taken earlier than that.
    latest: tuple[int, ...] = ()
    # What is certified about all groups together: share, confidence, and the share aimed at.
    certificate: Mapping[str, str] | None = None
    # The numbers behind the verdicts, where they were asked for.
    values: tuple[ShownNumber, ...] = ()
    # The key of the answer that this one sharpens, or reads with another line; empty for a first answer.
    refines: str = ""
    # What every group was charged for this measurement so far, where that is more than some of them lost.
    charged: Epsilon | None = None
    # Of a single condition: its threshold in steps, and what it is a threshold of.
    measured: Mapping[str, Any] | None = None
    # Why there is no answer, where a mechanism may look, be charged, and then decline to say what it saw.
    denied: str = ""
    stamp: str = ""
    notes: tuple[str, ...] = ()
    # Of this handing-out, not of the release: under which key it is stored, and whether it was charged before.
    key: str = field(default="", compare=False)
    repeated: bool = field(default=False, compare=False)

    @property
    def positives(self) -> list[tuple[Label, ...]]:
        """The groups that are reported, in declared order: certain and uncertain ones, if misses are bounded first."""
        if self.denied:
            return []
        reported = (ABOVE, UNCERTAIN) if self.bound == MISSES else (ABOVE,)
        return [group for group, verdict in zip(self.groups, self.verdicts, strict=True) if verdict in reported]

    @property
    def half_widths(self) -> tuple[float, ...]:
        """How near the line each group's verdict may go either way, in privacy units."""
        if not self.steps:
            return (float(self.half_width),) * len(self.groups)
        return tuple(steps / self.scale for steps in self.steps)

    @property
    def levels(self) -> dict[Epsilon, int]:
        """The levels at which groups stopped, in order, and how many at each."""
        return dict(sorted(Counter(self.epsilons).items()))

    @property
    def min_entropy(self) -> dict[str, MinEntropy]:
        """How unsure the best-placed adversary stays about a unit's group: "box" as in the paper, "cone" tight."""
        losses, groups = list(self.levels), list(self.levels.values())
        if not losses:
            return {}
        return {"box": box_min_entropy(losses, groups), "cone": cone_min_entropy(losses, groups)}

    @property
    def table(self) -> "pa.Table":
        """Keys, verdict, epsilon, half width, and the numbers that were asked for, as an Arrow table."""
        import pyarrow as pa  # noqa: PLC0415 - costs more than the rest of a short question

        columns: dict[str, Sequence[Any]] = {name: [g[i] for g in self.groups] for i, name in enumerate(self.keys)}
        columns["verdict"] = list(self.verdicts)
        columns["epsilon"] = [float(epsilon) for epsilon in self.epsilons]
        columns["half_width"] = list(self.half_widths)
        for shown in self.values:
            columns[shown.text] = pa.array(
                [float(number) if number else None for number in shown.numbers], pa.float64()
            )
        return pa.table(columns)

    def document(self) -> dict[str, Any]:
        """All of it, for JSON."""
        levels = {epsilon: epsilon.to_json() for epsilon in set(self.epsilons)}
        return {
            "question": self.question,
            "mechanism": self.mechanism,
            "keys": list(self.keys),
            "groups": [list(group) for group in self.groups],
            "verdicts": list(self.verdicts),
            "epsilons": [levels[epsilon] for epsilon in self.epsilons],
            "half_width": self.half_width,
            "guarantee": {name: getattr(self.guarantee, name) for name in Guarantee.__slots__},
            "planned_epsilon": self.planned_epsilon.to_json(),
            "spent_epsilon": self.spent_epsilon.to_json(),
            "noisy": list(self.noisy),
            "scale": self.scale,
            "steps": list(self.steps),
            "bound": self.bound,
            "latest": list(self.latest),
            "certificate": None if self.certificate is None else dict(self.certificate),
            "values": [shown.document() for shown in self.values],
            "refines": self.refines,
            "charged": None if self.charged is None else self.charged.to_json(),
            "measured": None if self.measured is None else dict(self.measured),
            "denied": self.denied,
            "stamp": self.stamp,
            "notes": list(self.notes),
        }

    def to_bytes(self) -> bytes:
        return json.dumps(self.document(), sort_keys=True).encode()

    @classmethod
    def from_bytes(cls, body: bytes, key: str) -> "Release":
        """A stored release, handed out again."""
        said: Mapping[str, Any] = json.loads(body)
        levels = {text: Epsilon.from_json(text) for text in set(said["epsilons"])}
        return cls(
            question=said["question"],
            mechanism=said["mechanism"],
            keys=tuple(said["keys"]),
            groups=tuple(map(tuple, said["groups"])),
            verdicts=tuple(said["verdicts"]),
            epsilons=tuple(levels[text] for text in said["epsilons"]),
            half_width=said["half_width"],
            guarantee=Guarantee(**said["guarantee"]),
            planned_epsilon=Epsilon.from_json(said["planned_epsilon"]),
            spent_epsilon=Epsilon.from_json(said["spent_epsilon"]),
            noisy=tuple(said["noisy"]),
            scale=said["scale"],
            steps=tuple(said.get("steps", ())),
            bound=said.get("bound", MISSES),
            latest=tuple(said.get("latest", ())),
            certificate=said.get("certificate"),
            values=tuple(ShownNumber.from_document(shown) for shown in said.get("values", ())),
            refines=said.get("refines", ""),
            charged=None if said.get("charged") is None else Epsilon.from_json(said["charged"]),
            measured=said.get("measured"),
            denied=said.get("denied", ""),
            stamp=said["stamp"],
            notes=tuple(said["notes"]),
            key=key,
            repeated=True,
        )

    def handed_out(self, key: str) -> "Release":
        return replace(self, key=key)

    def __str__(self) -> str:
        reported = ", ".join(" / ".join(map(str, group)) for group in self.positives[:_MOST_SHOWN])
        more = len(self.positives) - _MOST_SHOWN
        listed = f"{reported}, and {more:,} more" if more > 0 else reported or "none"
        stamp = f"{self.stamp}. " if self.stamp else ""
        if self.denied:
            return f"{stamp}Denied: {self.denied}. {self.guarantee}"
        return f"{stamp}Reported of {len(self.groups):,} groups: {listed}. {self.guarantee}"

    def __repr__(self) -> str:
        if self.denied:
            return f"<Release: denied, epsilon {self.spent_epsilon}>"
        return f"<Release: {len(self.positives)} of {len(self.groups)} groups reported, epsilon {self.spent_epsilon}>"


class Released(Protocol):
    """What any family releases: bytes that the ledger keeps, handed out under a key."""

    def to_bytes(self) -> bytes: ...

    def handed_out(self, key: str) -> Self: ...


Given = TypeVar("Given", bound=Released)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan(Generic[Given]):
    """A question with its price, of whatever family. Everything here is computed once, when it is planned.

    family     of which family it is; the ledger keeps it with the charge, and refuses one that it does not know
    account    whose budget pays, and `subject`: what its losses are about
    identity   what makes it this question, and what makes its measurement the same
    need       what must be read; None if the question needs no data
    cost       the worst case that is reserved, None if nothing is; `epsilon` is what it comes to for one unit
    limits     what one question may cost, by the name of the limit
    written_key    the key that the question names itself, if it does
    shows_levels   the release shows every group's stopping level, so that what was not reached is given back
    """

    family: str
    account: str
    subject: Subject
    identity: Identity
    need: AnyNeed | None
    cost: Spending | None
    epsilon: Epsilon
    guarantee: Guarantee
    limits: Mapping[str, Epsilon | None] = field(default_factory=dict)
    written_key: str | None = None
    # Whether no other key may be passed: that of a refinement follows from the answer that it refines.
    key_is_fixed: bool = False
    shows_levels: bool = False
    # What it is called where it failed.
    called: str = "the question"

    def affordable(self, limit: Epsilon) -> str | None:
        """Say what to change so that it costs at most `limit`; None if nothing would help."""
        raise NotImplementedError

    def recall(self, body: bytes, key: str) -> Given:
        """Hand out a stored release again."""
        raise NotImplementedError

    def run(self, exact: Exact | None, entropy: Entropy) -> tuple[Given, Spending | None]:
        """Draw and decide: the release, and what it really cost (None: the worst case)."""
        raise NotImplementedError

    def state_after(self, release: Any) -> tuple[str, bytes] | None:  # noqa: ARG002
        """Name what is to be kept in the ledger together with the release, if anything is."""
        return None


class OldPlan:
    """For plans that are not yet `Plan`s. To be deleted."""

    __slots__ = ()
    called, key_is_fixed = "the question", False

    @property
    def subject(self) -> Any:
        me: Any = self
        table = me.read.question.table if hasattr(me, "read") else getattr(me, "table", None) or me.question.table
        return subject_of(table)

    @property
    def identity(self) -> Any:
        text = self.identity_text()  # type: ignore[attr-defined]
        return Identity(text, text)

    def state_after(self, release: Any) -> None:  # noqa: ARG002
        return None


def subject_of(table: Table) -> Subject:
    """What the budget of a table is about."""
    unit = None if table.contribution is None else table.contribution.unit
    return Subject(TABLE if table.own_budgets is None else PERSONAL, unit)
