"""A declared stream as a plan: its series, what each step costs, what is drawn, what follows, and what is promised.

Everything that can be refused is refused here, before a step is charged.
Reads: declarations. Writes: nothing. Never: a count.
"""

import hashlib
import json
from dataclasses import dataclass, fields
from datetime import UTC
from typing import cast

from thresher.accounting import Spending, step_spending
from thresher.amounts import Epsilon
from thresher.config import AlarmDeclaration, StreamDeclaration
from thresher.errors import ArgumentError, DeclarationError
from thresher.noise import Entropy
from thresher.streams.alarms import Alarm, Kind, alarm
from thresher.streams.clock import StepClock
from thresher.streams.drawing import Drawer, Measures, drawer, measures
from thresher.streams.tree import Tree

# What a restart must have, and what a group or a smoother may look back on: a bound on memory for every series.
LONGEST = 1 << 14
_DAY_SECONDS = 86_400
_OF_GROUPS = ("median", "average", "james-stein")
# Neither changes what is drawn or shown.
_NOT_PARAMETERS = ("budget", "key_file")


@dataclass(frozen=True, slots=True)
class Watch:
    """A declared alarm with its promise, and the place of the series that it watches."""

    declared: AlarmDeclaration
    alarm: Alarm
    place: int


@dataclass(frozen=True, slots=True)
class StreamPlan:
    """What a stream does in every step. `step_epsilon`: what one unit loses by one step, in all series together."""

    declared: StreamDeclaration
    clock: StepClock
    tree: Tree | None
    step_epsilon: Epsilon
    measures: Measures
    smoother: str
    watches: tuple[Watch, ...]

    @property
    def name(self) -> str:
        return self.declared.name

    @property
    def account(self) -> str:
        return self.declared.account_name

    @property
    def state_name(self) -> str:
        """Under which the ledger keeps what it goes on from."""
        return f"stream:{self.name}"

    @property
    def states(self) -> tuple[str, ...]:
        """What events are about: the series, or the leaves of the tree."""
        return self.declared.states if self.tree is None else self.tree.leaves

    @property
    def names(self) -> tuple[str, ...]:
        """What is released."""
        return self.declared.states if self.tree is None else self.tree.names

    def cost(self, step: int) -> Spending:
        return step_spending(step, self.step_epsilon, self.declared.protected_steps)

    def key(self, step: int) -> str:
        """Under which a step is charged, once for ever."""
        return f"stream/{hashlib.sha256(self.name.encode()).hexdigest()[:16]}/{step}"

    def identity(self, step: int) -> str:
        return json.dumps({"stream": self.name, "parameters": self.parameters(), "step": step}, sort_keys=True)

    def parameters(self) -> dict[str, str]:
        """All that makes it this stream, field by field, as short hashes: a change of any is another stream."""
        listed = [field.name for field in fields(self.declared) if field.name not in _NOT_PARAMETERS]
        return {name: _digest(getattr(self.declared, name)) for name in listed}

    def drawer(self, entropy: Entropy) -> Drawer:
        return drawer(self.declared, self.measures, self.tree, entropy)

    def lost_within(self, steps: int) -> Epsilon:
        """What somebody present in so many steps on end loses at most: never more than a budget that adds them up."""
        lost = self.step_epsilon * steps
        return min(lost, self.declared.budget) if self.declared.protected_steps is None else lost

    def __str__(self) -> str:
        day = max(2, _DAY_SECONDS // self.declared.step_seconds)
        protected = self.declared.protected_steps
        who = "in all steps" if protected is None else f"in any {protected} steps on end" if protected > 1 else ""
        charged = (
            f"each step adds {self.step_epsilon} to the account, until the budget ends"
            if protected is None
            else f"the account stays at {self.step_epsilon * protected}, however long it runs"
        )
        lines = [
            f"stream     {self.name}: {len(self.names)} series, a step every {self.declared.step_seconds} seconds",
            f"protected  one unit {who or 'in one step'}; {charged}",
            f"epsilon    {self.step_epsilon} for a step; present in {day} steps (a day): {self.lost_within(day)}",
            f"noise      discrete Laplace, epsilon {self.measures.perturber} for a count"
            + (f", grouped with {self.measures.grouper}" if self.measures.grouper else ""),
            *(f"alarm      {watch.declared.name}: {watch.alarm.sentence}" for watch in self.watches),
        ]
        return "\n".join(lines)


def plan_stream(declared: StreamDeclaration) -> StreamPlan:
    """The plan of a declared stream, or `DeclarationError` naming the setting."""
    place = f"streams.{declared.name}"
    try:
        tree = None if declared.tree is None else Tree.of(declared.tree)
    except ArgumentError as error:
        raise DeclarationError(f"{place}.tree", str(error)) from None
    if tree is None and declared.prune != "none":
        raise DeclarationError(f"{place}.prune", "only a tree can be pruned. Declare a tree, or leave it out")
    steps = declared.protected_steps or 1
    step_epsilon = Epsilon.from_nano(declared.epsilon.nano // steps)
    try:
        measured = measures(declared, tree, Epsilon.from_nano(step_epsilon.nano // declared.max_states_per_unit))
    except ArgumentError as error:
        raise DeclarationError(f"{place}.epsilon", str(error)) from None
    clock = StepClock(declared.start.astimezone(UTC), declared.step_seconds)
    names = declared.states if tree is None else tree.names
    watches = tuple(_watch(declared, said, names, measured) for said in declared.alarms)
    return StreamPlan(declared, clock, tree, step_epsilon, measured, _smoother(declared), watches)


def _smoother(declared: StreamDeclaration) -> str:
    """The one that is declared, or the one that suits: groups need theirs, and mixed noise allows few."""
    place, grouped, pruned = (
        f"streams.{declared.name}.smoother",
        declared.mechanism == "pegasus",
        declared.prune != "none",
    )
    usual = "median" if grouped else "none" if pruned else "adaptive"
    chosen = declared.smoother or usual
    if chosen in _OF_GROUPS and not grouped:
        raise DeclarationError(place, f'{chosen} smooths groups: write mechanism = "pegasus", or leave it out')
    if pruned and chosen in ("adaptive", "james-stein"):
        raise DeclarationError(place, f"{chosen} needs equal noise, and a pruned tree mixes it: write {usual}")
    return chosen


def _watch(declared: StreamDeclaration, said: AlarmDeclaration, names: tuple[str, ...], measured: Measures) -> Watch:
    place = f"streams.{declared.name}.alarms.{said.name}"
    if said.series not in names:
        raise DeclarationError(f"{place}.series", f"there is no series {said.series!r} in this stream")
    if declared.prune != "none":
        message = "where a tree is pruned, a node may go unmeasured, and no promise can be made. Leave prune out"
        raise DeclarationError(place, message)
    try:
        made = alarm(
            cast(Kind, said.kind),
            said.threshold,
            said.window,
            measured.perturber.fraction,
            said.miss_rate,
            said.false_alarm_rate,
        )
    except ArgumentError as error:
        raise DeclarationError(f"{place}.{error.field}", str(error)) from None
    return Watch(said, made, names.index(said.series))


def _digest(value: object) -> str:
    """Of tuples, numbers, texts and frozen declarations, whose text is all of them."""
    shown = repr(sorted(value.items())) if hasattr(value, "items") else repr(value)
    return hashlib.sha256(shown.encode()).hexdigest()[:12]
