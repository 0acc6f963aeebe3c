"""`thresher ledger accept-restore`, `forfeit`, `rename`; and `show` and `verify` where an anchor is declared."""

import json
from contextlib import closing

import pytest
from cli.running import thresher
from ledger.set_back import Copy
from ledger.spendings import ROWS, charge, common

from thresher.amounts import Epsilon
from thresher.ledger import Charge, open_book

DECLARED = """
[source]
url = "memory://"
[ledger]
url = "sqlite:///ledger.db"
anchor = "safe/ledger.anchor"
[tables.t]
budget = "1"
[tables.t.columns]
ward = { values = ["a", "b"] }
"""


@pytest.fixture
def folder(tmp_path):
    """A declared ledger with its anchor in another folder, and one answer."""
    (tmp_path / "thresher.toml").write_text(DECLARED)
    (tmp_path / "safe").mkdir()
    with closing(opened(tmp_path)) as book:
        book.open_account("t", "1")
        answer(book, "a", "0.2")
    return tmp_path


def address(folder):
    return f"sqlite:///{folder / 'ledger.db'}"


def opened(folder, **options):
    return open_book(address(folder), anchor=folder / "safe" / "ledger.anchor", **options)


def answer(book, key, amount):
    held = book.reserve(charge("t", common(amount), key, f"question {key}"))
    book.settle(held, common(amount), b"answer")


def set_back(folder):
    """Restore the copy of now, after one more answer."""
    copy = Copy(address(folder), "backup api", folder)
    with closing(opened(folder)) as book:
        answer(book, "b", "0.3")
    copy.restore()


def ledger(folder, *arguments, typed=""):
    return thresher("ledger", *arguments, cwd=folder, typed=typed)


def refused(done, code, *says):
    assert done.returncode == code, done.stderr
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    for text in says:
        assert text in done.stderr


def lines(folder):
    with closing(opened(folder)) as book:
        return [entry.kind for entry in book.entries()]


@pytest.mark.parametrize("command", ["accept-restore", "forfeit", "rename", "show", "verify"])
def test_every_command_teaches(command, tmp_path):
    shown = ledger(tmp_path, command, "--help")
    assert shown.returncode == 0
    assert f"ledger {command}" in shown.stdout
    assert "--json" in shown.stdout


# The declared anchor


@pytest.mark.parametrize("command", ["verify", "show"])
def test_the_declared_anchor_is_used(folder, command):
    whole = ledger(folder, command)
    assert whole.returncode == 0, whole.stderr
    assert not (folder / "ledger.db.anchor").exists()
    set_back(folder)
    refused(ledger(folder, command), 4, "older copy", "thresher ledger accept-restore")
    (folder / "safe" / "ledger.anchor").unlink()
    refused(ledger(folder, command), 4, "safe/ledger.anchor is missing", "--accept-anchor")


def test_a_declared_anchor_is_made_anew_where_it_is_declared(folder):
    place = folder / "safe" / "ledger.anchor"
    place.unlink()
    assert ledger(folder, "verify", "--accept-anchor").returncode == 0
    assert place.exists()
    assert not (folder / "ledger.db.anchor").exists()


@pytest.mark.parametrize("content", [b"", b"x" * 99, b"{}"])
def test_a_declared_anchor_that_says_nothing_is_refused(folder, content):
    (folder / "safe" / "ledger.anchor").write_bytes(content)
    for arguments in (["verify"], ["show"], ["accept-restore", "--yes"]):
        refused(ledger(folder, *arguments), 4, "cannot be read")


def test_the_anchor_of_another_ledger_is_refused(folder):
    other = f"sqlite:///{folder / 'other.db'}"
    open_book(other).close()
    (folder / "safe" / "ledger.anchor").write_bytes((folder / "other.db.anchor").read_bytes())
    for arguments in (["verify"], ["accept-restore", "--yes"]):
        refused(ledger(folder, *arguments), 4, "the anchor belongs to another ledger")


# accept-restore


def test_a_restored_ledger_is_accepted_and_charged(folder):
    set_back(folder)
    done = ledger(folder, "accept-restore", "--yes")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "The backup had forgotten 2 entries. Charged now, for every group:",
        "  t: 0.5 spent (the backup knew of 0.2)",
    ]
    assert ledger(folder, "verify").returncode == 0
    shown = json.loads(ledger(folder, "show", "--json").stdout)
    assert shown["accounts"][0]["spent"] == "0.5"
    assert shown["accounts"][0]["regions"] == [{"region": "all rows", "loss": "0.5"}]
    assert shown["entries"][-1]["kind"] == "restore"
    refused(ledger(folder, "accept-restore", "--yes"), 2, "contains all that this anchor has seen")


def test_it_is_accepted_as_json_and_with_another_anchor(folder):
    set_back(folder)
    newest = folder / "from another host"
    (folder / "safe" / "ledger.anchor").rename(newest)
    done = ledger(folder, "accept-restore", "--yes", "--json", "--anchor", str(newest))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {
        "charged": [{"account": "t", "analyst": "", "before": "0.2", "spent": "0.5"}],
        "forgotten_entries": 2,
    }


