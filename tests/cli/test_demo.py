import json
import subprocess
import sys

import pytest


def thresher(*arguments):
    return subprocess.run([sys.executable, "-m", "thresher", *arguments], capture_output=True, text=True, check=False)


def test_help_lists_the_commands_and_the_exit_codes():
    shown = thresher("--help")
    assert shown.returncode == 0
    assert "demo" in shown.stdout
    assert "Exit codes: 0 answered, 2 refused, 3 out of budget, 4" in shown.stdout


def test_the_demo_prices_decides_and_measures():
    shown = thresher("demo")
    assert shown.returncode == 0, shown.stderr
    assert "epsilon 0.218725417, known before any data is read" in shown.stdout
    assert shown.stdout.count("reported") >= 12
    assert "NOT PRIVATE" not in shown.stdout


def test_a_seeded_demo_repeats_and_says_that_it_is_not_private():
    first, second, other = (
        thresher("demo", "--seed", "1"),
        thresher("demo", "--seed", "1"),
        thresher("demo", "--seed", "2"),
    )
    assert first.stdout == second.stdout != other.stdout
    assert "NOT PRIVATE" in first.stdout


def test_json_says_the_same():
    document = json.loads(thresher("demo", "--json", "--seed", "1").stdout)
    assert document["epsilon"] == "0.218725417"
    assert document["stamp"] == "NOT PRIVATE"
    assert document["worst_case"]["exact_miss_rate"] <= 0.05 + 1e-15
    assert abs(document["worst_case"]["measured_miss_rate"] - 0.05) < 4.9 * (0.05 * 0.95 / 1e6) ** 0.5
    for ward in document["wards"]:
        assert ward["reported"] == (ward["noisy_count"] > ward["capacity"] - document["half_width"])


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        (["--miss-rate", "0"], "miss_rate"),
        (["--miss-rate", "0.5"], "miss_rate"),
        (["--miss-rate", "nan"], "miss_rate"),
        (["--miss-rate", "１"], "miss_rate"),
        (["--half-width", "0"], "half_width"),
        (["--half-width", "-3"], "half_width"),
    ],
)
def test_refusals_are_one_line_with_exit_code_two(arguments, field):
    refused = thresher("demo", *arguments)
    assert refused.returncode == 2
    assert refused.stdout == ""
    assert refused.stderr.startswith(f"Refused: {field} = ")
    assert refused.stderr.count("\n") == 1
    shape = json.loads(thresher("demo", "--json", *arguments).stderr)
    assert shape["error"]["field"] == field


@pytest.mark.parametrize("arguments", [["demo", "--half-width", "x"], ["demo", "--nonsense"], ["nonsense"]])
def test_usage_errors_are_refusals_too(arguments):
    refused = thresher(*arguments)
    assert refused.returncode == 2
    assert "Traceback" not in refused.stderr


@pytest.mark.parametrize(("miss_rate", "half_width"), [("0.000001", "1"), ("0.499", "100000"), ("0.2", "3")])
def test_extreme_but_lawful_wishes_are_served(miss_rate, half_width):
    assert thresher("demo", "--miss-rate", miss_rate, "--half-width", half_width).returncode == 0
