"""READ FIRST. The way of a question, and the only place that knows its order.

    ask ─► Plan ─► reserve ─► fetch ─► run ─► settle ─► Release
           (price)  (ledger)   (source)  (noise)  (ledger)

A question of any family is an *ask* (`asks/`), which turns into a plan. The engine knows no family: it has the plan
charged (`charging.py`), which reserves the worst case durably, fetches, runs, and stores the release.
Reads: declarations; public tables when planning; private ones after reserving. Writes: the ledger.
Never: reads private rows before the charge is on disk; hands out what is not stored; forwards what a database said.
"""

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

from thresher import asks
from thresher.accounts import balance_left, open_accounts
from thresher.amounts import Amount
from thresher.asks.desk import Ask, Desk, PlanMemory
from thresher.charging import Progress, Till, charged, check_limit, given_again, hash_of_columns, key_of, silent
from thresher.config import Declarations, load
from thresher.ledger import Balance, Book
from thresher.noise import Entropy, SystemEntropy
from thresher.plan import Given, Plan
from thresher.release import Release
from thresher.sources import PublicTables, Source, checked_source

if TYPE_CHECKING:
    from thresher.asks.decision import AnyDecision
    from thresher.asks.refinement_ask import SharperOptions
    from thresher.decisions.decision_options import DecisionOptions
    from thresher.decisions.refinement import RefinementPlan
    from thresher.diagnostics.diagnosis_plan import DiagnosisOptions, DiagnosisPlan
    from thresher.diagnostics.releases import Diagnostic
    from thresher.live.running_stream import RunningStream
    from thresher.personal.budget_classes import ClassLeft
    from thresher.personal.personal_counts import PersonalCounts
    from thresher.personal.weighted_read import PersonalOptions, PersonalPlan
    from thresher.suggestions.suggestion_plan import Suggestion, SuggestionPlan

Planned = TypeVar("Planned", bound=Plan[Any])


def open_engine(
    declarations: Declarations | Path | str,
    *,
    tables: Mapping[str, object] | None = None,
    analyst: str = "",
    versions: Mapping[str, str] | None = None,
) -> "Engine":
    """Open an engine for a `thresher.toml`, as `thresher.open` says."""
    declared = declarations if isinstance(declarations, Declarations) else load(declarations)
    declared = declared.with_versions(versions or {})
    return Engine(declared, checked_source(declared, tables), analyst)


