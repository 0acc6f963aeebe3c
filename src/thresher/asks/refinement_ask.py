"""The ask of a refinement: a stored answer made finer, or its noisy margins read with another threshold.

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
from thresher.config import Table
from thresher.decisions.decision_options import NAMES, as_spelt, options_of
from thresher.decisions.refinement import RefinementPlan, plan_refinement
from thresher.decisions.refinement_steps import refused
from thresher.decisions.uncertain_region import RegionLike
from thresher.errors import ArgumentError, KeyReusedError, LedgerCorruptError, LostAnswerError, PendingError
from thresher.ledger import Book, Recalled
from thresher.question import Question
from thresher.release import Release
from thresher.sql.read_question import ask


class SharperOptions(TypedDict, total=False):
    """What a refinement may change; all other options stay those of the answer that it refines."""

    miss_rate: Amount | None
    false_alarm_rate: Amount | None
    within: RegionLike | None
    uncertain_region: RegionLike | None
    max_epsilon: Amount | None


SHARPER = tuple(SharperOptions.__annotations__)


@dataclass(frozen=True, slots=True)
class RefinementAsk:
    """A question, the key of the answer to refine, and what is to be finer."""

    sql: str
    of: str
    options: Mapping[str, Any] = field(default_factory=dict)
    given_seen: bool = False

    def plan(self, desk: Desk) -> RefinementPlan:
        """Return the plan. An answer is refined once: a second, other refinement of it is refused."""
        question = ask(self.sql, desk.declared, desk.public, options=IN_TEXT)
        check_one_for_all(question.table)
        stored = self._stored(desk.book(), question, desk.analyst)
        release = self._release(stored)
        with as_spelt(question.options, self.options):
            changes = self._changes(question, release)
            options = options_of({**_unchanged(release), **changes})
            plan = plan_refinement(question, options, self.of, release, said=changes.keys(), given_seen=self.given_seen)
        self._check_rows(plan, question.table, stored)
        check_limit(plan, "max_epsilon")
        self._check_once(desk.book(), plan, desk.analyst)
        return plan

    def _check_rows(self, plan: RefinementPlan, table: Table, stored: Recalled) -> None:
        """Refuse to measure again unless the rows are known to be the same: old noise on other rows loses more.

        Nothing is compared with the rows, which would reveal that they have changed; what the curator says counts. What
        is read from the stored noise alone needs no rows.
        """
        if plan.cost is None:
            return
        anew = f"Measure afresh, which costs at most {plan.step.anew}: ask the question with a key not used before"
        if stored.restored:
            raise refused(self.of, "the ledger was restored from a backup since, and may have forgotten one", anew)
        if not table.names_its_rows:
            rule = (
                f"nothing says that the rows of {table.name} are still those that it measured: no version or snapshot "
                "was declared then"
            )
            later = f"To refine later answers, declare a version in [tables.{table.name}], and change it with the rows"
            raise refused(self.of, rule, f"{anew}. {later}")

    def _stored(self, book: Book, question: Question, analyst: str) -> Recalled:
        """Return the stored answer: the analyst's own, about the same table."""
        table = question.table
        stored = book.recalled(table.account, self.of, analyst)
        if stored is None:
            rule = f"no answer of yours about {table.name} is stored under this key"
            raise ArgumentError("of", self.of, rule, "Pass the key of an answer; `thresher ledger show` lists them")
        if stored.lost:
            raise LostAnswerError(
                f"the question with key {self.of!r} was charged and has no answer: there is nothing to refine"
            )
        return stored

    def _release(self, stored: Recalled) -> Release:
        """Return the answer in a form that can be refined."""
        if stored.body is None:
            raise PendingError(
                f"another process is answering the question with key {self.of!r}. Refine it when that is done"
            )
        try:
            return Release.from_bytes(stored.body, self.of)
        except LedgerCorruptError:
            raise refused(self.of, "this version can read no noisy margins in it") from None

    def _changes(self, question: Question, release: Release) -> dict[str, Any]:
        """Return what is to change, named in the text or as arguments. Other options may only repeat what they were."""
        then = {
            "bound": {release.bound, release.bound.replace("_", "-")},
            "mechanism": {release.mechanism},
            "key": {self.of},
        }
        for name, value in question.options.items():
            if name not in SHARPER and value not in then.get(name, ()):
                rule = f"a refinement keeps the {name} of the answer that it refines"
                raise ArgumentError(name, value, rule, "Leave it out of the question's text")
        written = {name: value for name, value in question.options.items() if name in SHARPER}
        return merged(written, self.options, SHARPER, "a refinement", NAMES)

    def _check_once(self, book: Book, plan: RefinementPlan, analyst: str) -> None:
        """Refuse a second refinement before its price is shown; the ledger would refuse its key."""
        earlier = None if plan.cost is None else book.recalled(plan.account, str(plan.written_key), analyst)
        if earlier is not None and earlier.lost:
            raise LostAnswerError(
                f"the refinement of {self.of!r} was charged and lost in a crash. An answer is refined once, so it "
                "cannot be refined further. To ask anew at the full price, use another key"
            )
        if earlier is not None and earlier.question != plan.identity.question:
            raise KeyReusedError(
                f"{self.of!r} was refined already, and an answer is refined once. Refine that refinement "
                f"(key {plan.written_key!r})"
            )


def _unchanged(release: Release) -> dict[str, Any]:
    """Return the bound and the rates of the earlier answer, which stay what they were unless they are named."""
    promised = release.guarantee
    rates = {"miss_rate": promised.miss_rate, "false_alarm_rate": promised.false_alarm_rate}
    return {**{name: rate for name, rate in rates.items() if rate}, "bound": release.bound}
