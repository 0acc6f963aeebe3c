"""Comparisons become whole numbers: weights, bounds, steps, and the words they are shown in."""

from fractions import Fraction

import pytest
from sql.declared_clinic import DECLARATIONS, PUBLIC, ask

from thresher.question import ALWAYS, Aggregate, Atom, Every, OneOf, Some, Within, atoms_of

ROWS = Aggregate("rows")
AGES, AGE_COUNT = Aggregate("total", "age"), Aggregate("present", "age")
AMOUNTS = Aggregate("total", "amount")
UNITS = Aggregate("units")


def formula(having: str):
    return ask(f"SELECT disease FROM patients GROUP BY disease HAVING {having}", DECLARATIONS, PUBLIC).formula


def per_building(having: str):
    text = f"SELECT building FROM visits JOIN buildings b ON building = b.number GROUP BY building HAVING {having}"
    return ask(text, DECLARATIONS, PUBLIC).formula


@pytest.mark.parametrize(
    ("having", "weights", "at_least", "aggregate", "text", "steps"),
    [
        ("COUNT(*) > 5", ((ROWS, 1),), 6, "COUNT(*)", "COUNT(*) > 5", 1),
        ("count(*) >= 5", ((ROWS, 1),), 5, "COUNT(*)", "COUNT(*) >= 5", 1),
        ("COUNT(*) < 5", ((ROWS, -1),), -4, "COUNT(*)", "COUNT(*) < 5", 1),
        ("COUNT(*) <= 5", ((ROWS, -1),), -5, "COUNT(*)", "COUNT(*) <= 5", 1),
        ("COUNT(*) < 4.5", ((ROWS, -1),), -4, "COUNT(*)", "COUNT(*) < 4.5", 1),
        ("NOT COUNT(*) < 4.5", ((ROWS, 1),), 5, "COUNT(*)", "COUNT(*) >= 4.5", 1),
        ("5 < COUNT(*)", ((ROWS, 1),), 6, "COUNT(*)", "COUNT(*) > 5", 1),
        ("2 * COUNT(*) > 5", ((ROWS, 1),), 3, "2 * COUNT(*)", "2 * COUNT(*) > 5", Fraction(1, 2)),
        ("COUNT(*) / 3 > 5", ((ROWS, 1),), 16, "1/3 * COUNT(*)", "1/3 * COUNT(*) > 5", 3),
        ("-COUNT(*) > -5", ((ROWS, -1),), -4, "-COUNT(*)", "-COUNT(*) > -5", 1),
        ("COUNT(disease) > 5", ((ROWS, 1),), 6, "COUNT(*)", "COUNT(*) > 5", 1),
        ("COUNT(patient_id) > 5", ((ROWS, 1),), 6, "COUNT(*)", "COUNT(*) > 5", 1),
        ("COUNT(score) > 5", ((ROWS, 1),), 6, "COUNT(*)", "COUNT(*) > 5", 1),
        ("COUNT(age) > 5", ((AGE_COUNT, 1),), 6, "COUNT(age)", "COUNT(age) > 5", 1),
        (
            "COUNT(DISTINCT patient_id) > 5",
            ((UNITS, 1),),
            6,
            "COUNT(DISTINCT patient_id)",
            "COUNT(DISTINCT patient_id) > 5",
            1,
        ),
        ("SUM(amount) > 0.015", ((AMOUNTS, 1),), 2, "SUM(amount)", "SUM(amount) > 0.015", 100),
        ("SUM(amount) >= 0.02", ((AMOUNTS, 1),), 2, "SUM(amount)", "SUM(amount) >= 0.02", 100),
        (
            "SUM(amount) > 20 * COUNT(*)",
            ((AMOUNTS, 1), (ROWS, -2000)),
            1,
            "SUM(amount) - 20 * COUNT(*)",
            "SUM(amount) - 20 * COUNT(*) > 0",
            100,
        ),
        (
            "COUNT(*) - SUM(age) / 2 + 1 <= 3",
            ((AGES, 1), (ROWS, -2)),
            -4,
            "COUNT(*) - 0.5 * SUM(age)",
            "COUNT(*) - 0.5 * SUM(age) <= 2",
            2,
        ),
    ],
)
def test_linear_comparisons(having, weights, at_least, aggregate, text, steps):
    assert formula(having) == Atom(weights, at_least, "", "", Fraction(1))
    found = formula(having)
    assert (found.aggregate, found.text, found.steps, found.per_row) == (aggregate, text, steps, False)


