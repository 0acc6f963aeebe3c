"""Release the made-up day step by step, as a stream that may be killed and then goes on where it stopped.

Reads: the made-up campus. Writes: its ledger. Never: a step twice.
"""

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

from thresher.accounts import open_accounts
from thresher.config import load
from thresher.demo.campus import STEPS, STREAM, Campus
from thresher.ledger import Balance
from thresher.live.open_stream import open_stream
from thresher.noise import Entropy
from thresher.streams.step_release import StepRecord
from thresher.streams.stream_plan import StreamPlan


@dataclass(frozen=True, slots=True)
class Replayed:
    """Hold the whole day, and the number of steps that an earlier run had released."""

    plan: StreamPlan
    began_with: int
    records: tuple[StepRecord, ...]
    balance: Balance


def replay(
    campus: Campus,
    entropy: Entropy | None,
    showing: Callable[[Sequence[StepRecord]], AbstractContextManager[Callable[[StepRecord], None]]],
    pace_seconds: float = 0.0,
) -> Replayed:
    """Go on with the day to its end. `showing` gets the earlier records, and returns what shows each new one."""
    with open_stream(campus.declarations, STREAM, entropy=entropy) as stream:
        began_with = stream.next_step
        with showing(list(stream.records())) as show:
            try:
                for step in range(began_with, STEPS):
                    show(stream.put_counts(step, campus.counts[step]))
                    if pace_seconds:
                        time.sleep(pace_seconds)
            except KeyboardInterrupt as stopped:
                stopped.add_note(f"The steps before {stream.next_step} are charged and stored.")
                raise
        records, plan = tuple(stream.records()), stream.plan
    book = open_accounts(load(campus.declarations))
    try:
        balance = book.balance(plan.account)
    finally:
        book.close()
    return Replayed(plan, began_with, records, balance)
