"""One suite for every store: what the book promises, rule by rule."""

import base64
import os
import threading
from dataclasses import replace
from datetime import UTC, datetime
from multiprocessing import get_context

import pytest
from ledger.spendings import WARDS, by_ward, charge, common

from thresher.accounting import Grouping, Region
from thresher.amounts import Epsilon
from thresher.errors import (
    AnalystError,
    ArgumentError,
    BudgetError,
    BugError,
    KeyReusedError,
    LedgerStoppedError,
    LostAnswerError,
    PendingError,
)
from thresher.ledger import Reservation, StoredRelease, open_book
from thresher.ledger.book import Book
from thresher.ledger.stores import store_for

NOT_MADE = Reservation(3, "patients", "", "k", "q", "{}", "nobody")


def ask(book, amount, key, realised=None, release=b"answer", shows_levels=False, **where):
    reservation = book.reserve(charge("patients", common(amount), key, "which wards?", **where))
    book.settle(reservation, common(realised or amount), release, shows_levels=shows_levels)


def spent(book, analyst=""):
    return str(book.balance("patients", analyst).spent)


def test_a_question_is_charged_once_and_its_answer_kept(book):
    book.open_account("patients", "1")
    reservation = book.reserve(charge("patients", common("0.3"), "k", "which wards?"))
    assert isinstance(reservation, Reservation)
    assert spent(book) == "0.3"
    assert book.balance("patients").reserved == 1
    book.settle(reservation, common("0.3"), b"answer")
    balance = book.balance("patients")
    assert (str(balance.spent), str(balance.remaining), balance.reserved) == ("0.3", "0.7", 0)
    again = book.reserve(charge("patients", common("0.3"), "k", "which wards?"))
    assert isinstance(again, StoredRelease)
    assert again.body == b"answer"
    assert spent(book) == "0.3"


def test_budgets_are_kept_as_declared(book):
    book.keep_budgets({"patients": "1", "visits": "2"})
    assert [str(held.cap) for held in book.balances()] == ["1", "2"]
    lines = len(book.entries())
    book.keep_budgets({"patients": "1", "visits": "2"})
    assert len(book.entries()) == lines
    ask(book, "0.9", "a")
    book.keep_budgets({"patients": "1.5"})
    assert str(book.balance("patients").remaining) == "0.6"
    with pytest.raises(ArgumentError, match=r"budget of patients.*0\.9 is spent already"):
        book.keep_budgets({"visits": "3", "patients": "0.8"})
    assert [str(held.cap) for held in book.balances()] == ["1.5", "2"]


def test_exactly_the_cap_is_granted_and_one_nano_more_is_not(book):
    book.open_account("patients", "1")
    ask(book, "0.9", "a")
    with pytest.raises(BudgetError) as denial:
        book.reserve(charge("patients", common("0.100000001"), "b", "q"))
    assert (denial.value.requested, denial.value.remaining) == (Epsilon("0.100000001"), Epsilon("0.1"))
    assert denial.value.short_by == Epsilon.from_nano(1)
    assert denial.value.exit_code == 3
    ask(book, "0.1", "c")
    assert spent(book) == "1"
    with pytest.raises(BudgetError):
        book.reserve(charge("patients", common("0.000000001"), "d", "q"))


def test_a_denial_says_what_the_asker_found_affordable(book):
    book.open_account("patients", "0.1")
    with pytest.raises(BudgetError) as denial:
        book.reserve(charge("patients", common("0.3"), "k", "q"))
    told = BudgetError(
        "patients", denial.value.requested, denial.value.remaining, denial.value.short_by, "A half width of 30 fits"
    )
    assert "A half width of 30 fits" in str(told)
    assert "0.3 requested, 0.1 remaining" in str(told)
    assert "0.2 short" in str(told)


def test_a_denied_key_is_not_used_up(book):
    book.open_account("patients", "0.1")
    with pytest.raises(BudgetError):
        book.reserve(charge("patients", common("0.3"), "k", "q"))
    book.set_cap("patients", "1")
    assert isinstance(book.reserve(charge("patients", common("0.3"), "k", "q")), Reservation)


