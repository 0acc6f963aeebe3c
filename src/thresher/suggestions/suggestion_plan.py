"""Plan a suggestion: in how many groups, and with how many rows in each, one person should count.

Reads: declarations. Writes: nothing. Never: a row before the charge is on disk; rows that limits leave out are counted
too, because the limits are what is asked for. The proof is that of `thresher.mechanisms.people_limits`.
"""

from dataclasses import dataclass
from typing import Any

from thresher.accounting import CommonSpending, Grouping, Region
from thresher.amounts import Amount, Epsilon
from thresher.codec import decoded, document, encoded, handed_out, not_stored
from thresher.config import Table
from thresher.errors import ArgumentError, BugError
from thresher.guarantee import Guarantee, noun_of
from thresher.mechanisms.people_limits import fewest_people, limit_edges, people_limit
from thresher.noise import Entropy
from thresher.pages import Fact, Page, Shown
from thresher.plan import Plan, Statements, subject_of
from thresher.question import Exact, PeopleNeed, identity_of

_MOST_GROUPS, _MOST_ROWS = 10_000, 2**20
_USUAL_PART = 100


@dataclass(frozen=True, slots=True)
class Suggestion(Shown):
    """Recommended limits on one person, and the noisy counts of people that they follow from. All of it may be shown.

    `max_groups`, `max_rows`: None where nothing is recommended, or where there is one group only. `..._counts`: how
    many people, with noise, are between each edge and the edge before.
    """

    table: str
    column: str
    unit: str
    epsilon: Epsilon
    guarantee: Guarantee
    max_groups: int | None = None
    max_rows: int | None = None
    group_edges: tuple[int, ...] = ()
    group_counts: tuple[int, ...] = ()
    row_edges: tuple[int, ...] = ()
    row_counts: tuple[int, ...] = ()
    stamp: str = ""
    # Of this handing-out, not of the release: under which key it is stored, whether it was charged before, and when.
    key: str = not_stored("")
    repeated: bool = not_stored(False)
    paid_on: str = not_stored("")

    @property
    def lines(self) -> tuple[str, ...]:
        """Return the lines for thresher.toml."""
        limits = (("max_groups_per_unit", self.max_groups), ("max_rows_per_group", self.max_rows))
        return tuple(f"{name} = {limit}" for name, limit in limits if limit is not None)

    def page(self) -> Page:
        """Return what is shown of it."""
        from thresher.pages.answer import paid_charge, stored_fact  # noqa: PLC0415 - not every release is shown

        wanted = ["max_groups_per_unit"] * bool(self.group_edges) + ["max_rows_per_group"]
        missing = [name for name in wanted if not any(line.startswith(name) for line in self.lines)]
        facts = [*stored_fact(self), *(Fact("suggested", line) for line in self.lines)]
        if missing:
            facts.append(Fact("none for", f"{' and '.join(missing)}: so little epsilon cannot tell. {_ENOUGH}"))
        if self.lines:
            facts += [Fact("promise", self.guarantee.sentence), Fact("note", _BOUGHT.format(self.table))]
        facts.append(Fact("charge", paid_charge(self.epsilon, self)))
        more = {"lines": list(self.lines), "key": self.key, "repeated": self.repeated, "paid_on": self.paid_on}
        return Page(tuple(facts), {**document(self), **more}, self.stamp)

    def to_bytes(self) -> bytes:
        return encoded(self)

    def handed_out(self, key: str) -> "Suggestion":
        return handed_out(self, key)

    def __str__(self) -> str:
        from thresher.pages.answer import stored_note  # noqa: PLC0415 - not every release is shown

        said = (
            self.stamp,
            stored_note(self),
            *self.lines,
            self.guarantee.sentence if self.lines else "Nothing is suggested.",
        )
        return "\n".join(filter(None, said))


_ENOUGH = "About 0.1 is enough for 10,000 people, 0.01 for 100,000"
_BOUGHT = "These limits were bought. To use them, write them under [tables.{}]; no file was changed"