@pytest.mark.parametrize("typed", ["", "n\n"])
def test_without_a_yes_nothing_is_accepted(folder, typed):
    set_back(folder)
    before = (folder / "ledger.db").read_bytes()
    done = ledger(folder, "accept-restore", typed=typed)
    assert done.returncode != 0
    assert done.stdout == ""
    assert (folder / "ledger.db").read_bytes() == before
    refused(ledger(folder, "verify"), 4, "older copy")


def test_what_cannot_be_accepted_is_refused(folder):
    refused(ledger(folder, "accept-restore", "--yes"), 2, "contains all that this anchor has seen")
    refused(ledger(folder, "accept-restore", "--yes", "--anchor", "nowhere"), 2, "there is no such file")
    (folder / "safe" / "ledger.anchor").unlink()
    refused(ledger(folder, "accept-restore", "--yes"), 2, "there is no such file")


# forfeit


def reserved(folder, **options):
    """The entry of an open reservation whose owner cannot be looked up from here."""
    with closing(opened(folder, **options)) as book:
        return book.reserve(charge("t", common("0.3"), "open", "question"))


def test_an_open_reservation_is_listed_and_ended(folder):
    entry = reserved(folder).sequence
    shown = ledger(folder, "show")
    assert "1 open" in shown.stdout
    assert f"{entry:>5}  t, leased until 20" in shown.stdout
    assert "key open" in shown.stdout
    (waiting,) = json.loads(ledger(folder, "show", "--json").stdout)["open"]
    assert (waiting["entry"], waiting["account"], waiting["key"], waiting["lapsed"]) == (entry, "t", "open", False)
    assert "open" not in json.loads(ledger(folder, "show", "--json", "--analyst", "ann").stdout)
    done = ledger(folder, "forfeit", str(entry))
    assert done.stdout == f"Entry {entry} is forfeited. Its account has spent 0.5; nothing is given back.\n"
    assert json.loads(ledger(folder, "show", "--json").stdout)["open"] == []
    refused(ledger(folder, "forfeit", str(entry)), 2, "no open reservation has this number", "thresher ledger show")
    assert lines(folder)[-2:] == ["reserve", "forfeit"]


def test_it_is_ended_as_json(folder):
    entry = reserved(folder).sequence
    done = ledger(folder, "forfeit", str(entry), "--json")
    assert json.loads(done.stdout) == {"entry": entry, "spent": "0.5"}


@pytest.mark.parametrize("entry", ["1", "3", "999", "0", "1" * 30])
def test_what_is_not_an_open_reservation_is_not_ended(folder, entry):
    before = lines(folder)
    refused(ledger(folder, "forfeit", entry), 2, "no open reservation has this number")
    assert lines(folder) == before


def test_a_number_is_needed(folder):
    assert ledger(folder, "forfeit").returncode == 2
    assert ledger(folder, "forfeit", "x").returncode == 2
    assert ledger(folder, "forfeit", "--", "-1").returncode == 2


# rename, and the rows of an account


def test_an_account_is_renamed_with_all_that_it_has_lost(folder):
    done = ledger(folder, "rename", "t", "visits")
    assert done.stdout == "The account t is called visits now: 0.2 of 1 spent.\n"
    assert lines(folder)[-1] == "rename"
    done = ledger(folder, "rename", "visits", "t", "--json")
    assert json.loads(done.stdout) == {"old": "visits", "new": "t", "spent": "0.2"}
    assert ledger(folder, "verify").returncode == 0


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("nobody", "x", "no budget of this name"),
        ("t", "u", "two accounts cannot become one"),
        ("t", "", "a text of 1 to 200"),
    ],
)
def test_names_that_cannot_be_given_are_refused(folder, old, new, says):
    with closing(opened(folder)) as book:
        book.open_account("u", "1")
        book.reserve(charge("u", common("0.1"), "u", "question"))
    before = lines(folder)
    refused(ledger(folder, "rename", old, new), 2, says)
    assert lines(folder) == before


def test_the_curator_sees_which_rows_an_account_was_charged_for(folder):
    with closing(opened(folder)) as book:
        book.reserve(Charge("t", common("0.1"), "k", "q", "decision", ROWS, "ann", ("public.visits", "public.stays")))
        assert book.balance("t").spent == Epsilon("0.3")
    shown = ledger(folder, "show")
    assert "  t: public.stays, public.visits" in shown.stdout.splitlines()
    document = json.loads(ledger(folder, "show", "--json").stdout)
    assert [held["relations"] for held in document["accounts"]] == [["public.stays", "public.visits"], []]
    analyst = ledger(folder, "show", "--analyst", "ann")
    assert "public.stays" not in analyst.stdout


@pytest.mark.parametrize("command", [["accept-restore", "--yes"], ["forfeit", "3"], ["rename", "a", "b"]])
def test_no_ledger_is_made_by_a_repair(tmp_path, command):
    done = ledger(tmp_path, *command)
    assert done.returncode in (2, 4)
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.glob("ledger.db"))
