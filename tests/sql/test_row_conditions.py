"""WHERE as conditions on codes: off the grid, out of range, by list, by day, in one normal form."""

from datetime import date

import pytest
from sql.declared_clinic import DECLARATIONS, PUBLIC, ask

from thresher.config import day_code
from thresher.question import ALWAYS, NEVER, AllOf, AnyOf, Missing, NoneOf, OneOf, Present, Within

JANUARY = 19723  # 2024-01-01 in days since 1970


def where(condition: str):
    text = f"SELECT ward FROM patients JOIN diseases d ON disease = d.name WHERE {condition} GROUP BY ward"
    found = ask(f"{text} HAVING COUNT(*) > 5", DECLARATIONS, PUBLIC).where
    joined = OneOf("disease", ("flu", "gout", "measles"))
    if isinstance(found, AllOf) and joined in found.parts:
        rest = tuple(part for part in found.parts if part != joined)
        return rest[0] if len(rest) == 1 else AllOf(rest)
    return ALWAYS if found == joined else found


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("age > 64", Within("age", 65, None)),
        ("age > 64.5", Within("age", 65, None)),
        ("age >= 64.5", Within("age", 65, None)),
        ("age < 64.5", Within("age", None, 64)),
        ("age <= 64.5", Within("age", None, 64)),
        ("65 <= age", Within("age", 65, None)),
        ("age = 64.5", NEVER),
        ("age <> 64.5", Present("age")),
        ("age > 110", NEVER),
        ("age >= 110", Within("age", 110, None)),
        ("age < 500", Present("age")),
        ("age >= 0", Present("age")),
        ("age >= -5", Present("age")),
        ("age < 0", NEVER),
        ("age IN (5, 3, 3, 700)", OneOf("age", (3, 5))),
        ("age NOT IN (5, 700)", NoneOf("age", (5,))),
        ("age NOT IN (700)", Present("age")),
        ("age BETWEEN 3 AND 5", Within("age", 3, 5)),
        ("age BETWEEN 5 AND 3", NEVER),
        ("age BETWEEN 3 AND 3", OneOf("age", (3,))),
        ("age BETWEEN 60 + 5 AND 2e2", Within("age", 65, None)),
        ("age NOT BETWEEN 3 AND 5", AnyOf((Within("age", 6, None), Within("age", None, 2)))),
        ("age IS NULL", Missing("age")),
        ("score IS NULL", NEVER),
        ("score IS NOT NULL", ALWAYS),
        ("score < 500", ALWAYS),
        ("amount > 0.005", Within("amount", 1, None)),
        ("amount = -0.01", OneOf("amount", (-1,))),
        ("ward > 1.5", Within("ward", 2, None)),
        ("ward > 77", Within("ward", 78, None)),
        ("ward = 3", OneOf("ward", (3,))),
        ("zip = 'it''s'", OneOf("zip", ("it's",))),
        ("gender <> 'm'", NoneOf("gender", ("m",))),
        ("smoker", OneOf("smoker", (1,))),
        ("NOT smoker", OneOf("smoker", (0,))),
        ("smoker <> TRUE", OneOf("smoker", (0,))),
        ("smoker IS NOT TRUE", AnyOf((Missing("smoker"), OneOf("smoker", (0,))))),
        ("admitted = '2024-01-01'", OneOf("admitted", (JANUARY,))),
        ("admitted > DATE '2024-01-01'", Within("admitted", JANUARY + 1, None)),
        ("admitted > '2030-01-01'", NEVER),
        ("admitted < '2030-01-01'", Present("admitted")),
        ("seen >= '2024-01-02 05:00'", Within("seen", 24 * (JANUARY + 1) + 5, None)),
        ("seen >= '2024-01-02'", Within("seen", 24 * (JANUARY + 1), None)),
        ("seen > DATE '2024-01-02'", Within("seen", 24 * (JANUARY + 1) + 1, None)),
        ("seen < '2024-01-02'", Within("seen", None, 24 * (JANUARY + 1) - 1)),
        ("seen <= '2024-01-02'", Within("seen", None, 24 * (JANUARY + 1))),
        (
            "seen BETWEEN '2024-01-02' AND '2024-01-03'",
            Within("seen", 24 * (JANUARY + 1), 24 * (JANUARY + 2)),
        ),
        ("seen = '2024-01-02T05:00'", OneOf("seen", (24 * (JANUARY + 1) + 5,))),
        ("age_band = '[18, 65)'", OneOf("age_band", (1,))),
        ("age_band <> '[18, 65)'", OneOf("age_band", (0, 2))),
        ("d.kind = 'viral'", OneOf("disease", ("flu", "measles"))),
        ("d.kind <> 'viral'", NEVER),
        ("NOT d.kind = 'viral'", NEVER),
        ("kind IS NULL", OneOf("disease", ("gout",))),
        ("severity >= 2.5", OneOf("disease", ("measles",))),
        ("d.name = 'flu'", OneOf("disease", ("flu",))),
        ("notifiable IS NOT TRUE", OneOf("disease", ("flu", "gout"))),
        ("kind = 'viral' AND severity < 3", OneOf("disease", ("flu",))),
        ("disease = 'gout'", OneOf("disease", ("gout",))),
        ("zip = 'zz'", OneOf("zip", ("zz",))),
    ],
)
def test_one_condition(written, meant):
    assert where(written) == meant


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("age > 3 AND age < 9 AND age <> 5", AllOf((NoneOf("age", (5,)), Within("age", 4, 8)))),
        ("age > 3 AND age <> 2", Within("age", 4, None)),
        ("age > 3 AND age < 3", NEVER),
        ("age IN (1, 2, 3) AND age > 1 AND age <> 3", OneOf("age", (2,))),
        ("age IS NULL AND age > 3", NEVER),
        ("age IS NULL OR age IS NOT NULL", ALWAYS),
        ("age IS NOT NULL OR age > 3", Present("age")),
        ("age IS NOT NULL AND age > 3", Within("age", 4, None)),
        ("age = 1 OR age = 3 OR age IN (2)", OneOf("age", (1, 2, 3))),
        ("age = 1 OR age = 1", OneOf("age", (1,))),
        ("NOT (age > 3 OR smoker)", AllOf((OneOf("smoker", (0,)), Within("age", None, 3)))),
        ("NOT (age > 3 AND NOT smoker)", AnyOf((OneOf("smoker", (1,)), Within("age", None, 3)))),
        ("age > 500 OR smoker", OneOf("smoker", (1,))),
        ("score < 500 AND smoker", OneOf("smoker", (1,))),
    ],
)
def test_joined_conditions(written, meant):
    assert where(written) == meant


