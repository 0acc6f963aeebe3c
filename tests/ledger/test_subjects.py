"""An account is about one subject, from its first charge on: whoever asks with another one is refused, uncharged."""

import json
import os
import sqlite3
from contextlib import closing
from multiprocessing import get_context

import pytest
from ledger.older import plain_lines
from ledger.spendings import ROWS, charge, common

from thresher.accounting import FAMILIES, UNKNOWN, Subject
from thresher.accounting.subject import PERSONAL, STREAM, TABLE
from thresher.errors import BudgetError, BugError, DeclarationError, LedgerCorruptError
from thresher.ledger import Charge, Reservation, StoredRelease, book, open_book, rules

PATIENTS = Subject(TABLE, "patient")
STEPS = Subject(STREAM, None, "2026-01-01T00:00:00+00:00", 300, 1)


def about(subject, key="k", account="t", family="decision", analyst="", amount="0.1"):
    return charge(account, common(amount), key, "q", analyst, family=family, subject=subject)


@pytest.fixture
def opened(book):
    book.open_account("t", "1")
    return book


def test_the_first_charge_says_what_an_account_is_about(opened, url):
    assert opened.subjects() == {}
    opened.reserve(about(PATIENTS))
    assert opened.subjects() == {"t": PATIENTS}
    line = opened.entries()[-1]
    assert line.facts["family"] == "decision"
    assert line.facts["subject"] == PATIENTS
    with closing(open_book(url)) as again:
        assert again.subjects() == {"t": PATIENTS}
        again.verify()


@pytest.mark.parametrize(
    ("first", "other", "changed"),
    [
        (about(PATIENTS), about(ROWS, "l"), "unit"),
        (about(ROWS), about(PATIENTS, "l"), "unit"),
        (about(ROWS), about(Subject(PERSONAL, None), "l", family="personal count"), "kind"),
        (about(STEPS, family="stream step"), about(ROWS, "l"), "kind, start, step_seconds, protected_steps"),
        *(
            (about(STEPS, family="stream step"), about(other, "l", family="stream step"), changed)
            for other, changed in (
                (Subject(STREAM, "patient", STEPS.start, 300, 1), "unit"),
                (Subject(STREAM, None, "2025-01-01T00:00:00+00:00", 300, 1), "start"),
                (Subject(STREAM, None, STEPS.start, 60, 1), "step_seconds"),
                (Subject(STREAM, None, STEPS.start, 300, None), "protected_steps"),
            )
        ),
    ],
)
def test_another_subject_is_refused_and_charged_nothing(opened, first, other, changed):
    held = opened.reserve(first)
    lines, spent = len(opened.entries()), opened.balance("t").spent
    for analyst in ("", "ann"):
        with pytest.raises(
            DeclarationError, match=f"account t: it began with another {changed}, .*as it was"
        ) as refusal:
            opened.reserve(Charge(**{**fields(other), "analyst": analyst}))
        assert refusal.value.exit_code == 2
        assert "another name" not in str(refusal.value)
    opened.settle(held, first.worst_case, b"answer")
    with pytest.raises(DeclarationError):
        opened.reserve(other)
    assert (len(opened.entries()), opened.balance("t").spent) == (lines + 1, spent)
    opened.verify()


def fields(charged):
    return {name: getattr(charged, name) for name in Charge.__slots__}


def test_families_of_one_kind_share_an_account(opened):
    for family, kind in FAMILIES.items():
        if kind == TABLE:
            opened.reserve(about(PATIENTS, family, family=family))
    assert opened.subjects() == {"t": PATIENTS}
    opened.verify()


def test_a_denied_charge_leaves_no_subject(opened):
    with pytest.raises(BudgetError):
        opened.reserve(about(PATIENTS, amount="2"))
    assert opened.subjects() == {}
    assert isinstance(opened.reserve(about(ROWS)), Reservation)


def test_a_stored_answer_is_free_whatever_the_declaration_says_now(opened):
    opened.settle(opened.reserve(about(PATIENTS)), common("0.1"), b"answer")
    assert isinstance(opened.reserve(about(ROWS)), StoredRelease)


def test_accounts_are_about_their_own_subjects(opened):
    opened.open_account("u", "1")
    opened.reserve(about(PATIENTS))
    opened.reserve(about(ROWS, "l", account="u"))
    assert opened.subjects() == {"t": PATIENTS, "u": ROWS}


@pytest.mark.parametrize("family", ["", "guess", "Decision", None, 7, ["decision"]])
def test_a_plan_of_an_unknown_family_is_refused_and_not_skipped(opened, family):
    with pytest.raises(BugError, match="does not know the family"):
        opened.reserve(about(ROWS, family=family))
    assert len(opened.entries()) == 2


@pytest.mark.parametrize(
    ("family", "subject"),
    [
        ("decision", STEPS),
        ("decision", UNKNOWN),
        ("decision", None),
        ("decision", {"kind": "table", "unit": None}),
        ("stream step", ROWS),
        ("personal count", ROWS),
        ("diagnosis", Subject(PERSONAL, None)),
    ],
)
def test_a_plan_about_something_else_than_its_family_is_refused(opened, family, subject):
    with pytest.raises(BugError, match="does not say what its losses are about"):
        opened.reserve(about(subject, family=family))
    assert len(opened.entries()) == 2


# Races


