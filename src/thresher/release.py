"""The release of a decision: a verdict for each group, with the promise, the price, and what a refinement needs.

Everything that is shown of a stored answer is a field here. It is never made from today's declarations or defaults.
Reads: nothing. Writes: bytes. Never: a true value.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from thresher.amounts import Epsilon
from thresher.codec import decoded, document, encoded, handed_out, not_stored
from thresher.config import Label, decimal_text
from thresher.guarantee import ABOVE, MISSES, UNCERTAIN, Guarantee, few_digits
from thresher.pages import Page, Shown

if TYPE_CHECKING:
    import pyarrow as pa

_MOST_SHOWN = 20


@dataclass(frozen=True, slots=True)
class ShownNumber:
    """A noisy number for each group, as text in its own units; empty where nothing can be said.

    `half_widths`: how far it may be from the truth, with the probability in the promise; one for all groups, or one for
    each.
    """

    text: str
    numbers: tuple[str, ...]
    half_widths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Certificate:
    """With this confidence, at most `share` of the groups that do not qualify are reported; `aim`: the share aimed at.

    If false alarms are bounded first, at most `share` of the groups that qualify are left out.
    """

    share: Fraction
    confidence: Fraction
    aim: Fraction

    @property
    def reached(self) -> bool:
        return self.share <= self.aim


@dataclass(frozen=True, slots=True)
class CountBound:
    """With this confidence, at most `wrong_at_most` of the `reported` groups do not qualify.

    If false alarms are bounded first: of the `reported` groups that are left out, at most so many qualify.
    """

    wrong_at_most: int
    reported: int
    confidence: Fraction

    @property
    def says_enough(self) -> bool:
        """Tell whether the bound is worth a sentence: at most half of the groups."""
        return 2 * self.wrong_at_most <= self.reported


@dataclass(frozen=True, slots=True)
class MeasuredMargins:
    """Hold what a refinement needs of the noisy margins of an answer.

    parts      hashes of what makes two measurements the same, by what each is about
    scale      how many steps of a margin are one privacy unit
    exact      the levels at which noise was drawn, each with its amount in the ledger
    threshold  the threshold of a single condition, in steps of its weighted sum; None for several, which cannot move
    steps      the half width at the last level, in steps of the margin
    top        the highest level that could have been reached
    fixed      whether the level was settled before anything was seen
    root       the key of the first answer of the chain, empty for that answer itself; this is its `place`-th answer
    """

    parts: Mapping[str, str]
    scale: int
    exact: tuple[tuple[Epsilon, Fraction], ...]
    threshold: int | tuple[int, ...] | None
    steps: int
    top: Epsilon
    fixed: bool
    root: str = ""
    place: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Release(Shown):
    """Hold what may be published: one verdict for each group, with its promise and its price.

    noisy      noisy margins behind the verdicts, in 1/`scale` of a privacy unit: by how much the condition seems met
    latest     noisy margins at the last level, if verdicts were taken earlier than that
    steps      the half width at which each group stopped, in 1/`scale` of a unit, if these may differ
    bound      which error was bounded first: "misses" (uncertain groups are reported) or "false_alarms"
    values     the numbers behind the verdicts, if they were asked for
    refines    the key of the answer whose measurement this one refines or reads again; empty for a first answer
    charged    what each group was charged for this measurement so far, if some of them lost less
    measured   what a refinement needs; None if there are no margins
    denied     why there is no answer: a mechanism for comparison may measure, charge, and then decline to answer
    """

    question: str
    mechanism: str
    keys: tuple[str, ...]
    groups: tuple[tuple[Label, ...], ...]
    verdicts: tuple[str, ...]
    epsilons: tuple[Epsilon, ...]
    guarantee: Guarantee
    planned_epsilon: Epsilon
    spent_epsilon: Epsilon
    noisy: tuple[int, ...] = ()
    scale: int = 1
    steps: tuple[int, ...] = ()
    bound: str = MISSES
    latest: tuple[int, ...] = ()
    certificate: Certificate | None = None
    count_bound: CountBound | None = None
    values: tuple[ShownNumber, ...] = ()
    refines: str = ""
    charged: Epsilon | None = None
    measured: MeasuredMargins | None = None
    denied: str = ""
    stamp: str = ""
    notes: tuple[str, ...] = ()
    # About this handing-out, not about the release: its key, and whether it was charged before, and on which day.
    key: str = not_stored("")
    repeated: bool = not_stored(False)
    paid_on: str = not_stored("")

    @property
    def positives(self) -> list[tuple[Label, ...]]:
        """Return the reported groups in declared order: above and uncertain groups if misses are bounded first."""
        if self.denied:
            return []
        reported = (ABOVE, UNCERTAIN) if self.bound == MISSES else (ABOVE,)
        return [group for group, verdict in zip(self.groups, self.verdicts, strict=True) if verdict in reported]

    @property
    def half_width(self) -> Fraction:
        """Return the half width in privacy units: that of the group that was measured most coarsely."""
        return self.guarantee.half_width or Fraction(0)

    @property
    def half_widths(self) -> tuple[float, ...]:
        """Return the half width of each group, in privacy units."""
        if not self.steps:
            return (float(self.half_width),) * len(self.groups)
        return tuple(steps / self.scale for steps in self.steps)

    @property
    def levels(self) -> dict[Epsilon, int]:
        """Return the levels at which groups stopped, in rising order, and how many groups at each."""
        return dict(sorted(Counter(self.epsilons).items()))

    @property
    def table(self) -> "pa.Table":
        """Return keys, verdict, epsilon, half width, and the numbers that were asked for, as an Arrow table."""
        import pyarrow as pa  # noqa: PLC0415 - costs more than the rest of a short question

        columns: dict[str, Sequence[Any]] = {name: [g[i] for g in self.groups] for i, name in enumerate(self.keys)}
        columns["verdict"] = list(self.verdicts)
        columns["epsilon"] = [float(epsilon) for epsilon in self.epsilons]
        columns["half_width"] = list(self.half_widths)
        for shown in self.values:
            numbers = [float(number) if number else None for number in shown.numbers]
            columns[shown.text] = pa.array(numbers, pa.float64())
        return pa.table(columns)

    def document(self) -> dict[str, Any]:
        """Return all that is shown of it, for JSON."""
        shown = document(self)
        del shown["measured"], shown["count_bound"]
        promise = {"half_width": few_digits(self.half_width), "guarantee": self.guarantee.document()}
        return {**shown, **promise, "certificate": self._certified()}

    def _certified(self) -> dict[str, Any] | None:
        """Return what is certified about all groups together: a share up to the aim, a number, or neither."""
        share, count = self.certificate, self.count_bound
        if share is None and count is None:
            return None
        confidence = share.confidence if share is not None else count.confidence if count is not None else None
        return {
            "share": decimal_text(share.share) if share is not None and share.reached else None,
            "aim": None if share is None else decimal_text(share.aim),
            "confidence": None if confidence is None else decimal_text(confidence),
            "wrong_at_most": count.wrong_at_most if count is not None and count.says_enough else None,
            "reported": None if count is None else count.reported,
        }

    def page(self, *, every: bool = False, flag: str = "") -> Page:
        """Return its page: reported groups, or `every` group. `flag`: the option that lists all of them."""
        from thresher.pages.answer import answer_page  # noqa: PLC0415 - not every answer is shown

        return answer_page(self, every=every, flag=flag)

    def to_bytes(self) -> bytes:
        return encoded(self)

    @classmethod
    def from_bytes(cls, body: bytes, key: str) -> "Release":
        """Return a stored release."""
        return handed_out(decoded(cls, body), key, repeated=True)

    def handed_out(self, key: str) -> "Release":
        return handed_out(self, key)

    def __str__(self) -> str:
        from thresher.pages.answer import stored_note  # noqa: PLC0415 - not every answer is shown

        reported = ", ".join(" / ".join(map(str, group)) for group in self.positives[:_MOST_SHOWN])
        more = len(self.positives) - _MOST_SHOWN
        listed = f"{reported}, and {more:,} more" if more > 0 else reported or "none"
        stored = stored_note(self)
        stamp = f"{stored}{' ' if stored else ''}{f'{self.stamp}. ' if self.stamp else ''}"
        if self.denied:
            return f"{stamp}Denied: {self.denied}. {self.guarantee}"
        return f"{stamp}Reported of {len(self.groups):,} groups: {listed}. {self.guarantee}"

    def __repr__(self) -> str:
        found = "denied" if self.denied else f"{len(self.positives)} of {len(self.groups)} groups reported"
        stored = f", stored answer of {self.paid_on or 'an earlier day'}, paid now: 0" if self.repeated else ""
        return f"<Release: {found}, epsilon {self.spent_epsilon}{stored}>"
