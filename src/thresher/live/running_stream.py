"""A stream that runs: every step is charged, drawn, stored and only then handed out, once and for ever.

    put(step, counts)   a plan ─► charging: reserve ─► draw ─► settle (charge, record and state at once) ─► record

A process that dies leaves a step that is stored, and will be shown again as it is, or one that is charged and torn; it
is never drawn again. The stream goes on with the next one, by itself or in another process.
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

# One step's counts, sealed; or what fetches them.
Counts = Exact | Callable[[], Exact]
# Of how many steps there is a chart, if nothing else is said.
LAST_STEPS = 288
_BUDGET = "the budget is exhausted: this step is not released, and nothing follows"
_TORN = "charged, and lost before it was stored: there is no value for this step"
_GAP = "nobody listened: nothing was read, and nothing is charged"


class RunningStream(Shown):
    """One declared stream, in one process at a time. Use it in a `with`, or `close` it."""

    def __init__(
        self,
        plan: StreamPlan,
        book: Book,
        seal: Seal | None = None,
        entropy: Entropy | None = None,
        closing: Callable[[], None] = lambda: None,
    ) -> None:
        self.plan, self._book, self._closing = plan, book, closing
        self._entropy = chosen(entropy)
        self._ended = self._broken = False
        # A fork of it would use its noise again.
        self._made_in = this_process()
        kept = KeptState.of(plan, self._entropy.stamp, book.state(plan.state_name))
        self._next = self._after(kept)
        self._state = StreamState(plan, self._entropy, seal, kept, self._next, self._looked_back(self._next))

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

    @property
    def tested_from(self) -> dict[str, int]:
        """For each alarm the first step that it tests: its whole window is later than its declaration."""
        return self._state.tested_from

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
        if step >= self.plan.clock.steps:
            self.plan.clock.began(step + 1)
        if step > self._next:
            self.skip_to(step)
        state = self._state
        state.first = step if state.first is None else state.first
        plan = step_plan(state, step)
        try:
            held = charging.begin(self._book, plan, charging.key_of(plan), wait_seconds=0)
        except BudgetError:
            self._ended = True
            return self.plan.record(step, ENDED, _BUDGET)
        except (LostAnswerError, KeyReusedError):
            return self._charged_before(step)
        if isinstance(held, StoredRelease):
            return self._charged_before(step)
        try:
            fetch = counts if callable(counts) else lambda: counts
            record = charging.complete(self._book, plan, held, fetch, self._entropy)
        except BaseException as stopped:
            # Where no row was read, the step may be tried again. Otherwise it is torn, and the stream stops with it.
            self._broken = not isinstance(stopped, SourceUnavailableError)
            raise
        self._next = step + 1
        return record

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
        self._state.miss(range(first, step))
        self._state.close_groups()
        self._next = step
        return self._gap(first, step)

    # Looking back

    def records(self, first: int = 0, last: int | None = None) -> Iterator[StepRecord]:
        """The steps from `first` to `last`, as they were stored: a look that charges nothing.

        Steps on end at which nobody listened have one record together, at the first of them.
        """
        end = self._next if last is None else min(last + 1, self._next)
        gap = first
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
        """Return a chart of stored records, by default of the last 288 steps, with alarms and loss. Charges nothing."""
        from thresher.live.stream_pages import released_page  # noqa: PLC0415 - most streams are not drawn

        drawn = list(self.records(max(0, self._next - LAST_STEPS))) if records is None else records
        return released_page(self.plan, self.balance(), drawn, series, self.tested_from)

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
        self._state.close_groups()
        self._closing()

    def __enter__(self) -> "RunningStream":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Inside

    def _check_next(self, step: int) -> None:
        whole_number(step, "step")
        if self._broken or this_process() != self._made_in:
            raise CuratorError(f"the stream {self.name} stopped here: open it again, and it goes on with the next step")
        if self._ended:
            raise CuratorError(
                f"the stream {self.name} has ended: its budget is exhausted. Raise it, and open it again"
            )
        if step < self._next:
            rule = f"that step is over, and {self._next} is the next"
            raise ArgumentError("step", step, rule, "Steps are released once, in order")

    def _charged_before(self, step: int) -> StepRecord:
        """A step that is charged already is never drawn: another process tore it, having passed over those before."""
        record = self._stored(step)
        if record is None:
            self._broken = True
            raise self._elsewhere(step)
        if record.kind != TORN:
            self._broken = True
            raise LedgerError(f"another process carries the stream {self.name} on: only one can. Open it again")
        self._state.miss(range(step, step + 1))
        self._next = step + 1
        return record

    def _gap(self, first: int, end: int) -> StepRecord:
        gap = self.plan.record(first, GAP, f"{_GAP} (steps {first} to {end - 1})")
        return replace(gap, steps=end - first)

    def _elsewhere(self, step: int) -> KeyReusedError:
        return KeyReusedError(
            f"step {step} of {self.name} was charged to another account than {self.plan.account}: restore the account "
            "of its declaration, or declare a new stream under another name"
        )

    def _after(self, kept: KeptState) -> int:
        """The first step after the last that was stored which was never charged."""
        if kept.last >= 0 and self._stored(kept.last) is None:
            raise self._elsewhere(kept.last)
        after = kept.last + 1
        while self._stored(after) is not None:
            after += 1
        return after

    def _looked_back(self, step: int) -> Iterator[tuple[int, NoisyStep | None]]:
        """What was drawn in the steps before this one that anything looks back on."""
        for number in range(max(0, step - self.plan.look_back), step):
            record = self._stored(number)
            yield number, None if record is None else record.drawn

    def _stored(self, step: int) -> StepRecord | None:
        """The record of a step as stored, or torn; None if it was never charged."""
        identity = self.plan.identity
        found = self._book.recalled(self.plan.account, identity.key_of(step))
        if found is None:
            return None
        # Whatever charged it, a step that was charged is never drawn again.
        if identity.is_ours(found.question) and found.question != identity.of_step(step).question:
            raise KeyReusedError(f"step {step} of {self.name} was charged with other settings: name another stream")
        if found.lost:
            return self.plan.record(step, TORN, _TORN)
        if found.body is None:
            raise LedgerError(f"another process is releasing step {step} of {self.name}: only one can run a stream")
        return StepRecord.from_bytes(found.body, self.plan.names)
