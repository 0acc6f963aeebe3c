import json
import subprocess
import sys
from contextlib import closing

import numpy as np
import pyarrow as pa
import pytest
from cli.running import thresher
from ledger.older import copied
from ledger.spendings import by_ward, charge, common

import thresher as product
from thresher.ledger import open_book
from thresher.ledger.book_page import book_page
from thresher.pages.html_text import html_of


@pytest.fixture
def url(tmp_path):
    """A book with two tables, an analyst, an answered question each, and one that is still open."""
    address = f"sqlite:///{tmp_path / 'ledger.db'}"
    book = open_book(address)
    book.open_account("patients", "1")
    book.open_account("visits", "2")
    book.set_cap("patients", "0.5", analyst="ada")
    cost = by_ward(eye="0.1", stroke="0.5")
    book.settle(book.reserve(charge("patients", cost, "a", "which wards?")), cost, b"secret 7919")
    old = common("0.5", [("age", ">=", 65)])
    book.settle(
        book.reserve(charge("patients", old, "b", "which \x1b[31m[bold]old?", analyst="ada")), old, b"secret 104729"
    )
    book.close()
    return address


def test_the_curator_sees_budgets_bars_regions_and_entries(url):
    shown = thresher("ledger", "show", "--ledger", url)
    assert shown.returncode == 0, shown.stderr
    lines = shown.stdout.splitlines()
    assert f"  patients        1 of 1 spent     {'█' * 24} 100%" in lines
    assert f"  patients / ada  0.5 of 0.5 spent {'█' * 24} 100%" in lines
    assert "ward = 'stroke'" in shown.stdout
    assert "which wards?" in shown.stdout
    assert "\x1b" not in shown.stdout
    assert "\\x1b[31m[bold]old?" in shown.stdout
    assert "7919" not in shown.stdout
    assert "104729" not in shown.stdout


def test_an_analyst_sees_their_own_and_no_regions(url):
    document = json.loads(thresher("ledger", "show", "--ledger", url, "--analyst", "ada", "--json").stdout)
    assert [held["analyst"] for held in document["accounts"]] == ["ada"]
    assert document["accounts"][0]["remaining"] == "0"
    assert "regions" not in document["accounts"][0]
    assert {line["analyst"] for line in document["entries"]} == {"ada"}


def test_json_gives_exact_amounts(url):
    document = json.loads(thresher("ledger", "show", "--ledger", url, "--json").stdout)
    patients = next(held for held in document["accounts"] if held["account"] == "patients" and not held["analyst"])
    assert (patients["spent"], patients["cap"], patients["remaining"]) == ("1", "1", "0")
    assert {row["region"]: row["loss"] for row in patients["regions"]}["ward = 'eye'"] == "0.6"


def test_a_whole_book_verifies(url):
    told = thresher("ledger", "verify", "--ledger", url)
    assert told.returncode == 0
    assert told.stdout.startswith("Intact: 8 entries, 3 accounts and 2 releases agree.")
    document = json.loads(thresher("ledger", "verify", "--ledger", url, "--json").stdout)
    assert (document["whole"], document["entries"], len(document["head"])) == (True, 8, 64)


def test_a_missing_anchor_is_refused_until_it_is_accepted(url, tmp_path):
    (tmp_path / "ledger.db.anchor").unlink()
    refused = thresher("ledger", "verify", "--ledger", url)
    assert refused.returncode == 4
    assert "--accept-anchor" in refused.stderr
    assert thresher("ledger", "verify", "--ledger", url, "--accept-anchor").returncode == 0
    assert thresher("ledger", "verify", "--ledger", url).returncode == 0


@pytest.mark.parametrize("command", ["show", "verify"])
def test_what_is_not_a_ledger_is_refused_and_not_made(command, tmp_path):
    (tmp_path / "text").write_text("no ledger" * 1000)
    cases = {f"sqlite:///{tmp_path / 'none.db'}": 4, f"sqlite:///{tmp_path / 'text'}": 4, f"sqlite:///{tmp_path}": 4}
    cases |= {"ledger.db": 2, "mysql://x": 2, "postgresql://127.0.0.1:1/none": 4}
    for address, code in cases.items():
        refused = thresher("ledger", command, "--ledger", address)
        assert refused.returncode == code, refused.stderr
        assert refused.stderr.count("\n") == 1
        assert "Traceback" not in refused.stderr
    assert not (tmp_path / "none.db").exists()


def test_a_missing_driver_is_named_with_its_remedy():
    program = "import sys; sys.modules['psycopg'] = None; from thresher.cli import main; main()"
    command = [sys.executable, "-c", program, "ledger", "show", "--ledger", "postgresql://127.0.0.1/x"]
    refused = subprocess.run(command, capture_output=True, text=True, check=False)
    assert refused.returncode == 4
    assert "thresher[postgres]" in refused.stderr


