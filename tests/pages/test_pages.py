"""What is shown of each object: harmless wherever it comes from, the same for every renderer, and free."""

import json
import re
from fractions import Fraction
from html.parser import HTMLParser

import pytest
from diagnostics.made_releases import MAKERS, STAMPED
from engine.clinics import DECLARATIONS, clinic

import thresher
from thresher.amounts import Epsilon
from thresher.guarantee import CountedRows, Guarantee
from thresher.ledger import Balance
from thresher.live.recorded_noise import RecordedEntropy
from thresher.noise import SeededEntropy
from thresher.pages import Fact, Lines, Meter, Page, Span, Table, line
from thresher.pages.html_text import html_of
from thresher.personal.personal_counts import PersonalCounts
from thresher.release import Release
from thresher.views.terminal import drawn

HOSTILE = "<script>alert('x')</script>\"&[bold red]\x1b[31m\u202e\n"
STREAM = f"""
[streams.{json.dumps(HOSTILE)}]
states = ["gym", {json.dumps(HOSTILE)}]
start = 2026-03-02T00:00:00Z
step_seconds = 300
epsilon = "0.5"
budget = "0.5"

[streams.{json.dumps(HOSTILE)}.alarms.{json.dumps(HOSTILE)}]
kind = "high"
series = {json.dumps(HOSTILE)}
threshold = 30
"""
COUNT = "SELECT ward FROM patients GROUP BY ward HAVING COUNT(*) > 30"
ALLOWED = {"div", "p", "b", "table", "tr", "th", "td", "pre", "span", "progress"}


class _Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.seen, self.attributes, self.text = [], set(), ""

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data):
        self.text += data


def parsed(text):
    """Only what a page may hold: no script, no handler, no style sheet, nothing from elsewhere."""
    tags = _Tags()
    tags.feed(text)
    assert set(tags.seen) <= ALLOWED
    assert tags.attributes <= {"class", "style", "value"}
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert not re.search(r"url\(|http", text)
    return tags


def release(**more):
    told = Guarantee("labels", Fraction(1, 20), Fraction(1, 10), Fraction(10), Fraction(20), rows=CountedRows(HOSTILE))
    shown = {
        "question": HOSTILE,
        "mechanism": "tslm",
        "keys": (HOSTILE,),
        "groups": ((HOSTILE,), ("B",), (True,)),
        "verdicts": ("above", "uncertain", "below"),
        "epsilons": (Epsilon("0.1"),) * 3,
        "guarantee": told,
        "planned_epsilon": Epsilon("0.1"),
        "spent_epsilon": Epsilon("0.1"),
        "noisy": (30, 2, -30),
        "notes": (HOSTILE,),
        "key": HOSTILE,
    }
    return Release(**{**shown, **more})


def counts():
    facts = {"confidence": "0.95", "aggregate": HOSTILE, "budget": "their own budget", "share": "0.25"}
    told = Guarantee("weighted count", half_width=Fraction(5), facts=facts)
    keys = {"keys": (HOSTILE,), "groups": ((HOSTILE,),), "estimates": ("12.5",), "predicted_sd": "4", "key": HOSTILE}
    return PersonalCounts(HOSTILE, HOSTILE, share=Epsilon("0.25"), guarantee=told, assumption="It leans.", **keys)


def balance():
    return Balance(HOSTILE, "", Epsilon("2"), Epsilon("0.5"), Epsilon("1.5"), 0)


@pytest.mark.parametrize("made", [release, counts, balance], ids=["decision", "counts", "balance"])
def test_hostile_text_is_only_text(made):
    tags = parsed(made()._repr_html_())
    assert "<script>alert('x')</script>" in tags.text
    assert r"\x1b[31m\u202e\n" in tags.text
    terminal = drawn(made().page())
    plain = re.sub(r"\x1b\[[0-9;]*m", "", terminal)
    assert r"\x1b[31m\u202e\n" in " ".join(plain.split())
    assert "[bold red]" in plain
    assert "\x1b[31m" not in terminal
    assert "\u202e" not in terminal


@pytest.mark.parametrize("kind", MAKERS)
def test_diagnostics_show_a_picture_a_caption_and_a_stamp(kind):
    shown = MAKERS[kind](stamp=STAMPED)
    tags = parsed(shown._repr_html_())
    assert "pre" in tags.seen
    assert tags.text.strip().startswith(STAMPED)
    assert shown.caption in tags.text
    assert json.loads(json.dumps(dict(shown.page().document)))["caption"] == shown.caption


