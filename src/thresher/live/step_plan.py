"""One step of a stream as a plan: its price, what it is, and its one draw. It is charged like any other plan.

Reads: sealed counts, in `run` alone. Writes: nothing. Never: a second draw; a key that a user may name.
"""

from dataclasses import dataclass
from typing import Any

from thresher.accounting import Spending
from thresher.amounts import Epsilon
from thresher.errors import BugError
from thresher.live.stream_state import StreamState
from thresher.noise import Entropy
from thresher.plan import Plan
from thresher.question import Exact
from thresher.streams.step_release import StepRecord

STREAM_STEP = "stream step"


@dataclass(frozen=True, slots=True, kw_only=True)
class StepPlan(Plan[StepRecord]):
    """The next step of a stream, which goes on from `state`; drawing it moves the state on."""

    step: int
    state: StreamState

    def affordable(self, limit: Epsilon) -> None:  # noqa: ARG002
        """A step costs what its stream declares: there is nothing to change."""
        return

    def recall(self, body: bytes, key: str) -> StepRecord:  # noqa: ARG002
        return StepRecord.from_bytes(body, self.state.plan.names)

    def run(self, exact: Exact | None, entropy: Entropy) -> tuple[StepRecord, Spending | None]:  # noqa: ARG002
        """Draw, with the entropy that the stream was opened with. The whole cost is lost, whatever comes out."""
        if exact is None:
            raise BugError("a step was to be drawn without its counts")
        return self.state.release(self.step, exact), self.cost

    def state_after(self, release: Any) -> tuple[str, bytes]:  # noqa: ARG002
        return self.state.plan.state_name, self.state.to_bytes(self.step)


def step_plan(state: StreamState, step: int) -> StepPlan:
    """The plan of a stream's next step."""
    stream = state.plan
    return StepPlan(
        family=STREAM_STEP,
        account=stream.account,
        subject=stream.identity.subject,
        identity=stream.identity.of_step(step),
        need=None,
        cost=stream.cost(step),
        epsilon=stream.step_epsilon,
        guarantee=stream.guarantee,
        written_key=stream.identity.key_of(step),
        key_is_fixed=True,
        called=f"step {step} of {stream.name}",
        step=step,
        state=state,
    )
