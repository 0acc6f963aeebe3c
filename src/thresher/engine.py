"""READ FIRST. The way of a question, and the only place that knows its order.

    sql ─► Question ─► Plan ─► reserve ─► fetch ─► run ─► settle ─► Release
           (no data)   (price)  (ledger)   (source)  (noise)  (ledger)

The engine knows no family of questions: it reserves a plan's worst case durably, fetches what the plan needs, runs it,
stores the release and settles in one transaction, and only then hands the release out.
Reads: declarations; public tables when planning; private ones after reserving. Writes: the ledger.
Never: reads private rows before the charge is on disk; hands out what is not stored; forwards what a database said.
"""

import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from thresher.amounts import Amount
from thresher.budgets import (
    check_limit,
    check_refined_once,
    declared_table,
    earlier,
    open_budgets,
)
from thresher.charging import begin, complete, key_of
from thresher.config import Declarations, load
from thresher.decisions import (
    VALUES,
    AnyPlan,
    RefinementPlan,
    RegionLike,
    ValuesPlan,
    plan_decision,
    plan_refinement,
    plan_values,
    wish,
)
from thresher.diagnostics import Choices, DiagnosisPlan, Diagnostic, Price, plan_diagnosis
from thresher.errors import DeclarationError
from thresher.ledger import Balance, Book, StoredRelease
from thresher.noise import Entropy, SystemEntropy
from thresher.personal.answers import PersonalCounts
from thresher.personal.class_sizes import check_one_for_all
from thresher.personal_questions import ClassLeft, PersonalDesk, PersonalPlan, classes_left, only_count, only_decision
from thresher.plan import Given, Plan, Release
from thresher.running.opening import open_stream
from thresher.running.stream import RunningStream
from thresher.sources import PublicTables, Source, open_source
from thresher.sql import ask

Progress = Callable[[str], None]


def open_engine(
    declarations: Declarations | Path | str, *, tables: Mapping[str, object] | None = None, analyst: str = ""
) -> "Engine":
    """An engine for a `thresher.toml`; `tables` are Arrow, pandas or polars tables in memory, by declared name."""
    declared = declarations if isinstance(declarations, Declarations) else load(declarations)
    if not declared.source:
        raise DeclarationError("source", "it is not declared: streams alone are opened with thresher.open_stream")
    source = open_source(declared, tables)
    try:
        source.check(declared)
    except DeclarationError as refused:
        source.close()
        raise declared.located(refused) from None
    except BaseException:
        source.close()
        raise
    return Engine(declared, source, analyst)


