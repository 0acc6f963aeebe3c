"""Streams in the docs: pictures are what the script makes, and numbers are those that can be known."""

import math

import pytest
from paper_files.result_pictures import check_pictures_of, pictures_in, rows_of, section_of_results

from papers.pictures.line_chart import Line, wins_of
from papers.pictures.stream_pictures import pictures
from papers.streams.stream_data import loads

STREAMS = section_of_results("Streams")


def test_the_pictures_in_the_docs_are_what_the_script_makes():
    assert pictures_in("streams") == pictures()


def test_the_pictures_in_the_docs_are_on_the_page_and_on_their_paper():
    check_pictures_of("streams", STREAMS)


def test_a_picture_says_where_a_method_that_ignores_the_data_wins():
    trivial = Line("all zero", (1, 2, 4), (3, 2, 1))
    assert wins_of(trivial, [Line("a", (1, 2, 4), (2, 3, 2)), Line("b", (1, 2, 4), (9, 2, 9))], "levels").startswith(
        "“all zero” ignores the data, and errs least at levels 2, 4:"
    )
    assert "at levels all:" in wins_of(trivial, [Line("a", (1, 2, 4), (9, 9, 9))], "levels")
    assert wins_of(trivial, [Line("a", (1, 2, 4), (1, 1, 0.5))], "levels") == ""
    notes = [text for text in pictures_in("streams").values() if "ignores the data, and errs least" in text]
    assert len(notes) == 3  # the week, the windows and the tree


def test_plain_noise_on_the_page_is_what_its_law_says():
    """E|noise| = 2p / (1 - p^2) with p = exp(-epsilon), over the mean count. Five runs stray by 0.3 % at most."""
    found = rows_of(STREAMS, "Scaled errors of counts")
    means = loads().counts.mean(axis=0)
    law = [
        2 * math.exp(-epsilon) / (1 - math.exp(-2 * epsilon)) / mean
        for epsilon in (0.1, 0.01)
        for mean in means.tolist()
    ]
    assert [float(cell.replace(",", "")) for cell in found["laplace"]] == pytest.approx(law, rel=0.02)
    assert found["all zero"] == ["1"] * 6