class Engine:
    """Answers questions about one set of declarations, on behalf of one analyst."""

    def __init__(self, declarations: Declarations, source: Source, analyst: str = "") -> None:
        self._declarations, self._source, self._analyst = declarations, source, analyst
        self._book: Book | None = None
        self._opening = threading.Lock()
        self._plans: PlanMemory[AnyDecision] = PlanMemory()
        self._desk = Desk(declarations, PublicTables(source), lambda: self.ledger, analyst)

    @property
    def ledger(self) -> Book:
        """Return the ledger. It is opened and verified when it is first needed; most plans do not need it."""
        with self._opening:
            if self._book is None:
                self._book = open_accounts(self._declarations)
            elif self._book.stopped:
                self._book.recover()
            return self._book

    def planned(self, ask: Ask[Planned]) -> Planned:
        """Return the plan of an ask of any family. Spends nothing and reads no private row."""
        return ask.plan(self._desk)

    def answer(
        self, plan: Plan[Given], *, key: str | None = None, entropy: Entropy | None = None, progress: Progress = silent
    ) -> Given:
        """Charge a plan, store its answer and return it. An answer that is stored already is returned free."""
        noise = entropy or SystemEntropy()
        if plan.cost is None or plan.need is None:
            return plan.run(None, noise)[0]
        for name in plan.limits:
            check_limit(plan, name, self.balance)
        return charged(Till(self.ledger, self._source, self._analyst, noise, progress), plan, key_of(plan, key))

    def stored(self, plan: Plan[Given], *, key: str | None = None) -> Given | None:
        """Return the answer that is stored already, which is free; None if there is none yet."""
        name = key_of(plan, key)
        if plan.cost is None:
            return None
        entry = self.ledger.answered(plan.account, name, plan.identity.question, self._analyst)
        if entry is None:
            return None
        columns = "" if plan.need is None else hash_of_columns(self._source, plan.need.table)
        return given_again(plan, entry, name, columns)

    def balance(self, plan: Plan[Any]) -> Balance:
        """Return what is left of the budget that a plan would be charged to. Makes the ledger if there is none yet."""
        return self.ledger.balance(plan.account)

    def left(self, plan: Plan[Any]) -> Balance | None:
        """Return the balance that a plan would be charged to, without making a ledger where there is none.

        None if the ledger cannot be read.
        """
        return balance_left(self._declarations, plan.account) if self._book is None else self.balance(plan)

    def plan(self, sql: str, **options: Unpack["DecisionOptions"]) -> "AnyDecision":
        """Return the price and the promise of a decision; `str(plan)` explains it."""
        return self._plans.planned(sql, options, lambda: self.planned(asks.DecisionAsk(sql, options)))

    def decide(
        self,
        sql: str,
        *,
        personal: bool = False,
        share: Amount | None = None,
        key: str | None = None,
        entropy: Entropy | None = None,
        progress: Progress = silent,
        **options: Unpack["DecisionOptions"],
    ) -> Release:
        """Answer a question, and charge it once. The same question again returns the stored answer, free.

        The same `key` returns the stored answer; a new `key` buys a fresh one. With `personal=True`, each person is
        charged a `share` of their own budget.
        """
        if personal or share is not None:
            plan: Plan[Release] = self.planned(asks.personal_decision(sql, options, share, personal=personal))
        else:
            plan = self.plan(sql, **options)
        return self.answer(plan, key=key, entropy=entropy, progress=progress)

    def plan_refinement(
        self, sql: str, *, of: str, given_seen: bool = False, **sharper: Unpack["SharperOptions"]
    ) -> "RefinementPlan":
        """Return price and promise of a refinement of the answer with the key `of`. An answer is refined once."""
        return self.planned(asks.RefinementAsk(sql, of, sharper, given_seen))

    def refine(
        self,
        sql: str,
        *,
        of: str,
        given_seen: bool = False,
        entropy: Entropy | None = None,
        progress: Progress = silent,
        **sharper: Unpack["SharperOptions"],
    ) -> Release:
        """Make the answer with the key `of` finer, for the difference in price, and store it under a new key.

        Options that are left out stay as they were. A coarser question on the same measurement is free.
        """
        plan = self.plan_refinement(sql, of=of, given_seen=given_seen, **sharper)
        return self.answer(plan, entropy=entropy, progress=progress)

    def plan_diagnosis(self, kind: str, **options: Unpack["DiagnosisOptions"]) -> "DiagnosisPlan":
        """Return price and promise of a picture of how well a model fits."""
        return self.planned(asks.DiagnosisAsk(kind, options))

    def diagnose(
        self,
        kind: str,
        *,
        key: str | None = None,
        entropy: Entropy | None = None,
        progress: Progress = silent,
        **options: Unpack["DiagnosisOptions"],
    ) -> "Diagnostic":
        """Draw a private picture of a table's rows, and charge it once. `kind`: "roc", "binned" or "residuals".

        The price is `epsilon`. For a ROC curve it may follow from an `auc_error` instead, by a simulation: an estimate.
        """
        return self.answer(self.plan_diagnosis(kind, **options), key=key, entropy=entropy, progress=progress)

    def plan_suggestion(self, table: str, *, epsilon: Amount | None = None) -> "SuggestionPlan":
        """Return price and promise of a suggestion. `table`: TABLE, or TABLE.COLUMN for questions grouped by COLUMN."""
        return self.planned(asks.SuggestionAsk(table, epsilon))

    def suggest(
        self,
        table: str,
        *,
        epsilon: Amount | None = None,
        key: str | None = None,
        entropy: Entropy | None = None,
        progress: Progress = silent,
    ) -> "Suggestion":
        """Buy a recommendation for the limits on one person. For the curator only; no file is changed. Charged once.

        It costs `epsilon`; left out, a hundredth of the budget.
        """
        return self.answer(self.plan_suggestion(table, epsilon=epsilon), key=key, entropy=entropy, progress=progress)

    def plan_personal(self, sql: str, **options: Unpack["PersonalOptions"]) -> "PersonalPlan[Any]":
        """Return price and promise of a question to a table with personal budgets.

        Each person may lose `share` (0.25) of their own budget, or, with `leftovers=True`, of what is left of it.
        """
        return self.planned(asks.personal_question(sql, options))

    def personal_count(
        self,
        sql: str,
        *,
        key: str | None = None,
        entropy: Entropy | None = None,
        progress: Progress = silent,
        **options: Unpack["PersonalOptions"],
    ) -> "PersonalCounts":
        """Count or add up for each group, each person by their own budget. The text has no HAVING. Charged once."""
        plan = self.planned(asks.personal_count(sql, options))
        return self.answer(plan, key=key, entropy=entropy, progress=progress)

    def personal_classes(self, table: str) -> "list[ClassLeft]":
        """Return what each class of personal budgets has left. For the curator only."""
        return asks.classes_left_of(self._desk, table)

    def stream(self, name: str, *, entropy: Entropy | None = None) -> "RunningStream":
        """Open a declared stream on this engine's ledger, ready for its next step."""
        from thresher.live.open_stream import open_stream  # noqa: PLC0415 - loads when it is used

        return open_stream(self._declarations, name, book=self.ledger, entropy=entropy)

    def close(self) -> None:
        """Close the source and the ledger."""
        self._source.close()
        if self._book is not None:
            self._book.close()

    def __enter__(self) -> "Engine":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
