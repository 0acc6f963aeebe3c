"""A stream that runs: every step is charged, drawn, stored and only then handed out, once and for ever.

    put(step, counts)   reserve ─► draw ─► settle (charge, record and state in one transaction) ─► record

A process that dies leaves a step that is stored, and will be shown again as it is, or one that is charged and torn; it
is never drawn again. The stream goes on with the next one, by itself or in another process.
Reads: sealed counts; the ledger. Writes: the ledger. Never: a count, or an open group, in the clear; a record that is
not stored; a step twice. Proof: `stream.md`.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from thresher.amounts import Epsilon, whole_number
from thresher.errors import (
    ArgumentError,
    BudgetError,
    BugError,
    CuratorError,
    KeyReusedError,
    LedgerError,
    LostAnswerError,
    SourceUnavailableError,
    ThresherError,
)
from thresher.ledger import Balance, Book, Reservation, State, StoredRelease
from thresher.noise import Entropy
from thresher.noise.entropy import chosen
from thresher.question import Exact
from thresher.running.recorded_noise import RecordedEntropy
from thresher.running.sealing import Seal
from thresher.streams.drawn import Drawn
from thresher.streams.following import Follower
from thresher.streams.planning import StreamPlan
from thresher.streams.records import ENDED, GAP, RELEASED, TORN, StepRecord
from thresher.streams.step_blocks import MOST_COUNT
from thresher.streams.step_buffer import StepBuffer

# One step's counts, sealed; or what fetches them.
Counts = Exact | Callable[[], Exact]
_BUDGET = "the budget is exhausted: this step is not released, and nothing follows"
_TORN = "charged, and lost before it was stored: there is no value for this step"
_GAP = "nobody listened: nothing was read, and nothing is charged"


class RunningStream:
    """One declared stream, in one process at a time. Use it in a `with`, or `close` it."""

    def __init__(
        self,
        plan: StreamPlan,
        book: Book,
        seal: Seal | None = None,
        entropy: Entropy | None = None,
        closing: Callable[[], None] = lambda: None,
    ) -> None:
        self.plan, self._book, self._seal, self._closing = plan, book, seal, closing
        self._entropy = chosen(entropy)
        self._ended = self._broken = False
        self._first: int | None = None
        self._drawer, self._follower = plan.drawer(self._entropy), Follower(plan)
        self._next = self._resume()

    @property
    def name(self) -> str:
        return self.plan.name

    @property
    def next_step(self) -> int:
        """The first step that is neither released nor torn nor passed over."""
        return self._next

    @property
    def ended(self) -> bool:
        """Whether the budget could not pay for the last step that was put."""
        return self._ended

    def balance(self) -> Balance:
        """The account that it is charged to."""
        return self._book.balance(self.plan.account)

    # Going on

    def put(self, step: int, counts: Counts) -> StepRecord:
        """Release a step from its sealed counts. The one and only draw for it. Steps passed over before it are a gap.

        A function that fetches them is called once the step is charged; if the source was never reached, it is not.
        If the budget cannot pay, the record says so and nothing is charged; nothing can be put after it.
        """
        self._check_next(step)
        # Whether there is such a step is found out before it costs anything.
        self.plan.clock.began(step + 1)
        self.skip_to(step)
        self._first = step if self._first is None else self._first
        try:
            held = self._book.reserve(
                self.plan.account, self.plan.cost(step), self.plan.key(step), self.plan.identity(step), wait_seconds=0
            )
        except BudgetError:
            self._ended = True
            return self._record(step, ENDED, note=_BUDGET)
        except LostAnswerError:
            # Torn by a process that had passed over the steps before it.
            self._follower.follow(None)
            self._next = step + 1
            return self._record(step, TORN, note=_TORN)
        if isinstance(held, StoredRelease):
            self._broken = True
            raise LedgerError(f"another process carries the stream {self.name} on: only one can. Open it again")
        return self._release(step, counts, held)

    def put_counts(self, step: int, counts: ArrayLike) -> StepRecord:
        """`put` of plain whole numbers, one for each state in declared order."""
        return self.put(step, sealed_counts(counts, len(self.plan.states)))

    def skip_to(self, step: int) -> StepRecord | None:
        """Nobody listened until this step: nothing is read or charged, and windows cover fewer steps. None if none."""
        first = self._next
        if whole_number(step, "step") <= first:
            return None
        self._check_next(step)
        self.plan.clock.began(step)
        for _ in range(min(step - first, self.plan.look_back)):
            self._follower.follow(None)
        self._drawer.close()
        self._next = step
        return self._gap(first, step)

    # Looking back

    def records(self, first: int = 0, last: int | None = None) -> Iterator[StepRecord]:
        """The steps from `first` to `last`, as they were stored: a look that charges nothing.

        Steps on end at which nobody listened have one record together, at the first of them.
        """
        end = self._next if last is None else min(last + 1, self._next)
        gap = first
        for step in range(max(first, self._first or 0), end):
            record = self._stored(step)
            if record is not None:
                if gap < step:
                    yield self._gap(gap, step)
                gap = step + 1
                yield record
        if gap < end:
            yield self._gap(gap, end)

    def buffer(self, ahead_steps: int | None = None) -> StepBuffer:
        """What takes events in for this stream: its states, clock and limits; how far ahead may be said otherwise."""
        said = self.plan.declared
        ahead = said.ahead_steps if ahead_steps is None else ahead_steps
        return StepBuffer(
            self.plan.states, self.plan.clock, said.late_steps, said.max_states_per_unit, ahead, self.name
        )

    def close(self) -> None:
        """Forget all secrets, and let go of what was opened for this stream."""
        self._broken = True
        self._drawer.close()
        self._closing()

    def __enter__(self) -> "RunningStream":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Inside

    def _check_next(self, step: int) -> None:
        whole_number(step, "step")
        if self._broken:
            raise CuratorError(f"the stream {self.name} stopped here: open it again, and it goes on with the next step")
        if self._ended:
            raise CuratorError(
                f"the stream {self.name} has ended: its budget is exhausted. Raise it, and open it again"
            )
        if step < self._next:
            rule = f"that step is over, and {self._next} is the next"
            raise ArgumentError("step", step, rule, "Steps are released once, in order")

    def _release(self, step: int, counts: Counts, held: Reservation) -> StepRecord:
        """From here on the step is charged whatever happens; what stops us also stops the stream."""
        try:
            exact = counts() if callable(counts) else counts
            if isinstance(self._entropy, RecordedEntropy):
                self._entropy.begin(step)
            drawn = self._drawer.draw(exact)
            record = self._followed(step, drawn)
            state = State(self.plan.state_name, self._state(step))
            self._book.settle(held, held.worst_case, record.to_bytes(), state=state)
        except SourceUnavailableError:
            # No row was read, so that the step may be tried again.
            self._book.cancel(held)
            raise
        except BaseException as error:
            self._broken = True
            self._give_up(held)
            if isinstance(error, ThresherError | KeyboardInterrupt | SystemExit):
                error.add_note(f"Step {step} is {_TORN}.")
                raise
            fault = BugError(f"step {step} could not be released ({type(error).__name__}); it is charged")
        else:
            self._next = step + 1
            return record
        # Outside the handler: what stopped us may quote counts.
        raise fault

    def _give_up(self, held: Reservation) -> None:
        try:
            self._book.forfeit(held)
        except (ArgumentError, LedgerError):
            # Stored at the last moment, or the book has stopped, which counts it as spent when it is opened again.
            return

    def _followed(self, step: int, drawn: Drawn) -> StepRecord:
        after = self._follower.follow(drawn)
        empty = self._record(step, RELEASED)
        return replace(empty, drawn=drawn, values=after.values, windows=after.windows, alarms=after.alarms)

    def _gap(self, first: int, end: int) -> StepRecord:
        gap = self._record(first, GAP, note=f"{_GAP} (steps {first} to {end - 1})")
        return replace(gap, steps=end - first)

    def _record(self, step: int, kind: str, note: str = "") -> StepRecord:
        """The record of a step, with nothing in it yet."""
        lost = self.plan.step_epsilon if kind in (RELEASED, TORN) else Epsilon(0)
        at, stamp = self.plan.clock.began(step), self._entropy.stamp if kind == RELEASED else ""
        return StepRecord(self.name, step, at, kind, self.plan.names, lost, note=note, stamp=stamp)

    # State

    def _state(self, step: int) -> bytes:
        """A line that says how far the stream is and what it is, then its secrets, sealed; or none of them."""
        secrets = self._drawer.secrets() if self._seal else b""
        sealed = self._seal.closed(secrets, self.plan.identity(step)) if self._seal else b""
        said = {
            "first": self._first,
            "parameters": self.plan.parameters(),
            "stamp": self._entropy.stamp,
            "step": step,
        }
        return json.dumps(said, sort_keys=True).encode() + b"\n" + sealed

    def _resume(self) -> int:
        """Where to go on; the open groups as they were if they were sealed, and closed otherwise."""
        body = self._book.state(self.plan.state_name)
        last, sealed = -1, b""
        if body is not None:
            line, _, sealed = body.partition(b"\n")
            said = json.loads(line)
            self._check_parameters(said["parameters"])
            last, self._first = said["step"], said["first"]
            if said["stamp"] != self._entropy.stamp:
                # Whoever knows a seed knows the noisy thresholds of its groups: they do not go on.
                sealed = b""
        after = last + 1
        while self._stored(after) is not None:
            after += 1
        if body is None and after:
            # All that there is was torn.
            self._first = 0
        self._look_back(after)
        if sealed and self._seal:
            self._drawer.restore(self._seal.opened(sealed, self.plan.identity(last)))
        return after

    def _check_parameters(self, kept: dict[str, str]) -> None:
        now = self.plan.parameters()
        changed = sorted(name for name in now.keys() | kept.keys() if now.get(name) != kept.get(name))
        if changed:
            raise ArgumentError(
                "stream",
                self.name,
                f"it began with other settings ({', '.join(changed)}), which are part of its account",
                "Restore them, or declare a new stream under another name",
            )

    def _look_back(self, until: int) -> None:
        """Everything that follows from what was released, as far back as anything looks."""
        for step in range(max(0, until - self.plan.look_back), until):
            record = self._stored(step)
            self._follower.follow(None if record is None else record.drawn)

    def _stored(self, step: int) -> StepRecord | None:
        """The record of a step as stored, or torn; None if it was never charged."""
        found = self._book.recalled(self.plan.account, self.plan.key(step))
        if found is None:
            return None
        if found.question != self.plan.identity(step):
            raise KeyReusedError(f"step {step} of {self.name} was charged with other settings: name another stream")
        if found.lost:
            return self._record(step, TORN, note=_TORN)
        if found.body is None:
            raise LedgerError(f"another process is releasing step {step} of {self.name}: only one can run a stream")
        return StepRecord.from_bytes(found.body, self.plan.names)


def sealed_counts(counts: ArrayLike, states: int) -> Exact:
    """Counts of one step as sealed whole numbers; refused if they are not what counts can be."""
    given = np.asarray(counts)
    if given.shape != (states,):
        rule = f"it must hold one count for each of the {states} states"
        raise ArgumentError("counts", f"of shape {given.shape}", rule, "Pass them in declared order")
    if given.dtype.kind not in "iu":
        rule = "counts are whole numbers"
        raise ArgumentError("counts", f"of type {given.dtype}", rule, "Count units; convert whole floats to integers")
    if given.size and given.min() < 0:
        # No stream of events has a negative count, so that this tells apart no two streams there can be.
        raise ArgumentError("counts", "a negative one", "nobody is counted less than not at all", "Count units")
    # Far beyond any noise; numpy's large unsigned numbers would become negative.
    return Exact(np.minimum(given, MOST_COUNT).astype(np.int64)[:, None])
