"""A refinement: a stored answer made sharper, or read with another line.

Reads: the text, options, declarations, public tables, and the ledger for the stored answer. Writes: nothing. Never:
private rows; an answer of another analyst.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypedDict

from thresher.amounts import Amount
from thresher.asks.desk import Desk, check_one_for_all
from thresher.asks.merging import IN_TEXT, merged
from thresher.charging import check_limit
from thresher.decisions.decision_options import NAMES, options_of
from thresher.decisions.refinement import RefinementPlan, plan_refinement
from thresher.decisions.refinement_steps import refused
from thresher.decisions.uncertain_region import RegionLike
from thresher.errors import ArgumentError, KeyReusedError, LedgerCorruptError, LostAnswerError, PendingError
from thresher.ledger import Book
from thresher.question import Question
from thresher.release import Release
from thresher.sql.read_question import ask


class SharperOptions(TypedDict, total=False):
    """What a refinement may be asked for; all other options are those of the answer that it goes on from."""

    miss_rate: Amount | None
    false_alarm_rate: Amount | None
    uncertain_region: RegionLike | None
    max_epsilon: Amount | None


SHARPER = tuple(SharperOptions.__annotations__)


@dataclass(frozen=True, slots=True)
class RefinementAsk:
    """A question, the key of the answer to go on from, and what is to be sharper."""

    sql: str
    of: str
    options: Mapping[str, Any] = field(default_factory=dict)
    given_seen: bool = False

    def plan(self, desk: Desk) -> RefinementPlan:
        """Return the plan. An answer is refined once: a second, other refinement of it is refused."""
        question = ask(self.sql, desk.declared, desk.public, options=IN_TEXT)
        check_one_for_all(question.table)
        release = self._release(desk.book(), question, desk.analyst)
        said = self._said(question, release)
        options = options_of({**_kept(release), **said})
        plan = plan_refinement(question, options, self.of, release, said=said.keys(), given_seen=self.given_seen)
        check_limit(plan, "max_epsilon")
        self._check_once(desk.book(), plan, desk.analyst)
        return plan

    def _release(self, book: Book, question: Question, analyst: str) -> Release:
        """The stored answer: the analyst's own, about the same table."""
        table = question.table
        found = book.recalled(table.account, self.of, analyst)
        if found is None:
            rule = f"no answer of yours about {table.name} is stored under this key"
            raise ArgumentError("of", self.of, rule, "Pass the key of an answer; `thresher ledger show` lists them")
        if found.lost:
            raise LostAnswerError(
                f"the key {self.of!r} was charged and its answer was lost: there is nothing to refine"
            )
        if found.body is None:
            raise PendingError(f"the key {self.of!r} is being answered elsewhere: ask again when that is done")
        try:
            return Release.from_bytes(found.body, self.of)
        except LedgerCorruptError:
            raise refused(self.of, "it is not an answer with noisy margins that this version can refine") from None

    def _said(self, question: Question, release: Release) -> dict[str, Any]:
        """What is asked for, in the text or as arguments."""
        then = {
            "bound": {release.bound, release.bound.replace("_", "-")},
            "mechanism": {release.mechanism},
            "key": {self.of},
        }
        for name, value in question.options.items():
            if name not in SHARPER and value not in then.get(name, ()):
                rule = f"a refinement keeps the {name} of the answer that it goes on from"
                raise ArgumentError(name, value, rule, "Leave it out of the question's text")
        written = {name: value for name, value in question.options.items() if name in SHARPER}
        return merged(written, self.options, SHARPER, "a refinement", NAMES)

    def _check_once(self, book: Book, plan: RefinementPlan, analyst: str) -> None:
        """The ledger refuses a second refinement by its key; here it is said in words, before a price is shown."""
        done = None if plan.cost is None else book.recalled(plan.account, str(plan.written_key), analyst)
        if done is not None and done.lost:
            raise LostAnswerError(
                f"the refinement of {self.of!r} was charged and lost in a crash, and an answer is refined once: the "
                "chain ends there. Ask anew with another key, charged in full"
            )
        if done is not None and done.question != plan.identity.question:
            raise KeyReusedError(
                f"{self.of!r} was refined already: go on from that refinement (key {plan.written_key!r})"
            )


def _kept(release: Release) -> dict[str, Any]:
    """The bound and the rates of the earlier answer, which stay what they were unless they are named."""
    told = release.guarantee
    rates = {"miss_rate": told.miss_rate, "false_alarm_rate": told.false_alarm_rate}
    return {**{name: rate for name, rate in rates.items() if rate}, "bound": release.bound}
