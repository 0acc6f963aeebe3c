"""`init`, `plan` and `ask` as people use them, and as people misuse them."""

import json
import os
import pty
import re
import shlex
import signal
import subprocess
import sys
import time

import duckdb
import pytest
from cli.running import in_shell, process, thresher
from engine.clinics import DECLARATIONS, clinic

from thresher.cli.ask import plan_command
from thresher.decisions.decision_options import NAMES
from thresher.demo import build

COUNT = "SELECT ward FROM patients GROUP BY ward HAVING COUNT(*) > 30"


@pytest.fixture
def folder(tmp_path):
    clinic(tmp_path)
    return tmp_path


def ledger(folder):
    shown = thresher("ledger", "show", "--json", cwd=folder)
    return json.loads(shown.stdout)


def test_a_plan_explains_and_spends_nothing(folder):
    shown = thresher("plan", COUNT, "--uncertain-region", "10", "--mechanism", "tslm", cwd=folder)
    assert shown.returncode == 0, shown.stderr
    for text in ("COUNT(*) > 30: within 10 ", "cost       0.219 (epsilon)", "10 of 10 left; at least 9.78 after this"):
        assert text in shown.stdout, text
    assert "any answer is at most 1.25 times as likely with one row as without" in " ".join(shown.stdout.split())
    assert len(shown.stdout.splitlines()) <= 24
    shown = thresher("plan", COUNT, "--uncertain-region", "10", "--mechanism", "tslm", "--details", cwd=folder)
    assert "epsilon    0.218725417" in shown.stdout
    assert "half the half width would cost 0.414" in shown.stdout
    assert not (folder / "ledger.db").exists()
    document = json.loads(
        thresher("plan", COUNT, "--uncertain-region", "10", "--mechanism", "tslm", "--json", cwd=folder).stdout
    )
    assert document["epsilon"] == "0.218725417"


def test_an_answer_is_paid_for_once(folder):
    arguments = ("ask", COUNT, "--uncertain-region", "10", "--mechanism", "tslm", "--yes")
    first, again = (thresher(*arguments, cwd=folder) for _ in range(2))
    assert first.returncode == again.returncode == 0, first.stderr
    assert "asking again is free" in first.stdout
    assert "This is the stored answer" in again.stdout
    assert ledger(folder)["accounts"][0]["spent"] == "0.218725417"
    document = json.loads(thresher(*arguments, "--json", cwd=folder).stdout)
    assert document["repeated"] is True
    assert document["budget"]["spent"] == "0.218725417"
    entry = next(line for line in ledger(folder)["entries"] if line["kind"] == "reserve")
    assert "HAVING" in entry["question"]


def test_nobody_is_charged_unasked(folder):
    shown = process("ask", COUNT, "--uncertain-region", "10", "--mechanism", "tslm", cwd=folder)
    assert shown.returncode == 2
    assert "--yes was not given: this question costs epsilon 0.218725417 and needs a yes" in shown.stderr
    assert ledger(folder)["accounts"][0]["spent"] == "0"


@pytest.mark.parametrize(("typed", "code", "spent"), [(b"y\n", 0, "0.218725417"), (b"n\n", 2, "0")])
def test_a_person_is_shown_the_price_and_asked(folder, typed, code, spent):
    controller, terminal = pty.openpty()
    command = [sys.executable, "-m", "thresher", "ask", COUNT, "--uncertain-region", "10", "--mechanism", "tslm"]
    with subprocess.Popen(
        command, stdin=terminal, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder
    ) as asking:
        os.write(controller, typed)
        _, told = asking.communicate(timeout=60)
    os.close(controller)
    os.close(terminal)
    assert asking.returncode == code
    assert b"This costs epsilon 0.218725417. Left: 10 of 10." in told
    assert ledger(folder)["accounts"][0]["spent"] == spent


