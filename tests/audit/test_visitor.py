"""Somebody else's mechanism on trial: judged if it can be, reported if it cannot; the audit lives on."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from audit.visitors import FORMS

from thresher.amounts import Epsilon
from thresher.audit.foreign.own_process import shuffled_sides
from thresher.audit.foreign.visitor import looped, visited
from thresher.audit.subjects import Pair, Sampled
from thresher.audit.testers.black_box import tried_by_sampling
from thresher.errors import ArgumentError
from thresher.noise import SeededEntropy, SystemEntropy

HERE, THERE = [1, 2, 3], [1, 2, 3, 4]


@pytest.fixture(autouse=True)
def here(monkeypatch, request):
    monkeypatch.chdir(request.path.parent)


def visit(name, samples=2_000, epsilon=1, time_limit=60.0, **others):
    return visited(f"visitors:{name}", (HERE, THERE), epsilon, samples=samples, time_limit=time_limit, **others)


@pytest.mark.parametrize("name", ["right", "in_words", "talks"])
def test_a_right_one_stands(name, capfd):
    seen = visit(name)
    assert seen.finding is not None
    assert not seen.finding.refuted
    assert seen.finding.measured > 0.1, "it was looked at"
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("name", "raised"),
    [
        ("leaks", (0, 0)),
        ("raises_on_four", (0, 2_000)),
        ("raises_with_the_count", (2_000, 2_000)),
        ("raises_with_a_noisy_count", (2_000, 2_000)),
        ("empties", (0, 0)),
    ],
)
def test_a_wrong_one_is_refuted(name, raised):
    seen = visit(name)
    assert seen.finding.refuted
    assert seen.raised == raised


@pytest.mark.parametrize("name", FORMS)
def test_a_noisy_float_hides_nothing_in_whatever_form(name):
    """All of them give away the count but for a hundredth, and hardly any output comes twice."""
    subject = Sampled(name, "", Epsilon(1), (Pair("", HERE, THERE),), looped(FORMS[name]), 1_000)
    assert tried_by_sampling(subject, SystemEntropy()).refuted


@pytest.mark.parametrize("name", ["in_a_table", "now_and_then_raises", "wide"])
def test_nor_does_it_from_another_process(name):
    seen = visit(name, 1_000)
    assert seen.finding.refuted
    assert ("600 numbers" in seen.note) == (name == "wide")


@pytest.mark.parametrize("name", ["counts_calls", "tells_the_time"])
def test_what_drifts_tells_nothing_of_the_input(name):
    """Calls come in random order. What drifts is equally likely on both sides: a false alarm is below 1e-6."""
    seen = visit(name, 5_000)
    assert not seen.finding.refuted
    assert seen.finding.measured < 0.2


def test_the_order_of_calls_is_even_and_random():
    order = np.frombuffer(shuffled_sides(10_000, SeededEntropy(1)), dtype=np.uint8)
    assert order.sum() == 10_000
    assert order.size == 20_000
    # Five standard deviations: of the first half, and of how often a side follows itself.
    assert abs(int(order[:10_000].sum()) - 5_000) < 5 * 50
    assert abs(np.count_nonzero(order[1:] == order[:-1]) - 10_000) < 5 * 71
    assert shuffled_sides(10_000, SeededEntropy(2)) != order.tobytes()


@pytest.mark.parametrize(
    ("name", "told", "limit"),
    [
        ("always_raises", "raised ValueError in every run", 60.0),
        ("leaves", "raised SystemExit in every run", 60.0),
        ("breaks_off", "raised KeyboardInterrupt in every run", 60.0),
        ("hangs", "more than 0.5 s, on the input `", 0.5),
        ("hangs", "so does a call on", 0.5),
        ("dies", "ended its own process (exit code 3), on the input `", 60.0),
        ("dies_on_four", "(exit code 3), on the input `there`", 60.0),
        ("dies_on_four", "in a new process, 5 calls on `here` returned", 60.0),
        ("hangs_on_four", "on the input `there`", 0.5),
        ("waits", "2,000 of 2,000 outputs could not be compared, because they hold a coroutine", 60.0),
        ("gives_a_function", "they hold a function", 60.0),
        ("endless", "they hold a generator of more than", 60.0),
    ],
)
def test_one_that_cannot_be_tried_is_reported(name, told, limit):
    seen = visit(name, samples=1_000, time_limit=limit)
    assert seen.finding is None
    assert told in seen.failure


@pytest.mark.parametrize("name", ["nowhere", "not_a_function"])
def test_a_name_that_leads_nowhere(name):
    with pytest.raises(ArgumentError, match="no such function"):
        visit(name)


@pytest.mark.parametrize("name", ["visitors", "a b:c", ":f", "visitors:", "os;os:f"])
def test_a_name_that_is_none(name):
    with pytest.raises(ArgumentError, match="my_module:my_function"):
        visited(name, (HERE, THERE), 1)


def test_a_module_that_is_not_there():
    with pytest.raises(ArgumentError, match=r"could not be loaded \(ModuleNotFoundError: No module named"):
        visited("no_such_module:f", (HERE, THERE), 1)


def test_a_module_that_fails_says_so(tmp_path, monkeypatch):
    (tmp_path / "fails_to_load.py").write_text("raise RuntimeError('no\\nkey')")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ArgumentError, match=r"\(RuntimeError: no key\)"):
        visited("fails_to_load:f", (HERE, THERE), 1)


def test_an_input_that_cannot_be_sent():
    with pytest.raises(ArgumentError, match=r"there = .* another process"):
        visited("visitors:right", (HERE, lambda: 3), 1, neighbours="any")


def test_a_long_number_is_no_fault():
    seen = visit("long_noise", 1_000)
    assert not seen.finding.refuted
    assert seen.finding.measured > 0.1


def test_an_interruption_is_ours_alone(tmp_path):
    """Ctrl-C goes to every process of a terminal's group; only we may say something about it."""
    sign = tmp_path / "called"
    command = [sys.executable, "-m", "thresher", "audit", "--mechanism", "visitors:hangs_and_says_so", "--epsilon", "1"]
    command += ["--here", json.dumps([str(sign)]), "--there", json.dumps([str(sign), 1]), "--time-limit", "60"]
    running = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    for _ in range(600):
        if sign.exists():
            break
        time.sleep(0.1)
    os.killpg(running.pid, signal.SIGINT)
    out, told = running.communicate(timeout=30)
    assert running.returncode == 130
    assert not out
    assert "Traceback" not in told
    assert "Interrupted" in told


