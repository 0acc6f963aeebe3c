"""Streams in the docs: pictures are what the script makes, and numbers are those that can be known."""

import math
import re
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pytest

from papers.pictures.line_chart import Line, wins_of
from papers.pictures.stream_pictures import pictures
from papers.streams.stream_data import loads

ROOT = Path(__file__).parents[2]
PICTURES = ROOT / "docs" / "pictures" / "streams"
PAGE = (ROOT / "docs" / "reproduce.md").read_text(encoding="utf-8")
STREAMS = PAGE.partition("\n## Streams\n")[2].partition("\n## ")[0]
SVG = "{http://www.w3.org/2000/svg}"


def kept():
    """Return the pictures in the docs, by the name of their file."""
    return {file.name: file.read_text(encoding="utf-8") for file in PICTURES.glob("*.svg")}


def test_the_pictures_in_the_docs_are_what_the_script_makes():
    assert kept() == pictures()


def test_the_pictures_in_the_docs_are_on_the_page_and_on_their_paper():
    assert set(re.findall(r"pictures/streams/(\w+\.svg)", STREAMS)) == set(kept())
    for name, text in kept().items():
        assert f"pictures/streams/{name}" in STREAMS
        root = ElementTree.fromstring(text)  # noqa: S314 - our own
        assert len(root.find(f"{SVG}desc").text) > 20
        _, top, _, tall = map(float, root.get("viewBox").split())
        for line in root.iter(f"{SVG}polyline"):
            places = [tuple(map(float, point.split(","))) for point in line.get("points").split()]
            assert all(0 <= x <= 640 and top <= y <= top + tall for x, y in places)
        colours = [line.get("class") for line in root.iter(f"{SVG}polyline") if line.get("class") != "rule"]
        assert set(Counter(colours).values()) == {2}, "each line has a colour of its own, and a place in the legend"


def test_a_picture_says_where_a_method_that_ignores_the_data_wins():
    trivial = Line("all zero", (1, 2, 4), (3, 2, 1))
    assert wins_of(trivial, [Line("a", (1, 2, 4), (2, 3, 2)), Line("b", (1, 2, 4), (9, 2, 9))], "levels").startswith(
        "“all zero” ignores the data, and errs least at levels 2, 4:"
    )
    assert "at levels all:" in wins_of(trivial, [Line("a", (1, 2, 4), (9, 9, 9))], "levels")
    assert wins_of(trivial, [Line("a", (1, 2, 4), (1, 1, 0.5))], "levels") == ""
    notes = [text for text in kept().values() if "ignores the data, and errs least" in text]
    assert len(notes) == 3  # the week, the windows and the tree


def rows_on_the_page(start):
    table = STREAMS.partition(start)[2].partition("|---|")[2].partition("\n\n")[0].splitlines()[1:]
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in table]
    return {name: [re.sub(r" \(.*\)", "", cell) for cell in numbers] for name, *numbers in cells}


def test_plain_noise_on_the_page_is_what_its_law_says():
    """E|noise| = 2p / (1 - p^2) with p = exp(-epsilon), over the mean count. Five runs stray by 0.3 % at most."""
    found = rows_on_the_page("Scaled errors of counts")
    means = loads().counts.mean(axis=0)
    law = [
        2 * math.exp(-epsilon) / (1 - math.exp(-2 * epsilon)) / mean
        for epsilon in (0.1, 0.01)
        for mean in means.tolist()
    ]
    assert [float(cell.replace(",", "")) for cell in found["laplace"]] == pytest.approx(law, rel=0.02)
    assert found["all zero"] == ["1"] * 6