def test_names_are_inert_on_the_terminal(tmp_path):
    address = f"sqlite:///{tmp_path / 'ledger.db'}"
    book = open_book(address)
    book.open_account("\x1b[31mred\u202e[bold]:bomb:", "1")
    book.open_account("<script>", "1")
    cost = common("0.1", [("\x1b[2Jcolumn", "=", "x")])
    book.settle(book.reserve(charge("\x1b[31mred\u202e[bold]:bomb:", cost, "k", "q", analyst="\nada")), cost, b"")
    page = html_of(book_page(book, None, 10))
    book.close()
    shown = thresher("ledger", "show", "--ledger", address).stdout
    for text in (shown, page):
        assert "\x1b" not in text
        assert "\u202e" not in text
        assert "[bold]:bomb:" in text
    assert "<script>" not in page


def test_a_password_is_never_repeated():
    for address in (
        "postgresql+psycopg://bob:hunter2@db/x",
        "Postgres://bob:hunter2@db/x",
        "bob:hunter2@db/x",
        "host=db password=hunter2",
        "postgresql://bob:hunter2@127.0.0.1:1/x",
    ):
        for more in ([], ["--json"]):
            refused = thresher("ledger", "show", "--ledger", address, *more)
            assert refused.returncode in (2, 4)
            assert "hunter2" not in refused.stdout + refused.stderr


def test_an_empty_analyst_is_not_the_curator(url):
    assert thresher("ledger", "show", "--ledger", url, "--analyst", "").returncode == 2


