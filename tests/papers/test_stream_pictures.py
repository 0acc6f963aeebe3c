"""Streams in the docs: pictures are what the script makes, and numbers are those that can be known."""

import math
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from papers.pictures.stream_pictures import pictures
from papers.streams.stream_data import loads

ROOT = Path(__file__).parents[2]
PICTURES = ROOT / "docs" / "pictures" / "streams"
PAGE = (ROOT / "docs" / "reproduce.md").read_text(encoding="utf-8")
STREAMS = PAGE.partition("\n## Streams\n")[2].partition("\n## ")[0]
SVG = "{http://www.w3.org/2000/svg}"


def test_the_pictures_in_the_docs_are_what_the_script_makes():
    made = pictures()
    assert {file.name: file.read_text(encoding="utf-8") for file in PICTURES.glob("*.svg")} == made
    for name, text in made.items():
        assert f"pictures/streams/{name}" in STREAMS
        root = ElementTree.fromstring(text)  # noqa: S314 - our own
        assert len(root.find(f"{SVG}desc").text) > 20
        for line in root.iter(f"{SVG}polyline"):
            places = [tuple(map(float, point.split(","))) for point in line.get("points").split()]
            assert all(0 <= x <= 640 and 0 <= y <= 480 for x, y in places)


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
