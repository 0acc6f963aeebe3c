"""Pictures: well-formed, the same every time, readable by machines too; those in the docs are what the script makes."""

import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from papers.pictures.audit_pictures import pictures
from papers.pictures.line_chart import Line, line_chart, log_axis_of
from thresher.errors import ArgumentError
from thresher.views.count_map import count_map
from thresher.views.count_scatter import count_scatter

ROOT = Path(__file__).parents[2]
SVG = "{http://www.w3.org/2000/svg}"
AXES = (("copies", "xs"), ("loss", "ys"))
TRUTH, FOUND = np.array([0, 0, 0, 1, 5, 900]), np.array([0, 0, 1, 1, 5, 880])


def test_the_pictures_in_the_docs_are_what_the_script_makes():
    made = pictures()
    kept = {file.name: file.read_text(encoding="utf-8") for file in (ROOT / "docs" / "pictures").glob("*.svg")}
    assert {name: text for name, text in kept.items() if name in made} == made
    for text in made.values():
        _checked(text)


def _checked(text):
    """Well-formed, titled, for light and dark, and nothing from elsewhere."""
    root = ElementTree.fromstring(text)  # noqa: S314 - our own
    assert (root.find(f"{SVG}title").text, root.get("role")) == (root.find(f"{SVG}text").text, "img")
    assert len(root.find(f"{SVG}desc").text) > 20
    assert "prefers-color-scheme:dark" in text
    assert not re.search(r"<script|<image|href|url\(|@import", text)
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")
    _, top, _, tall = map(float, root.get("viewBox").split())
    for circle in root.iter(f"{SVG}circle"):
        assert 0 <= float(circle.get("cx")) <= 640
        assert top <= float(circle.get("cy")) <= top + tall
    return root


def cells(root):
    """The dots of cells: the first two of a scatter are the legend's."""
    return list(root.iter(f"{SVG}circle"))[2:]


def test_a_dot_for_every_place_larger_for_more_cells():
    text = count_scatter("Six cells", TRUTH, FOUND)
    assert count_scatter("Six cells", TRUTH, FOUND) == text
    root = _checked(text)
    dots = [(one.get("class"), float(one.get("r"))) for one in cells(root)]
    assert [kind for kind, _ in dots] == ["fill0", "fill1", "fill0", "fill0", "fill1"]
    assert dots[0][1] > dots[1][1] == dots[4][1]
    assert "4 of 6 cells found exactly (66.7%)" in root.find(f"{SVG}desc").text


def test_right_cells_lie_on_the_diagonal():
    root = _checked(count_scatter("Right", [0, 3, 40, 1000], [0, 3, 40, 1000]))
    shares = [((float(c.get("cx")) - 86) / 518, (378 - float(c.get("cy"))) / 350) for c in cells(root)]
    assert all(across == pytest.approx(up, abs=0.001) for across, up in shares)
    assert shares[0] == pytest.approx((0, 0), abs=0.001)
    assert shares[-1] == pytest.approx((1, 1), abs=0.001)


def chart(title, lines):
    axes = (log_axis_of(name, [value for line in lines for value in getattr(line, each)]) for name, each in AXES)
    return line_chart(title, tuple(axes), lines)


def test_lines_with_names_and_claims():
    lines = [Line("measured", (1, 10, 100), (2, 20, 200)), Line("claimed", (1, 100), (1, 1), dashed=True)]
    root = _checked(chart("Loss", lines))
    kinds = [one.get("class") for one in root.iter(f"{SVG}polyline")]
    assert kinds.count("line0") == 2  # itself and its entry in the legend
    assert kinds.count("line1 dashed") == 2
    texts = [one.text for one in root.iter(f"{SVG}text")]
    assert {"measured", "claimed", "copies", "loss", "10", "100"} <= set(texts)
    assert "measured: from 2 at 1 to 200 at 100" in root.find(f"{SVG}desc").text
    _checked(chart("One point", [Line("alone", [5], [7])]))


def test_no_title_is_cut():
    title = "Support vector machines, uniform budgets, objective perturbation"
    root = ElementTree.fromstring(chart(title, [Line("alone", [5], [7])]))  # noqa: S314 - our own
    heading = [one.text for one in root.iter(f"{SVG}text") if one.get("class") == "heading"]
    assert (len(heading), " ".join(heading)) == (2, title)


def test_text_from_elsewhere_is_only_text():
    hostile = "</title><script>alert(1)</script>&\x1b\x00"
    root = _checked(count_scatter(hostile, [1], [1]))
    assert root.find(f"{SVG}title").text == "</title><script>alert(1)</script>&\ufffd\ufffd"
    assert not list(root.iter(f"{SVG}script"))


@pytest.mark.parametrize("draw", [lambda *counts: count_scatter("x", *counts), count_map])
@pytest.mark.parametrize(("truth", "found"), [([], []), ([1], [1, 2]), ([[1]], [[1]])])
def test_counts_must_belong_together(draw, truth, found):
    with pytest.raises(ArgumentError, match=r"^found = "):
        draw(truth, found)


@pytest.mark.parametrize("lines", [[], [Line("a", [], [])], [Line("a", [1], [1, 2])], [Line("a", [1], [1])] * 7])
def test_lines_that_cannot_be_drawn_are_refused(lines):
    axis = log_axis_of("x", [1, 10])
    with pytest.raises(ArgumentError, match=r"^lines = "):
        line_chart("x", (axis, axis), lines)


@pytest.mark.parametrize("values", [[], [0], [1, float("inf")], [-1, 1]])
def test_a_logarithmic_axis_needs_positive_numbers(values):
    with pytest.raises(ArgumentError, match=r"^values = "):
        log_axis_of("x", values)


def test_the_map_of_characters_shades_and_stays_narrow():
    truth = np.array([0] * 200 + [1] * 20 + [99] + [10**9])
    lines = count_map(truth, truth).splitlines()
    assert all(len(line) <= 78 and line == line.rstrip() for line in lines)
    picture = "\n".join(lines)
    assert [picture.count(mark) for mark in "█●·"] == [1, 1, 2]
    assert lines[1].endswith("·")  # the largest in the upper right corner
    assert "█" in lines[-3]
    assert lines[-1].split()[:3] == ["0", "1", "10"]
    wrong = count_map([5] * 3, [-7] * 3)
    assert "·" in wrong.splitlines()[-3]  # nothing is below 0
