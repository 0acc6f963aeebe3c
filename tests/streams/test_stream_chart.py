"""Charts of records: what is drawn where, at most 78 columns, and nobody's markup."""

import re

import pytest
from streams.made_records import NAMES, day, record

from thresher.errors import ArgumentError
from thresher.pages import Page
from thresher.pages.html_text import html_of
from thresher.streams.step_release import ENDED, GAP, TORN, StepRecord
from thresher.streams.stream_chart import chosen_series, ringing_steps, step_line, stream_chart
from thresher.views.terminal import drawn


def plain(blocks):
    """The lines of blocks as a terminal shows them, without colours."""
    return re.sub(r"\x1b\[[0-9;]*m", "", drawn(Page(tuple(blocks)))).splitlines()


def test_series_that_are_watched_come_first_and_four_are_drawn():
    assert chosen_series(day(5)) == ("library", "gym", "hall", "lab")
    assert chosen_series(day(5), ["pool", "gym", "pool"]) == ("pool", "gym")
    with pytest.raises(ArgumentError, match="no series of that name"):
        stream_chart(day(5), ["nowhere"])


@pytest.mark.parametrize("steps", [1, 2, 61, 62, 63, 124, 288, 3000])
def test_any_number_of_steps_fits(steps):
    records = [record(s % 288, [s, s, s, s, s]) for s in range(steps)]
    lines = plain(stream_chart(records))
    assert max(map(len, lines)) <= 78
    assert sum("│" in line for line in lines) == 4 * 8 + 1


def test_the_line_rises_with_the_values_and_dots_are_the_noisy_counts():
    records = day(62)
    body = [line.split("│")[1] for line in plain(stream_chart(records, ["gym"])) if "│" in line]
    heights = [min(row for row, line in enumerate(body) if line.ljust(62)[c] != " ") for c in range(62)]
    assert heights[0] == 7
    assert heights[-1] == 0
    assert heights == sorted(heights, reverse=True)
    # The line lies over its own dots here; far from it they are seen.
    far = [record(s, [5, 0, 0, 0, 0]) for s in range(62)]
    noisy = [StepRecord(*[getattr(r, f) for f in r.__slots__][:7], values=(50.0,) * 5) for r in far]
    bottom = [line for line in plain(stream_chart(noisy, ["gym"])) if line.lstrip().startswith("0 │")]
    assert bottom[0].count("·") == 62


def test_alarms_and_what_befell_steps_lie_under_their_steps():
    kinds = dict.fromkeys(range(10, 20), GAP) | {30: TORN, 61: ENDED}
    lines = plain(stream_chart(day(62, range(40, 50), kinds), ["library"]))
    (alarm,) = [line.split("│")[1] for line in lines if "crowded │" in line]
    (marks,) = [line.split("│")[1] for line in lines if "steps │" in line]
    assert [c for c, mark in enumerate(alarm) if mark == "█"] == list(range(40, 50))
    assert alarm[:3] == "   "
    assert marks == " " * 10 + "░" * 10 + " " * 10 + "x" + " " * 30 + "▸"
    text = " ".join(" ".join(lines).split())
    assert "1 step torn" in text
    assert "10 steps passed over" in text
    assert "ended said so" in text


def test_windows_say_what_they_cover():
    assert "last 12 steps (5 known) 48" in " ".join(plain(stream_chart(day(5, ()), ["hall", "gym"])))
    assert "last 12 steps 3,444" in " ".join(plain(stream_chart(day(), ["gym"])))


def test_when_an_alarm_rang():
    records = day(60, (5, 6, 7, 20, 59))
    assert ringing_steps(records, "crowded") == [(5, 7), (20, 20), (59, 59)]
    assert ringing_steps(records, "other") == []


def test_one_step_is_one_line():
    assert step_line(day()[110], ["library"]) == "    110  2026-03-02 09:10  crowded rings  library 1,000 (~1,000)"
    assert step_line(record(3, [], kind=GAP), ["library"]) == "      3  2026-03-02 00:15  gap: said so"
    long = record(3, [1] * 5, names=("x" * 100, *NAMES[1:]))
    assert len(step_line(long, long.names)) == 78


def test_names_cannot_steer_the_terminal():
    evil = ("[red]\x1b[2J", "[/bold]", *NAMES[2:])
    records = [record(s, [1, 2, 3, 4, 5], names=evil) for s in range(5)]
    shown = drawn(Page(stream_chart(records)))
    assert "\x1b[2J" not in shown + step_line(records[0], evil)
    assert "[red]" in shown
    assert "[/bold]" in shown


def test_a_record_is_shown_in_one_line():
    page = record(110, [1, 2, 3, 4, 5], names=("<script>\x1b", *NAMES[1:]), stamp="NOT PRIVATE").page()
    assert (page.stamp, page.document["step"]) == ("NOT PRIVATE", 110)
    ((shown,),) = page.blocks[0].lines
    assert shown.text.startswith(r"    110  2026-03-02 09:10  <script>\x1b 1 (~1)")
    assert "NOT PRIVATE" not in shown.text
    assert r"&lt;script&gt;\x1b" in html_of(page)


def test_nothing_and_nothing_but_gaps():
    assert plain(stream_chart([])) == ["  no step is released yet"]
    assert "no value" in " ".join(plain(stream_chart([record(s, [], kind=GAP) for s in range(5)])))
