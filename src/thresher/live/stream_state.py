"""What a running stream goes on from: open groups, sums, and since when each alarm has been declared.

    a line of JSON     the last step, the settings that decide what is drawn, the first step of each alarm
    sealed bytes       the drawer's secrets; none without a seal

Everything that follows from records is found again by looking back on them.
Reads: sealed counts, what was kept. Writes: bytes. Never: a count, or an open group, in the clear.
"""

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from thresher.errors import ArgumentError
from thresher.live.recorded_noise import RecordedEntropy
from thresher.live.secret_state import Seal
from thresher.noise import Entropy
from thresher.question import Exact
from thresher.streams.derived_values import Follower
from thresher.streams.step_release import RELEASED, Drawn, StepRecord
from thresher.streams.stream_identity import changed_settings, old_settings
from thresher.streams.stream_plan import StreamPlan


class StreamState:
    """The state of one stream after its last step. `kept`: what the ledger kept of it, if any step was stored.

    `first`: the first step that was ever put. `last`: the last that was stored, -1 if none was.
    """

    def __init__(self, plan: StreamPlan, entropy: Entropy, seal: Seal | None, kept: bytes | None) -> None:
        self.plan, self._entropy, self._seal = plan, entropy, seal
        self._drawer = plan.drawer(entropy)
        line, _, sealed = (b"{}" if kept is None else kept).partition(b"\n")
        said: dict[str, Any] = json.loads(line)
        self.first: int | None = said.get("first")
        self.last: int = said.get("step", -1)
        if kept is not None:
            _check_settings(plan, said)
        # Whoever knows a seed knows the noisy thresholds of its groups: they do not go on without it. Nor do groups
        # of a stream of version 0, whose seal is bound to another text.
        goes_on = "facts" in said and said["stamp"] == entropy.stamp
        self._sealed = sealed if goes_on else b""
        self._since: dict[str, int] = said.get("alarms", {})
        self._follower = Follower(plan)

    def go_on(self, step: int, before: Iterable[tuple[int, Drawn | None]]) -> None:
        """Go on with this step, after a look back on what was drawn before. An alarm that is new is declared here."""
        since = [self._since.get(watch.identity, step) for watch in self.plan.watches]
        self._since = {watch.identity: first for watch, first in zip(self.plan.watches, since, strict=True)}
        self._follower = Follower(self.plan, since)
        for number, drawn in before:
            self._follower.follow(number, drawn)
        if self._sealed and self._seal:
            self._drawer.restore(self._seal.opened(self._sealed, self._about(self.last)))

    @property
    def tested_from(self) -> dict[str, int]:
        """For each alarm the first step whose whole window is later than its declaration."""
        return {w.declared.name: w.first_test(self._since[w.identity]) for w in self.plan.watches}

    def release(self, step: int, counts: Exact) -> StepRecord:
        """Draw a step, once, and follow it. It must have been charged."""
        if isinstance(self._entropy, RecordedEntropy):
            self._entropy.begin(step)
        drawn = self._drawer.draw(counts)
        after = self._follower.follow(step, drawn)
        empty = self.plan.record(step, RELEASED, stamp=self._entropy.stamp)
        return replace(empty, drawn=drawn, values=after.values, windows=after.windows, alarms=after.alarms)

    def miss(self, steps: range) -> None:
        """These steps have no value. After more of them than anything looks back on, nothing changes any more."""
        for step in steps[: self.plan.look_back]:
            self._follower.follow(step, None)

    def close_groups(self) -> None:
        """Forget all secrets: groups that were open are closed."""
        self._drawer.close()

    def to_bytes(self, step: int) -> bytes:
        """What is to be kept after a step."""
        sealed = self._seal.closed(self._drawer.secrets(), self._about(step)) if self._seal else b""
        said = {
            "alarms": self._since,
            "facts": self.plan.identity.facts,
            "first": self.first,
            "stamp": self._entropy.stamp,
            "step": step,
        }
        return json.dumps(said, sort_keys=True).encode() + b"\n" + sealed

    def _about(self, step: int) -> str:
        """What sealed secrets are bound to."""
        return self.plan.identity.of_step(step).question


def _check_settings(plan: StreamPlan, said: dict[str, Any]) -> None:
    """Refuse other settings than those that the stream began with, by their names."""
    if "facts" in said:
        changed = changed_settings(said["facts"], plan.identity.facts)
    else:
        now = old_settings(plan.declared)
        changed = changed_settings({name: said["parameters"].get(name) for name in now}, now)
    if changed:
        raise ArgumentError(
            "stream",
            plan.name,
            f"it began with other settings ({', '.join(changed)}), which decide what is drawn",
            "Restore them, or declare a new stream under another name",
        )