def test_the_question_may_come_from_a_file_or_from_standard_input(folder):
    (folder / "q.sql").write_text(COUNT)
    for sql, typed in (("@q.sql", ""), ("-", COUNT)):
        shown = thresher(
            "plan", sql, "--uncertain-region", "10", "--mechanism", "tslm", "--json", typed=typed, cwd=folder
        )
        assert json.loads(shown.stdout)["epsilon"] == "0.218725417"
    for bad in ("@nothing.sql", f"@{folder}"):
        refused = thresher("plan", bad, cwd=folder)
        assert refused.returncode == 2
        assert "it is not a UTF-8 text file that can be read" in refused.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "kind", "says"),
    [
        (["plan", "SELECT * FROM patients"], 2, "QuestionError", "Row-level output is never released"),
        (["plan", COUNT, "--miss-rate", "1.5"], 2, "ArgumentError", "above 0 and at most 1"),
        (["plan", COUNT, "--levels", "3"], 2, "ArgumentError", "--levels = '3' is refused: it does not apply"),
        (["plan", COUNT, "--levels", "3"], 2, "ArgumentError", "or pass --mechanism ppwlm or dppwlm"),
        (["plan", COUNT, "--mechanism", "certifed"], 2, "ArgumentError", "Did you mean certified?"),
        (["plan", COUNT, "--show", "valuse"], 2, "BadParameter", "Did you mean 'values'?"),
        (["plan", COUNT, "--mis-rate", "0.1"], 2, "NoSuchOption", "Did you mean '--miss-rate'?"),
        (["ask", COUNT, "--yse"], 2, "NoSuchOption", "Did you mean"),
        (["aks", COUNT], 2, "NoSuchCommand", "Did you mean 'ask'?"),
        (["ledger", "shwo"], 2, "NoSuchCommand", "Did you mean 'show'?"),
        (["diagnose", "rco", "--table", "patients"], 2, "BadParameter", "Did you mean 'roc'?"),
        (["plan", COUNT, "--miss-rate", "０.1"], 2, "ArgumentError", "finite number"),
        (["plan", COUNT, "--config", "nowhere.toml"], 2, "DeclarationError", "thresher init"),
        (["plan", COUNT, "--config", "."], 2, "DeclarationError", ""),
        (["ask", COUNT, "--yes", "--uncertain-region", "0.1"], 3, "BudgetError", ""),
        (
            ["ask", COUNT, "--yes", "--uncertain-region", "5", "--max-epsilon", "0.000001"],
            3,
            "TooDearError",
            "0.000001, the --max-epsilon.",
        ),
        (["ask", COUNT, "--yes", "--confidence", "0.98"], 2, "ArgumentError", "no certificate"),
    ],
)
def test_refusals_have_a_kind_a_reason_and_a_code(tmp_path, arguments, code, kind, says):
    clinic(tmp_path, declarations=DECLARATIONS.replace('"10"', '"0.01"'))
    refused = thresher(*arguments, "--json", cwd=tmp_path)
    assert refused.returncode == code, refused.stderr
    shape = json.loads(refused.stderr)["error"]
    assert shape["kind"] == kind
    assert says in shape["message"]
    assert refused.stdout == ""
    assert says in thresher(*arguments, cwd=tmp_path).stderr


def test_a_source_that_is_not_there_is_exit_code_four(folder):
    (folder / "clinic.duckdb").unlink()
    refused = thresher("ask", COUNT, "--yes", cwd=folder)
    assert refused.returncode == 4
    assert str(folder) not in refused.stderr or "clinic.duckdb" in refused.stderr


