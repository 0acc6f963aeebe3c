"""What a question is charged to: never less than the rows it looks at."""

from dataclasses import replace
from datetime import date
from fractions import Fraction

from thresher.accounting import CommonSpending, account_loss, overlaps
from thresher.amounts import Epsilon
from thresher.config import Bands, Column, Contribution, Days, Grid, Hours, Listed, Numbered, Table, Text, Truth
from thresher.question import (
    ALWAYS,
    AllOf,
    AnyOf,
    Missing,
    NoneOf,
    OneOf,
    Question,
    Within,
    grouping_of,
)

COLUMNS = {
    "ward": Column("ward", Listed(("A", "B", "C"))),
    "floor": Column("floor", Numbered((1, 2))),
    "age": Column("age", Grid(Fraction(0), Fraction(110), Fraction(1))),
    "band": Column("band", Bands("age", (Fraction(0), Fraction(18), Fraction(111)))),
    "day": Column("day", Days(date(2024, 1, 1), date(2024, 12, 31))),
    "hour": Column("hour", Hours(date(2024, 1, 1), date(2024, 1, 2))),
    "urgent": Column("urgent", Truth()),
}
ROWS = Table("stays", COLUMNS, Epsilon(1))


def region(where, table=ROWS):
    return grouping_of(Question(table, (table.columns["ward"],), (("A",),), where, True, "q")).where


def test_conditions_become_regions_in_the_words_of_people():
    assert str(region(OneOf("ward", ("A", "B")))) == "ward in ('A', 'B')"
    assert str(region(Within("age", 65, None))) == "age (0 to 110 by 1) >= 65"
    assert str(region(Within("day", 19723, 19723))) == "day (days of 2024-01-01 to 2024-12-31) = '2024-01-01'"
    both = AllOf((OneOf("floor", (2,)), OneOf("urgent", (1,))))
    assert str(region(both)) == "floor (whole numbers) = 2 and urgent (true or false) = 'true'"
    assert str(region(AnyOf((OneOf("ward", ("B",)), OneOf("ward", ("A",)))))) == "ward in ('A', 'B')"
    assert str(region(OneOf("band", (0,)))) == "band (bands of age (0 to 110 by 1), 0 18 111) = '[0, 18)'"


def test_what_is_not_a_box_is_charged_to_everything():
    for where in (ALWAYS, Missing("age"), NoneOf("ward", ("A",)), OneOf("hour", (5,)), Within("hour", 1, 9)):
        assert str(region(where)) == "everything"
    either = AnyOf((OneOf("ward", ("A",)), Within("age", 65, None)))
    assert str(region(either)) == "everything"
    assert str(region(AllOf((either, OneOf("ward", ("C",)))))) == "ward = 'C'"


def test_questions_about_different_wards_do_not_spend_each_others_budget():
    first, second = (CommonSpending(_grouping(OneOf("ward", (name,))), Epsilon("0.4")) for name in "AB")
    assert account_loss([*first.losses(), *second.losses()]).loss == Epsilon("0.4")


def test_a_column_that_is_read_otherwise_keeps_nothing_apart():
    """A row clamped to 110 under one declaration is at 120 under the next: both questions may have counted it."""
    wider = Grid(Fraction(0), Fraction(150), Fraction(1))
    later = replace(ROWS, columns={**COLUMNS, "age": Column("age", wider)})
    assert overlaps(region(Within("age", 100, 110)), region(Within("age", 120, 150), later))
    assert not overlaps(region(Within("age", 100, 110)), region(Within("age", 0, 50)))


def test_days_that_are_left_out_now_and_count_later_keep_nothing_apart():
    """A fixed day is the smallest that counts: with other ends, a person's fixed day is another one."""
    later = {**COLUMNS, "day": Column("day", Days(date(2024, 2, 1), date(2024, 12, 31)))}
    assert overlaps(region(OneOf("day", (19723,))), region(OneOf("day", (19800,)), replace(ROWS, columns=later)))
    assert not overlaps(region(OneOf("day", (19723,))), region(OneOf("day", (19800,))))


def test_a_column_of_another_kind_keeps_nothing_apart():
    text, truth = ({**COLUMNS, "x": Column("x", kind)} for kind in (Listed(("1", "2")), Truth()))
    first = region(OneOf("x", ("1",)), replace(ROWS, columns=text))
    assert overlaps(first, region(OneOf("x", (1,)), replace(ROWS, columns=truth)))


def test_no_two_columns_share_a_name():
    """A column may be called like another one with its description; a row may be in both regions."""
    strange = {"urgent": Column("urgent", Truth()), "urgent (true or false)": Column("urgent (true or false)", Text())}
    table = replace(ROWS, columns={**COLUMNS, **strange})
    first = region(OneOf("urgent", (1,)), table)
    assert overlaps(first, region(OneOf("urgent (true or false)", ("false",)), table))


def test_persons_are_kept_apart_by_fixed_columns_only():
    fixed = {**COLUMNS, "ward": replace(COLUMNS["ward"], fixed=True)}
    persons = replace(ROWS, contribution=Contribution("patient", 2, 1))
    where = AllOf((OneOf("ward", ("A",)), Within("age", 65, None)))
    loose = CommonSpending(grouping_of(_question(where, persons)), Epsilon("0.1"))
    assert [(str(r), str(e)) for loss in loose.losses() for r, e in loss.regions()] == [("everything", "0.2")]
    held = CommonSpending(grouping_of(_question(where, replace(persons, columns=fixed))), Epsilon("0.1"))
    assert [(str(r), str(e)) for loss in held.losses() for r, e in loss.regions()] == [("ward = 'A'", "0.1")]


def test_another_version_of_the_rows_may_have_moved_a_person():
    fixed = {**COLUMNS, "ward": replace(COLUMNS["ward"], fixed=True)}
    persons = replace(ROWS, columns=fixed, contribution=Contribution("patient", 1, 1))
    moved = replace(persons, version="2")
    assert overlaps(region(OneOf("ward", ("A",)), persons), region(OneOf("ward", ("B",)), moved))


def _question(where, table=ROWS):
    return Question(table, (table.columns["ward"],), (("A",),), where, True, "q")


def _grouping(where):
    return grouping_of(_question(where))