@dataclass(frozen=True, slots=True, kw_only=True)
class SuggestionPlan(Plan[Suggestion]):
    """A suggestion with its price. Epsilon is divided evenly between groups and rows."""

    column: str
    unit: str
    group_edges: tuple[int, ...]
    row_edges: tuple[int, ...]

    @property
    def _each(self) -> Epsilon:
        """What each limit costs."""
        return Epsilon.from_nano(self.epsilon.nano // (2 if self.group_edges else 1))

    def affordable(self, limit: Epsilon) -> str | None:
        """Name the epsilon that is left."""
        return f"Ask for epsilon={limit}" if limit else None

    def recall(self, body: bytes, key: str) -> Suggestion:
        """Hand out a stored suggestion again."""
        return handed_out(decoded(Suggestion, body), key, repeated=True)

    def run(self, exact: Exact | None, entropy: Entropy) -> tuple[Suggestion, None]:
        """Add noise to the counts of people, and recommend by the noisy counts alone."""
        if exact is None:
            raise BugError("a suggestion needs counts of people")
        people = exact.unseal()[:, 0].astype("int64")
        price, size = self._each, len(self.group_edges)
        groups = people_limit(people[:size], self.group_edges, price, entropy=entropy) if size else None
        rows = people_limit(people[size:], self.row_edges, price, entropy=entropy)
        release = Suggestion(
            table=self.account if self.need is None else self.need.table.name,
            column=self.column,
            unit=self.unit,
            epsilon=self.epsilon,
            guarantee=self.guarantee,
            max_groups=None if groups is None else groups.limit,
            # The last edge is not a bound on rows, so the promise does not cover it.
            max_rows=rows.limit if rows.limit != self.row_edges[-1] else None,
            group_edges=self.group_edges,
            group_counts=() if groups is None else groups.noisy,
            row_edges=self.row_edges,
            row_counts=rows.noisy,
            stamp=entropy.stamp,
        )
        return release, None

    def explanation(self) -> Statements:
        about = f"grouped by {self.column}" if self.column else "without GROUP BY"
        fewest = f"about {fewest_people(self._each):,} people"
        return [
            ("suggestion", f"how many groups and rows of one {noun_of(self.unit)} to count, for questions {about}"),
            ("epsilon", str(self.epsilon)),
            ("needs", f"{fewest}; with fewer, nothing is suggested, and it is charged all the same"),
            ("promise", self.guarantee.sentence),
        ]


def plan_suggestion(table: Table, column: str, epsilon: Amount | None) -> SuggestionPlan:
    """Return the plan of a suggestion for questions about a table that are grouped by a column; "" for no column."""
    if table.contribution is None:
        rule = f"each row of {table.name} is a different person, so no limit applies"
        raise ArgumentError("table", table.name, rule, "Declare the column of people first: unit = ...")
    price = Epsilon.from_nano(table.budget.nano // _USUAL_PART) if epsilon is None else Epsilon.covering(epsilon)
    if price.nano < 2:
        raise ArgumentError("epsilon", epsilon, "it must be above zero", "Pass 0.05, for example")
    keys = (table.columns[column],) if column else ()
    groups = len(keys[0].kind.codes()) if keys else 1
    if not 1 <= groups <= _MOST_GROUPS:
        rule = f"it needs a public list of 1 to {_MOST_GROUPS:,} values"
        raise ArgumentError("column", column, rule, "Name a column that questions group by")
    group_edges = limit_edges(groups) if groups > 1 else ()
    row_edges = limit_edges(_MOST_ROWS)
    facts: dict[str, Any] = {"unit": table.contribution.unit, "both": "both" if group_edges else ""}
    asked = {"column": column, "epsilon": str(price)}
    return SuggestionPlan(
        family="suggestion",
        account=table.account,
        subject=subject_of(table),
        identity=identity_of("suggestion", table, [column] if column else [], asked, asked),
        need=PeopleNeed(table, keys, group_edges, row_edges),
        cost=CommonSpending(Grouping((), Region.everything(), 1, ()), price),
        epsilon=price,
        guarantee=Guarantee("suggestion", facts=facts),
        limits={f"max_epsilon_per_question of {table.account}": table.max_epsilon_per_question},
        called="the suggestion",
        column=column,
        unit=table.contribution.unit,
        group_edges=group_edges,
        row_edges=row_edges,
    )
