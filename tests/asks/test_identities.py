"""What makes a personal question or a diagnostic the same: every option, and nothing that does not matter."""

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import pytest

from thresher.amounts import Epsilon
from thresher.asks.desk import Desk
from thresher.asks.diagnosis import DiagnosisAsk
from thresher.asks.personal_asks import personal_count, personal_decision, personal_question
from thresher.config import load
from thresher.diagnostics.diagnosis_plan import DiagnosisOptions
from thresher.errors import ArgumentError, DeclarationError
from thresher.personal.weighted_read import PersonalOptions
from thresher.question import PublicTable

DECLARED = """
[source]
url = "memory://"
[tables.patients]
unit = "id"
budget_column = "allows"
budget_roster = { table = "roster", column = "eps" }
[tables.patients.columns]
allows = { min = 0, max = 1, step = 0.1, missing = 0, fixed = true }
ward = { values = ["eye", "ear"] }
age = { min = 0, max = 100 }
height = { min = 0, max = 250 }
[tables.loans]
budget = "3"
max_epsilon_per_question = "2"
count_range = 500
[tables.loans.columns]
bad = { min = 0, max = 1 }
risk = { min = 0, max = 1, step = 0.01 }
other = { min = 0, max = 9 }
[public_tables.roster]
"""
COUNT = "SELECT ward, COUNT(*) FROM patients GROUP BY ward"
DECISION = "SELECT ward FROM patients GROUP BY ward HAVING COUNT(*) > 5"
LEVELS = ("0.1", "0.2", "0.5", "0.5")


class NothingLost:
    def losses(self, _):
        return []


@pytest.fixture
def desk(tmp_path):
    def made(*edits, levels=LEVELS):
        text = DECLARED
        for before, after in edits:
            assert before in text
            text = text.replace(before, after)
        path = tmp_path / "thresher.toml"
        path.write_text(text)
        roster = PublicTable("roster", {"eps": tuple(map(Fraction, levels))})
        return Desk(load(path), {"roster": roster}, NothingLost)

    return made


def must_decide(sql, options):
    return personal_decision(sql, options, None, personal=True)


def personal(desk, sql=COUNT, **options):
    return personal_question(sql, options).plan(desk).identity


ROC = {"table": "loans", "label": "bad", "score": "risk", "epsilon": "0.5"}


def diagnosis(desk, **options):
    return DiagnosisAsk("roc", {**ROC, **options}).plan(desk).identity


# Every option of a personal question, by a value that is not what follows if it is left out.
OPTIONS = {
    "share": (COUNT, "0.3"),
    "leftovers": (COUNT, True),
    "confidence": (COUNT, "0.9"),
    "miss_rate": (DECISION, "0.01"),
    "false_alarm_rate": (DECISION, "0.2"),
}
# And those that change how much noise there is, or for whom.
NOISE = {"share"}


def test_every_option_of_a_personal_question_is_part_of_it(desk):
    assert set(OPTIONS) == PersonalOptions.__annotations__.keys()
    for name, (sql, value) in OPTIONS.items():
        plain, other = personal(desk(), sql), personal(desk(), sql, **{name: value})
        assert plain.question != other.question, name
        assert (plain.measurement != other.measurement) == (name in NOISE), name


def test_what_is_left_out_is_not_what_is_meant_by_leaving_it_out(desk):
    """The usual share may change one day; who left it out asked the same as before, who wrote it did not."""
    assert personal(desk()).question != personal(desk(), share="0.25").question
    assert personal(desk()).measurement == personal(desk(), share="0.25").measurement
    assert personal(desk(), leftovers=False) == personal(desk())


@pytest.mark.parametrize("share", ["0.50", 0.5, Decimal("0.5"), Fraction(1, 2), Epsilon("0.5"), "5e-1"])
def test_a_number_has_one_form(desk, share):
    assert personal(desk(), share=share) == personal(desk(), share="0.5")


# Edits of the declarations: whether the question and the measurement change.
EDITS = {
    "another ward": (('["eye", "ear"]', '["eye", "ear", "nose"]'), True, True),
    "another step of budgets": (("step = 0.1, missing", "step = 0.05, missing"), True, True),
    "another meaning of no budget": ((", missing = 0", ", missing = 0.1"), True, True),
    "another unit": (('unit = "id"', 'unit = "person"'), True, True),
    "more rows of a person": (('unit = "id"', 'unit = "id"\nmax_rows_per_group = 2'), True, True),
    "a version": (('unit = "id"', 'unit = "id"\nversion = "2"'), True, True),
    "an unrelated column": (("max = 250", "max = 300"), False, True),
    "one column fewer": (("height = { min = 0, max = 250 }", ""), False, True),
    "another table": (('budget = "3"', 'budget = "4"'), False, False),
}