def test_an_average_is_its_linear_form():
    found = formula("AVG(age) > 2.5")
    assert (found.weights, found.at_least) == (((AGES, 2), (AGE_COUNT, -5)), 1)
    assert (found.aggregate, found.text, found.steps, found.per_row) == ("AVG(age)", "AVG(age) > 2.5", 2, True)
    below = formula("AVG(age) < 5")
    assert (below.weights, below.at_least, below.text) == (((AGES, -1), (AGE_COUNT, 5)), 1, "AVG(age) < 5")
    assert formula("NOT AVG(age) >= 5") == below


@pytest.mark.parametrize("having", ["AVG(age) >= 5", "NOT AVG(age) < 5"])
def test_an_average_that_may_be_equal_needs_a_row(having):
    assert formula(having) == Every(
        (
            Atom(((AGE_COUNT, 1),), 1, "", "", Fraction(1)),
            Atom(((AGES, 1), (AGE_COUNT, -5)), 0, "", "", Fraction(1)),
        )
    )


def test_averages_of_columns_that_are_never_null_divide_by_rows():
    assert formula("AVG(score) > 3").weights == ((Aggregate("total", "score"), 1), (ROWS, -6))


def test_guards_are_shared_and_not_talked_about():
    question = ask(
        "SELECT disease FROM patients GROUP BY disease HAVING AVG(age) BETWEEN 5 AND 10", DECLARATIONS, PUBLIC
    )
    written = {atom.text for atom in atoms_of(question.formula)}
    assert written == {"COUNT(age) >= 1", "AVG(age) >= 5", "AVG(age) <= 10"}
    assert len(list(atoms_of(question.formula))) == 3
    assert question.notes == ()


@pytest.mark.parametrize(
    ("having", "guarded"),
    [
        ("SUM(age) / COUNT(*) > 3", False),
        ("SUM(age) / COUNT(age) > 3", False),
        ("SUM(amount) / COUNT(age) > 3", True),
        ("SUM(age) / COUNT(DISTINCT patient_id) < 3", False),
        ("COUNT(*) FILTER (WHERE age > 64) / COUNT(*) > 0.5", False),
        ("COUNT(*) / COUNT(*) FILTER (WHERE age > 64) > 3", True),
        ("COUNT(*) FILTER (WHERE age > 64 AND smoker) / COUNT(*) FILTER (WHERE smoker) > 0.5", False),
        ("SUM(age) / COUNT(*) >= 3", True),
    ],
)
def test_ratios_add_a_count_only_where_it_says_something(having, guarded):
    found = formula(having)
    assert isinstance(found, Every) == guarded
    assert any(atom.per_row for atom in atoms_of(found))


def test_ratios_are_shown_as_written():
    ratio = "(SUM(age) + SUM(amount)) / COUNT(*)"
    found = [atom for atom in atoms_of(formula(f"2 * {ratio} > 3")) if atom.per_row]
    assert found[0].text == "(2 * SUM(age) + 2 * SUM(amount)) / COUNT(*) > 3"
    assert formula("2 * AVG(age) > 3").text == "2 * AVG(age) > 3"
    assert formula("AVG(age) - 1 > 3").text == "AVG(age) > 4"


SMOKERS = "COUNT(*) FILTER (WHERE smoker = TRUE)"


