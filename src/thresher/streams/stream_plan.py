"""Plan a declared stream: its series, what each step draws and costs, what follows from it, and what is promised.

All refusals of a declaration happen here, before a step is charged.
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
from thresher.streams.alarms import Alarm, Kind, alarm
from thresher.streams.step_clock import StepClock
from thresher.streams.step_mechanism import LONGEST_GROUP, Drawer, Measures, drawer, measures
from thresher.streams.step_release import TORN, StepRecord
from thresher.streams.stream_identity import StreamIdentity, alarm_identity, stream_identity
from thresher.streams.tree import Tree

_DAY_SECONDS = 86_400
# The most numbers that are kept for smoothing, or for windows: half a gigabyte.
_MOST_KEPT = 1 << 26
_OF_GROUPS = ("median", "average", "james-stein")


@dataclass(frozen=True, slots=True)
class StreamAlarm:
    """A declared alarm with its promise, and the place of its series. `identity`: a digest of all but its name."""

    declared: AlarmDeclaration
    alarm: Alarm
    place: int
    identity: str

    def first_test(self, since: int) -> int:
        """Return the first step whose whole window lies at `since` or later."""
        return since + self.alarm.window - (not self.alarm.differs)

    @property
    def promise(self) -> str:
        """Return the promise in words, and how `ringing` follows the tests if it is delayed."""
        on, off = self.declared.on_steps, self.declared.off_steps
        sentence = self.alarm.promise("With events limited as declared, over the noise")
        if on == off == 1:
            return sentence
        rings = "1 test that rings" if on == 1 else f"{on} tests in a row that ring"
        quiet = "1 that does not" if off == 1 else f"{off} in a row that do not"
        shown = f"It is shown as ringing after {rings}, and as quiet after {quiet}."
        return f"{sentence} The promise is about the test of each step. {shown}"


@dataclass(frozen=True, slots=True)
class StreamPlan(Explained):
    """What a stream does in each step. All of it is computed once, when the stream is planned.

    account          the account that is charged; the ledger keeps the stream's state under `state_name`
    states, names    what events name, and what is released: the same, or the leaves and the nodes of the tree
    step_epsilon     what one unit loses by one step, in all series together
    longest          how many steps back a smoother looks: fewer where memory would not hold so many series
    look_back        how many stored steps a restart must read again
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
        """Make the record of a step that has no value, with a note that says why."""
        lost = self.step_epsilon if kind == TORN else Epsilon(0)
        return StepRecord(self.name, step, self.clock.began(step), kind, self.names, lost, note=note)

    def drawer(self, entropy: Entropy) -> Drawer:
        """Make the drawer of the stream's steps."""
        return drawer(self.declared, self.measures, self.tree, entropy)

    @property
    def noise(self) -> float:
        """Return the standard deviation of one noisy count."""
        return 1 / (math.sqrt(2) * math.sinh(float(self.measures.perturber) / 2))

    def lost_within(self, steps: int) -> Epsilon:
        """Return the most that somebody present in this many consecutive steps loses.

        With `protect = "unit"` steps add up in the account, so it is never more than the budget.
        """
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
            who = f"in any {protected} consecutive steps" if protected > 1 else "in one step"
            more = "and as much again each further day"
            most = self.step_epsilon * protected
            charged = f"the account stays at {most}, which is what they lose, however long the stream runs"
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
    """Plan a declared stream, or raise `DeclarationError` with the name of the setting."""
    place = f"streams.{declared.name}"
    try:
        tree = None if declared.tree is None else Tree.of(declared.tree)
    except ArgumentError as error:
        raise DeclarationError(f"{place}.tree", str(error)) from None
    if tree is None and declared.prune != "none":
        raise DeclarationError(f"{place}.prune", "only a tree can be pruned. Declare a tree, or leave prune out")
    states, names = (declared.states, declared.states) if tree is None else (tree.leaves, tree.names)
    _check_states(declared, len(states), len(names))
    steps = declared.protected_steps or 1
    step_epsilon = Epsilon.from_nano(declared.epsilon.nano // steps)
    share = Epsilon.from_nano(step_epsilon.nano // declared.max_states_per_unit)
    try:
        measured = measures(declared, tree, share)
    except ArgumentError as error:
        field = "theta" if error.field == "theta" else "epsilon"
        message = f"one series has epsilon {share} in a step: {error.rule}. {error.fix}"
        raise DeclarationError(f"{place}.{field}", message) from None
    clock = StepClock(declared.start.astimezone(UTC), declared.step_seconds)
    watches = tuple(_watch(declared, alarmed, names, measured) for alarmed in declared.alarms)
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
    alarms = [max(alarmed.window + 1, alarmed.on_steps, alarmed.off_steps) for alarmed in declared.alarms]
    return max([LONGEST_GROUP, *windows, *alarms]) + 1


def _check_states(declared: StreamDeclaration, states: int, series: int) -> None:
    """Refuse settings that need more states or more memory than there can be."""
    place = f"streams.{declared.name}"
    if declared.max_states_per_unit > states:
        message = f"there are only {states} states, and the noise grows with this number. Write {states}"
        raise DeclarationError(f"{place}.max_states_per_unit", message)
    if sum(declared.windows) * series > _MOST_KEPT:
        message = f"{series} series with windows of {sum(declared.windows)} steps need too much memory. Shorten them"
        raise DeclarationError(f"{place}.windows", message)
    if declared.windows and declared.prune != "none":
        message = "a pruned node has no count, so a window would lack some of its steps. Leave out windows or prune"
        raise DeclarationError(f"{place}.windows", message)
    if declared.key_file is not None and declared.mechanism != "pegasus":
        message = 'it seals open groups, and only mechanism = "pegasus" has groups. Leave key_file out'
        raise DeclarationError(f"{place}.key_file", message)


def _smoother(declared: StreamDeclaration) -> str:
    """Return the declared smoother, or the usual one of the mechanism; refuse one that does not fit."""
    place, grouped, pruned = (
        f"streams.{declared.name}.smoother",
        declared.mechanism == "pegasus",
        declared.prune != "none",
    )
    usual = "median" if grouped else "none" if pruned else "adaptive"
    chosen = declared.smoother or usual
    if chosen in _OF_GROUPS and not grouped:
        raise DeclarationError(place, f'{chosen} smooths groups. Write mechanism = "pegasus", or leave smoother out')
    if pruned and chosen in ("adaptive", "james-stein"):
        raise DeclarationError(place, f'{chosen} needs equal noise, which pruning mixes. Write smoother = "{usual}"')
    return chosen


def _watch(
    declared: StreamDeclaration, alarmed: AlarmDeclaration, names: tuple[str, ...], measured: Measures
) -> StreamAlarm:
    """Place the line of a declared alarm."""
    place = f"streams.{declared.name}.alarms.{alarmed.name}"
    if alarmed.series not in names:
        message = f"the stream has no series {alarmed.series!r}. Name a declared state or node"
        raise DeclarationError(f"{place}.series", message)
    if declared.prune != "none":
        message = "a pruned tree leaves nodes unmeasured, so an alarm can promise nothing. Leave out prune or the alarm"
        raise DeclarationError(place, message)
    try:
        placed = alarm(
            cast(Kind, alarmed.kind),
            alarmed.threshold,
            alarmed.window,
            measured.perturber.fraction,
            alarmed.miss_rate,
            alarmed.false_alarm_rate,
        )
    except ArgumentError as error:
        raise DeclarationError(f"{place}.{error.field}", str(error)) from None
    return StreamAlarm(alarmed, placed, names.index(alarmed.series), alarm_identity(alarmed))
