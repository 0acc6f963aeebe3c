"""Random histories of a book against a model of forty lines that keeps a loss for each cell of a tiny table."""

import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test
from ledger.spendings import charge, common

from thresher.amounts import Epsilon
from thresher.errors import ArgumentError, BudgetError, KeyReusedError, LostAnswerError, PendingError
from thresher.ledger import Reservation, open_book, rules

MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None  # noqa: S108 - syncing to memory is quick
CELLS = [(ward, sex) for ward in "ab" for sex in "fm"]
WHERES = [
    (),
    (("ward", "=", "a"),),
    (("ward", "=", "b"),),
    (("sex", "=", "f"),),
    (("ward", "=", "a"), ("sex", "=", "m")),
]
# Each mutant below is caught within a third of these.
EXAMPLES = 600
nanos = st.integers(1, 40)


class Model:
    """What the book should say: spendings as [analyst, cells, nano], and what became of every key."""

    def __init__(self, cap):
        self.caps, self.spendings, self.keys = {"": cap}, {}, {}

    def loss(self, analyst, more=()):
        counted = [*self.spendings.values(), *more]
        return max(sum(n for who, cells, n in counted if cell in cells and analyst in ("", who)) for cell in CELLS)

    def affordable(self, who, cells, nano):
        payers = {"", who} & self.caps.keys()
        return all(self.loss(payer, [(who, cells, nano)]) <= self.caps[payer] for payer in payers)


def cells_of(where):
    return {cell for cell in CELLS if all(cell[("ward", "sex").index(column)] == value for column, _, value in where)}


class Histories(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(dir=MEMORY))
        self.url = f"sqlite:///{self.folder / 'ledger.db'}"
        self.book = open_book(self.url)
        self.book.open_account("t", Epsilon.from_nano(100))
        self.model = Model(100)
        self.open = {}

    def teardown(self):
        self.book.verify()
        self.book.close()
        shutil.rmtree(self.folder)

    @rule(
        nano=nanos,
        where=st.sampled_from(WHERES),
        key=st.integers(0, 9),
        question=st.integers(0, 3),
        who=st.sampled_from(["", "x", "y"]),
    )
    def reserve(self, nano, where, key, question, who):
        cost, cells, name = common(Epsilon.from_nano(nano), where), cells_of(where), (who, f"k{key}")

        def attempt():
            return self.book.reserve(charge("t", cost, f"k{key}", f"q{question}", analyst=who), wait_seconds=0)

        known = self.model.keys.get(name)
        if known is None:
            if not self.model.affordable(who, cells, nano):
                with pytest.raises(BudgetError):
                    attempt()
                return
            reservation = attempt()
            assert isinstance(reservation, Reservation)
            self.model.keys[name] = (f"q{question}", "open")
            self.model.spendings[name] = (who, cells, nano)
            self.open[name] = (reservation, where, nano)
        elif known[0] != f"q{question}":
            with pytest.raises(KeyReusedError):
                attempt()
        elif known[1] == "open":
            with pytest.raises(PendingError):
                attempt()
        elif known[1] == "lost":
            with pytest.raises(LostAnswerError):
                attempt()
        else:
            assert attempt().body == known[1]

    @precondition(lambda self: self.open)
    @rule(data=st.data(), reached=st.integers(0, 40), shows=st.booleans())
    def settle(self, data, reached, shows):
        name = data.draw(st.sampled_from(sorted(self.open)))
        reservation, where, nano = self.open.pop(name)
        reached = min(reached, nano)
        body = f"{name} {reached}".encode()
        self.book.settle(reservation, common(Epsilon.from_nano(reached), where), body, shows_levels=shows)
        who, cells, _ = self.model.spendings[name]
        self.model.spendings[name] = (who, cells, reached if shows else nano)
        self.model.keys[name] = (self.model.keys[name][0], body)

    @precondition(lambda self: self.open)
    @rule(data=st.data(), lost=st.booleans())
    def end_without_an_answer(self, data, lost):
        name = data.draw(st.sampled_from(sorted(self.open)))
        reservation, _, _ = self.open.pop(name)
        if lost:
            self.book.forfeit(reservation)
            self.model.keys[name] = (self.model.keys[name][0], "lost")
        else:
            self.book.cancel(reservation)
            del self.model.keys[name], self.model.spendings[name]

    @rule(cap=st.integers(0, 150), who=st.sampled_from(["", "x"]))
    def set_cap(self, cap, who):
        if cap < self.model.loss(who):
            with pytest.raises(ArgumentError):
                self.book.set_cap("t", Epsilon.from_nano(cap), analyst=who)
        else:
            self.book.set_cap("t", Epsilon.from_nano(cap), analyst=who)
            self.model.caps[who] = cap

    @rule()
    def reopen(self):
        self.book.close()
        self.book = open_book(self.url)

    @invariant()
    def balances_agree(self):
        for who in ("", "x", "y"):
            assert self.book.balance("t", who).spent.nano == self.model.loss(who)


def run(examples, *, derandomize=True):
    run_state_machine_as_test(
        Histories,
        settings=settings(
            max_examples=examples,
            stateful_step_count=12,
            derandomize=derandomize,
            deadline=None,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        ),
    )


def test_random_histories_agree_with_the_model(trials, soak):
    run(trials(EXAMPLES, 100_000), derandomize=not soak)


def _refunds_what_is_not_shown(reserved, kind, facts):
    if kind == "settle":
        return facts["realised"]
    return None if kind == "cancel" else reserved.worst_case


def _forgets_lost_answers(reserved, kind, facts):
    return None if kind in ("cancel", "forfeit") else reserved.worst_case


@pytest.mark.parametrize("mutant", [_refunds_what_is_not_shown, _forgets_lost_answers])
def test_histories_catch_a_book_that_refunds_too_much(mutant, monkeypatch):
    monkeypatch.setattr(rules, "_charged_at_end", mutant)
    with pytest.raises(AssertionError):
        run(EXAMPLES // 3)