def has_reserved(folder):
    """Whether another process has reserved already; while it makes the ledger, looking at it may be refused."""
    shown = thresher("ledger", "show", "--json", cwd=folder)
    return shown.returncode == 0 and any(line["kind"] == "reserve" for line in json.loads(shown.stdout)["entries"])


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_interrupted_in_the_middle_it_says_what_was_charged(tmp_path, name):
    """Ctrl-C, or another request to stop, while the source is read: the worst case is lost, said, and remembered."""
    clinic(tmp_path)
    with duckdb.connect(str(tmp_path / "clinic.duckdb")) as connection:
        # A view that takes minutes to read, so that there is time to interrupt.
        connection.execute("ALTER TABLE patients RENAME TO few")
        endless = "few, range(3000000) a, range(3000000) b WHERE a.range <> -b.range"
        connection.execute(f"CREATE VIEW patients AS SELECT ward, age FROM {endless}")
    command = [
        sys.executable,
        "-m",
        "thresher",
        "ask",
        COUNT,
        "--yes",
        "--uncertain-region",
        "10",
        "--mechanism",
        "tslm",
        "--key",
        "k",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path) as asking:
        try:
            deadline = time.monotonic() + 60
            while time.monotonic() < deadline and not has_reserved(tmp_path):
                time.sleep(0.1)
            time.sleep(0.5)
            asking.send_signal(getattr(signal, name))
            _, told = asking.communicate(timeout=60)
        finally:
            asking.kill()
    assert asking.returncode == 130, told
    assert "Charged 0.218725417: data may have been read" in told
    assert [line["kind"] for line in ledger(tmp_path)["entries"]][-2:] == ["reserve", "forfeit"]
    lost = thresher(
        "ask", COUNT, "--yes", "--uncertain-region", "10", "--mechanism", "tslm", "--key", "k", cwd=tmp_path
    )
    assert lost.returncode == 3
    assert "the question with the key 'k' was charged 0.218725417 on " in lost.stderr
    assert "its answer was lost. To ask anew and pay anew, add --key NAME with a name that was not used" in lost.stderr


def test_a_question_on_standard_input_that_is_not_utf_8_is_refused(folder):
    done = in_shell(r"printf '\xff\xfe SELECT' | $THRESHER plan -", cwd=folder)
    assert done.returncode == 2
    assert "standard input is not UTF-8 text" in done.stderr
    assert in_shell(f"echo {shlex.quote(COUNT)} | $THRESHER plan --within 10 -", cwd=folder).returncode == 0