def test_settling_below_gives_back_only_what_the_release_shows(book):
    book.open_account("patients", "1")
    ask(book, "0.4", "shown", realised="0.1", shows_levels=True)
    assert spent(book) == "0.1"
    ask(book, "0.4", "hidden", realised="0.1", shows_levels=False)
    assert spent(book) == "0.5"


def test_settling_above_the_reservation_is_a_bug_and_changes_nothing(book):
    book.open_account("patients", "1")
    reservation = book.reserve(charge("patients", common("0.4"), "k", "q"))
    for shows_levels in (True, False):
        with pytest.raises(BugError, match="above its worst case"):
            book.settle(reservation, common("0.5"), b"x", shows_levels=shows_levels)
    with pytest.raises(ArgumentError, match=r"^shows_levels = "):
        book.settle(reservation, common("0.1"), b"x", shows_levels="no")
    assert spent(book) == "0.4"
    assert book.balance("patients").reserved == 1
    book.verify()


def test_a_reservation_ends_once(book):
    book.open_account("patients", "1")
    reservation = book.reserve(charge("patients", common("0.4"), "k", "q"))
    book.settle(reservation, common("0.4"), b"x")
    for end in (lambda: book.settle(reservation, common("0.4"), b"y"), lambda: book.cancel(reservation)):
        with pytest.raises(ArgumentError, match="ended already"):
            end()
    with pytest.raises(ArgumentError, match="ended already"):
        book.forfeit(reservation)
    assert spent(book) == "0.4"
    assert book.reserve(charge("patients", common("0.4"), "k", "q")).body == b"x"


def test_a_forfeited_reservation_is_lost_and_says_so(book):
    book.open_account("patients", "1")
    book.forfeit(book.reserve(charge("patients", common("0.4"), "k", "q")))
    assert spent(book) == "0.4"
    with pytest.raises(LostAnswerError, match="charged"):
        book.reserve(charge("patients", common("0.4"), "k", "q"))


def test_a_cancelled_reservation_costs_nothing_and_frees_its_key(book):
    book.open_account("patients", "1")
    book.cancel(book.reserve(charge("patients", common("0.4"), "k", "q")))
    assert spent(book) == "0"
    ask(book, "0.2", "k")
    assert spent(book) == "0.2"
    book.verify()


def test_a_key_belongs_to_one_question_for_ever(book):
    book.open_account("patients", "1")
    book.open_account("visits", "1")
    ask(book, "0.1", "k")
    for account, question in (("patients", "another"), ("visits", "which wards?")):
        with pytest.raises(KeyReusedError):
            book.reserve(charge(account, common("0.1"), "k", question))
    assert spent(book) == "0.1"


def test_keys_of_different_analysts_are_different_keys(book):
    book.open_account("patients", "1")
    ask(book, "0.1", "k", analyst="ada", release=b"for ada")
    ask(book, "0.1", "k", analyst="bob", release=b"for bob")
    assert spent(book) == "0.2"
    assert book.reserve(charge("patients", common("0.1"), "k", "which wards?", analyst="ada")).body == b"for ada"


def test_an_analyst_has_a_cap_of_their_own_inside_the_tables(book):
    book.open_account("patients", "1")
    book.set_cap("patients", "0.3", analyst="ada")
    ask(book, "0.2", "a", analyst="ada")
    with pytest.raises(BudgetError, match="patients for analyst ada"):
        ask(book, "0.2", "b", analyst="ada")
    ask(book, "0.2", "c", analyst="bob")
    assert (spent(book), spent(book, "ada"), spent(book, "bob")) == ("0.4", "0.2", "0.2")
    with pytest.raises(ArgumentError, match=r"0\.2 is spent already"):
        book.set_cap("patients", "0.1", analyst="bob")
    book.set_cap("patients", "0.2", analyst="bob")
    with pytest.raises(BudgetError):
        ask(book, "0.000000001", "d", analyst="bob")
    book.verify()