DECLARED = """
[source]
url = "memory://"
[ledger]
url = "sqlite:///ledger.db"
[tables.loans]
budget = "3"
[tables.loans.columns]
bad = { min = 0, max = 1 }
risk = { min = 0, max = 1, step = 0.01 }
ward = { values = ["eye", "ear"] }
[tables.members]
budget_column = "allowed"
budget_roster = { table = "roster", column = "eps" }
[tables.members.columns]
allowed = { min = 0, max = 1, step = 0.1, missing = 0 }
ward = { values = ["eye", "ear"] }
[public_tables.roster]
[streams.campus]
states = ["library", "gym"]
start = 2026-03-02T00:00:00Z
step_seconds = 300
epsilon = "0.5"
budget = "0.5"
"""
ROWS = 1_000
WARDS = ["eye", "ear"] * (ROWS // 2)


@pytest.fixture(scope="module")
def answered(tmp_path_factory):
    """A folder whose ledger holds one question of each family, asked as people ask them."""
    folder = tmp_path_factory.mktemp("answered")
    (folder / "thresher.toml").write_text(DECLARED)
    allowed = np.repeat([0.2, 0.4], ROWS // 2)
    tables = {
        "loans": pa.table({"bad": np.arange(ROWS) % 2, "risk": np.arange(ROWS) % 100 / 100, "ward": WARDS}),
        "members": pa.table({"allowed": allowed, "ward": WARDS}),
        "roster": pa.table({"eps": allowed}),
    }
    with closing(product.open(folder / "thresher.toml", tables=tables)) as engine:
        engine.decide(
            "select ward from loans group by ward having count(*) > 100", uncertain_region=25, mechanism="tslm"
        )
        engine.diagnose("roc", table="loans", label="bad", score="risk", epsilon="0.1")
        engine.personal_count("SELECT ward, COUNT(*) FROM members GROUP BY ward", share="0.2")
        with engine.stream("campus") as stream:
            stream.put_counts(stream.next_step, [3, 4])
    return folder


def test_every_family_of_questions_is_shown_in_words(answered):
    shown = thresher("ledger", "show", "--entries", "99", cwd=answered)
    assert shown.returncode == 0, shown.stderr
    document = json.loads(thresher("ledger", "show", "--entries", "99", "--json", cwd=answered).stdout)
    questions = [entry["question"] for entry in document["entries"] if entry["kind"] == "reserve"]
    assert questions == [
        "SELECT ward FROM loans GROUP BY ward HAVING COUNT(*) >= 101",
        "roc diagnostic: label bad, score risk",
        "SELECT ward, COUNT(*) FROM members GROUP BY ward",
        "step 0 of the stream campus",
    ]
    assert [entry["mechanism"] for entry in document["entries"] if "mechanism" in entry] == ["tslm"]
    assert "by tslm, key " in shown.stdout
    for question in questions:
        assert question[:20] in shown.stdout
    assert "{" not in shown.stdout


def test_questions_of_earlier_versions_are_shown_in_words(tmp_path):
    copied("version_2", tmp_path)
    shown = thresher("ledger", "show", "--entries", "99", cwd=tmp_path)
    for text in ("SELECT ward FROM visits", "binned diagnostic: ill, risk", "by weighted, key", "step 0 of the stream"):
        assert text in shown.stdout
    assert "{" not in shown.stdout


def test_a_file_name_is_not_an_address_and_the_address_is_given(tmp_path):
    refused = thresher("ledger", "show", "--ledger", "foo.db", cwd=tmp_path)
    assert refused.returncode == 2
    assert "--ledger = 'foo.db' is refused: it must be sqlite:///FILE or postgresql://" in refused.stderr
    assert refused.stderr.endswith("For this file use sqlite:///foo.db.\n")


@pytest.mark.parametrize("said", ["campus", {"name": "campus", "epsilon": "0.5"}], ids=["older", "present"])
def test_a_step_is_listed_by_its_stream_and_a_reservation_that_is_open_is_told(tmp_path, said):
    address = f"sqlite:///{tmp_path / 'ledger.db'}"
    book = open_book(address)
    book.open_account("stream:campus", "1")
    question = json.dumps({"identity": "stream 1", "step": 3, "stream": said})
    book.reserve(charge("stream:campus", common("0.1"), "k", question))
    book.close()
    shown = thresher("ledger", "show", "--ledger", address).stdout
    assert shown.startswith("  stream:campus  0.1 of 1 spent, 1 open ██·")
    assert "step 3 of the stream campus\n" in shown


def test_how_a_question_was_asked_and_what_it_got_back_is_shown(tmp_path):
    address = f"sqlite:///{tmp_path / 'ledger.db'}"
    book = open_book(address)
    book.open_account("patients", "1")
    sql = f"SELECT ward FROM patients WHERE ward IN ({', '.join(map(repr, range(100)))}) HAVING COUNT(*) > 7919"
    identity = json.dumps({"mechanism": "ppwlm", "question": sql})
    book.settle(
        book.reserve(charge("patients", common("0.5"), "march", identity)), common("0.2"), b"", shows_levels=True
    )
    book.close()
    shown = thresher("ledger", "show", "--ledger", address)
    assert shown.returncode == 0, shown.stderr
    lines = shown.stdout.splitlines()
    assert lines[0].startswith("  patients  0.2 of 1 spent █")
    assert lines[0].endswith(" 20%")
    assert "0.2  all rows" in shown.stdout
    asked, how, ended = lines[-3:]
    assert "SELECT ward FROM" in asked
    assert asked.endswith("COUNT(*) > 7919")
    assert how.strip() == "by ppwlm, key march"
    assert ended.endswith("0.2         of entry 3, 0.3 given back")
    assert max(map(len, lines)) <= 118
    told = thresher("ledger", "verify", "--ledger", address)
    assert told.stdout.startswith("Intact: 4 entries, 1 account and 1 release agree.")
    document = json.loads(thresher("ledger", "show", "--ledger", address, "--json").stdout)
    assert document["entries"][-1]["given_back"] == "0.3"


@pytest.mark.parametrize(
    ("end", "charged", "given_back"), [("settle", "0.5", "0"), ("forfeit", "0.5", "0"), ("cancel", "0", "0.5")]
)
def test_the_end_of_a_question_shows_what_was_charged(tmp_path, end, charged, given_back):
    """Without stopping levels in the answer the worst case is charged, so nothing is shown as given back."""
    address = f"sqlite:///{tmp_path / 'ledger.db'}"
    book = open_book(address)
    book.open_account("patients", "1")
    reservation = book.reserve(charge("patients", common("0.5"), "march", "which wards?"))
    more = (common("0.2"), b"") if end == "settle" else ()
    getattr(book, end)(reservation, *more)
    spent = book.balance("patients").spent.to_json()
    book.close()
    last = json.loads(thresher("ledger", "show", "--ledger", address, "--json").stdout)["entries"][-1]
    assert (last["kind"], last["epsilon"], last["given_back"], spent) == (end, charged, given_back, charged)


def test_regions_that_are_not_listed_are_counted(tmp_path):
    address = f"sqlite:///{tmp_path / 'ledger.db'}"
    book = open_book(address)
    book.open_account("patients", "1")
    cost = by_ward(**{f"w{i}": "0.1" for i in range(20)})
    book.settle(book.reserve(charge("patients", cost, "a", "which wards?")), cost, b"")
    book.close()
    shown = thresher("ledger", "show", "--ledger", address).stdout
    regions = json.loads(thresher("ledger", "show", "--ledger", address, "--json").stdout)["accounts"][0]
    assert f"patients by region (the 12 most exposed of {regions['regions_in_all']})" in shown
    assert regions["regions_in_all"] >= 20
    assert len(regions["regions"]) == 12
