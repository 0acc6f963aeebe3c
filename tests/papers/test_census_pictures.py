"""Personal budgets in the docs: pictures are what the script makes, and numbers are those that can be known."""

import math
import re
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pytest

from papers.personal.personal_data import made_up
from papers.personal.personal_methods import MINIMUM, ZERO
from papers.pictures.personal_pictures import pictures_of_areas, pictures_of_shares

ROOT = Path(__file__).parents[2]
PICTURES = ROOT / "docs" / "pictures" / "personal"
PAGE = (ROOT / "docs" / "reproduce.md").read_text(encoding="utf-8")
PERSONAL = PAGE.partition("\n## Personal budgets\n")[2].partition("\n## ")[0]
SVG = "{http://www.w3.org/2000/svg}"


def kept():
    """Return the pictures in the docs, by the name of their file."""
    return {file.name: file.read_text(encoding="utf-8") for file in PICTURES.glob("*.svg")}


def test_the_pictures_of_shares_are_what_the_script_makes():
    made = pictures_of_shares()
    assert {name: kept()[name] for name in made} == made


@pytest.mark.soak
def test_the_picture_of_areas_is_what_the_script_makes():
    made = pictures_of_areas()
    assert {name: kept()[name] for name in made} == made


def test_every_picture_in_the_docs_has_a_test():
    assert set(kept()) == {"shares_uniform.svg", "shares_normal.svg", "areas.svg"}


def test_the_pictures_in_the_docs_are_on_the_page_and_on_their_paper():
    assert set(re.findall(r"pictures/personal/(\w+\.svg)", PERSONAL)) == set(kept())
    for name, text in kept().items():
        assert f"pictures/personal/{name}" in PERSONAL
        root = ElementTree.fromstring(text)  # noqa: S314 - our own
        assert len(root.find(f"{SVG}desc").text) > 20
        _, top, _, tall = map(float, root.get("viewBox").split())
        for line in root.iter(f"{SVG}polyline"):
            places = [tuple(map(float, point.split(","))) for point in line.get("points").split()]
            assert all(0 <= x <= 640 and top <= y <= top + tall for x, y in places)
        colours = [line.get("class") for line in root.iter(f"{SVG}polyline") if line.get("class") != "rule"]
        assert set(Counter(colours).values()) == {2}, "each line has a colour of its own, and a place in the legend"


def rows_on_the_page(start):
    table = PERSONAL.partition(start)[2].partition("|---|")[2].partition("\n\n")[0].splitlines()[1:]
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in table]
    return {name: [re.sub(r" \(.*\)", "", cell) for cell in numbers] for name, *numbers in cells}


def test_what_needs_no_luck_is_on_the_page_as_its_law_says():
    """In ten thousandths: saying 0 errs by the mean share; the least budget by E|noise| = 2p / (1 - p^2) a person.

    A mean of 1,000 draws strays by 3.2 %.
    """
    found = rows_on_the_page("Mean errors of shares")
    assert [float(cell) for cell in found[ZERO][:2]] == pytest.approx([made_up().shares.mean() * 1e4] * 2, rel=1e-3)
    p = math.exp(-0.01)
    law = 2 * p / (1 - p * p) / 100_000 * 1e4
    assert [float(cell) for cell in found[MINIMUM][:2]] == pytest.approx([law] * 2, rel=0.16)
