"""The page of a decision: a verdict for each group with a gauge, the promise and the charge.

Reads: a release. Writes: nothing. Never: exact values. The gauge shows noisy margins, which are released.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from thresher.amounts import Epsilon, rounded_up
from thresher.config import Label
from thresher.guarantee import ABOVE, BELOW, MISSES, UNCERTAIN
from thresher.pages.page import FAINT, GOOD, STRONG, UNSURE, Fact, Line, Lines, Page, Span, Table, line

if TYPE_CHECKING:
    from thresher.release import Release, ShownNumber


class Stored(Protocol):
    """A release that says whether it was handed out before, and on which day it was paid."""

    @property
    def key(self) -> str: ...

    @property
    def repeated(self) -> bool: ...

    @property
    def paid_on(self) -> str: ...


_TONES = {ABOVE: GOOD, UNCERTAIN: UNSURE, BELOW: FAINT}
_HALF = 7
LEGEND = "noisy distance from the threshold (│); ░ = within"
MOST_ROWS = 200
_STORED = (
    "This is the stored answer {} to the same question. Paid now: 0. It describes the rows as they were then. If they "
    "have changed, set a new `version` for the table in thresher.toml and ask again, at the full price."
)


def answer_page(release: "Release", *, every: bool = False, flag: str = "") -> Page:
    """Return the page of a decision: reported groups, or `every` group. `flag`: the option that lists all of them."""
    table = verdict_table(release, every=every)
    left = () if every else unlisted(release)
    others = " and ".join(left)
    hint = (
        f" ({flag} lists {'these' if left == (BELOW,) else others} too)"
        if flag
        else f"; {others} groups are not listed"
    )
    summary = line("  ", Span(verdict_summary(release), STRONG), hint if left else "")
    legend = [line("  ", Span(LEGEND, FAINT))] if release.noisy and table.rows else []
    facts = [
        *stored_fact(release),
        *([Fact("denied", release.denied)] if release.denied else []),
        Fact("promise", release.guarantee.sentence),
        Fact("paid", charge_of(release)),
        *([Fact("levels", level_summary(release))] if len(release.levels) > 1 else []),
        *(Fact("note", note) for note in release.notes),
    ]
    shown = (table, Lines((*legend, line(""), summary, line("")))) if table.rows else (Lines((summary, line(""))),)
    return Page((*shown, *facts), answer_document(release), release.stamp)


def stored_note(release: "Stored") -> str:
    """Return the sentence that heads a stored answer: nothing was paid now, and it is about the rows of another day."""
    if not (release.repeated and release.key):
        return ""
    return _STORED.format(f"{release.key} of {release.paid_on}" if release.paid_on else release.key)


def stored_fact(release: "Stored") -> list[Fact]:
    """Return that sentence for a page, if the answer is a stored one."""
    note = stored_note(release)
    return [Fact("stored", note)] if note else []


def answer_document(release: "Release") -> dict[str, Any]:
    """Return the content of the page for programs, with all groups."""
    return {
        **release.document(),
        "groups": named_groups(release.keys, release.groups),
        "positives": named_groups(release.keys, release.positives),
        "key": release.key,
        "repeated": release.repeated,
        "paid_on": release.paid_on,
        "levels": [{"epsilon": epsilon.to_json(), "groups": groups} for epsilon, groups in release.levels.items()],
    }


def named_groups(keys: Sequence[str], groups: Sequence[tuple[Label, ...]]) -> list[dict[str, Label]]:
    """Return each group as an object, from the name of each key to its value."""
    return [dict(zip(keys, group, strict=True)) for group in groups]


def verdict_table(
    release: "Release", *, every: bool = False, extra: Mapping[str, Sequence[str]] | None = None
) -> Table:
    """Return a row for each reported group, or for `every` group. `extra`: further columns, a text for each group."""
    columns = {**{number.text: numbers_of(number) for number in release.values}, **(extra or {})}
    levels = ["epsilon"] if len(release.levels) > 1 else []
    gauge = [f"{'short':<{_HALF}}│{'over':>{_HALF}}"] if release.noisy else []
    headings = (*release.keys, "verdict", *gauge, *levels, *columns)
    clear, zone = _zone(release)
    listed = [i for i, verdict in enumerate(release.verdicts) if every or _reported(release, verdict)]
    if release.denied:
        listed = []
    rows: list[Line] = []
    for i in listed[:MOST_ROWS]:
        verdict = release.verdicts[i]
        cells = [_gauge(release.noisy[i], clear, zone)] if gauge else []
        cells += [f"{float(release.epsilons[i]):.4g}"] if levels else []
        cells += [texts[i] for texts in columns.values()]
        rows.append(line(*map(key_text, release.groups[i]), Span(verdict, _TONES[verdict]), *cells))
    if len(listed) > MOST_ROWS:
        rows.append(line(f"… {len(listed) - MOST_ROWS:,} more", *[""] * (len(headings) - 1)))
    return Table(headings, tuple(rows))


def numbers_of(shown: "ShownNumber") -> list[str]:
    """Return the number of each group with its half width; `?` where nothing can be said."""
    widths = shown.half_widths * (1 if len(shown.half_widths) > 1 else len(shown.numbers))
    return [f"{number} ± {width}" if number else "?" for number, width in zip(shown.numbers, widths, strict=True)]


def verdict_summary(release: "Release") -> str:
    """Return how many groups got which verdict."""
    if release.denied:
        return "no answer"
    counts = Counter(release.verdicts)
    shares = ", ".join(f"{counts[verdict]:,} {verdict}" for verdict in (ABOVE, UNCERTAIN, BELOW) if counts[verdict])
    return f"{len(release.groups):,} groups: {shares}" if release.groups else "no groups"


def unlisted(release: "Release") -> tuple[str, ...]:
    """Return the verdicts whose groups are not reported, if there are such groups."""
    if release.denied:
        return ()
    return tuple(v for v in (UNCERTAIN, BELOW) if v in release.verdicts and not _reported(release, v))


def level_summary(release: "Release") -> str:
    """Return how many groups cost how much."""
    stops = ", ".join(f"{groups:,} cost {rounded_up(cost.fraction)}" for cost, groups in release.levels.items())
    return f"groups: {stops}"


def charge_of(release: "Release") -> str:
    """Return what was charged, and the name of the stored answer."""
    if release.refines and not release.repeated:
        if not release.key:
            return f"0: the measurement of the answer {release.refines} was read again"
        more = f"the difference to the measurement of the answer {release.refines}"
        return f"{_amount(release.spent_epsilon)}, {more}. {_stored_as(release.key)}"
    if not release.planned_epsilon:
        return "0: the answer does not depend on the data"
    whose = release.guarantee.facts.get("budget")
    if whose:
        return paid_charge(release.spent_epsilon, release, whose=whose)
    if release.repeated:
        return f"0 now; {_amount(release.spent_epsilon)} {_when(release.paid_on)}"
    back = release.planned_epsilon - release.spent_epsilon
    rest = f" of {rounded_up(release.planned_epsilon.fraction)} set aside; the rest was given back" if back else ""
    return f"{_amount(release.spent_epsilon)}{rest}. {_stored_as(release.key)}"


def paid_charge(epsilon: Epsilon, release: "Stored", *, whose: str | None = None) -> str:
    """Return what was charged, now or before. With `whose`, the amount is a share of this budget, for each person."""
    paid = _amount(epsilon) if whose is None else f"each person up to {epsilon} of {whose}"
    if release.repeated:
        return f"0 now; {paid} {_when(release.paid_on)} (key {release.key})"
    return f"{paid}. {_stored_as(release.key)}"


def _when(paid_on: str) -> str:
    return f"when it was first asked{f', on {paid_on}' if paid_on else ''}"


def _amount(epsilon: Epsilon) -> str:
    return f"epsilon {rounded_up(epsilon.fraction)}"


def _stored_as(key: str) -> str:
    return f"The answer is stored as {key}: asking again is free"


def key_text(label: Label) -> str:
    """Return a group key as SQL writes it."""
    return str(label).lower() if isinstance(label, bool) else str(label)


def _reported(release: "Release", verdict: str) -> bool:
    return verdict == ABOVE or (verdict == UNCERTAIN and release.bound == MISSES)


def _zone(release: "Release") -> tuple[float, tuple[float, float]]:
    """Return how far below the threshold a group is clear, and how far the uncertain part reaches below and above."""
    clear = max(1.0, float(release.guarantee.clear_distance or 0) * release.scale)
    width = float(release.half_width) * release.scale
    return clear, (width, clear - width) if release.bound == MISSES else (clear - width, width)


def _gauge(noisy: int, clear: float, zone: tuple[float, float]) -> str:
    """Draw where the noisy margin lies: right of the middle the condition is met, the shaded part is uncertain.

    From half way to the left end on, a group is clearly short of its condition.
    """
    step = 2 * clear / _HALF
    shaded = range(_HALF - round(zone[0] / step), _HALF + round(zone[1] / step) + 1)
    marks = ["░" if place in shaded else "─" for place in range(2 * _HALF + 1)]
    marks[_HALF] = "│"
    place = _HALF + round(noisy / step)
    marks[min(max(place, 0), 2 * _HALF)] = "●" if 0 <= place <= 2 * _HALF else "◂" if place < 0 else "▸"
    return "".join(marks)