def test_the_subject_is_checked_again_under_the_lock(opened, url, monkeypatch):
    """Both have looked, both found an account without a subject; the second to get the lock is refused."""
    reserving, looks = rules.after_reserving, []

    def beaten_to_it(desk, charged):
        standing = reserving(desk, charged)
        looks.append(charged)
        if len(looks) == 1:
            with closing(open_book(url)) as other:
                other.reserve(about(ROWS, "faster"))
        return standing

    monkeypatch.setattr(book, "after_reserving", beaten_to_it)
    with pytest.raises(DeclarationError, match="another unit"):
        opened.reserve(about(PATIENTS, "slower"))
    assert opened.subjects() == {"t": ROWS}
    assert opened.balance("t").reserved == 1
    opened.verify()


def _charges(url, account, subject, barrier, results):
    charged = 0
    try:
        with closing(open_book(url)) as mine:
            barrier.wait()
            for number in range(5):
                mine.reserve(about(subject, f"{account}-{os.getpid()}-{number}", account, amount="0.01"))
                charged += 1
    except DeclarationError:
        pass
    except BaseException as error:  # noqa: BLE001 - the parent must not wait for ever
        charged = repr(error)
    results.put((subject, charged))


def test_of_two_subjects_that_race_for_an_account_one_is_charged(opened, url, trials):
    fork = get_context("fork")
    for number in range(trials(3, 200)):
        opened.open_account(f"t{number}", "1")
        barrier, results = fork.Barrier(4), fork.Queue()
        order = [(url, f"t{number}", subject, barrier, results) for subject in (ROWS, PATIENTS) * 2]
        children = [fork.Process(target=_charges, args=arguments) for arguments in order]
        for child in children:
            child.start()
        found = [results.get() for _ in children]
        for child in children:
            child.join()
        kept = opened.subjects()[f"t{number}"]
        assert sorted(charged for _, charged in found) == [0, 0, 5, 5]
        assert {subject for subject, charged in found if charged} == {kept}
    opened.verify()


# Changed by hand, and broken rules


@pytest.mark.parametrize(
    "text",
    [
        "",
        '{"subject":{"kind":"table","unit":null}}',
        '{"subject":{"kind":"unknown","unit":null}}',
        "{}",
        "7",
        "x",
        '{"subject":{"unit":"patient"}}',
        '{"relations":["other"],"subject":{"kind":"table","unit":"patient"}}',
        '{"restored":1,"subject":{"kind":"table","unit":"patient"}}',
        '{"steps":[["stream/x",3]],"subject":{"kind":"table","unit":"patient"}}',
    ],
)
def test_a_subject_changed_by_hand_is_found(tmp_path, text):
    url = f"sqlite:///{tmp_path}/ledger.db"
    with closing(open_book(url)) as mine:
        mine.open_account("t", "1")
        mine.reserve(about(PATIENTS))
    with closing(sqlite3.connect(tmp_path / "ledger.db")) as raw, raw:
        raw.execute("UPDATE accounts SET facts = ?", (text,))
    with pytest.raises(LedgerCorruptError, match=r"account t does not agree|cannot be read"):
        open_book(url)


def test_a_line_without_a_subject_is_found(opened, monkeypatch):
    """It could be of any unit; only the migration of an older book may say of which."""
    with monkeypatch.context() as patched:
        plain_lines(patched)
        opened.reserve(about(PATIENTS))
    with pytest.raises(LedgerCorruptError, match="account t was charged, and no entry says"):
        opened.verify()


@pytest.mark.parametrize(
    ("said", "other"), [("family", "guess"), ("family", None), ("subject", STEPS), ("subject", None)]
)
def test_a_line_of_an_unknown_family_is_refused_and_not_skipped(opened, monkeypatch, said, other):
    """Also where a book is read: written as by a version that knows more families, or checks none."""
    facts = Charge.facts
    with monkeypatch.context() as patched:
        patched.setattr(rules, "check_family", lambda *_: None)
        patched.setattr(Charge, "facts", lambda *said_of: {**facts(*said_of), said: other})
        patched.setattr(rules, "_about", lambda account, subject: account)
        opened.reserve(about(PATIENTS))
    with pytest.raises(LedgerCorruptError, match=r"entry 3 .*([Ff]amily|[Ss]ubject)"):
        opened.verify()


def test_a_line_without_a_subject_is_not_written_on_an_account_that_has_one(opened, monkeypatch):
    opened.reserve(about(PATIENTS))
    plain_lines(monkeypatch)
    with pytest.raises(BugError, match="another subject"):
        opened.reserve(about(PATIENTS, "l"))
    opened.verify()


def test_a_book_that_does_not_compare_subjects_is_caught(opened, monkeypatch):
    """The power of the tests above: without the check the line itself breaks the rule, and is not written."""
    opened.reserve(about(PATIENTS))
    monkeypatch.setattr(rules, "_check_subject", lambda account, subject: None)
    with pytest.raises(BugError, match="another subject"):
        opened.reserve(about(ROWS, "l"))
    opened.verify()


def test_an_account_says_once_what_it_is_about(opened):
    opened.reserve(about(PATIENTS))
    for subject in (ROWS, PATIENTS, UNKNOWN):
        with pytest.raises(BugError, match="another subject"), opened._writing() as (_, write):
            write("subject", "t", "", {"subject": subject})
    opened.verify()


@pytest.mark.parametrize("subject", [ROWS, PATIENTS, STEPS, UNKNOWN, Subject(STREAM, "x", "2026", 1, None)])
def test_a_subject_is_written_and_read(subject):
    assert Subject.from_json(json.loads(json.dumps(subject.to_json()))) == subject