def test_losses_are_kept_by_region(book):
    """The paper's example: (0.1, 0.5) and (0.5, 0.1) over two predicates cost 0.6, not 1."""
    book.open_account("patients", "0.6")
    for key, amounts in (("a", {"eye": "0.1", "stroke": "0.5"}), ("b", {"eye": "0.5", "stroke": "0.1"})):
        cost = by_ward(**amounts)
        book.settle(book.reserve(charge("patients", cost, key, "q")), cost, b"")
    assert spent(book) == "0.6"
    with pytest.raises(BudgetError):
        book.reserve(charge("patients", by_ward(eye="0.000000001"), "c", "q"))
    assert isinstance(book.reserve(charge("patients", by_ward(surgery="0.6"), "d", "q")), Reservation)
    book.verify()


def test_regions_over_different_columns_refine_each_other(book):
    book.open_account("patients", "1")
    old, young = common("0.6", [("age", ">=", 65)]), common("0.6", [("age", "<", 65)])
    book.reserve(charge("patients", old, "a", "q"))
    book.reserve(charge("patients", young, "b", "q"))
    assert spent(book) == "0.6"
    female = common("0.4", [("sex", "=", "f")])
    book.reserve(charge("patients", female, "c", "q"))
    assert spent(book) == "1"
    with pytest.raises(BudgetError):
        book.reserve(charge("patients", common("0.000000001", [("sex", "=", "f"), ("age", ">", 80)]), "d", "q"))


def test_a_unit_in_two_groups_pays_for_both(book):
    book.open_account("patients", "1")
    twice = Grouping(("ward",), Region.everything(), 2, ())
    book.reserve(charge("patients", by_ward(twice, eye="0.5", stroke="0.1", surgery="0.3"), "a", "q"))
    assert spent(book) == "0.8"


def test_reservations_of_others_count_until_they_end(book):
    book.open_account("patients", "1")
    first = book.reserve(charge("patients", common("0.7"), "a", "q"))
    with pytest.raises(BudgetError):
        book.reserve(charge("patients", common("0.4"), "b", "q"))
    book.settle(first, common("0.2"), b"x", shows_levels=True)
    assert isinstance(book.reserve(charge("patients", common("0.4"), "b", "q")), Reservation)


def test_a_pending_key_waits_for_its_answer(book):
    book.open_account("patients", "1")
    reservation = book.reserve(charge("patients", common("0.4"), "k", "q"))
    with pytest.raises(PendingError, match="charged"):
        book.reserve(charge("patients", common("0.4"), "k", "q"), wait_seconds=0)
    got = []
    waiter = threading.Thread(target=lambda: got.append(book.reserve(charge("patients", common("0.4"), "k", "q"))))
    waiter.start()
    book.settle(reservation, common("0.4"), b"late")
    waiter.join()
    assert got[0].body == b"late"


