"""Personal budgets in the docs: pictures are what the script makes, and numbers are those that can be known."""

import math

import pytest
from paper_files.result_pictures import check_pictures_of, pictures_in, rows_of, section_of_results

from papers.personal.personal_data import made_up
from papers.personal.personal_methods import MINIMUM, ZERO
from papers.pictures.personal_pictures import pictures_of_areas, pictures_of_shares

PERSONAL = section_of_results("Personal budgets")


def test_the_pictures_of_shares_are_what_the_script_makes():
    made = pictures_of_shares()
    assert {name: pictures_in("personal")[name] for name in made} == made


@pytest.mark.soak
def test_the_picture_of_areas_is_what_the_script_makes():
    made = pictures_of_areas()
    assert {name: pictures_in("personal")[name] for name in made} == made


def test_every_picture_in_the_docs_has_a_test():
    assert set(pictures_in("personal")) == {"shares_uniform.svg", "shares_normal.svg", "areas.svg"}


def test_the_pictures_in_the_docs_are_on_the_page_and_on_their_paper():
    check_pictures_of("personal", PERSONAL)


def test_what_needs_no_luck_is_on_the_page_as_its_law_says():
    """In ten thousandths: saying 0 errs by the mean share; the least budget by E|noise| = 2p / (1 - p^2) a person.

    A mean of 1,000 draws strays by 3.2 %.
    """
    found = rows_of(PERSONAL, "Mean errors of shares")
    assert [float(cell) for cell in found[ZERO][:2]] == pytest.approx([made_up().shares.mean() * 1e4] * 2, rel=1e-3)
    p = math.exp(-0.01)
    law = 2 * p / (1 - p * p) / 100_000 * 1e4
    assert [float(cell) for cell in found[MINIMUM][:2]] == pytest.approx([law] * 2, rel=0.16)
