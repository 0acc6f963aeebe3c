"""kill -9 anywhere in the way of a question: whatever was handed out is charged and stored, and the book is whole."""

import subprocess
import sys
import time
from contextlib import suppress

from engine.clinics import DECLARATIONS, clinic

import thresher
from thresher.amounts import Epsilon
from thresher.errors import LostAnswerError

COUNT = "SELECT ward FROM patients GROUP BY ward HAVING COUNT(*) > 30"
ASKER = f"""
import sys, thresher
with thresher.open(sys.argv[1]) as engine:
    print("ready", flush=True)
    for n in range(10_000):
        answer = engine.decide({COUNT!r}, uncertain_region=10, mechanism="tslm", key=f"{{sys.argv[2]}}-{{n}}")
        print(answer.key, answer.to_bytes().hex(), flush=True)
"""


def handed_out_before_a_kill(path, name, delay, *, answered):
    """What an asker printed until it was killed, so long after it began to ask, or after its first answer."""
    command = [sys.executable, "-c", ASKER, str(path), name]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as asking:
        assert asking.stdout.readline() == "ready\n"
        # A busy machine may not answer anything within a delay.
        first = asking.stdout.readline() if answered else ""
        time.sleep(delay)
        asking.kill()
        lines = (first + asking.stdout.read()).splitlines()
    return [line.split() for line in lines if len(line.split()) == 2]


def test_killed_askers_never_hand_out_what_is_not_charged(tmp_path, trials, measured):
    path = clinic(tmp_path, declarations=DECLARATIONS.replace('"10"', '"100000"'))
    kills, handed_out = trials(8, 300), {}
    for n in range(kills):
        handed_out |= dict(handed_out_before_a_kill(path, f"k{n}", 0.1 + 0.073 * (n % 11), answered=n % 2 == 0))
    with thresher.open(path) as engine:
        engine.ledger.verify()
        kinds = [entry.kind for entry in engine.ledger.entries()]
        for key, body in handed_out.items():
            stored = engine.decide(COUNT, uncertain_region=10, mechanism="tslm", key=key)
            assert stored.repeated
            assert stored.to_bytes().hex() == body
        assert kinds.count("reserve") == kinds.count("settle") + kinds.count("forfeit")
        assert engine.ledger.balance("patients").spent == kinds.count("reserve") * Epsilon("0.218725417")
        lost = [
            e.facts["key"] for e in engine.ledger.entries() if e.kind == "reserve" and e.facts["key"] not in handed_out
        ]
        for key in lost[:3]:
            with suppress(LostAnswerError):
                assert engine.decide(COUNT, uncertain_region=10, mechanism="tslm", key=key).repeated
    assert handed_out
    told = f"{len(handed_out)} answers handed out, each charged and stored; {len(lost)} others charged"
    measured(f"engine: {kills} kill -9, {told}")
