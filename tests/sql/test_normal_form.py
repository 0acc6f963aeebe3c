"""One question, one text; two questions, two texts. And options, which are not part of the question."""

import itertools
import pickle
from dataclasses import replace
from fractions import Fraction

import pytest
from sql.declared_clinic import DECLARATIONS, PUBLIC, ask

from thresher.config import Column, Numbered
from thresher.errors import QuestionError
from thresher.question import PublicTable

FORM = "SELECT {}disease FROM patients WHERE {} GROUP BY disease HAVING {}"


def text(where: str = "age > 5", having: str = "COUNT(*) > 5") -> str:
    return ask(FORM.format("", where, having), DECLARATIONS, PUBLIC).text


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("ward BETWEEN 65 AND 65.5", "ward BETWEEN 65 AND 65"),
        ("ward = 1 OR ward BETWEEN 65 AND 65 OR ward = 2", "(ward IN (1, 2) OR ward BETWEEN 65 AND 65)"),
        ("ward BETWEEN 2 AND 2", "ward = 2"),
    ],
)
def test_numbers_outside_of_the_public_list_are_shown_so_that_they_can_be_asked_again(written, shown):
    text = "SELECT gender FROM patients WHERE {} GROUP BY gender HAVING COUNT(*) >= 6"
    found = ask(text.format(written), DECLARATIONS, PUBLIC)
    assert found.text == text.format(shown)
    assert ask(found.text, DECLARATIONS, PUBLIC).where == found.where


def test_the_text_is_sql_that_people_can_read():
    having = "(count(*)>100 AND avg(age)>65) OR (count(*)>20 AND avg(age)<5)"
    assert text("zip = '9'", having) == (
        "SELECT disease FROM patients WHERE zip = '9' GROUP BY disease HAVING "
        "(AVG(age) < 5 AND COUNT(*) >= 21) OR (AVG(age) > 65 AND COUNT(*) >= 101)"
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("age > 5 AND smoker", "smoker = TRUE and age >= 6"),
        ("(age > 5) AND (smoker AND zip = 'a')", "zip = 'a' AND smoker AND 5 < age"),
        ("age IN (1, 2)", "age = 2 OR age = 1"),
        ("NOT (age <= 5 OR age IS NULL)", "age > 5"),
        ("age > 5 /* a comment */", "age\n>\t5"),
    ],
)
def test_where_in_other_words(one, other):
    assert text(where=one) == text(where=other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("COUNT(*) > 5", "count( * ) >= 6"),
        ("COUNT(*) > 5", "NOT COUNT(*) <= 5"),
        ("COUNT(*) > 5", "5 < COUNT(*)"),
        ("COUNT(*) > 5", "2 * COUNT(*) > 10.5"),
        ("SUM(amount) > 20 * COUNT(*)", "SUM(amount) / 2 - 10 * COUNT(*) > 0"),
        ("AVG(age) > 5", "SUM(age) - 5 * COUNT(age) > 0"),
        ("COUNT(*) > 5 AND AVG(age) > 3", "AVG(age) > 3.0 AND COUNT(*) > 5e0"),
        ("(COUNT(*) > 5 OR SUM(age) > 3) AND COUNT(age) > 1", "COUNT(age) >= 2 AND (SUM(age) >= 4 OR COUNT(*) > 5)"),
        ("COUNT(*) BETWEEN 5 AND 9", "COUNT(*) <= 9 AND COUNT(*) >= 5"),
    ],
)
def test_having_in_other_words(one, other):
    assert text(having=one) == text(having=other)


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("COUNT(*) FILTER (WHERE smoker) > 0.3 * COUNT(*)", "{} - 0.3 * COUNT(*) > 0"),
        ("COUNT(*) FILTER (WHERE smoker) / COUNT(*) > 0.3", "{} - 0.3 * COUNT(*) > 0"),
        ("0.3 * COUNT(*) < COUNT(*) FILTER (WHERE smoker)", "{} - 0.3 * COUNT(*) > 0"),
        ("0.3 * COUNT(*) <= COUNT(*) FILTER (WHERE smoker)", "{} - 0.3 * COUNT(*) >= 0"),
        ("0.3 * COUNT(*) > COUNT(*) FILTER (WHERE smoker)", "{} - 0.3 * COUNT(*) < 0"),
        ("0.3 * COUNT(*) > COUNT(*) FILTER (WHERE smoker) + 2", "{} - 0.3 * COUNT(*) <= -2.1"),
        ("COUNT(*) FILTER (WHERE smoker) - COUNT(*) < 0", "COUNT(*) - {} > 0"),
    ],
)
def test_shares_read_as_shares(written, shown):
    found = text(having=written)
    assert found.endswith("HAVING " + shown.format("COUNT(*) FILTER (WHERE smoker = TRUE)"))
    assert ask(found, DECLARATIONS, PUBLIC).text == found


def test_thresholds_of_groups_stand_beside_their_names():
    source = "SELECT building FROM visits JOIN buildings b ON building = b.number"
    found = ask(f"{source} GROUP BY building HAVING COUNT(*) < b.capacity", DECLARATIONS, PUBLIC)
    assert found.text.endswith("HAVING COUNT(*) <= (10: 2, 20: 2, 30: 3)")
    source = 'SELECT "Floor", building FROM visits JOIN buildings b ON building = b.number'
    asked = f"{source} WHERE b.name <> 'B' AND \"Floor\" = 'low' GROUP BY building, \"Floor\""
    found = ask(f"{asked} HAVING COUNT(*) > b.capacity", DECLARATIONS, PUBLIC)
    assert found.text.endswith("HAVING COUNT(*) >= (('low', 10): 4, ('low', 30): 5)")