@pytest.mark.parametrize("edit", EDITS)
def test_edits_of_the_declarations_change_what_they_should(desk, edit):
    change, question, measurement = EDITS[edit]
    before, after = personal(desk()), personal(desk(change))
    assert (before.question != after.question, before.measurement != after.measurement) == (question, measurement)


def test_the_roster_is_part_of_both(desk):
    before, after = personal(desk()), personal(desk(levels=(*LEVELS, "0.5")))
    assert before.question != after.question
    assert before.measurement != after.measurement


def test_where_a_threshold_lies_is_not_part_of_the_measurement(desk):
    five, six = (personal(desk(), DECISION.replace("5", number)) for number in "56")
    assert five.question != six.question
    assert five.measurement == six.measurement


CHOICES = {"rows": 4_000, "thresholds": "fixed", "depth": 4, "histogram": "hb"}
PRICES = {"epsilon": {"epsilon": "0.6"}, "auc_error": {"epsilon": None, "auc_error": "0.1"}}
COLUMNS = {"table", "label", "score", "actual", "fitted"}


def test_every_choice_of_a_diagnostic_is_part_of_it(desk):
    assert set(CHOICES) == DiagnosisOptions.__annotations__.keys() - PRICES.keys() - COLUMNS
    plain = diagnosis(desk())
    for name, value in CHOICES.items():
        other = diagnosis(desk(), **{name: value})
        assert plain.question != other.question, name
        assert plain.measurement != other.measurement, name


def test_so_is_every_way_to_name_the_price(desk):
    plain = diagnosis(desk(), rows=400)
    for name, price in PRICES.items():
        assert plain.question != diagnosis(desk(), rows=400, **price).question, name
    assert diagnosis(desk(), epsilon=Fraction(1, 2)) == diagnosis(desk(), epsilon="0.50")


def test_a_usual_choice_that_is_written_out_measures_the_same(desk):
    written = diagnosis(desk(), thresholds="medians", histogram="laplace")
    assert written.measurement == diagnosis(desk()).measurement
    assert written.question != diagnosis(desk()).question


DIAGNOSIS_EDITS = {
    "the budget": (('budget = "3"', 'budget = "9"'), False),
    "the limit of a question": (('question = "2"', 'question = "1"'), False),
    "the guess of the largest group": (("count_range = 500", "count_range = 600"), False),
    "an unrelated column": (("max = 9", "max = 8"), False),
    "the score's step": (("step = 0.01", "step = 0.02"), True),
    "a version": (('budget = "3"', 'budget = "3"\nversion = "1"'), True),
}


@pytest.mark.parametrize("edit", DIAGNOSIS_EDITS)
def test_only_what_a_diagnostic_reads_is_part_of_it(desk, edit):
    change, question = DIAGNOSIS_EDITS[edit]
    before, after = diagnosis(desk()), diagnosis(desk(change))
    assert (before.question != after.question) == question
    assert (before.measurement != after.measurement) == question, "without a unit, rows are read one by one"


def test_plans_have_what_the_ledger_keeps(desk):
    count = personal_question(COUNT, {}).plan(desk())
    decision = personal_question(DECISION, {}).plan(desk())
    picture = DiagnosisAsk("roc", ROC).plan(desk())
    assert (count.family, decision.family, picture.family) == ("personal count", "personal decision", "diagnosis")
    assert (count.account, picture.account) == ("personal:patients", "loans")
    assert (count.subject.unit, picture.subject.unit) == ("id", None)
    assert count.subject.kind != picture.subject.kind
    for plan in (count, decision, picture):
        assert plan == replace(plan), "everything is a field"
        assert not plan.shows_levels