def test_terminal_and_notebook_tell_the_same():
    page = release().page(every=True)
    plain = re.sub(r"\x1b\[[0-9;]*m", "", drawn(page))
    words, shown = " ".join(parsed(html_of(page)).text.split()), " ".join(plain.split())
    for told in ("3 groups: 1 above, 1 uncertain, 1 below", "asking again is free", "uncertain", "true"):
        assert told in words
        assert told in shown


def test_a_stream_shows_its_plan_and_what_it_released(tmp_path):
    (tmp_path / "thresher.toml").write_text(STREAM)
    with thresher.open_stream(tmp_path / "thresher.toml", HOSTILE, entropy=RecordedEntropy(1)) as stream:
        assert "No such step is released yet." in parsed(stream._repr_html_()).text
        stream.put_counts(0, [3, 50])
        stream.skip_to(3)
        spent = stream.balance().spent
        plan, shown = parsed(stream.plan._repr_html_()), parsed(stream._repr_html_())
        assert stream.balance().spent == spent
        assert [step["kind"] for step in stream.page().document["records"]] == ["released", "gap"]
        terminal = drawn(stream.plan.page()) + drawn(stream.page())
    assert "stream" in plan.text
    assert "Rings when the count is above 30." in plan.text
    assert shown.text.strip().startswith("NOT PRIVATE")
    assert "2 steps passed over" in shown.text
    for text in (plan.text, shown.text, terminal):
        assert r"&[bold red]\x1b[31m\u202e\n" in text
    assert "\x1b[31m" not in terminal
    assert "\u202e" not in terminal


def test_groups_that_are_not_reported_are_listed_on_request():
    assert "below groups are not listed" in parsed(release()._repr_html_()).text
    assert "true" not in parsed(release()._repr_html_()).text
    assert "(--all lists these too)" in drawn(release().page(flag="--all"))
    assert "true" in drawn(release().page(every=True))
    assert "are not listed" not in drawn(release().page(every=True))
    assert "above" not in drawn(release(denied="the budget is spent").page()).split("groups")[0].split("promise")[0]


def test_many_groups_are_cut_short_but_not_for_programs():
    groups = tuple((str(n),) for n in range(500))
    many = release(groups=groups, verdicts=("above",) * 500, epsilons=(Epsilon("0.1"),) * 500, noisy=(30,) * 500)
    assert parsed(many._repr_html_()).seen.count("tr") == 202
    assert len(many.page().document["groups"]) == 500


def test_to_show_an_object_opens_nothing_and_spends_nothing(tmp_path, monkeypatch):
    path = clinic(tmp_path, declarations=DECLARATIONS.replace('"B"', f"{json.dumps('<script>')}"))
    with thresher.open(path) as engine:
        plan = engine.plan(COUNT, uncertain_region=10)
        assert "&lt;script&gt;" not in plan._repr_html_()
        parsed(plan._repr_html_())
        assert not (tmp_path / "ledger.db").exists()
        answer = engine.answer(plan, entropy=SeededEntropy(1))
        before = [entry.hash for entry in engine.ledger.entries()]
        left = engine.balance(plan)
    assert answer.stamp in parsed(answer._repr_html_()).text

    def never(*_, **__):
        raise AssertionError("shown objects are shown from what they hold")

    for name in ("thresher.ledger.book.Book.balance", "thresher.ledger.book.Book.entries"):
        monkeypatch.setattr(name, never)
    monkeypatch.setattr("thresher.noise.SystemEntropy.read", never)
    for shown in (plan, answer, left):
        assert shown._repr_html_() == shown._repr_html_()
    assert "&lt;script&gt;" in html_of(answer.page(every=True))
    monkeypatch.undo()
    with thresher.open(path) as engine:
        assert [entry.hash for entry in engine.ledger.entries()] == before


def test_blocks_in_both_renderers():
    meters = [Meter("budget", "b", share) for share in (None, 0.0, 0.001, 0.7, 0.95, 1.0)]
    rows = (line("a", Span("1", "alarm")), line("b" * 200, "22"))
    page = Page((Fact("l", "word " * 40), *meters, Table(("x", "n"), rows, (1,)), Lines((line("─", "█"),))), stamp="S")
    plain = re.sub(r"\x1b\[[0-9;]*m", "", drawn(page)).splitlines()
    assert plain[0] == "S"
    assert max(len(text) for text in plain if "word" in text) <= 78
    bars = [text.split()[-2] for text in plain if text.endswith("%")]
    assert [bar.count("█") for bar in bars] == [0, 1, 16, 22, 24]
    assert parsed(html_of(page)).seen.count("progress") == 5
    joined = page + Page((), {"x": 1}, "T")
    assert (joined.stamp, joined.document) == ("S", {"x": 1})