@pytest.mark.parametrize(
    ("having", "aggregate", "text"),
    [
        (f"{SMOKERS} > 0.3 * COUNT(*)", f"{SMOKERS} - 0.3 * COUNT(*)", f"{SMOKERS} - 0.3 * COUNT(*) > 0"),
        (f"0.3 * COUNT(*) < {SMOKERS}", f"0.3 * COUNT(*) - {SMOKERS}", f"0.3 * COUNT(*) - {SMOKERS} < 0"),
        (f"{SMOKERS} > COUNT(*) / 3 + 2", f"{SMOKERS} - 1/3 * COUNT(*)", f"{SMOKERS} - 1/3 * COUNT(*) > 2"),
        (f"{SMOKERS} / COUNT(*) > 0.3", f"{SMOKERS} / COUNT(*)", f"{SMOKERS} / COUNT(*) > 0.3"),
    ],
)
def test_shares_are_shown_as_written(having, aggregate, text):
    found = formula(having)
    assert (found.aggregate, found.text) == (aggregate, text)


def test_filters_are_part_of_the_aggregate():
    found = formula("COUNT(*) FILTER (WHERE age > 64.5) > 5")
    assert found.weights == ((Aggregate("rows", None, Within("age", 65, None)), 1),)
    assert found.aggregate == "COUNT(*) FILTER (WHERE age >= 65)"
    assert formula("COUNT(*) FILTER (WHERE age < 500 OR age IS NULL) > 5").weights == ((ROWS, 1),)


def test_thresholds_from_a_public_table():
    found = per_building("COUNT(*) > b.capacity")
    assert (found.at_least, found.text) == ((4, 3, 5), "COUNT(*) > buildings.capacity")
    assert per_building("COUNT(*) >= 2 * b.capacity - 1").at_least == (5, 4, 7)
    assert per_building("b.capacity >= COUNT(*)").at_least == (-3, -2, -4)
    assert per_building("COUNT(*) > b.capacity - b.capacity").at_least == 1
    assert per_building("COUNT(*) > 0.9 * b.capacity").text == "COUNT(*) > 0.9 * buildings.capacity"


def test_thresholds_follow_the_groups_that_are_left():
    text = "SELECT building FROM visits JOIN buildings b ON building = b.number WHERE b.name <> 'A' GROUP BY building"
    found = ask(f"{text} HAVING COUNT(*) > capacity", DECLARATIONS, PUBLIC)
    assert (found.groups, found.formula.at_least) == (((20,), (30,)), (3, 5))


def test_an_average_against_a_public_column_counts_by_its_values():
    found = per_building("AVG(minutes) > b.capacity")
    by_building = {aggregate.where: weight for aggregate, weight in found.weights}
    assert by_building[ALWAYS] == 2
    assert {by_building[OneOf("building", (number,))] for number in (10, 20, 30)} == {-6, -5, -8}
    assert found.text == "AVG(minutes) > buildings.capacity"


def test_a_join_goes_by_the_joined_value_not_by_the_row():
    text = "SELECT ward FROM patients JOIN wards w ON ward = w.id WHERE {} GROUP BY ward HAVING COUNT(*) > 5"
    assert ask(text.format("w.beds = 5"), DECLARATIONS, PUBLIC).groups == ((1,),)
    assert ask(text.format("w.beds IS NULL"), DECLARATIONS, PUBLIC).groups == ((2,),)
    assert ask(text.format("age > 5"), DECLARATIONS, PUBLIC).groups == ((1,), (2,))


def test_formulas_are_flat_and_sorted():
    found = formula("COUNT(*) > 9 AND (SUM(age) > 3 AND (AVG(age) > 5 OR COUNT(*) < 3))")
    assert isinstance(found, Every)
    assert [type(part) for part in found.parts] == [Some, Atom, Atom]
    assert found == formula("(COUNT(*) < 3 OR AVG(age) > 5) AND SUM(age) >= 4 AND NOT COUNT(*) <= 9")
