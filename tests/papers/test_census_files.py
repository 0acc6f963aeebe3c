"""People with budgets of their own: made up by fixed laws, or read from census files; questions and labels by hand."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from paper_files.census_files_made import write_censuses

from papers.personal.personal_data import (
    LAWS,
    SELECTIVITIES,
    correlated,
    in_no_order,
    made_up,
    made_up_labels,
    ranges,
    roster_of,
)
from papers.personal.personal_files import Census, Task, censuses
from thresher.errors import SourceError
from thresher.personal.roster import Roster


@pytest.mark.parametrize("name", LAWS)
def test_budgets_follow_their_law_and_are_floored_as_a_roster_floors(name):
    law = LAWS[name]
    roster = roster_of(law, 3_000)
    drawn = law.draw(np.random.default_rng(7), 3_000)
    plain = Roster.of(drawn, law.grid)
    assert roster.nano.tolist() == plain.nano.tolist()
    assert roster.classes.tolist() == plain.classes.tolist()
    assert 0.01 <= drawn.min() < drawn.max() <= law.most
    assert roster.nano.tolist() != roster_of(law, 3_000, seed=8).nano.tolist()


def test_a_normal_law_cut_on_both_sides_is_nearly_flat():
    """Density at 1 over that at 0.1: exp(-0.81 / 2) = 0.667; thirds of 100,000 stray by 0.5 % of them."""
    drawn = LAWS["normal"].draw(np.random.default_rng(7), 100_000)
    low, _, high = np.histogram(drawn, 3, (0.01, 1))[0]
    assert high / low == pytest.approx(0.772, abs=0.03)
    assert drawn.mean() == pytest.approx(0.4727, abs=0.005)


def test_made_up_answers_have_their_selectivities():
    data = made_up()
    assert data.people == 100_000
    truth = np.repeat(SELECTIVITIES, 8)
    assert np.abs(data.shares - truth).max() < 6 * 0.5 / np.sqrt(100_000)
    assert (data.answers == made_up().answers).all()


def test_correlated_answers_fall_as_budgets_rise():
    roster, data = correlated()
    low = roster.nano[roster.classes] < 20_000_000
    high = roster.nano[roster.classes] > 90_000_000
    assert data.shares[0] == pytest.approx(0.2, abs=0.01)
    assert data.answers[low].mean() == pytest.approx(0.289, abs=0.02)
    assert data.answers[high].mean() == pytest.approx(0.111, abs=0.02)


def test_ranges_lie_in_their_domains():
    every = ranges((2, 5, 9), 50, None)
    assert all(list(question) == [0, 1, 2] for question in every)
    assert {question[1].start for question in every} == set(range(5))
    assert all(
        0 <= span.start < span.stop <= size for q in every for span, size in zip(q.values(), (2, 5, 9), strict=True)
    )
    few = ranges((2, 5, 9), 50, 2)
    assert {len(question) for question in few} == {2}
    assert {place for question in few for place in question} == {0, 1, 2}


def test_made_up_labels_can_be_learnt_but_not_wholly():
    data = made_up_labels(5_000)
    assert np.linalg.norm(data.features, axis=1).max() <= 1 + 1e-12
    assert data.labels.mean() == pytest.approx(0.5, abs=0.05)
    assert sorted(in_no_order(10).tolist()) == list(range(10))


def test_a_census_by_hand():
    codes = np.array([[0, 3], [1, 4], [1, 0], [0, 2]], dtype=np.int16)
    data = Census("made", codes, (2, 5), ("x", "y"), Task("y", ("x",), "y above 2.25"), "4 people")
    asked = data.asked(questions=30)
    for column, question in zip(asked.answers.T, ranges((2, 5), 30, None), strict=True):
        assert column.tolist() == [x in question[0] and y in question[1] for x, y in codes.tolist()]
    assert (asked.name, asked.about) == ("made, all", "ranges over all 2 attributes; 4 people")
    assert data.asked(1).name == "made, 1"
    learnt = data.labelled(4)
    order = in_no_order(4)
    assert learnt.labels.tolist() == (codes[order, 1] > 2.25).tolist()
    assert learnt.features[:, 0].tolist() == (2.0 * codes[order, 0] - 1).tolist()
    assert len(data.labelled(3).labels) == 3


def test_census_files_become_codes(tmp_path):
    found = censuses(write_censuses(tmp_path))
    assert not found.missing
    us, mothers, brazil = found.found
    assert us.codes.shape == (400, 35)
    assert (mothers.sizes[mothers.attributes.index("age")], mothers.sizes[-1]) == (15, 2)
    assert brazil.sizes[:3] == (2, 3, 4)
    for census in found.found:
        assert census.codes.min() == 0
        assert (census.codes.max(axis=0) < census.sizes).all()
        features = census.labelled(100).features
        assert np.linalg.norm(features, axis=1).max() <= 1 + 1e-12
        assert features.shape == (100, len(census.task.features))


def test_what_is_not_there_is_left_out_and_what_cannot_be_read_is_refused(tmp_path):
    assert censuses(None).missing == ("Census data are left out: no folder of data was named.",)
    assert len(censuses(tmp_path).missing) == 3
    with pytest.raises(SourceError, match="is not there"):
        censuses(tmp_path / "nowhere")
    place = write_censuses(tmp_path) / "census_brazil_2000" / "persons.parquet"
    table = pq.read_table(place)
    for wrong in (
        table.drop_columns(["a00"]),
        table.set_column(0, "a00", pa.array([None, *[1] * 399], pa.int8())),
        table.set_column(0, "a00", pa.array([1_000_000, *[1] * 399])),
        table.slice(0, 0),
    ):
        pq.write_table(wrong, place)
        with pytest.raises(SourceError, match="census_brazil_2000/persons"):
            censuses(tmp_path)