@pytest.mark.parametrize(
    ("sql", "options", "kind", "field", "words"),
    [
        (COUNT, {"miss_rate": "0.1"}, personal_question, "miss_rate", "does not apply to a personal count"),
        (DECISION, {"confidence": "0.9"}, personal_question, "confidence", "does not apply to a personal decision"),
        (COUNT, {"shar": "0.1"}, personal_question, "shar", "Did you mean share"),
        (COUNT, {"key": "k"}, personal_question, "key", "does not apply"),
        (COUNT, {}, must_decide, "sql", "a decision needs HAVING"),
        (DECISION, {}, personal_count, "sql", "a count has no HAVING"),
        (
            DECISION.replace("patients", "loans").replace("ward", "other"),
            {},
            personal_question,
            "personal",
            "one budget for all its people",
        ),
        (
            DECISION.replace("SELECT", "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(miss_rate=0.1)"),
            {"miss_rate": "0.1"},
            personal_question,
            "miss_rate",
            "says 0.1 already",
        ),
    ],
)
def test_personal_questions_are_refused_by_the_field(desk, sql, options, kind, field, words):
    with pytest.raises(ArgumentError, match=words) as refused:
        kind(sql, options).plan(desk())
    assert refused.value.field == field


def test_options_may_stand_in_the_text(desk):
    sql = DECISION.replace("SELECT", "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(miss_rate=0.1, key='k')")
    plan = personal_question(sql, {}).plan(desk())
    assert plan.guarantee.miss_rate == Fraction(1, 10)
    assert plan.written_key == "k"
    assert plan.identity.question == personal(desk(), DECISION, miss_rate="0.10").question


def test_a_share_needs_personal(desk):
    with pytest.raises(ArgumentError, match="personal=True") as refused:
        personal_decision(DECISION, {}, "0.1", personal=False)
    assert refused.value.field == "share"
    assert personal_decision(DECISION, {}, "0.1", personal=True).plan(desk()).read.share == Epsilon("0.1")
    with pytest.raises(ArgumentError, match="does not apply to a personal decision"):
        personal_decision(DECISION, {"mechanism": "tslm"}, None, personal=True).plan(desk())


@pytest.mark.parametrize(
    ("options", "field", "words"),
    [
        ({"table": "loans", "lable": "bad"}, "lable", "Did you mean label"),
        ({"table": "loans", "mechanism": "tslm"}, "mechanism", "does not apply to a diagnostic"),
        ({}, "table", "the name of a declared table"),
        ({"table": "nowhere"}, "table", "no such table is declared"),
        ({"table": "patients"}, "table", "a budget of their own"),
    ],
)
def test_a_diagnostic_is_refused_by_the_field(desk, options, field, words):
    with pytest.raises(ArgumentError, match=words) as refused:
        DiagnosisAsk("roc", options).plan(desk())
    assert refused.value.field == field


# The columns of a diagnostic, and another one for each; the table is one of them.
NAMED = {
    "table": ("roc", "more_loans"),
    "label": ("roc", "other_bad"),
    "score": ("roc", "bad"),
    "actual": ("residuals", "bad"),
    "fitted": ("residuals", "risk"),
}
OF_KIND = {"roc": ROC, "residuals": {"table": "loans", "actual": "other", "fitted": "bad", "epsilon": 1}}


def test_so_is_what_it_is_about(desk):
    assert set(NAMED) == {*COLUMNS, "table"}
    found = desk(("other = {", "other_bad = { min = 0, max = 1 }\nother = {"))
    loans = found.declared.tables["loans"]
    more = replace(found.declared, tables={"loans": loans, "more_loans": replace(loans, name="more_loans")})
    for name, (kind, value) in NAMED.items():
        one, other = (
            DiagnosisAsk(kind, options).plan(replace(found, declared=more)).identity
            for options in (OF_KIND[kind], {**OF_KIND[kind], name: value})
        )
        assert one.question != other.question, name
        assert one.measurement != other.measurement, name


def test_a_diagnostic_of_people_knows_the_public_values_of_all_columns(desk):
    """Each person's row is chosen by all columns, and a column without its values could not be read."""
    edit = ('[tables.loans]\nbudget = "3"', '[tables.loans]\nunit = "id"\nbudget = "3"')
    named = ("other = {", 'city = { public_table = "roster", column = "eps" }\nother = {')
    with pytest.raises(DeclarationError, match="and each value once"):
        diagnosis(desk(edit, named))
    one, other = (
        diagnosis(replace(desk(edit, named), public={"roster": PublicTable("roster", {"eps": names})}))
        for names in (("a", "b"), ("a", "c"))
    )
    assert one.question == other.question
    assert one.measurement != other.measurement
