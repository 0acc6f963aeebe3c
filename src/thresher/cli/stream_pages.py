"""Pages about a stream: what it promises and costs, what was released, and what whoever was there has lost.

Reads: plans, records, balances. Writes: nothing. Never: a line of text wider than 78 columns.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from thresher.cli.asking import budget_line
from thresher.ledger import Balance
from thresher.streams.step_release import ENDED, StepRecord
from thresher.streams.stream_plan import StreamAlarm, StreamPlan
from thresher.views import inert, paragraph
from thresher.views.stream_chart import ringing_steps, stream_chart

_DAY_SECONDS = 86_400
_MOST_SPELLS, _LABEL = 6, 11


def plan_page(plan: StreamPlan, balance: Balance) -> list[str]:
    """The plan's own words, and the budget."""
    return [*map(inert, explained(plan).splitlines()), "", budget_line(balance)]


def explained(plan: StreamPlan) -> str:
    """A plan's own words, wrapped for a terminal: labels, and what they are about."""
    lines = (line.split(maxsplit=1) for line in str(plan).splitlines())
    return "\n".join(paragraph(text, label, _LABEL) for label, text in lines)


def plan_document(plan: StreamPlan, balance: Balance) -> dict[str, Any]:
    """The same as JSON."""
    day = _day(plan)
    return {
        "stream": plan.name,
        "series": list(plan.names),
        "states": list(plan.states),
        "step_seconds": plan.declared.step_seconds,
        "protected_steps": plan.declared.protected_steps,
        "epsilon_of_a_step": plan.step_epsilon.to_json(),
        "lost_in_a_day": {"steps": day, "epsilon": plan.lost_within(day).to_json()},
        "epsilon_of_a_count": plan.measures.perturber.to_json(),
        "alarms": [
            {"name": watch.declared.name, "series": watch.declared.series, "promise": watch.promise}
            for watch in plan.alarms
        ],
        "budget": {
            "account": balance.account,
            "cap": None if balance.cap is None else balance.cap.to_json(),
            "spent": balance.spent.to_json(),
        },
    }


def released_page(
    plan: StreamPlan,
    balance: Balance,
    records: Sequence[StepRecord],
    series: Sequence[str] | None,
    tested_from: Mapping[str, int],
) -> list[str]:
    """A chart of records, when alarms rang, and what it all costs. `tested_from`: the first test of each alarm."""
    if not records:
        return [paragraph("No such step is released yet."), "", budget_line(balance)]
    stamp = next((record.stamp for record in records if record.stamp), "")
    chart = stream_chart(records, series)
    rang = [line for watch in plan.alarms for line in _rang(plan, records, watch, tested_from[watch.declared.name])]
    top = [f"[bold red]{stamp}[/bold red]: made with a seed, which anybody can repeat.", ""] if stamp else []
    shown = "dots are the noisy counts that carry the promises; the line is smoothed, best effort"
    return [*top, *chart, paragraph(shown, "drawn"), *rang, *_price(plan, balance)]


def after_page(plan: StreamPlan, balance: Balance, last: StepRecord | None, released: int) -> list[str]:
    """What is said when a run or a replay is over, whose `last` record this is."""
    if last is not None and last.kind == ENDED:
        return [paragraph(f"at step {last.step}: {inert(last.note)}", "ended"), *_price(plan, balance)]
    if not released:
        told = (
            "No step has ended. A step ends with a tick of the feed, with its counts, or with --clock wall; a file of "
            "events that is over needs `thresher stream replay --until`."
        )
        return [paragraph(told), budget_line(balance)]
    next_one = f"{released}, which begins {plan.clock.began(released)}"
    return [paragraph(next_one, "next"), *_price(plan, balance)]


def _price(plan: StreamPlan, balance: Balance) -> list[str]:
    day = _day(plan)
    lost = f"somebody present in one step loses at most epsilon {plan.step_epsilon}; in {day} steps, a day, at most "
    if plan.declared.protected_steps is None and balance.cap is not None:
        lost += f"{min(plan.lost_within(day), balance.cap)}, and never more than the budget"
    else:
        lost += f"{plan.lost_within(day)}"
    protected = plan.declared.protected_steps
    kept = (
        f"what one unit loses in {f'any {protected} steps on end' if protected != 1 else 'one step'}: it does not grow"
    )
    return [paragraph(lost, "loss"), budget_line(balance), *([] if protected is None else [paragraph(kept, " ")])]


def _rang(plan: StreamPlan, records: Sequence[StepRecord], watch: StreamAlarm, first_test: int) -> list[str]:
    alarm = watch.declared.name
    spells = [f"{plan.clock.began(a)} to {plan.clock.began(b + 1)}" for a, b in ringing_steps(records, alarm)]
    more = f" and {len(spells) - _MOST_SPELLS} times more" if len(spells) > _MOST_SPELLS else ""
    tested = any(state.crossed is not None for record in records for state in record.alarms if state.name == alarm)
    silent = "is silent" if tested else "is not tested yet"
    told = f"rang from {', '.join(spells[:_MOST_SPELLS])}{more}" if spells else silent
    # What is stored of the steps before is about another alarm of this name.
    late = first_test > max(watch.first_test(0), records[0].step)
    since = f" It was declared while the stream ran, and is tested from step {first_test} on." if late else ""
    return [paragraph(inert(f"{alarm} {told}. {watch.promise}{since}"), "alarm")]


def _day(plan: StreamPlan) -> int:
    return max(2, _DAY_SECONDS // plan.declared.step_seconds)
