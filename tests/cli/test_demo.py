"""The tour: its page, its document, and what it leaves behind."""

import json
import math
import re

import pytest
from cli.running import FULL, in_shell, thresher

from thresher.demo import tour


def test_help_lists_the_commands_and_the_exit_codes():
    shown = thresher("--help")
    assert shown.returncode == 0
    for command in ("demo", "init", "plan", "ask", "ledger"):
        assert f" {command} " in shown.stdout
    codes = " ".join(shown.stdout.split())
    assert "Exit codes: 0 done, 1 an audit found a fault, 2 refused, 3 over budget, 4 source" in codes
    assert "130 interrupted" in codes


@pytest.mark.parametrize("command", ["demo", "init", "plan", "ask", "ledger", "ledger show", "ledger verify"])
def test_every_command_teaches(command):
    shown = thresher(*command.split(), "--help")
    assert shown.returncode == 0
    assert "Usage: thresher" in shown.stdout
    assert "--json" in shown.stdout or command == "ledger"


def test_the_tour(entropy, tmp_path):
    shown = tour(tmp_path, entropy)
    assert len(shown.answer.groups) == 104
    assert str(shown.plan.epsilon) == "0.5"
    assert (str(shown.before.spent), shown.after.spent) == ("0", shown.answer.spent_epsilon)
    assert shown.answer.certificate is not None
    assert shown.again == shown.answer
    assert shown.again.repeated
    assert shown.after_again == shown.after
    assert "cannot pay" in shown.refusal
    # Five standard errors: a false alarm in about one run of two million.
    tried = shown.trials.tried
    assert abs(shown.trials.missed - tried / 20) < 5 * math.sqrt(tried / 20 * 0.95)
    assert sum(truth.qualifies for truth in shown.truth) == 29
    for verdict, truth in zip(shown.answer.verdicts, shown.truth, strict=True):
        # Far from every line: a wrong verdict here has a chance below 1e-6.
        if truth.qualifies and truth.patients > 2500 and truth.mean_age > 68:
            assert verdict != "below"
        if truth.patients < 200:
            assert verdict == "below"


def test_a_seeded_demo_repeats_and_says_that_it_is_not_private():
    first, second, other = (thresher("demo", "--seed", seed) for seed in ("1", "1", "2"))
    assert first.returncode == 0, first.stderr
    assert first.stdout == second.stdout != other.stdout
    lines = first.stdout.splitlines()
    assert lines[0].startswith("NOT PRIVATE")
    assert lines[-1] == "NOT PRIVATE"
    for line in lines:
        assert line == line.rstrip()
        assert len(line) <= 78


@pytest.mark.parametrize("mechanism", ["tslm", "dppwlm"])
def test_other_mechanisms_fit_the_page(mechanism):
    shown = thresher("demo", "--seed", "3", "--mechanism", mechanism)
    assert shown.returncode == 0, shown.stderr
    assert max(map(len, shown.stdout.splitlines())) <= 78
    text = " ".join(shown.stdout.split())
    assert "The same with COUNT(*)=3, AVG(age)=0.05 in place of COUNT(*)=60, AVG(age)=1." in text
    assert "What is spent is the largest loss of any one group." in text
    assert ("Misses at one measurement are often misses at the next" in text) == (mechanism == "dppwlm")
    missed = float(re.search(r"exactly at the threshold were missed: ([\d.]+) %", text)[1])
    # Of a million, five standard errors: exact for one look, at most that for several.
    assert missed < 5.11
    assert mechanism == "dppwlm" or missed > 4.5


def test_the_real_one_is_private():
    shown = thresher("demo")
    assert shown.returncode == 0, shown.stderr
    assert "NOT PRIVATE" not in shown.stdout
    assert "With confidence 98 %, at most" in " ".join(shown.stdout.split())
    assert "Refused: the budget of patients cannot pay" in shown.stdout
    assert "made up" in shown.stdout


def test_json_says_the_same():
    document = json.loads(thresher("demo", "--json", "--seed", "1").stdout)
    assert document["private"] is False
    assert document["answer"]["spent_epsilon"] == document["spent"]["after"] == document["spent"]["after_again"]
    assert document["plan"]["epsilon"] == "0.5"
    assert document["repeat_is_equal"] is True
    assert len(document["answer"]["verdicts"]) == len(document["truth_shown_because_made_up"]) == 104
    assert document["worst_case"]["trials"] == 400


def test_a_kept_hospital_can_be_asked(tmp_path):
    folder = tmp_path / "clinic"
    assert thresher("demo", "--keep", str(folder)).returncode == 0
    sql = "SELECT gender FROM patients GROUP BY gender HAVING COUNT(*) > 55000"
    asked = thresher("ask", sql, "--config", str(folder / "thresher.toml"), "--yes", "--json")
    assert asked.returncode == 0, asked.stderr
    assert json.loads(asked.stdout)["positives"] == [{"gender": "f"}, {"gender": "m"}]
    taken = thresher("demo", "--keep", str(folder))
    assert taken.returncode == 2
    assert "not empty" in taken.stderr


def test_a_stream_that_knows_ascii_only_gets_ascii():
    shown = thresher("demo", env={"PYTHONIOENCODING": "ascii"})
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.isascii()
    assert "####" in shown.stdout


@pytest.mark.parametrize(
    ("arguments", "field"),
    [(["demo", "--seed", "x"], "seed"), (["demo", "--nonsense"], None), (["nonsense"], None)],
)
def test_usage_errors_are_refusals_too(arguments, field):
    refused = thresher(*arguments)
    assert refused.returncode == 2
    assert "Traceback" not in refused.stderr
    refused = thresher(*arguments, "--json")
    assert refused.returncode == 2
    shape = json.loads(refused.stderr)["error"]
    assert set(shape) == {"kind", "field", "message"}
    assert shape["field"] == field
    assert shape["message"]


@pytest.mark.parametrize("command", ["demo", "demo --json", "--help"])
def test_a_reader_who_leaves_early_is_no_error(command):
    left = in_shell(f"$THRESHER {command} | true; echo ${{PIPESTATUS[0]}}")
    assert (left.stdout, left.stderr) == ("0\n", "")


@pytest.mark.skipif(not FULL.exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("command", ["demo", "demo --json", "--help"])
def test_a_full_disk_is_one_line_and_exit_code_four(command):
    failed = in_shell(f"$THRESHER {command} > {FULL}")
    assert failed.returncode == 4
    assert "could not be written" in failed.stderr
    assert failed.stderr.count("\n") == 1


def test_a_closed_output_is_one_line_and_exit_code_four():
    failed = in_shell("$THRESHER demo >&-")
    assert failed.returncode == 4
    assert failed.stderr == "Error: the output could not be written: standard output is closed.\n"


@pytest.mark.skipif(not FULL.exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("command", ["demo --seed x", "nonsense", "demo --json --nonsense"])
def test_the_exit_code_stands_where_the_message_cannot_be_written(command):
    assert in_shell(f"$THRESHER {command} 2> {FULL}").returncode == 2