def test_names_in_the_data_cannot_steer_the_terminal(tmp_path):
    declared = DECLARATIONS.replace('["A", "B", "C", "D"]', r'["A\u001b[31m", "[bold]B", "C\u202e", "D"]')
    clinic(tmp_path, rows=[("A\x1b[31m", 3)] * 90, declarations=declared)
    shown = thresher("ask", COUNT, "--yes", "--uncertain-region", "10", "--mechanism", "tslm", "--all", cwd=tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert "\x1b" not in shown.stdout
    assert "\u202e" not in shown.stdout
    assert r"A\x1b[31m" in shown.stdout
    assert "[bold]B" in shown.stdout


def test_init_writes_a_starter_from_the_catalogue_alone(folder):
    (folder / "thresher.toml").unlink()
    made = thresher("init", "duckdb:///clinic.duckdb", cwd=folder)
    assert made.returncode == 0, made.stderr
    text = (folder / "thresher.toml").read_text()
    assert "[tables.patients]" in text
    assert "___" in text
    for row_value in ("80", '"A"', "'A'"):
        assert row_value not in text
    blank = thresher("plan", COUNT, cwd=folder)
    assert blank.returncode == 2
    assert "___" in blank.stderr
    assert "line" in blank.stderr
    again = thresher("init", "duckdb:///clinic.duckdb", cwd=folder)
    assert again.returncode == 2
    assert "exists already" in again.stderr
    other = thresher("init", "duckdb:///clinic.duckdb", "--table", "nobody", "--output", "x.toml", cwd=folder)
    assert other.returncode == 2
    assert "It has: patients" in other.stderr


def test_with_false_alarms_first_only_the_reported_are_listed(tmp_path):
    # D meets its condition by one row, which no look at this price can tell from its opposite.
    clinic(tmp_path, rows=[("A", 3)] * 95 + [("D", 1)] * 31)
    rates = ("--false-alarm-rate", "0.000000001", "--miss-rate", "0.000000001")
    seed = ("ask", COUNT, "--mechanism", "tslm", "--uncertain-region", "40", "--bound", "false-alarms", *rates)
    shown = thresher(*seed, "--yes", cwd=tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert "uncertain" in shown.stdout.split("groups:")[1]
    assert "uncertain" not in shown.stdout.split(" groups:")[0]
    assert "--all lists uncertain too" in shown.stdout
    every = thresher(*seed, "--yes", "--all", cwd=tmp_path)
    assert "uncertain" in every.stdout.split(" groups:")[0]
    assert "--all" not in every.stdout


def test_an_answer_with_many_uncertain_groups_ends_with_the_command_that_measures_more_finely(tmp_path):
    clinic(tmp_path, rows=[("A", 3)] * 95 + [("D", 1)] * 31)
    long = " AND ".join(["COUNT(*) > 10"] * 8)
    sql = f"{COUNT}\n   AND COUNT(*) FILTER (WHERE ward <> 'C') > -1 -- a remark\n   AND {long}"
    (tmp_path / "thresher.toml").rename(tmp_path / "my clinic.toml")
    asked = (
        "ask",
        sql,
        "--mechanism",
        "tslm",
        "--uncertain-region",
        "40",
        "--miss-rate",
        "0.000000001",
        "--yes",
        "-c",
        "my clinic.toml",
    )
    shown = thresher(*asked, cwd=tmp_path)
    assert "uncertain. To measure twice as finely, for 0.478 more:" in " ".join(shown.stdout.split()), shown.stdout
    lines = shown.stdout.splitlines()
    first = next(i for i, line in enumerate(lines) if line.strip().startswith("thresher refine"))
    command = shlex.split("\n".join(lines[first : first + 4]).replace("\\\n", " "))[:9]
    assert command[2] == sql
    finer = thresher(*command[1:], "--yes", "--json", cwd=tmp_path)
    assert finer.returncode == 0, finer.stderr
    assert json.loads(finer.stdout)["half_width"] == "20"
    again = thresher(*asked, cwd=tmp_path).stdout
    assert "To measure twice as finely" not in again, "an answer is refined once"


def test_where_the_budget_does_not_pay_for_twice_as_fine_it_says_for_what_it_pays(tmp_path):
    clinic(tmp_path, rows=[("A", 3)] * 95 + [("D", 1)] * 31, declarations=DECLARATIONS.replace('"10"', '"0.6"'))
    asked = ("ask", COUNT, "--mechanism", "tslm", "--uncertain-region", "40", "--miss-rate", "0.000000001", "--yes")
    text = " ".join(thresher(*asked, cwd=tmp_path).stdout.split())
    assert "groups are uncertain. With --max-epsilon 0.1" in text
    assert "thresher refine" not in text


def test_the_plan_of_an_ordinary_question_fits_on_one_screen(tmp_path):
    """Two keys, people, a count and an average: what it costs, how sharp it is and what is promised, at one sight."""
    build(tmp_path)
    sql = "SELECT disease, gender FROM patients GROUP BY disease, gender HAVING COUNT(*) > 750 AND AVG(age) > 60"
    shown = thresher("plan", sql, cwd=tmp_path)
    assert shown.returncode == 0, shown.stderr
    lines = shown.stdout.splitlines()
    assert len(lines) <= 23
    assert max(map(len, lines)) <= 80
    text = " ".join(shown.stdout.split())
    for part in (
        "COUNT(*) > 750: within 22 patients",
        "AVG(age) > 60: within 1.76 in a group of 751 rows (the fewest that COUNT(*) lets through)",
        "at most 0.106 (epsilon)",
        "any answer is at most 1.12 times as likely with the rows of one patient as without",
        "0.5 of 0.5 left; at least 0.394 after this question",
    ):
        assert part in text, (part, text)


def test_a_budget_that_can_be_too_little_is_said_before_asking(tmp_path):
    clinic(tmp_path, declarations=DECLARATIONS.replace('"10"', '"0.1"'))
    shown = thresher("plan", COUNT, "--uncertain-region", "10", "--mechanism", "tslm", cwd=tmp_path)
    text = " ".join(shown.stdout.split())
    assert "0.1 of 0.1 left, which can be too little" in text
    assert "less left than it costs. With 4 times the half width it would cost" in text
    assert "--miss-rate of" in text


def test_a_width_that_the_limit_does_not_allow_is_noted(tmp_path):
    build(tmp_path)
    sql = "SELECT disease, gender FROM patients GROUP BY disease, gender HAVING COUNT(*) > 750"
    shown = thresher("plan", sql, "--uncertain-region", "2", cwd=tmp_path)
    text = " ".join(shown.stdout.split())
    assert "COUNT(*) > 750 is measured within 5 patients, not 2: the limit on the cost allows nothing finer" in text
    assert "nothing finer" not in thresher("plan", sql, "--uncertain-region", "20", cwd=tmp_path).stdout


def test_few_groups_keep_a_width_that_is_asked_for_at_a_tenth_more(tmp_path):
    wards = str([f"w{i}" for i in range(6)]).replace("'", '"')
    clinic(tmp_path, declarations=DECLARATIONS.replace('["A", "B", "C", "D"]', wards))
    shown = thresher("plan", COUNT, "--uncertain-region", "10", cwd=tmp_path)
    assert "COUNT(*) > 30: within 10 rows" in " ".join(shown.stdout.split())
    once = thresher("plan", COUNT, "--uncertain-region", "10", "--mechanism", "tslm", "--json", cwd=tmp_path)
    several = thresher("plan", COUNT, "--uncertain-region", "10", "--json", cwd=tmp_path)
    epsilons = [float(json.loads(plan.stdout)["epsilon"]) for plan in (once, several)]
    assert epsilons[0] < epsilons[1] < 1.11 * epsilons[0]


def test_an_answer_that_cannot_be_refined_says_why(tmp_path):
    undated = DECLARATIONS.replace("snapshot = true\n", "")
    clinic(tmp_path, rows=[("A", 3)] * 95 + [("D", 1)] * 31, declarations=undated)
    shown = thresher("ask", COUNT, "--uncertain-region", "40", "--miss-rate", "0.000000001", "--yes", cwd=tmp_path)
    text = " ".join(shown.stdout.split())
    assert "Ask again with a smaller half width, at the full price. To refine later answers, declare a version" in text
    assert "thresher refine" not in text


def test_a_default_width_without_a_range_says_that_no_width_was_given(tmp_path):
    clinic(tmp_path, declarations=re.sub("count_range = .*", "", DECLARATIONS))
    assert thresher("plan", COUNT, cwd=tmp_path).returncode == 0, "few groups need no range"
    refused = thresher("plan", COUNT, "--mechanism", "tslm", cwd=tmp_path)
    assert refused.returncode == 2
    assert "--within was not given: the default is a share of the largest group" in refused.stderr


def test_the_flags_are_the_options_of_a_decision():
    others = {"sql", "config", "details", "as_json", "table_version"}
    assert {option.name for option in plan_command.params} - others == set(NAMES)


def test_init_refuses_each_table_that_the_source_lacks(folder):
    """One wrong name among right ones was passed over, so that its table was silently missing from the file."""
    wrong = ("--table", "patients", "--table", "patiens", "--output", "x.toml")
    refused = thresher("init", "duckdb:///clinic.duckdb", *wrong, cwd=folder)
    assert refused.returncode == 2
    assert "'patiens' is refused: the source has no such table. It has: patients." in refused.stderr
    assert not (folder / "x.toml").exists()
