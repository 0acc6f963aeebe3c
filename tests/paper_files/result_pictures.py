"""What holds for every picture of a results page: it is shown there, and its lines stay on its paper."""

import re
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

SVG = "{http://www.w3.org/2000/svg}"
DOCS = Path(__file__).parents[2] / "docs"


def section_of_results(title):
    """Return a section of `docs/reproduce.md`."""
    page = (DOCS / "reproduce.md").read_text(encoding="utf-8")
    return page.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def pictures_in(folder):
    """Return the pictures in a folder of the docs, by the name of their file."""
    return {file.name: file.read_text(encoding="utf-8") for file in (DOCS / "pictures" / folder).glob("*.svg")}


def check_pictures_of(folder, section):
    """Check that all pictures of a folder are in the section, described, within their frame and with a legend."""
    assert set(re.findall(rf"pictures/{folder}/(\w+\.svg)", section)) == set(pictures_in(folder))
    for text in pictures_in(folder).values():
        root = ElementTree.fromstring(text)  # noqa: S314 - our own
        assert len(root.find(f"{SVG}desc").text) > 20
        _, top, _, tall = map(float, root.get("viewBox").split())
        for line in root.iter(f"{SVG}polyline"):
            places = [tuple(map(float, point.split(","))) for point in line.get("points").split()]
            assert all(0 <= x <= 640 and top <= y <= top + tall for x, y in places)
        colours = [line.get("class") for line in root.iter(f"{SVG}polyline") if line.get("class") != "rule"]
        assert set(Counter(colours).values()) == {2}, "each line has a colour of its own, and a place in the legend"


def rows_of(section, start):
    """Return the numbers of a table's rows by their first cell, without what stands in parentheses."""
    table = section.partition(start)[2].partition("|---|")[2].partition("\n\n")[0].splitlines()[1:]
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in table]
    return {name: [re.sub(r" \(.*\)", "", cell) for cell in numbers] for name, *numbers in cells}