class Engine:
    """Answers questions about one set of declarations, on behalf of one analyst."""

    def __init__(self, declarations: Declarations, source: Source, analyst: str = "") -> None:
        self._declarations, self._source, self._analyst = declarations, source, analyst
        self._public = PublicTables(source)
        self._book: Book | None = None
        self._opening = threading.Lock()

    @property
    def ledger(self) -> Book:
        """The book, opened and verified when it is first needed: a plan needs none."""
        with self._opening:
            if self._book is None:
                self._book = open_budgets(self._declarations)
            return self._book

    def plan(
        self,
        sql: str,
        *,
        miss_rate: Amount | None = None,
        false_alarm_rate: Amount | None = None,
        uncertain_region: RegionLike | None = None,
        max_epsilon: Amount | None = None,
        confidence: Amount | None = None,
        mechanism: str | None = None,
        bound: str | None = None,
        levels: int | None = None,
        first_epsilon: Amount | None = None,
        best_effort: bool | None = None,
        show: str | None = None,
    ) -> AnyPlan | ValuesPlan:
        """The price and the promise. Spends nothing and reads no private row; `str(plan)` explains it."""
        question = ask(sql, self._declarations, self._public)
        check_one_for_all(question.table)
        wished = wish(
            miss_rate=miss_rate,
            false_alarm_rate=false_alarm_rate,
            uncertain_region=uncertain_region,
            max_epsilon=max_epsilon,
            confidence=confidence,
            mechanism=mechanism,
            bound=bound,
            levels=levels,
            first_epsilon=first_epsilon,
            best_effort=best_effort,
            show=show,
            written=question.options,
        )
        plan = plan_values(question, wished) if wished.show == VALUES else plan_decision(question, wished)
        check_limit(plan, "max_epsilon")
        return plan

    def decide(
        self,
        sql: str,
        *,
        miss_rate: Amount | None = None,
        false_alarm_rate: Amount | None = None,
        uncertain_region: RegionLike | None = None,
        max_epsilon: Amount | None = None,
        confidence: Amount | None = None,
        mechanism: str | None = None,
        bound: str | None = None,
        levels: int | None = None,
        first_epsilon: Amount | None = None,
        best_effort: bool | None = None,
        show: str | None = None,
        personal: bool = False,
        share: Amount | None = None,
        key: str | None = None,
        entropy: Entropy | None = None,
        progress: Progress = lambda _: None,
    ) -> Release:
        """The answer, charged once. Asked again in the same words or others, it is the stored one, for nothing.

        `key` names an answer: the same key and question give the stored answer, a new key buys a fresh one. `personal`
        charges everybody a `share` of their own budget, and with it the price is named, not the width.
        """
        if personal or share is not None:
            others = (uncertain_region, max_epsilon, confidence, mechanism, bound, levels, first_epsilon, best_effort)
            mine = self.plan_personal(sql, share=share, miss_rate=miss_rate, false_alarm_rate=false_alarm_rate)
            mine = only_decision(mine, personal, (*others, show))
            return self.answer(mine, key=key, entropy=entropy, progress=progress)
        plan = self.plan(
            sql,
            miss_rate=miss_rate,
            false_alarm_rate=false_alarm_rate,
            uncertain_region=uncertain_region,
            max_epsilon=max_epsilon,
            confidence=confidence,
            mechanism=mechanism,
            bound=bound,
            levels=levels,
            first_epsilon=first_epsilon,
            best_effort=best_effort,
            show=show,
        )
        return self.answer(plan, key=key, entropy=entropy, progress=progress)

    def plan_personal(
        self,
        sql: str,
        *,
        share: Amount | None = None,
        miss_rate: Amount | None = None,
        false_alarm_rate: Amount | None = None,
        confidence: Amount | None = None,
        leftovers: bool = False,
    ) -> PersonalPlan:
        """Price and promise: everybody may lose `share` (0.25) of their own budget, or of the `leftovers` of it."""
        desk = PersonalDesk(self._declarations, self._public, self.ledger if leftovers else None)
        rates = {"miss_rate": miss_rate, "false_alarm_rate": false_alarm_rate, "confidence": confidence}
        return desk.plan(sql, share=share, rates=rates)

    def personal_count(
        self,
        sql: str,
        *,
        share: Amount | None = None,
        confidence: Amount | None = None,
        leftovers: bool = False,
        key: str | None = None,
        entropy: Entropy | None = None,
        progress: Progress = lambda _: None,
    ) -> PersonalCounts:
        """A count or sum for each group, in which everybody counts by their own budget; charged once.

        `SELECT ward, COUNT(*) FROM patients GROUP BY ward`: the same SELECT as a decision, without HAVING.
        """
        plan = self.plan_personal(sql, share=share, confidence=confidence, leftovers=leftovers)
        return self.answer(only_count(plan), key=key, entropy=entropy, progress=progress)

    def personal_classes(self, table: str) -> list[ClassLeft]:
        """What each class of people's own budgets has left: for the curator's eyes."""
        return classes_left(declared_table(self._declarations, table), self._public, self.ledger)

    def plan_refinement(
        self,
        sql: str,
        *,
        of: str,
        miss_rate: Amount | None = None,
        false_alarm_rate: Amount | None = None,
        uncertain_region: RegionLike | None = None,
        max_epsilon: Amount | None = None,
        given_seen: bool = False,
    ) -> RefinementPlan:
        """What it takes to sharpen the answer stored under the key `of`. Spends nothing and reads no private row.

        An answer is refined once: a second, other refinement of it would lose more than is charged, and is refused.
        """
        question = ask(sql, self._declarations, self._public)
        check_one_for_all(question.table)
        plan = plan_refinement(
            question,
            earlier(self.ledger, question, of, self._analyst),
            miss_rate=miss_rate,
            false_alarm_rate=false_alarm_rate,
            uncertain_region=uncertain_region,
            max_epsilon=max_epsilon,
            given_seen=given_seen,
        )
        check_limit(plan, "max_epsilon")
        check_refined_once(self.ledger, plan, of, self._analyst)
        return plan

    def refine(
        self,
        sql: str,
        *,
        of: str,
        miss_rate: Amount | None = None,
        false_alarm_rate: Amount | None = None,
        uncertain_region: RegionLike | None = None,
        max_epsilon: Amount | None = None,
        given_seen: bool = False,
        entropy: Entropy | None = None,
        progress: Progress = lambda _: None,
    ) -> Release:
        """The answer stored under the key `of`, made sharper: charged the difference, stored under a key of its own.

        What is left out stays as it was. A coarser question on the same measurement is free.
        """
        plan = self.plan_refinement(
            sql,
            of=of,
            miss_rate=miss_rate,
            false_alarm_rate=false_alarm_rate,
            uncertain_region=uncertain_region,
            max_epsilon=max_epsilon,
            given_seen=given_seen,
        )
        return self.answer(plan, entropy=entropy, progress=progress)

    def plan_diagnosis(
        self,
        kind: str,
        *,
        table: str,
        label: str | None = None,
        score: str | None = None,
        actual: str | None = None,
        fitted: str | None = None,
        epsilon: Amount | None = None,
        auc_error: Amount | None = None,
        choices: Choices | None = None,
    ) -> DiagnosisPlan:
        """The price of a picture of how well a model fits. Spends nothing and reads no private row."""
        columns = {"label": label, "score": score, "actual": actual, "fitted": fitted}
        about = declared_table(self._declarations, table, one_for_all=True)
        return plan_diagnosis(kind, about, columns, Price(epsilon, auc_error), choices or Choices())

    def diagnose(
        self,
        kind: str,
        *,
        table: str,
        label: str | None = None,
        score: str | None = None,
        actual: str | None = None,
        fitted: str | None = None,
        epsilon: Amount | None = None,
        auc_error: Amount | None = None,
        choices: Choices | None = None,
        key: str | None = None,
        entropy: Entropy | None = None,
        progress: Progress = lambda _: None,
    ) -> Diagnostic:
        """A private "roc", "binned" or "residuals" of a table's rows, charged once; `thresher.diagnostics` draws it.

        The price is `epsilon`; or, for a ROC curve, what an `auc_error` takes by simulation, which is an estimate.
        """
        plan = self.plan_diagnosis(
            kind,
            table=table,
            label=label,
            score=score,
            actual=actual,
            fitted=fitted,
            epsilon=epsilon,
            auc_error=auc_error,
            choices=choices,
        )
        return self.answer(plan, key=key, entropy=entropy, progress=progress)

    def stream(self, name: str, *, entropy: Entropy | None = None) -> RunningStream:
        """A declared stream, ready for its next step, on this engine's ledger."""
        return open_stream(self._declarations, name, book=self.ledger, entropy=entropy)

    def answer(
        self,
        plan: Plan[Given],
        *,
        key: str | None = None,
        entropy: Entropy | None = None,
        progress: Progress = lambda _: None,
    ) -> Given:
        """Reserve, fetch, run, settle, and only then hand out."""
        noise = entropy or SystemEntropy()
        if plan.cost is None or plan.need is None:
            return plan.run(None, noise)[0]
        need = plan.need
        for name in plan.limits:
            check_limit(plan, name, self.balance)
        progress("reserving the worst case in the ledger")
        held = begin(self.ledger, plan, key_of(plan, key), self._analyst)
        if isinstance(held, StoredRelease):
            return plan.recall(held.body, key_of(plan, key))
        try:
            progress("reaching the source")
            self._source.connect()
        except BaseException:
            # No data was read, so nothing is charged.
            self.ledger.cancel(held)
            raise
        return complete(self.ledger, plan, held, lambda: self._source.fetch(need), noise, progress)

    def stored(self, plan: Plan[Given], *, key: str | None = None) -> Given | None:
        """The answer that is there already, which costs nothing; None if there is none yet."""
        if plan.cost is None:
            return None
        found = self.ledger.answered(plan.account, key_of(plan, key), plan.identity.question, self._analyst)
        return None if found is None else plan.recall(found.body, key_of(plan, key))

    def balance(self, plan: Plan[Any]) -> Balance:
        """The budget that a plan would be charged to."""
        return self.ledger.balance(plan.account)

    def close(self) -> None:
        self._source.close()
        if self._book is not None:
            self._book.close()

    def __enter__(self) -> "Engine":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
