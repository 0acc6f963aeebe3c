"""Plan personal counts and sums, and release a weighted number for each group, with a half width.

Reads: a weighted read. Writes: bytes. Never: a promise about people without a budget; classes,
their sizes or what is left in them, which only the curator sees.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from thresher.amounts import Epsilon
from thresher.codec import decoded, document, encoded, handed_out, not_stored
from thresher.config import Label, decimal_text
from thresher.guarantee import Guarantee
from thresher.noise import Entropy, conditional_shift
from thresher.noise.arguments import checked_confidence
from thresher.pages import Block, Fact, Page, Shown, Table, line
from thresher.personal.personal_release import INDEPENDENT
from thresher.personal.weighted_read import PersonalPlan, WeightedRead
from thresher.plan import Statements
from thresher.question import Exact

if TYPE_CHECKING:
    import pyarrow as pa

_USUAL_CONFIDENCE = "0.95"


@dataclass(frozen=True, slots=True)
class PersonalCounts(Shown):
    """A noisy weighted number for each group, in the units of `aggregate`, and how far off it may be.

    `share`: no person loses more than this share of their own budget. `predicted_sd` is a forecast, not a promise.
    """

    question: str
    aggregate: str
    keys: tuple[str, ...]
    groups: tuple[tuple[Label, ...], ...]
    estimates: tuple[str, ...]
    predicted_sd: str
    share: Epsilon
    guarantee: Guarantee
    assumption: str
    stamp: str = ""
    notes: tuple[str, ...] = ()
    # Of this handing-out, not of the release: under which key it is stored, whether it was charged before, and when.
    key: str = not_stored("")
    repeated: bool = not_stored(False)
    paid_on: str = not_stored("")

    @property
    def half_width(self) -> str:
        """Return how far off each number is at most, with the promised confidence."""
        return decimal_text(self.guarantee.half_width or Fraction(0))

    @property
    def table(self) -> "pa.Table":
        """Return keys, estimates and half width as an Arrow table."""
        import pyarrow as pa  # noqa: PLC0415 - costs more than the rest of a short question

        columns: dict[str, Any] = {name: [g[i] for g in self.groups] for i, name in enumerate(self.keys)}
        columns["estimate"] = [float(number) for number in self.estimates]
        columns["half_width"] = [float(self.half_width)] * len(self.groups)
        return pa.table(columns)

    def document(self) -> dict[str, Any]:
        """Return all that is shown of it, for JSON."""
        promise = {"half_width": self.half_width, "confidence": self.guarantee.facts["confidence"]}
        return {**document(self), **promise, "guarantee": self.guarantee.document()}

    def page(self) -> Page:
        """Return what is shown of it."""
        from thresher.pages.answer import key_text, named_groups, paid_charge, stored_fact  # noqa: PLC0415 - not every answer is shown

        rows = (line(*map(key_text, group), number) for group, number in zip(self.groups, self.estimates, strict=True))
        about = (
            "The promise is about noise alone. As an estimate for all people on the roster who have a budget, expect"
        )
        notes = (*self.notes, f"{about} a standard deviation of {self.predicted_sd}", self.assumption)
        charge = paid_charge(self.share, self, whose=self.guarantee.facts["budget"])
        blocks: tuple[Block, ...] = (
            Table((*self.keys, f"{self.aggregate}, weighted"), tuple(rows), (len(self.keys),)),
            *stored_fact(self),
            Fact("promise", self.guarantee.sentence),
            *(Fact("note", note) for note in notes),
            Fact("charge", charge),
        )
        more = {"key": self.key, "repeated": self.repeated, "paid_on": self.paid_on}
        return Page(blocks, {**self.document(), "groups": named_groups(self.keys, self.groups), **more}, self.stamp)

    def to_bytes(self) -> bytes:
        return encoded(self)

    def handed_out(self, key: str) -> "PersonalCounts":
        return handed_out(self, key)

    def __str__(self) -> str:
        from thresher.pages.answer import stored_note  # noqa: PLC0415 - not every answer is shown

        numbers = zip(self.groups, self.estimates, strict=True)
        listed = ", ".join(f"{' / '.join(map(str, group))} {number}" for group, number in numbers)
        stamp = f"{self.stamp}. " if self.stamp else ""
        stored = stored_note(self)
        return f"{stored}{' ' if stored else ''}{stamp}{self.aggregate}: {listed}. {self.guarantee} {self.assumption}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CountPlan(PersonalPlan[PersonalCounts]):
    """A personal count with its promise."""

    def recall(self, body: bytes, key: str) -> PersonalCounts:
        """Hand out a stored answer again."""
        return handed_out(decoded(PersonalCounts, body), key, repeated=True)

    def run(self, exact: Exact | None, entropy: Entropy) -> tuple[PersonalCounts, None]:
        """Draw the noise, and divide by the mean weight."""
        question = self.read.question
        release = PersonalCounts(
            question=question.text,
            aggregate=self.read.atom.aggregate,
            keys=tuple(column.name for column in question.keys),
            groups=tuple(question.labels()),
            estimates=tuple(self.read.decimals(noisy) for noisy in self.read.sums(exact, entropy)),
            predicted_sd=self.read.predicted_sd,
            share=self.read.share,
            guarantee=self.guarantee,
            assumption=INDEPENDENT,
            stamp=entropy.stamp,
            notes=question.notes,
        )
        return release, None

    def own_statements(self) -> Statements:
        return [("half width", decimal_text(self.guarantee.half_width or Fraction(0)))]


def plan_count(read: WeightedRead) -> CountPlan:
    """Return the plan of a count. Its price is the share of budgets; its half width follows from that."""
    confidence = read.options.get("confidence")
    sure = checked_confidence(_USUAL_CONFIDENCE if confidence is None else confidence)
    margin = conditional_shift(0, read.weights.grid, (1 - sure) / 2, read.weights.reach)
    # The noise stays below the margin, in weights, on either side.
    facts = {"confidence": decimal_text(sure), **read.facts}
    promise = Guarantee("weighted count", half_width=read.width(margin - 1), facts=facts)
    return CountPlan(**read.charge("personal count", promise))
