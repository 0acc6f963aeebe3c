"""A declared stream as a plan: its series, what each step costs, what is drawn, what follows, and what is promised.

Everything that can be refused is refused here, before a step is charged.
Reads: declarations. Writes: nothing. Never: a count.
"""

import math
from dataclasses import dataclass
from datetime import UTC
from typing import Any, cast

from thresher.amounts import Epsilon
from thresher.config import AlarmDeclaration, StreamDeclaration
from thresher.errors import ArgumentError, DeclarationError
from thresher.guarantee import Guarantee
from thresher.noise import Entropy
from thresher.plan import Explained, Statements
from thresher.streams.alarm_lines import alarm
from thresher.streams.alarms import Alarm, Kind
from thresher.streams.smoothers import MOST_STRICTNESS
from thresher.streams.step_clock import StepClock
from thresher.streams.step_mechanism import LONGEST_GROUP, Drawer, Measures, drawer, measures
from thresher.streams.step_release import TORN, StepRecord
from thresher.streams.stream_identity import StreamIdentity, alarm_identity, stream_identity
from thresher.streams.tree import Tree

_DAY_SECONDS = 86_400
# Numbers that are kept for smoothing, or for windows: half a gigabyte.
_MOST_KEPT = 1 << 26
_OF_GROUPS = ("median", "average", "james-stein")


@dataclass(frozen=True, slots=True)
class StreamAlarm:
    """A declared alarm with its promise, and the place of the series that it watches. `identity`: all but its name."""

    declared: AlarmDeclaration
    alarm: Alarm
    place: int
    identity: str

    def first_test(self, since: int) -> int:
        """The first step whose whole window is later than the steps before `since`."""
        return since + self.alarm.window - (not self.alarm.differs)

    @property
    def promise(self) -> str:
        """The sentence, and what is shown of it where that is steadier than each step's own test."""
        on, off = self.declared.on_steps, self.declared.off_steps
        if on == off == 1:
            return self.alarm.sentence
        shown = f"It is shown as ringing after {on} tests on end that ring, and as quiet after {off} that do not."
        return f"{self.alarm.sentence} The promise is about each step's own test. {shown}"


@dataclass(frozen=True, slots=True)
class StreamPlan(Explained):
    """What a stream does in every step. All of it is computed once, when the stream is planned.

    account          what is charged; the ledger keeps what the stream goes on from under `state_name`
    states, names    what events are about, and what is released: the same, or the leaves and the nodes of the tree
    step_epsilon     what one unit loses by one step, in all series together
    longest          how far back a smoother looks: less where memory would not hold so many series
    look_back        how many steps back anything looks that follows from records
    """

    declared: StreamDeclaration
    name: str
    account: str
    state_name: str
    clock: StepClock
    tree: Tree | None
    states: tuple[str, ...]
    names: tuple[str, ...]
    step_epsilon: Epsilon
    measures: Measures
    smoother: str
    alarms: tuple[StreamAlarm, ...]
    longest: int
    look_back: int
    identity: StreamIdentity
    guarantee: Guarantee

    def record(self, step: int, kind: str, note: str) -> StepRecord:
        """The record of a step that has no value, and why."""
        lost = self.step_epsilon if kind == TORN else Epsilon(0)
        return StepRecord(self.name, step, self.clock.began(step), kind, self.names, lost, note=note)

    def drawer(self, entropy: Entropy) -> Drawer:
        return drawer(self.declared, self.measures, self.tree, entropy)

    @property
    def noise(self) -> float:
        """The standard deviation of one noisy count."""
        return 1 / (math.sqrt(2) * math.sinh(float(self.measures.perturber) / 2))

    def lost_within(self, steps: int) -> Epsilon:
        """What somebody present in so many steps on end loses at most: never more than a budget that adds them up."""
        lost = self.step_epsilon * steps
        return min(lost, self.declared.budget) if self.declared.protected_steps is None else lost

    @property
    def day(self) -> int:
        """Return how many steps a day has, rounded up."""
        return math.ceil(_DAY_SECONDS / self.declared.step_seconds)

    def explanation(self) -> Statements:
        """Return whom it protects, what a step costs, and what its alarms promise."""
        protected = self.declared.protected_steps
        if protected is None:
            who, more = "in all steps", "and never more than the budget"
            charged = f"each step adds {self.step_epsilon} to the account, until the budget ends"
        else:
            who = f"in any {protected} steps on end" if protected > 1 else "in one step"
            more = "and as much again every further day"
            most = self.step_epsilon * protected
            charged = f"the account stays at {most}, what they lose, however long it runs"
        spread = f"epsilon {self.measures.perturber} for a count: standard deviation {self.noise:,.3g}"
        groups = f"; groups with {self.measures.grouper}" if self.measures.grouper else ""
        lost = f"{self.step_epsilon} for a step; present in {in_steps(self.day)} (a day): {self.lost_within(self.day)}"
        return [
            ("stream", f"{self.name}: {len(self.names)} series, a step every {self.declared.step_seconds} seconds"),
            ("protected", f"one unit {who}; {charged}"),
            ("epsilon", f"{lost}, {more}"),
            ("noise", f"discrete Laplace, {spread}{groups}"),
            *(("alarm", f"{watch.declared.name}: {watch.promise}") for watch in self.alarms),
        ]

    def document(self) -> dict[str, Any]:
        """Return the plan for JSON."""
        return {
            "stream": self.name,
            "series": list(self.names),
            "states": list(self.states),
            "step_seconds": self.declared.step_seconds,
            "protected_steps": self.declared.protected_steps,
            "epsilon_of_a_step": self.step_epsilon.to_json(),
            "lost_in_a_day": {"steps": self.day, "epsilon": self.lost_within(self.day).to_json()},
            "epsilon_of_a_count": self.measures.perturber.to_json(),
            "alarms": [
                {"name": watch.declared.name, "series": watch.declared.series, "promise": watch.promise}
                for watch in self.alarms
            ],
        }


