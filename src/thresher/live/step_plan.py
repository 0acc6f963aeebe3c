"""The next step of a stream as a plan, charged like any other plan, and the state that it goes on from.

    KeptState     what the ledger keeps of a stream with each step
    StreamState   the open groups, the sums, and since when each alarm has been declared
    StepPlan      the price of the next step, its identity, and its only draw, which advances the state

The ledger keeps a line of JSON (the last step, the settings that decide what is drawn, the first step of each alarm)
and sealed bytes (the drawer's secrets; none without a seal). The rest follows from stored records.
Reads: sealed counts, in `run` alone; the kept state. Writes: bytes. Never: a second draw; a key that a user may name; a
count, or an open group, in the clear.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from thresher.accounting import Spending, step_spending
from thresher.amounts import Epsilon
from thresher.errors import ArgumentError, BugError
from thresher.live.recorded_noise import RecordedEntropy
from thresher.live.secret_state import Seal
from thresher.noise import Entropy
from thresher.plan import Plan, Statements
from thresher.question import Exact
from thresher.streams.derived_values import Derivation
from thresher.streams.step_release import RELEASED, NoisyStep, StepRecord
from thresher.streams.stream_identity import changed_settings, old_settings
from thresher.streams.stream_plan import StreamPlan

STREAM_STEP = "stream step"


@dataclass(frozen=True, slots=True)
class KeptState:
    """What the ledger kept of a stream with its last step.

    last       the last step that was stored, -1 if none was; `first` is the first step that was put
    since      the step since which each alarm has been declared
    sealed     the drawer's secrets, if the stream may go on with them
    """

    last: int = -1
    first: int | None = None
    since: Mapping[str, int] = field(default_factory=dict)
    sealed: bytes = b""

    @classmethod
    def of(cls, plan: StreamPlan, stamp: str, kept: bytes | None) -> "KeptState":
        """Read the kept state, or refuse a stream with other settings. `stamp`: the stamp of its entropy."""
        if kept is None:
            return cls()
        content: dict[str, Any] = json.loads(kept.partition(b"\n")[0])
        _check_settings(plan, content)
        # Somebody who knows a seed knows the noisy cutoffs of its groups, so they do not go on without the seed. Nor
        # do groups of a stream of version 0, whose seal is bound to another text.
        goes_on = "facts" in content and content["stamp"] == stamp
        return cls(content["step"], content["first"], content.get("alarms", {}), sealed_part(kept) if goes_on else b"")


class StreamState:
    """The state of one stream before its next `step`. `before`: what was drawn in the steps that it reads again."""

    def __init__(
        self,
        plan: StreamPlan,
        entropy: Entropy,
        seal: Seal | None,
        kept: KeptState,
        step: int,
        before: Iterable[tuple[int, NoisyStep | None]],
    ) -> None:
        self.plan, self._entropy, self._seal = plan, entropy, seal
        # If nothing is kept, all charged steps are torn.
        self.first = 0 if step and kept.first is None else kept.first
        # A new alarm is declared from this step on.
        self._kept_since = kept.since
        self._since = {alarm.identity: kept.since.get(alarm.identity, step) for alarm in plan.alarms}
        self._derivation = Derivation(plan, [self._since[alarm.identity] for alarm in plan.alarms])
        for number, drawn in before:
            self._derivation.follow(number, drawn)
        self._drawer = plan.drawer(entropy)
        if kept.sealed and seal:
            self._drawer.restore(seal.opened(kept.sealed, self._about(kept.last)))

    @property
    def tested_from(self) -> dict[str, int]:
        """Return for each alarm the first step whose whole window is later than its declaration."""
        return {alarm.declared.name: alarm.first_test(self._since[alarm.identity]) for alarm in self.plan.alarms}

    def release(self, step: int, counts: Exact) -> StepRecord:
        """Draw a step that was charged, once, and follow it."""
        if isinstance(self._entropy, RecordedEntropy):
            self._entropy.begin(step)
        if self._since.keys() != self._kept_since.keys():
            # Another process may have released the steps that were passed over here, and somebody may have seen them.
            self._since = {alarm: self._kept_since.get(alarm, step) for alarm in self._since}
            self._kept_since = self._since
        drawn = self._drawer.draw(counts)
        after, plan = self._derivation.follow(step, drawn), self.plan
        return StepRecord(
            plan.name,
            step,
            plan.clock.began(step),
            RELEASED,
            plan.names,
            plan.step_epsilon,
            drawn,
            after.values,
            after.windows,
            after.alarms,
            stamp=self._entropy.stamp,
        )

    def miss(self, steps: range) -> None:
        """Follow steps without a value. After `look_back` of them, more change nothing."""
        for step in steps[: self.plan.look_back]:
            self._derivation.follow(step, None)

    def close_groups(self) -> None:
        """Forget all secrets: open groups are closed."""
        self._drawer.close()

    def to_bytes(self, step: int) -> bytes:
        """Return what the ledger keeps after a step."""
        sealed = self._seal.closed(self._drawer.secrets(), self._about(step)) if self._seal else b""
        content = {
            "alarms": self._since,
            "facts": self.plan.identity.facts,
            "first": self.first,
            "stamp": self._entropy.stamp,
            "step": step,
        }
        return json.dumps(content, sort_keys=True).encode() + b"\n" + sealed

    def _about(self, step: int) -> str:
        """Return the text that sealed secrets are bound to."""
        return self.plan.identity.of_step(step).question


@dataclass(frozen=True, slots=True, kw_only=True)
class StepPlan(Plan[StepRecord]):
    """The next step of a stream, which goes on from `state`; drawing it advances the state."""

    step: int
    state: StreamState

    def affordable(self, limit: Epsilon) -> None:  # noqa: ARG002
        """Return nothing: the declaration of the stream sets the price of a step."""
        return

    def explanation(self) -> Statements:
        stream = self.state.plan
        return [
            ("step", f"{self.step} of {stream.name}, which begins {stream.clock.began(self.step)}"),
            ("price", f"{self.price_in_words} for one unit in this step alone"),
            *(("alarm", f"{alarm.declared.name}: {alarm.promise}") for alarm in stream.alarms),
        ]

    def recall(self, body: bytes, key: str) -> StepRecord:  # noqa: ARG002
        return StepRecord.from_bytes(body, self.state.plan.names)

    def run(self, exact: Exact | None, entropy: Entropy) -> tuple[StepRecord, Spending | None]:  # noqa: ARG002
        """Draw the step with the entropy of the stream. The whole cost is lost, whatever comes out."""
        if exact is None:
            raise BugError("a step cannot be drawn without its counts")
        return self.state.release(self.step, exact), self.cost

    def state_after(self, release: Any) -> tuple[str, bytes]:  # noqa: ARG002
        return self.state.plan.state_name, self.state.to_bytes(self.step)


def step_plan(state: StreamState, step: int) -> StepPlan:
    """Plan the next step of a stream."""
    stream = state.plan
    return StepPlan(
        family=STREAM_STEP,
        account=stream.account,
        subject=stream.identity.subject,
        identity=stream.identity.of_step(step),
        need=None,
        cost=step_spending(step, stream.step_epsilon, stream.declared.protected_steps),
        epsilon=stream.step_epsilon,
        guarantee=stream.guarantee,
        written_key=stream.identity.key_of(step),
        key_is_fixed=True,
        called=f"step {step} of {stream.name}",
        step=step,
        state=state,
    )


def sealed_part(kept: bytes) -> bytes:
    """Return the sealed secrets of what the ledger kept; empty if the stream ran without a seal."""
    return kept.partition(b"\n")[2]


def _check_settings(plan: StreamPlan, content: dict[str, Any]) -> None:
    """Refuse settings that differ from those with which the stream began; name them."""
    if "facts" in content:
        changed = changed_settings(content["facts"], plan.identity.facts)
    else:
        now = old_settings(plan.declared)
        changed = changed_settings({name: content["parameters"].get(name) for name in now}, now)
    if changed:
        account = plan.account.removeprefix("stream:")
        raise ArgumentError(
            "stream",
            plan.name,
            f"it began with other settings ({', '.join(changed)}), which decide what is drawn",
            f"Restore them, or declare a new stream that shares its budget: account = {account!r}",
        )