def test_fifty_at_once_with_one_key_are_charged_once(book, trials):
    book.open_account("patients", "1000")
    for round_ in range(trials(3, 1000)):
        barrier, bodies = threading.Barrier(50), []

        def work(key=f"k{round_}", barrier=barrier, bodies=bodies):
            barrier.wait()
            got = book.reserve(charge("patients", common("0.1"), key, "q"))
            if isinstance(got, Reservation):
                book.settle(got, common("0.1"), b"once")
                bodies.append(b"once")
            else:
                bodies.append(got.body)

        threads = [threading.Thread(target=work) for _ in range(50)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert bodies == [b"once"] * 50
        assert book.balance("patients").spent == Epsilon("0.1") * (round_ + 1)


def test_everything_survives_reopening(book, url):
    book.open_account("patients", "2")
    book.set_cap("patients", "0.5", analyst="ada")
    ask(book, "0.3", "a", analyst="ada", release=bytes(range(256)))
    ask(book, "0.4", "b", realised="0.1", shows_levels=True)
    before = (book.balances(), book.entries())
    book.close()
    reopened = open_book(url)
    assert (reopened.balances(), reopened.entries()) == before
    assert reopened.reserve(charge("patients", common("0.3"), "a", "which wards?", analyst="ada")).body == bytes(
        range(256)
    )
    reopened.close()


def test_a_reservation_of_this_living_process_survives_another_opening(book, url):
    book.open_account("patients", "1")
    reservation = book.reserve(charge("patients", common("0.4"), "k", "q"))
    other = open_book(url)
    assert other.balance("patients").spent == Epsilon("0.4")
    book.settle(reservation, common("0.4"), b"x")
    assert other.reserve(charge("patients", common("0.4"), "k", "q")).body == b"x"
    other.close()


def test_a_clock_set_back_changes_nothing(url):
    times = iter([datetime(2026, 1, d % 27 + 1, tzinfo=UTC) for d in range(300, 0, -7)])
    store, _ = store_for(url)
    book = Book(store, None, clock=lambda: next(times))
    book.recover(make=True)
    book.open_account("patients", "1")
    ask(book, "0.5", "a")
    ask(book, "0.5", "b")
    with pytest.raises(BudgetError):
        ask(book, "0.1", "c")
    assert [entry.sequence for entry in book.entries()] == list(range(1, 7))
    book.verify()
    book.close()


def test_a_closed_book_does_not_write(book):
    book.open_account("patients", "1")
    book.close()
    with pytest.raises(LedgerStoppedError, match="Reopen"):
        book.reserve(charge("patients", common("0.1"), "k", "q"))
    book.recover()
    assert isinstance(book.reserve(charge("patients", common("0.1"), "k", "q")), Reservation)


def test_lines_tell_the_story_without_the_answer(book):
    book.open_account("patients", "1")
    ask(book, "0.1", "k", release=b"seven-beds")
    kinds = [entry.kind for entry in book.entries()]
    assert kinds == ["book", "account", "reserve", "settle"]
    forms = ("seven-beds", b"seven-beds".hex(), base64.b64encode(b"seven-beds").decode())
    assert not any(form in entry.document for form in forms for entry in book.entries())


BAD_KEYS = ["", None, 5, "x" * 1_000_000, "nul\x00", "\ud800", b"k"]


@pytest.mark.parametrize("key", BAD_KEYS, ids=lambda key: repr(key)[:12])
def test_a_bad_key_is_refused(book, key):
    book.open_account("patients", "1")
    with pytest.raises(ArgumentError, match=r"^key = "):
        book.reserve(charge("patients", common("0.1"), key, "q"))
    assert spent(book) == "0"


def test_other_bad_arguments_are_named_and_nothing_is_charged(book):
    book.open_account("patients", "1")
    reservation = book.reserve(charge("patients", common("0.1"), "k", "q"))
    cost = common("0.1")
    cases = [
        ("account", lambda: book.reserve(charge("nobody", cost, "a", "q"))),
        ("account", lambda: book.balance("nobody")),
        ("account", lambda: book.open_account("patients", "1")),
        ("account", lambda: book.open_account("", "1")),
        ("account", lambda: book.set_cap("nobody", "1")),
        ("question", lambda: book.reserve(charge("patients", cost, "a", ""))),
        ("question", lambda: book.reserve(charge("patients", cost, "a", "x" * 10**6))),
        ("analyst", lambda: book.reserve(charge("patients", cost, "a", "q", analyst=7))),
        ("worst_case", lambda: book.reserve(charge("patients", "0.1", "a", "q"))),
        ("worst_case", lambda: book.reserve(charge("patients", Epsilon("0.1"), "a", "q"))),
        ("cap", lambda: book.set_cap("patients", "0.05")),
        ("release", lambda: book.settle(reservation, cost, "text")),
        ("reservation", lambda: book.cancel(replace(reservation, sequence=999))),
        ("reservation", lambda: book.cancel(replace(reservation, written=reservation.written.replace("0.1", "0.2")))),
    ]
    bad_amounts = (True, "1,5", "１", float("nan"), -1, 1e308, 1e-320, None)
    cases += [("epsilon", lambda cap=cap: book.open_account("x", cap)) for cap in bad_amounts]
    for field, call in cases:
        with pytest.raises(AnalystError, match=rf"^{field} = "):
            call()
    assert spent(book) == "0.1"
    assert book.verify().entries == 3


def test_a_full_book_of_many_groups_stays_searchable(book, monkeypatch):
    monkeypatch.setattr("thresher.ledger.rules.MOST_GROUPS", 20)
    book.open_account("patients", "10")
    for i in range(6):
        cost = by_ward(WARDS, **{f"w{j}": f"0.{j + 1}" for j in range(i, i + 8)})
        book.settle(book.reserve(charge("patients", cost, f"k{i}", "q")), cost, b"")
    clinics = Grouping.of_rows(["clinic"])
    cost = by_ward(clinics, **{f"c{j}": "0.1" for j in range(30)})
    book.settle(book.reserve(charge("patients", cost, "last", "q")), cost, b"")
    assert sum(len(loss.amounts) for loss in book.losses("patients")) <= 20
    book.verify()


@pytest.mark.parametrize(
    "doctored", [{"account": "other"}, {"analyst": ""}, {"owner": "?"}, {"question": "r"}, {"key": "l"}]
)
def test_a_doctored_reservation_ends_nothing(book, doctored):
    book.open_account("patients", "1")
    book.open_account("other", "1")
    book.set_cap("patients", "0.5", analyst="bob")
    made = book.reserve(charge("patients", common("0.5"), "k", "q", analyst="bob"))
    before = book.balances()
    for end in (book.forfeit, book.cancel, lambda held: book.settle(held, common("0.5"), b"x")):
        with pytest.raises(ArgumentError, match="never made"):
            end(replace(made, **doctored))
    assert book.balances() == before
    book.settle(made, common("0.5"), b"x")
    assert (spent(book), spent(book, "bob")) == ("0.5", "0.5")
    assert book.balance("other").spent == Epsilon(0)
    book.verify()


def test_ending_never_passes_the_cap_however_coarse_the_book(book, monkeypatch, url):
    """Two buildings fill the cap each; shortened, their losses would add up to twice of it."""
    monkeypatch.setattr("thresher.ledger.rules.MOST_GROUPS", 10)
    book.open_account("patients", "1")
    for building in ("x", "y"):
        rooms = Grouping.of_rows(["room"], Region.where([("building", "=", building)]))
        cost = by_ward(rooms, **{f"r{i}": "1" for i in range(8)})
        reservation = book.reserve(charge("patients", cost, building, "q"))
        book.settle(reservation, cost, b"")
    assert spent(book) == "1"
    book.verify()
    book.close()
    again = open_book(url)
    assert again.balance("patients").spent == Epsilon(1)
    again.close()


def test_a_search_that_runs_out_does_not_condemn_the_book(book, monkeypatch, url):
    """Books written with little patience are whole to a reader with more, and the other way round."""
    book.open_account("patients", "3")
    monkeypatch.setattr("thresher.accounting.composition.Search.__init__", _impatient)
    kept = []
    for i in range(12):
        where = [("a", ">=", i), ("b", "<", 20 - i), ("c", "in", [i, i + 1, i + 2])]
        try:
            kept.append(book.reserve(charge("patients", common("0.4", where), f"k{i}", "q")))
        except BudgetError:
            continue
    for reservation in kept:
        book.settle(reservation, reservation.worst_case, b"")
    monkeypatch.undo()
    assert len(kept) >= 3
    book.verify()
    book.close()
    open_book(url).close()


def _impatient(search, limit):
    search._limit, search._work = 20, 0


@pytest.mark.parametrize("name", ["a\x00", 5, ["x"], "\ud800", "x" * 300, None])
def test_bad_names_never_reach_the_database(book, name):
    book.open_account("patients", "1")
    for call in (
        lambda: book.balance(name),
        lambda: book.balance("patients", name),
        lambda: book.set_cap("patients", "1", name),
        lambda: book.set_cap(name, "1"),
        lambda: book.losses(name),
        lambda: book.reserve(charge(name, common("0.1"), "k", "q")),
    ):
        with pytest.raises(ArgumentError, match=r"^(account|analyst) = "):
            call()
    ask(book, "0.1", "k")


@pytest.mark.parametrize(
    ("field", "call"),
    [
        (
            "wait_seconds",
            lambda book: book.reserve(charge("patients", common("0.1"), "k", "q"), wait_seconds=float("nan")),
        ),
        ("wait_seconds", lambda book: book.reserve(charge("patients", common("0.1"), "k", "q"), wait_seconds="1")),
        ("after", lambda book: book.entries(2**70)),
        ("after", lambda book: book.entries("x")),
        ("reservation", lambda book: book.forfeit(None)),
        ("reservation", lambda book: book.cancel(NOT_MADE)),
        ("realised", lambda book: book.settle(NOT_MADE, None, b"")),
    ],
)
def test_other_bad_calls_are_refused_by_name(book, field, call):
    book.open_account("patients", "1")
    with pytest.raises(ArgumentError, match=rf"^{field} = "):
        call(book)
    ask(book, "0.1", "k")


def test_an_interrupted_transaction_does_not_lock_others_out(book, url):
    """A connection that comes back in the middle of a transaction is not lent again."""
    book.open_account("patients", "1")
    pool = book._store._pool
    with pool.connection() as connection:
        connection.run("BEGIN")
        connection.run("UPDATE head SET sequence = sequence + 0 WHERE one = 1")
    other = open_book(url)
    ask(other, "0.1", "k")
    other.close()
    ask(book, "0.1", "l")
    assert spent(book) == "0.2"


def _spend_all(book, results):
    granted = 0
    try:
        for i in range(20):
            ask(book, "0.1", f"{os.getpid()}-{i}")
            granted += 1
    except BudgetError:
        pass
    except Exception as error:  # noqa: BLE001 - the parent must not wait for ever
        results.put(repr(error))
        return
    results.put(granted)


def test_forked_processes_share_one_budget(book, url):
    """The book is open in the parent, in use, and closed there while children go on: still one cap for all."""
    book.open_account("patients", "2")
    ask(book, "0.1", "first")
    fork = get_context("fork")
    results = fork.SimpleQueue()
    children = [fork.Process(target=_spend_all, args=(book, results)) for _ in range(3)]
    for child in children:
        child.start()
    book.close()
    other = fork.Process(target=lambda: _spend_all(open_book(url), results))
    other.start()
    granted = [results.get() for _ in range(4)]
    for child in [*children, other]:
        child.join()
    assert sum(granted) == 19
    book.recover()
    assert spent(book) == "2"


def test_a_fork_waits_for_transactions_of_other_threads(book):
    book.open_account("patients", "100")
    stop = threading.Event()

    def work():
        i = 0
        while not stop.is_set():
            ask(book, "0.000001", f"t{i}")
            i += 1

    thread = threading.Thread(target=work)
    thread.start()
    fork = get_context("fork")
    results = fork.SimpleQueue()
    try:
        for _ in range(4):
            child = fork.Process(target=_one_question, args=(book, results))
            child.start()
            assert results.get() == "granted"
            child.join()
    finally:
        stop.set()
        thread.join()
    book.verify()


def _one_question(book, results):
    try:
        ask(book, "0.1", f"child {os.getpid()}")
        results.put("granted")
    except Exception as error:  # noqa: BLE001
        results.put(repr(error))


def test_a_fork_in_the_middle_of_a_transaction_gives_a_child_that_refuses(book):
    book.open_account("patients", "1")
    fork = get_context("fork")
    results = fork.SimpleQueue()
    with book._store.reading():
        child = fork.Process(target=_one_question, args=(book, results))
        child.start()
    told = results.get()
    child.join()
    assert "forked in the middle of a transaction" in told
    ask(book, "0.1", "parent")
