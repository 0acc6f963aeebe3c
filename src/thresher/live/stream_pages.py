"""Pages about a stream: what was released, how a run ended, and what somebody who was counted has lost.

Reads: plans, records, balances. Writes: nothing. Never: a count that was not released.
"""

from collections.abc import Mapping, Sequence

from thresher.ledger import Balance
from thresher.pages import Block, Fact, Page
from thresher.pages.page import SEEDED, SPACE
from thresher.streams.step_release import ENDED, StepRecord
from thresher.streams.stream_chart import ringing_steps, stream_chart
from thresher.streams.stream_plan import StreamAlarm, StreamPlan, in_steps

_MOST_SPELLS = 6


def released_page(
    plan: StreamPlan,
    balance: Balance,
    records: Sequence[StepRecord],
    series: Sequence[str] | None,
    tested_from: Mapping[str, int],
) -> Page:
    """Return a chart of records, when alarms rang, and what it all costs. `tested_from`: each alarm's first test."""
    if not records:
        return Page((Fact("", "No such step is released yet."), SPACE)) + balance.page()
    stamp = next((record.stamp for record in records if record.stamp), "")
    blocks: tuple[Block, ...] = (
        *(SEEDED if stamp else ()),
        *stream_chart(records, series),
        Fact("drawn", "dots are the noisy counts that carry the promises; the line is smoothed, best effort"),
        *(_rang(plan, records, watch, tested_from[watch.declared.name]) for watch in plan.alarms),
    )
    document = {"records": [record.document() for record in records]}
    return Page(blocks, document, stamp) + _price(plan, balance)


def after_page(plan: StreamPlan, balance: Balance, last: StepRecord | None, released: int) -> Page:
    """Return the page for the end of a run or a replay, whose `last` record this is."""
    if last is not None and last.kind == ENDED:
        return Page((Fact("ended", f"at step {last.step}: {last.note}"),)) + _price(plan, balance)
    if not released:
        why = (
            "No step has ended. A tick of the feed, counts of the step, or --clock wall ends a step. For a recorded "
            "file of events, say when it ended: thresher stream replay --until TIME"
        )
        return Page((Fact("", why),)) + balance.page()
    return Page((Fact("next", f"{released}, which begins {plan.clock.began(released)}"),)) + _price(plan, balance)


def _price(plan: StreamPlan, balance: Balance) -> Page:
    """Return what a step and a day lose, what is left of the budget, and what the budget counts."""
    protected, most = plan.declared.protected_steps, f"{plan.lost_within(plan.day)}"
    if protected is None and balance.cap is not None:
        most = f"{min(plan.lost_within(plan.day), balance.cap)}, and never more than the budget"
    lost = f"somebody present in one step loses at most epsilon {plan.step_epsilon}"
    price = Page((Fact("loss", f"{lost}; in a day ({in_steps(plan.day)}) at most {most}"),)) + balance.page()
    if protected is None:
        return price
    counted = f"any {protected} consecutive steps" if protected != 1 else "one step"
    return price + Page((Fact(" ", f"what one unit loses in {counted}; it does not grow"),))


def _rang(plan: StreamPlan, records: Sequence[StepRecord], watch: StreamAlarm, first_test: int) -> Fact:
    """Return when an alarm rang, and its promise."""
    alarm = watch.declared.name
    spells = [f"{plan.clock.began(a)} to {plan.clock.began(b + 1)}" for a, b in ringing_steps(records, alarm)]
    more = f" and {len(spells) - _MOST_SPELLS} times more" if len(spells) > _MOST_SPELLS else ""
    tested = any(state.crossed is not None for record in records for state in record.alarms if state.name == alarm)
    silent = "is silent" if tested else "is not tested yet"
    rang = f"rang from {', '.join(spells[:_MOST_SPELLS])}{more}" if spells else silent
    # Earlier records may hold another alarm of this name.
    late = first_test > max(watch.first_test(0), records[0].step)
    since = f" It was declared while the stream ran, and is tested from step {first_test} on." if late else ""
    return Fact("alarm", f"{alarm} {rang}. {watch.promise}{since}")
