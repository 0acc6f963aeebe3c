"""`thresher refine` as people use it, and as people misuse it."""

import json

import pytest
from cli.running import thresher
from engine.clinics import clinic

from thresher.ledger import open_book

COUNT = "SELECT ward FROM patients GROUP BY ward HAVING COUNT(*) > 30"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A clinic that was asked about once, for epsilon 0.218725417."""
    made = tmp_path_factory.mktemp("clinic")
    clinic(made)
    asked = thresher("ask", COUNT, "--uncertain-region", "10", "--mechanism", "tslm", "--key", "k", "--yes", cwd=made)
    assert asked.returncode == 0, asked.stderr
    return made


def spent(folder):
    book = open_book(f"sqlite:///{folder / 'ledger.db'}")
    try:
        return str(book.balance("patients").spent)
    finally:
        book.close()


def test_price_payment_and_what_is_left(folder):
    sharper = ("refine", COUNT, "--of", "k", "--uncertain-region", "5")
    shown = thresher(*sharper, "--plan", cwd=folder)
    assert "epsilon    0.196044266: the difference only" in shown.stdout, shown.stderr
    unasked = thresher(*sharper, cwd=folder)
    assert unasked.returncode == 2
    assert "costs epsilon 0.196044266 and needs a yes" in unasked.stderr
    assert spent(folder) == "0.218725417"
    paid = thresher(*sharper, "--yes", cwd=folder)
    assert paid.returncode == 0, paid.stderr
    assert "the difference to the measurement of the answer k. The answer is stored" in " ".join(paid.stdout.split())
    assert "left     patients: 9.58 of 10" in paid.stdout
    again = json.loads(thresher(*sharper, "--json", cwd=folder).stdout)
    assert (again["repeated"], again["key"], again["refines"]) == (True, "k/2", "k")
    other = thresher("refine", COUNT, "--of", "k", "--uncertain-region", "4", "--yes", "--json", cwd=folder)
    assert other.returncode == 2
    assert json.loads(other.stderr)["error"]["kind"] == "KeyReusedError"
    free = thresher("refine", COUNT.replace("30", "20"), "--of", "k/2", cwd=folder)
    assert "0: the measurement of the answer k/2 was read again" in free.stdout, free.stderr
    assert spent(folder) == "0.414769683"


@pytest.mark.parametrize(
    ("arguments", "code", "kind", "says"),
    [
        (["--uncertain-region", "5"], 2, "MissingParameter", "--of"),
        (["--of", "nobody", "--uncertain-region", "5"], 2, "ArgumentError", "no answer of yours about patients"),
        (["--of", "k", "--uncertain-region", "1", "--max-epsilon", "0.1"], 3, "TooDearError", "--max-epsilon"),
    ],
)
def test_refusals_have_a_kind_a_reason_and_a_code(folder, arguments, code, kind, says):
    refused = thresher("refine", COUNT, *arguments, "--yes", "--json", cwd=folder)
    assert refused.returncode == code, refused.stderr
    shape = json.loads(refused.stderr)["error"]
    assert shape["kind"] == kind
    assert says in shape["message"]