def test_different_questions_have_different_texts():
    wheres = ["age > 5", "age > 6", "age < 5", "amount > 5", "age = 5", "age <> 5", "age IS NULL", "zip = 'age'"]
    wheres += ["zip = 'a'", "zip = 'A'", "zip = 'a '", "zip IN ('a', 'b')", "zip = 'a'', ''b'", "zip NOT IN ('a', 'b')"]
    wheres += [
        "age > 5 AND smoker",
        "age > 5 OR smoker",
        "smoker",
        "NOT smoker",
        "ward = 1",
        "seen = '2024-01-01 01:00'",
    ]
    havings = ["COUNT(*) > 5", "COUNT(*) < 5", "COUNT(age) > 5", "SUM(age) > 5", "AVG(age) > 5", "AVG(age) >= 5"]
    havings += ["SUM(amount) > 5", "SUM(amount) > 5.01", "COUNT(DISTINCT patient_id) > 5", "SUM(age) / COUNT(*) > 5"]
    havings += ["SUM(age) - 5 * COUNT(*) >= 0", "SUM(age) - 5 * COUNT(*) >= 2", "SUM(age) - 5 * COUNT(*) < 0"]
    havings += ["COUNT(*) FILTER (WHERE smoker) > 5", "COUNT(*) > 5 AND SUM(age) > 5", "COUNT(*) > 5 OR SUM(age) > 5"]
    found = [text(where, having) for where, having in itertools.product(wheres, havings)]
    assert len(set(found)) == len(found)


def test_long_lists_are_short_and_told_apart():
    codes = [f"'v{n}'" for n in range(25)]
    one, other = (text(f"zip IN ({', '.join(chosen)})") for chosen in (codes, [*codes[:-1], "'w'"]))
    assert one != other
    assert "25 values, sha256" in one
    assert len(one) < 250
    assert text(f"zip IN ({', '.join(reversed(codes))})") == one


def test_thresholds_by_group_are_told_apart():
    numbers = tuple(range(1, 31))
    visits = DECLARATIONS.tables["visits"]
    columns = {**visits.columns, "building": Column("building", Numbered(numbers))}
    declarations = replace(DECLARATIONS, tables={"visits": replace(visits, columns=columns)})

    def asked(capacities):
        table = PublicTable("buildings", {"number": tuple(map(Fraction, numbers)), "capacity": capacities})
        source = "SELECT building FROM visits JOIN buildings b ON building = b.number"
        return ask(f"{source} GROUP BY building HAVING COUNT(*) > capacity", declarations, {"buildings": table})

    one = asked(tuple(Fraction(n) for n in numbers))
    other = asked((*(Fraction(n) for n in numbers[:-1]), Fraction(99)))
    assert one.text != other.text
    assert one.formula.at_least[-1] == 31
    assert "30 values, sha256" in one.text
    assert one.formula.text == other.formula.text == "COUNT(*) > buildings.capacity"


def test_options_ride_in_the_text():
    options = """WITH DIFFERENTIAL_PRIVACY OPTIONS(miss_rate=0.05, FALSE_ALARM_RATE = .1,
        uncertain_region='COUNT(*)=20', max_epsilon=-0.5, mechanism='tslm', key='it''s; OPTIONS(', confidence=1e-3) """
    found = ask(FORM.format(options, "age > 5", "COUNT(*) > 5"), DECLARATIONS, PUBLIC)
    assert found.options == {
        "miss_rate": "0.05",
        "false_alarm_rate": "0.1",
        "uncertain_region": "COUNT(*)=20",
        "max_epsilon": "-0.5",
        "mechanism": "tslm",
        "key": "it's; OPTIONS(",
        "confidence": "1e-3",
    }
    plain = ask(FORM.format("", "age > 5", "COUNT(*) > 5"), DECLARATIONS, PUBLIC)
    assert (found.text, found.formula, plain.options) == (plain.text, plain.formula, {})
    assert not ask(FORM.format("WITH DIFFERENTIAL_PRIVACY ", "smoker", "COUNT(*) > 5"), DECLARATIONS, PUBLIC).options


def test_places_are_those_of_the_text_as_written():
    options = "WITH DIFFERENTIAL_PRIVACY\n OPTIONS(miss_rate=0.05)\n"
    with pytest.raises(QuestionError) as caught:
        ask(
            f"SELECT {options} disease FROM patients WHERE ag > 5 GROUP BY disease HAVING COUNT(*) > 5",
            DECLARATIONS,
            PUBLIC,
        )
    assert (caught.value.line, caught.value.column) == (3, len(" disease FROM patients WHERE a"))


def test_a_near_option_is_named():
    with pytest.raises(QuestionError, match="did you mean `miss_rate`"):
        ask(
            FORM.format("WITH DIFFERENTIAL_PRIVACY OPTIONS(mis_rate=1) ", "smoker", "COUNT(*) > 5"),
            DECLARATIONS,
            PUBLIC,
        )


def test_a_selected_aggregate_is_a_note():
    found = ask(
        "SELECT disease, count(*), 2 * avg(age) FROM patients GROUP BY disease HAVING count(*) > 5",
        DECLARATIONS,
        PUBLIC,
    )
    note = "Selected aggregates are left out: the answer gives verdicts, and noisy values with show='values'"
    assert found.notes == (note,)


def test_questions_can_be_stored():
    found = ask(FORM.format("", "age > 5", "COUNT(*) > 5"), DECLARATIONS, PUBLIC)
    assert pickle.loads(pickle.dumps(found)) == found  # noqa: S301
