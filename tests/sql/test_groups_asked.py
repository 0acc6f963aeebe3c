"""The groups asked about, the names they are asked by, and the tables that are looked up for it."""

from collections.abc import Mapping
from dataclasses import replace

import pytest
from sql.declared_clinic import DECLARATIONS, PUBLIC, ask

from thresher.errors import QuestionError

COUNT = "HAVING COUNT(*) > 5"


def asked(text: str, declarations=DECLARATIONS):
    return ask(text, declarations, PUBLIC)


def groups(keys: str, where: str = "", source: str = "patients"):
    return asked(f"SELECT {keys} FROM {source} {where} GROUP BY {keys} {COUNT}").groups


def test_groups_come_in_declared_order():
    assert groups("disease") == (("flu",), ("measles",), ("gout",))
    assert groups("ward, gender") == tuple((ward, gender) for ward in (1, 2, 3) for gender in ("f", "m"))
    assert groups("smoker") == ((0,), (1,))
    assert asked(f"SELECT smoker FROM patients GROUP BY smoker {COUNT}").labels() == [(False,), (True,)]
    assert len(groups("admitted")) == 366
    assert len(groups("seen")) == 72
    assert groups("age_band") == ((0,), (1,), (2,))


def test_keys_come_in_the_order_of_the_select_list():
    one = asked(f"SELECT gender, ward FROM patients GROUP BY ward, gender {COUNT}")
    assert one == asked(f"SELECT gender, ward FROM patients GROUP BY gender, ward {COUNT}")
    assert one.groups[:2] == (("f", 1), ("f", 2))


@pytest.mark.parametrize(
    ("where", "left"),
    [
        ("WHERE ward > 1", (2, 3)),
        ("WHERE ward > 1 AND age > 5", (2, 3)),
        ("WHERE ward > 1 OR age > 5", (1, 2, 3)),
        ("WHERE (ward = 1 AND age > 5) OR ward = 3", (1, 3)),
        ("WHERE NOT ward = 2", (1, 3)),
        ("WHERE ward IS NOT NULL", (1, 2, 3)),
        ("WHERE ward IS NULL", ()),
        ("WHERE ward > 9", ()),
        ("WHERE age > 500", ()),
    ],
)
def test_groups_that_where_rules_out_are_left_out(where, left):
    assert groups("ward", where) == tuple((ward,) for ward in left)


def test_where_may_speak_of_several_keys():
    found = groups("ward, gender", "WHERE ward = 1 AND gender = 'f' OR ward = 2 AND gender = 'm'")
    assert found == ((1, "f"), (2, "m"))


def test_no_group_is_said_so():
    assert (
        "No declared group can satisfy WHERE"
        in asked(f"SELECT ward FROM patients WHERE ward > 9 GROUP BY ward {COUNT}").notes
    )


def test_large_domains_are_cut_down_before_they_are_listed():
    assert groups("wide", "WHERE wide BETWEEN 5 AND 5.02", "visits") == ((500,), (501,), (502,))
    assert groups("wide", "WHERE wide IN (5, 7) AND minutes > 3", "visits") == ((500,), (700,))
    with pytest.raises(QuestionError, match=r"100,000,000,001 groups are more than the limit of 10,000 groups"):
        groups("wide", "", "visits")
    with pytest.raises(QuestionError, match=r"40,626 groups"):
        groups("admitted, age")


def test_the_limit_is_declared():
    with pytest.raises(QuestionError, match=r"3 groups are more than the limit of 2 groups"):
        asked(f"SELECT ward FROM patients GROUP BY ward {COUNT}", replace(DECLARATIONS, max_groups=2))
    assert asked(f"SELECT ward FROM patients GROUP BY ward {COUNT}", replace(DECLARATIONS, max_groups=3)).groups


@pytest.mark.parametrize(
    "text",
    [
        f"select DISEASE from PATIENTS group by Disease {COUNT}",
        f'SELECT "disease" FROM "patients" GROUP BY patients.disease {COUNT}',
        f"SELECT p.disease FROM patients p GROUP BY P.disease {COUNT}",
        f"SELECT d.name FROM patients JOIN diseases d ON d.name = disease GROUP BY d.name {COUNT}",
        f"SELECT (disease) FROM patients GROUP BY (disease) {COUNT};",
        f"/* which */ SELECT disease -- of them\nFROM patients\r\n\tGROUP BY disease {COUNT}",
    ],
)
def test_names_may_be_written_in_several_ways(text):
    assert asked(text).text == "SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) >= 6"


def test_a_name_in_capitals_is_found_and_quoted_ones_are_exact():
    assert asked(f"SELECT floor FROM visits GROUP BY floor {COUNT}").keys[0].name == "Floor"
    assert asked(f'SELECT "Floor" FROM visits GROUP BY "Floor" {COUNT}').keys[0].name == "Floor"
    with pytest.raises(QuestionError, match="did you mean `Floor`"):
        asked(f'SELECT "floor" FROM visits GROUP BY "floor" {COUNT}')


def test_a_name_that_may_mean_two_columns_is_refused():
    text = "SELECT building FROM visits JOIN buildings b ON building = b.number JOIN diseases d ON Floor = d.name"
    with pytest.raises(QuestionError, match="may mean several columns"):
        asked(f"{text} WHERE name = 'A' GROUP BY building {COUNT}")


class Shelf(Mapping):
    """Public tables that remember who was asked for."""

    def __init__(self):
        self.taken = []

    def __getitem__(self, name):
        self.taken.append(name)
        return PUBLIC[name]

    def __iter__(self):
        raise AssertionError("public tables are not listed")

    def __len__(self):
        raise AssertionError("public tables are not counted")


def test_public_tables_are_looked_up_only_when_named():
    shelf = Shelf()
    ask(f"SELECT building FROM visits GROUP BY building {COUNT}", DECLARATIONS, shelf)
    assert shelf.taken == []
    ask(
        f"SELECT building FROM visits JOIN buildings b ON building = b.number GROUP BY building {COUNT}",
        DECLARATIONS,
        shelf,
    )
    assert set(shelf.taken) == {"buildings"}
    ask(f"SELECT ward FROM patients GROUP BY ward {COUNT}", DECLARATIONS, shelf)
    assert set(shelf.taken) == {"buildings", "diseases"}
    with pytest.raises(QuestionError):
        ask("SELECT * FROM patients", DECLARATIONS, shelf)
    assert set(shelf.taken) == {"buildings", "diseases"}
