import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

from thresher.demo import TRIALS, WARDS, demonstrate
from thresher.errors import ArgumentError

FULL = Path("/dev/full")


def thresher(*arguments, env=None):
    command = [sys.executable, "-m", "thresher", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **(env or {})})


def in_shell(script):
    """Run a script in which $THRESHER is the command, for what only a shell can do to its streams."""
    env = {**os.environ, "THRESHER": f"{sys.executable} -m thresher"}
    return subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False, env=env)


def test_help_lists_the_commands_and_the_exit_codes():
    shown = thresher("--help")
    assert shown.returncode == 0
    assert "demo" in shown.stdout
    codes = " ".join(shown.stdout.split())
    assert "Exit codes: 0 answered, 2 refused, 3 out of budget, 4 source, output or installation, 70" in codes
    assert "130 interrupted" in codes


def test_the_demo_prices_decides_and_measures():
    shown = thresher("demo")
    assert shown.returncode == 0, shown.stderr
    assert "epsilon 0.218725417, known before any data is read" in shown.stdout
    assert "reported if its noisy count is above capacity - 10" in shown.stdout
    assert "epsilon-differential privacy for one patient" in shown.stdout
    assert "The exact law expects 50,000; chance moves this by +-427 (95 %)." in shown.stdout
    assert "NOT PRIVATE" not in shown.stdout


def test_a_seeded_demo_repeats_and_says_that_it_is_not_private():
    first, second, other = (
        thresher("demo", "--seed", "1"),
        thresher("demo", "--seed", "1"),
        thresher("demo", "--seed", "2"),
    )
    assert first.stdout == second.stdout != other.stdout
    lines = first.stdout.splitlines()
    assert lines[0].startswith("NOT PRIVATE")
    assert lines[-1] == "NOT PRIVATE"


@pytest.mark.parametrize("miss_rate", ["0.05", "0.4999999999", "1e-9"])
def test_lines_are_narrow_without_trailing_spaces_and_the_promise_is_echoed_as_typed(miss_rate):
    shown = thresher("demo", "--miss-rate", miss_rate).stdout
    assert f"miss rate {miss_rate}," in shown
    assert shown.count(miss_rate) >= 3
    # Noise of ten digits needs a wider table; the text around it does not.
    widest = 100 if miss_rate == "0.4999999999" else 78
    for line in shown.splitlines():
        assert line == line.rstrip()
        assert len(line) <= widest


def test_json_says_the_same():
    document = json.loads(thresher("demo", "--json", "--seed", "1").stdout)
    assert document["epsilon"] == "0.218725417"
    assert document["miss_rate"] == "0.05"
    assert document["stamp"] == "NOT PRIVATE"
    assert next(iter(document)) == "private"
    assert document["private"] is False
    assert document["worst_case"]["exact_miss_rate"] <= 0.05 + 1e-15
    assert abs(document["worst_case"]["missed"] - 50_000) < 4.9 * math.sqrt(50_000 * 0.95)
    for ward in document["wards"]:
        assert ward["reported"] == (ward["noisy_count"] > ward["reported_above"])
        assert ward["reported_above"] == ward["capacity"] - document["half_width"]


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        (["--miss-rate", "0"], "miss_rate"),
        (["--miss-rate", "0.5"], "miss_rate"),
        (["--miss-rate", "nan"], "miss_rate"),
        (["--miss-rate", "１"], "miss_rate"),
        (["--half-width", "0"], "half_width"),
        (["--half-width", "-3"], "half_width"),
        (["--half-width", "99999999999999999999"], "half_width"),
        (["--miss-rate", "abc"], "miss_rate"),
        (["--miss-rate", "1e-100000000"], "miss_rate"),
    ],
)
def test_refusals_are_one_line_with_exit_code_two(arguments, field):
    refused = thresher("demo", *arguments)
    assert refused.returncode == 2
    assert refused.stdout == ""
    assert refused.stderr.startswith(f"Error: {field} = ")
    assert refused.stderr.count("\n") == 1
    shape = json.loads(thresher("demo", "--json", *arguments).stderr)
    assert shape["error"]["kind"] == "ArgumentError"
    assert shape["error"]["field"] == field


@pytest.mark.parametrize(
    ("arguments", "field"),
    [(["demo", "--half-width", "x"], "half_width"), (["demo", "--nonsense"], None), (["nonsense"], None)],
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


def test_a_stream_that_knows_ascii_only_gets_ascii():
    shown = thresher("demo", env={"PYTHONIOENCODING": "ascii"})
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.isascii()
    assert "##########" in shown.stdout


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
@pytest.mark.parametrize("command", ["demo --miss-rate 0", "nonsense", "demo --json --nonsense"])
def test_the_exit_code_stands_where_the_message_cannot_be_written(command):
    assert in_shell(f"$THRESHER {command} 2> {FULL}").returncode == 2


def test_the_bands_hold_every_draw_once_and_are_symmetric(entropy):
    shown = demonstrate("0.05", 10, entropy)
    bands = shown.bands
    assert math.fsum(band.share for band in bands) == pytest.approx(1, abs=1e-12)
    assert math.fsum(band.exact for band in bands) == pytest.approx(1, abs=1e-12)
    assert [(band.low, band.high) for band in bands[3:6]] == [(-4, -2), (-1, 1), (2, 4)]
    for left, right in zip(bands, reversed(bands), strict=True):
        # Five standard errors of a difference: a false alarm in about one run of two million.
        error = 5 * math.sqrt(2 * left.exact / TRIALS)
        assert left.exact == pytest.approx(right.exact, abs=1e-12)
        assert left.share == pytest.approx(right.share, abs=error)
        assert left.share == pytest.approx(left.exact, abs=error)


def test_continuous_noise_with_the_same_promises_costs_a_little_more(entropy):
    shown = demonstrate("0.05", 10, entropy)
    assert shown.continuous_epsilon == pytest.approx(0.219294, abs=1e-6)
    assert float(shown.epsilon) < shown.continuous_epsilon


def test_wards_stand_where_the_promises_end():
    dialysis = next(ward for ward in WARDS if ward.name == "dialysis")
    assert dialysis.standing(10) == "in between"
    assert dialysis.standing(1) == "well below"
    assert next(ward for ward in WARDS if ward.name == "maternity").standing(10) == "over"


def test_an_empty_promise_and_a_rare_miss_are_called_so():
    assert "Capacity is below 200 in 12 of 12 wards" in " ".join(thresher("demo", "--half-width", "100").stdout.split())
    assert "too rare to see" in thresher("demo", "--miss-rate", "1e-9").stdout


@pytest.mark.parametrize("half_width", [1.5, "10", None, True])
def test_a_half_width_is_an_integer(half_width):
    with pytest.raises(ArgumentError, match=r"^half_width = .* it must be an integer"):
        demonstrate("0.05", half_width)


@pytest.mark.parametrize(("miss_rate", "half_width"), [("0.000001", "1"), ("0.499", "100000"), ("0.2", "3")])
def test_extreme_but_lawful_wishes_are_served(miss_rate, half_width):
    assert thresher("demo", "--miss-rate", miss_rate, "--half-width", half_width).returncode == 0