@pytest.mark.parametrize(
    ("written", "note"),
    [
        ("age > 200", "age > 200 never holds: age is limited to 0 to 110"),
        ("NOT age <= 110", "age > 110 never holds: age is limited to 0 to 110"),
        ("200 < age OR smoker", "age > 200 never holds: age is limited to 0 to 110"),
        ("age BETWEEN 111 AND 200", "age >= 111 never holds: age is limited to 0 to 110"),
        ("age IN (5, 700)", "age = 700 never holds: age is limited to 0 to 110"),
        ("amount < -50.5", "amount < -50.5 never holds: amount is limited to -50 to 50"),
        ("score = 0.3", "score = 0.3 never holds: score has steps of 0.5"),
        (
            "admitted > '2030-01-01'",
            "admitted > '2030-01-01' never holds: admitted is NULL outside 2024-01-01 to 2024-12-31",
        ),
        ("seen < '2024-01-01'", "seen < '2024-01-01' never holds: seen is NULL outside 2024-01-01 to 2024-01-03"),
    ],
)
def test_what_never_holds_is_noted(written, note):
    where = f"SELECT ward FROM patients WHERE {written} GROUP BY ward HAVING COUNT(*) > 5"
    inside = f"SELECT ward FROM patients GROUP BY ward HAVING COUNT(*) FILTER (WHERE {written}) < 5 AND COUNT(*) > 5"
    for text in (where, inside):
        assert [one for one in ask(text, DECLARATIONS, PUBLIC).notes if "never holds" in one] == [note]


@pytest.mark.parametrize("written", ["age > 109", "age < 500", "age NOT BETWEEN 0 AND 200", "age <> 700", "ward > 77"])
def test_what_may_hold_is_not_noted(written):
    text = f"SELECT gender FROM patients WHERE {written} GROUP BY gender HAVING COUNT(*) > 5"
    assert not any("never" in note for note in ask(text, DECLARATIONS, PUBLIC).notes)


def test_a_join_leaves_out_what_it_does_not_find():
    text = "SELECT ward FROM patients JOIN wards w ON ward = w.id {} GROUP BY ward HAVING COUNT(*) > 5"
    assert ask(text.format(""), DECLARATIONS, PUBLIC).where == OneOf("ward", (1, 2))
    all_known = "SELECT disease FROM patients JOIN diseases ON disease = name GROUP BY disease HAVING COUNT(*) > 5"
    assert ask(all_known, DECLARATIONS, PUBLIC).where == ALWAYS


def test_the_calendar_of_the_tests_is_right():
    assert day_code(date(2024, 1, 1)) == JANUARY
