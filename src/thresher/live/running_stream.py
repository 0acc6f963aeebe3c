"""A running stream: each step is charged, drawn, stored and only then handed out, once and for ever.

    put(step, counts)   a plan ─► charging: reserve ─► draw ─► settle (charge, record and state at once) ─► record

A process that dies leaves its last step either stored, and shown again as it is, or charged and torn. It is never drawn
again. The stream goes on with the next step when it is opened again, in this or another process.
Reads: sealed counts; the ledger. Writes: the ledger. Never: a count, or an open group, in the clear; a record that is
not stored; a step twice. Proof: `running_stream.md`.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from numpy.typing import ArrayLike

from thresher import charging
from thresher.amounts import whole_number
from thresher.errors import (
    ArgumentError,
    BudgetError,
    CuratorError,
    KeyReusedError,
    LedgerError,
    LostAnswerError,
    PendingError,
    SourceUnavailableError,
)
from thresher.ledger import Balance, Book, StoredRelease
from thresher.live.secret_state import Seal
from thresher.live.step_plan import KeptState, StreamState, step_plan
from thresher.noise import Entropy
from thresher.noise.entropy import chosen, this_process
from thresher.pages import Page, Shown
from thresher.question import Exact
from thresher.streams.step_buffer import StepBuffer
from thresher.streams.step_mechanism import sealed_counts
from thresher.streams.step_release import ENDED, GAP, TORN, NoisyStep, StepRecord
from thresher.streams.stream_plan import StreamPlan

# The sealed counts of one step, or a function that fetches them.
Counts = Exact | Callable[[], Exact]
# How many steps a chart shows by default.
LAST_STEPS = 288
_BUDGET = "the budget is exhausted. This step is not released, and nothing follows"
_TORN = "charged, and lost before it was stored. This step has no value"
_GAP = "nobody listened. Nothing was read, and nothing is charged"


class RunningStream(Shown):
    """One declared stream, which one process at a time may run. Use it in a `with`, or `close` it.

    `reading`: only look at what is stored. This waits for no process that is in the middle of a step.
    """

    def __init__(
        self,
        plan: StreamPlan,
        book: Book,
        seal: Seal | None = None,
        entropy: Entropy | None = None,
        closing: Callable[[], None] = lambda: None,
        *,
        reading: bool = False,
    ) -> None:
        self.plan, self._book, self._closing = plan, book, closing
        self._entropy = chosen(entropy)
        self._ended = self._broken = False
        self._reading = reading
        # A fork of this process would use its noise again.
        self._made_in = this_process()
        kept = KeptState.of(plan, self._entropy.stamp, book.state(plan.state_name))
        # Steps that a restored backup has forgotten were charged and perhaps released: they are never drawn again.
        self._forgotten_until = book.restored_step(plan.account, plan.identity.key_of(0))
        if kept.last < self._forgotten_until:
            # Groups that were open then may have been closed since.
            kept = replace(kept, sealed=b"")
        self._next = self._after(kept)
        self._state = StreamState(plan, self._entropy, seal, kept, self._next, self._looked_back(self._next))

    @property
    def name(self) -> str:
        return self.plan.name

    @property
    def next_step(self) -> int:
        """Return the first step that is not released, torn or passed over."""
        return self._next

    @property
    def ended(self) -> bool:
        """Say whether the budget could not pay for the last step that was put."""
        return self._ended

    @property
    def tested_from(self) -> dict[str, int]:
        """Return for each alarm the first step that it tests: its whole window is later than its declaration."""
        return self._state.tested_from

    def balance(self) -> Balance:
        """Return the balance of the account that the stream is charged to."""
        return self._book.balance(self.plan.account)

    # Going on

    def put(self, step: int, counts: Counts, relations: tuple[str, ...] = ()) -> StepRecord:
        """Release a step from its sealed counts, with its only draw. Steps before it that were not put are a gap.

        A function that fetches counts is called after the step is charged. If it could not reach the source, the charge
        is cancelled. If the budget cannot pay, the record says so, nothing is charged, and no step can follow.
        """
        self._check_next(step)
        # A step that would end after the year 9999 is refused before it is charged.
        self.plan.clock.began_at(step + 1)
        if step > self._next:
            self.skip_to(step)
        state = self._state
        state.first = step if state.first is None else state.first
        plan = step_plan(state, step)
        try:
            charge = charging.begin(self._book, plan, charging.key_of(plan), relations=relations, wait_seconds=0)
        except BudgetError:
            self._ended = True
            return self.plan.record(step, ENDED, _BUDGET)
        except (LostAnswerError, KeyReusedError):
            return self._charged_before(step)
        except PendingError:
            # A process that died behind a gap holds this step until its lease runs out.
            self._book.await_end(self.plan.identity.key_of(step))
            return self._charged_before(step)
        if isinstance(charge, StoredRelease):
            return self._charged_before(step)
        try:
            fetch = counts if callable(counts) else lambda: counts
            record = charging.complete(self._book, plan, charge, fetch, self._entropy)
        except BaseException as stopped:
            # If no row was read, the step may be tried again. Otherwise it is torn, and this object stops.
            self._broken = not isinstance(stopped, SourceUnavailableError)
            raise
        self._next = step + 1
        return record

    def put_counts(self, step: int, counts: ArrayLike) -> StepRecord:
        """Release a step from whole numbers, one for each state in declared order; otherwise as `put`."""
        return self.put(step, sealed_counts(counts, len(self.plan.states)))

    def skip_to(self, step: int) -> StepRecord | None:
        """Pass over the steps before this one, at which nobody listened; return the record of the gap, if there is one.

        Nothing is read or charged. Windows cover fewer steps, and open groups are closed.
        """
        first = self._next
        if whole_number(step, "step") <= first:
            return None
        self._check_next(step)
        self.plan.clock.began(step)
        self._state.miss(range(first, step))
        self._state.close_groups()
        self._next = step
        return self._gap(first, step)

    # Looking back

    def records(self, first: int = 0, last: int | None = None) -> Iterator[StepRecord]:
        """Yield the records of the steps from `first` to `last` as they are stored. This is free.

        Consecutive steps at which nobody listened have one record together, at the first of them.
        """
        end = self._next if last is None else min(last + 1, self._next)
        gap = first = max(first, 0)
        for step in range(max(first, self._state.first or 0), end):
            record = self._stored(step)
            if record is not None:
                if gap < step:
                    yield self._gap(gap, step)
                gap = step + 1
                yield record
        if gap < end:
            yield self._gap(gap, end)

    def page(self, records: Sequence[StepRecord] | None = None, series: Sequence[str] | None = None) -> Page:
        """Return a chart of stored records, by default of the last 288 steps, with alarms and loss. This is free."""
        from thresher.live.stream_pages import released_page  # noqa: PLC0415 - most streams are not drawn

        drawn = list(self.records(max(0, self._next - LAST_STEPS))) if records is None else records
        return released_page(self.plan, self.balance(), drawn, series, self.tested_from)

    def buffer(self, ahead_steps: int | None = None) -> StepBuffer:
        """Return a buffer for events of this stream: with its states, clock and limits, or other `ahead_steps`."""
        plan, declared = self.plan, self.plan.declared
        ahead = declared.ahead_steps if ahead_steps is None else ahead_steps
        return StepBuffer(plan.states, plan.clock, declared.late_steps, declared.max_states_per_unit, ahead, self.name)

    def close(self) -> None:
        """Forget all secrets, and close the ledger if it was opened for this stream."""
        self._broken = True
        self._state.close_groups()
        self._closing()

    def __enter__(self) -> "RunningStream":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Inside

    def _check_next(self, step: int) -> None:
        whole_number(step, "step")
        if self._reading:
            raise CuratorError(f"the stream {self.name} was opened for reading. Open it without `reading` to go on")
        if self._broken or this_process() != self._made_in:
            raise CuratorError(f"the stream {self.name} is closed in this process. Open it again to go on")
        if self._ended:
            raise CuratorError(
                f"the stream {self.name} has ended, because its budget is exhausted. Raise it and open the stream again"
            )
        if step < self._next:
            rule = "that step is over, and steps are released once, in order"
            raise ArgumentError("step", step, rule, f"Go on with step {self._next}")

    def _charged_before(self, step: int) -> StepRecord:
        """Return the torn record of a step that another process charged and lost; refuse what another one released."""
        record = self._stored(step)
        if record is None:
            self._broken = True
            raise self._elsewhere(step)
        if record.kind != TORN:
            self._broken = True
            raise LedgerError(
                f"another process is running the stream {self.name}, and only one can. Stop it, and open this one again"
            )
        self._state.miss(range(step, step + 1))
        self._next = step + 1
        return record

    def _gap(self, first: int, end: int) -> StepRecord:
        gap = self.plan.record(first, GAP, f"{_GAP} (steps {first} to {end - 1})")
        return replace(gap, steps=end - first)

    def _elsewhere(self, step: int) -> KeyReusedError:
        return KeyReusedError(
            f"step {step} of {self.name} was charged to another account than {self.plan.account}. Restore the account "
            "in its declaration"
        )

    def _after(self, kept: KeptState) -> int:
        """Return the first step after the last stored one that was never charged."""
        if kept.last >= 0 and self._stored(kept.last) is None:
            raise self._elsewhere(kept.last)
        after = kept.last + 1
        while self._is_over(after):
            after += 1
        return after

    def _is_over(self, step: int) -> bool:
        """Tell whether a step is stored or torn. Only who goes on waits for a process in the middle of it."""
        if not self._reading:
            # A process that died in the middle of this step holds it until its lease runs out.
            self._book.await_end(self.plan.identity.key_of(step))
        elif self._book.is_pending(self.plan.identity.key_of(step)):
            return False
        return self._stored(step) is not None

    def _looked_back(self, step: int) -> Iterator[tuple[int, NoisyStep | None]]:
        """Yield the earlier steps that values, windows and alarms of this one need, as they were drawn."""
        for number in range(max(0, step - self.plan.look_back), step):
            record = self._stored(number)
            yield number, None if record is None else record.drawn

    def _stored(self, step: int) -> StepRecord | None:
        """Return the record of a step, stored or torn; None if it was never charged."""
        identity = self.plan.identity
        entry = self._book.recalled(self.plan.account, identity.key_of(step))
        if entry is None:
            return self.plan.record(step, TORN, _TORN) if step <= self._forgotten_until else None
        # A step that was charged is never drawn again, whatever its question was.
        if identity.is_ours(entry.question) and entry.question != identity.of_step(step).question:
            raise KeyReusedError(
                f"step {step} of {self.name} was charged with other settings. Restore them, or declare a new stream "
                f"that shares its budget: account = {self.plan.account.removeprefix('stream:')!r}"
            )
        if entry.lost:
            return self.plan.record(step, TORN, _TORN)
        if entry.body is None:
            raise LedgerError(f"another process is releasing step {step} of {self.name}. Only one can run a stream")
        return StepRecord.from_bytes(entry.body, self.plan.names)
