"""Pictures of records: lines, bars, a stamp, and no line over a missing step."""

import re
from xml.etree import ElementTree

import pytest
from streams.made_records import NAMES, day, record

from thresher.errors import ArgumentError
from thresher.streams.step_release import GAP, TORN
from thresher.views.stream_picture import stream_picture

SVG = "{http://www.w3.org/2000/svg}"


def test_the_picture_has_lines_bars_and_a_stamp():
    records = [record(s, [s, 2 * s, 3, 4, 5], rings=s > 50, stamp="NOT PRIVATE") for s in range(60)]
    root = ElementTree.fromstring(stream_picture(records, ["gym", "library"]))  # noqa: S314 - our own text
    assert len(root.findall(f"{SVG}circle")) == 120
    assert {line.get("class") for line in root.findall(f"{SVG}polyline")} == {"rule", "line0", "line1"}
    paper, bar = root.findall(f"{SVG}rect")
    assert (paper.get("class"), bar.get("class")) == ("paper", "fill1")
    assert "NOT PRIVATE" in "".join(root.itertext())
    top = min(float(one.get("cy")) for one in root.findall(f"{SVG}circle"))
    covers = [float(bar.get("y")), *(float(one.get("y")) for one in root.iter(f"{SVG}text") if "smoothed" in one.text)]
    assert len(covers) == 3
    assert max(covers) < top, "neither bars nor names cover what is drawn"


def test_no_line_of_a_picture_leads_over_a_missing_step():
    parts = stream_picture(day(60, (), {30: TORN, 31: GAP}), ["gym"])
    lines = re.findall(r'<polyline class="line0" points="([^"]*)"', parts)
    assert [line.count(",") for line in lines] == [2, 30, 28]  # the first one is the legend's


def test_pictures_refuse_what_they_cannot_show(monkeypatch):
    with pytest.raises(ArgumentError, match="nothing to draw"):
        stream_picture([])
    monkeypatch.setattr("thresher.views.stream_picture.COLOURS", 4)
    with pytest.raises(ArgumentError, match="at most 4 series"):
        stream_picture(day(5), NAMES)


@pytest.mark.parametrize("truth", [[1.0], [[1.0, 2.0]]])
def test_a_truth_of_another_length_is_refused_by_name(truth):
    with pytest.raises(ArgumentError, match=r"one number for each of the 2 records") as refused:
        stream_picture(day(2), ["gym"], {"gym": truth})
    assert refused.value.field == "truth['gym']"