@pytest.mark.parametrize(
    ("field", "asked"),
    [
        ("samples", {"samples": 10}),
        ("samples", {"samples": 10**9}),
        ("epsilon", {"epsilon": -1}),
        ("time_limit", {"time_limit": 0.0}),
        ("neighbours", {"neighbours": "friends"}),
    ],
)
def test_bad_arguments_are_refused_before_it_is_called(field, asked):
    with pytest.raises(ArgumentError, match=field):
        visit("dies", **asked)


def test_inputs_that_are_no_neighbours_are_refused():
    with pytest.raises(ArgumentError, match="here, there"):
        visited("visitors:dies", (HERE, [7, 8]), 1)


def test_progress_is_told():
    told = []
    visit("right", progress=told.append)
    assert told[-1] == 4_000
    assert told == sorted(told)


@pytest.mark.skipif(not os.path.isdir("/proc"), reason="looks for processes in /proc")
def test_nothing_that_it_started_is_left_behind():
    seen = visit("starts_another", time_limit=1.0)
    assert seen.finding is None
    deadline = time.monotonic() + 30
    while (left := left_behind()) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not left


def left_behind():
    found = []
    for process in os.listdir("/proc"):
        with suppress(OSError):
            if process.isdigit() and b"left-behind-by-a-visitor" in Path(f"/proc/{process}/cmdline").read_bytes():
                found.append(process)
    return found