def in_steps(number: int) -> str:
    """Return a number of steps in words."""
    return "1 step" if number == 1 else f"{number} steps"


def plan_stream(declared: StreamDeclaration) -> StreamPlan:
    """The plan of a declared stream, or `DeclarationError` naming the setting."""
    place = f"streams.{declared.name}"
    try:
        tree = None if declared.tree is None else Tree.of(declared.tree)
    except ArgumentError as error:
        raise DeclarationError(f"{place}.tree", str(error)) from None
    if tree is None and declared.prune != "none":
        raise DeclarationError(f"{place}.prune", "only a tree can be pruned. Declare a tree, or leave it out")
    states, names = (declared.states, declared.states) if tree is None else (tree.leaves, tree.names)
    _check_states(declared, len(states), len(names))
    steps = declared.protected_steps or 1
    step_epsilon = Epsilon.from_nano(declared.epsilon.nano // steps)
    try:
        measured = measures(declared, tree, Epsilon.from_nano(step_epsilon.nano // declared.max_states_per_unit))
    except ArgumentError as error:
        raise DeclarationError(f"{place}.epsilon", str(error)) from None
    clock = StepClock(declared.start.astimezone(UTC), declared.step_seconds)
    watches = tuple(_watch(declared, said, names, measured) for said in declared.alarms)
    return StreamPlan(
        declared,
        declared.name,
        declared.account_name,
        f"stream:{declared.name}",
        clock,
        tree,
        states,
        names,
        step_epsilon,
        measured,
        _smoother(declared),
        watches,
        longest=_longest(len(names)),
        look_back=_look_back(declared),
        identity=stream_identity(declared, tree),
        guarantee=Guarantee("text", facts={"text": " ".join(watch.promise for watch in watches)}),
    )


def _longest(series: int) -> int:
    """Return how many steps a smoother may keep of each series: a power of 2."""
    length = LONGEST_GROUP
    while length > 1 and length * series > _MOST_KEPT:
        length //= 2
    return length


def _look_back(declared: StreamDeclaration) -> int:
    """Return the number of steps that a restart must read again."""
    # The first step of a window of groups may lie in the middle of a group, whose estimate needs all of its steps.
    grouped = LONGEST_GROUP if declared.mechanism == "pegasus" else 0
    windows = [length + grouped for length in declared.windows]
    alarms = [max(said.window + 1, said.on_steps, said.off_steps) for said in declared.alarms]
    return max([LONGEST_GROUP, *windows, *alarms]) + 1


def _check_states(declared: StreamDeclaration, states: int, series: int) -> None:
    """Refuse settings that need more states or more memory than there can be."""
    place = f"streams.{declared.name}"
    if declared.max_states_per_unit > states:
        message = f"there are {states} states, and noise grows with every one that a unit may be in: write {states}"
        raise DeclarationError(f"{place}.max_states_per_unit", message)
    if sum(declared.windows) * series > _MOST_KEPT:
        message = f"{series} series with windows of {sum(declared.windows)} steps take too much memory: shorten them"
        raise DeclarationError(f"{place}.windows", message)
    if declared.windows and declared.prune != "none":
        message = "a pruned node has no count, so that sums over steps would not be sums: leave windows or prune out"
        raise DeclarationError(f"{place}.windows", message)
    if declared.key_file is not None and declared.mechanism != "pegasus":
        raise DeclarationError(f"{place}.key_file", "it seals open groups, and only pegasus has any: leave it out")


def _smoother(declared: StreamDeclaration) -> str:
    """The one that is declared, or the one that suits: groups need theirs, and mixed noise allows few."""
    place, grouped, pruned = (
        f"streams.{declared.name}.smoother",
        declared.mechanism == "pegasus",
        declared.prune != "none",
    )
    if not 0 < declared.strictness <= MOST_STRICTNESS:
        rule = f"it must be above 0 and at most {MOST_STRICTNESS:.0f}. Write strictness = 3"
        raise DeclarationError(f"streams.{declared.name}.strictness", rule)
    usual = "median" if grouped else "none" if pruned else "adaptive"
    chosen = declared.smoother or usual
    if chosen in _OF_GROUPS and not grouped:
        raise DeclarationError(place, f'{chosen} smooths groups: write mechanism = "pegasus", or leave it out')
    if pruned and chosen in ("adaptive", "james-stein"):
        raise DeclarationError(place, f"{chosen} needs equal noise, and a pruned tree mixes it: write {usual}")
    return chosen


def _watch(
    declared: StreamDeclaration, said: AlarmDeclaration, names: tuple[str, ...], measured: Measures
) -> StreamAlarm:
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
    return StreamAlarm(said, made, names.index(said.series), alarm_identity(said))
