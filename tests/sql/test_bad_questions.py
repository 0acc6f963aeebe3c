"""The table of bad inputs: what the asker sees, word for word where it matters."""

import re
import time
from dataclasses import replace

import pytest
from sql.declared_clinic import DECLARATIONS, PUBLIC, ask

from thresher.config import Column, Listed
from thresher.errors import QuestionError
from thresher.question import Atom

FROM = "SELECT disease FROM patients"
HAVING = f"{FROM} GROUP BY disease HAVING"
GROUPS = "GROUP BY disease HAVING COUNT(*) > 5"


def refusal(text) -> QuestionError:
    with pytest.raises(QuestionError) as caught:
        ask(text, DECLARATIONS, PUBLIC)
    return caught.value


def question(text):
    return ask(text, DECLARATIONS, PUBLIC)


@pytest.mark.parametrize("text", ["", "   \n\t", "-- only a comment", "/* only */ -- comments\n", ";", " ; ; "])
def test_01_nothing_is_no_query(text):
    assert "No query found" in refusal(text).message


def test_02_one_statement_only():
    error = refusal(f"{HAVING} COUNT(*) > 5;\nDROP TABLE patients")
    assert error.message == "One SELECT only; found 2 statements"
    assert (error.line, error.column) == (2, 1)
    assert question(f"{HAVING} COUNT(*) > 5 ; -- the end\n ;").text == question(f"{HAVING} COUNT(*) > 5").text


@pytest.mark.parametrize("word", ["INSERT", "UPDATE", "COPY", "ATTACH", "SET", "PRAGMA", "CALL", "DO", "EXPLAIN"])
def test_03_only_select(word):
    assert refusal(f"{word} x").message == f"Only SELECT .. GROUP BY .. HAVING is supported; got {word}"


@pytest.mark.parametrize("text", ["SELECT * FROM patients", "SELECT age FROM patients"])
def test_04_rows_are_never_released(text):
    assert refusal(text).message == "Row-level output is never released; add GROUP BY and HAVING"


@pytest.mark.parametrize("text", ["SELECT COUNT(*) FROM patients", "SELECT 2 * AVG(age) FROM patients"])
def test_04_a_number_about_the_whole_table_is_not_called_a_row(text):
    error = refusal(text)
    assert error.message.startswith("A question asks which groups meet a condition; add GROUP BY and HAVING")
    assert error.rule == "row-level-output"


@pytest.mark.parametrize("table", ["read_csv('/etc/passwd')", "'x.parquet'"])
def test_05_files_are_no_tables(table):
    message = "Tables must be declared; file and table functions are not allowed"
    assert refusal(f"SELECT disease FROM {table} {GROUPS}").message == message


@pytest.mark.parametrize("name", ["pg_read_file", "dblink", "lo_import", "getenv", "error", "pg_sleep"])
def test_06_functions_are_on_a_list(name):
    message = refusal(f"{HAVING} {name}('x') > 5").message
    assert message == f"Function `{name.upper()}` is not on the allowed list: AVG, COUNT, SUM"


@pytest.mark.parametrize("name", ["json_execute_serialized_sql", "query", "query_table"])
def test_07_queries_in_functions_are_functions(name):
    assert "is not on the allowed list" in refusal(f"{FROM} WHERE {name}('x') = 1 {GROUPS}").message


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (f"SELECT disease FROM (SELECT * FROM patients) {GROUPS}", "subquery"),
        (f"WITH x AS (SELECT 1) {FROM} {GROUPS}", "CTE"),
        (f"WITH RECURSIVE x AS (SELECT 1) {FROM} {GROUPS}", "CTE"),
        (f"{HAVING} COUNT(*) OVER () > 5", "window"),
        (f"{HAVING} COUNT(*) > 5 UNION SELECT 'x'", "UNION"),
        (f"SELECT disease FROM patients, LATERAL (SELECT 1) {GROUPS}", "LATERAL"),
    ],
)
def test_08_no_queries_in_queries(text, named):
    error = refusal(text)
    assert error.message.startswith(f"Not supported: {named}")
    assert error.column is not None


def test_09_private_tables_are_not_joined():
    error = refusal(f"SELECT disease FROM patients JOIN visits ON ward = building {GROUPS}")
    assert "is not declared public, and only public tables are joined" in error.message


@pytest.mark.parametrize("tail", ["LIMIT 5", "OFFSET 5", "ORDER BY COUNT(*)", "USING SAMPLE 10"])
def test_10_order_is_not_revealed(tail):
    message = " would reveal the exact order or choice of rows; answers come in declared key order"
    assert message in refusal(f"{HAVING} COUNT(*) > 5 {tail}").message
    assert ("HAVING COUNT(*) > 500" in refusal(f"{HAVING} COUNT(*) > 5 {tail}").message) is tail.startswith("LIMIT")
    assert refusal(f"SELECT DISTINCT ON (disease) disease FROM patients {GROUPS}").message.startswith("SELECT DISTINCT")


def test_11_the_missing_part_is_named():
    assert refusal(f"{FROM} HAVING COUNT(*) > 5").message.startswith("HAVING without GROUP BY")
    assert refusal(f"{FROM} GROUP BY disease").message.startswith("GROUP BY without HAVING")


def test_12_keys_need_a_domain():
    assert "Declare the keys of `zip`" in refusal("SELECT zip FROM patients GROUP BY zip HAVING COUNT(*) > 5").message


@pytest.mark.parametrize("test", ["CAST(zip AS INT) = 1", "age / ward = 1", "age % 2 = 1", "zip ~ 'a'", "zip LIKE 'a'"])
def test_13_expressions_cannot_fail(test):
    message = refusal(f"{FROM} WHERE {test} {GROUPS}").message
    assert message.startswith("Expression can fail or leak")
    assert ("WHERE ward IN ('eye', 'stroke')" in message) is ("LIKE" in test)


def test_14_near_misses_are_named_from_the_declarations():
    assert refusal(f"{FROM} WHERE ag > 5 {GROUPS}").message == (
        "No column `ag` is declared in [tables.patients.columns]; did you mean `age`?"
    )
    assert "did you mean `patients`?" in refusal(f"SELECT disease FROM patient {GROUPS}").message
    assert "did you mean" not in refusal(f"{FROM} WHERE completely_else > 5 {GROUPS}").message


def test_14_an_unknown_column_is_told_with_the_place_to_declare_it():
    joined = "SELECT building FROM visits v JOIN buildings b ON building = b.number"
    of_both = f"{joined} GROUP BY building HAVING COUNT(*) > {{}}"
    assert refusal(of_both.format("capacit")).message == (
        "No column `capacit` is declared in [tables.visits.columns], nor is one in `buildings`;"
        " did you mean `capacity`?"
    )
    assert refusal(of_both.format("b.wing")).message == "No column `wing` is in the public table `buildings`"
    assert refusal(f'{FROM} WHERE gender = "f" {GROUPS}').message.endswith("; text takes single quotes: 'f'")
    assert refusal(f'{FROM} WHERE zip = "zap" {GROUPS}').message.endswith(
        "; did you mean `zip`? Text takes single quotes: 'zap'"
    )


@pytest.mark.parametrize(
    ("test", "message"),
    [
        ("gender = 'F'", "'F' is not a declared value of `gender`; did you mean 'f'?"),
        ("gender <> ' m '", "' m ' is not a declared value of `gender`; did you mean 'm'?"),
        ("disease IN ('flu', 'measels')", "'measels' is not a declared value of `disease`; did you mean 'measles'?"),
        ("disease NOT IN ('zz')", "'zz' is not a declared value of `disease`; declared: 'flu', 'measles', 'gout'"),
        ("ward = 77", "77 is not a declared value of `ward`; declared: 1, 2, 3"),
        ("NOT ward = 1.5", "1.5 is not a declared value of `ward`; declared: 1, 2, 3"),
        ("d.kind = 'Viral'", "'Viral' is not a declared value of `diseases.kind`; did you mean 'viral'?"),
        ("d.name IN ('flu', 'gouty')", "'gouty' is not a declared value of `diseases.name`; did you mean 'gout'?"),
    ],
)
@pytest.mark.parametrize(
    "place", ["WHERE {} GROUP BY gender HAVING COUNT(*)", "GROUP BY gender HAVING COUNT(*) FILTER (WHERE {})"]
)
def test_14_values_outside_of_the_public_list_are_refused(test, message, place):
    error = refusal(f"SELECT gender FROM patients JOIN diseases d ON disease = d.name {place.format(test)} > 5")
    assert (error.rule, error.message) == ("known-values", message)


def test_14_a_misspelt_value_of_a_long_list_is_refused_quickly():
    visits = DECLARATIONS.tables["visits"]
    floor = Column("Floor", Listed(tuple(f"f{n}" for n in range(200_000))))
    declared = replace(DECLARATIONS, tables={"visits": replace(visits, columns={**visits.columns, "Floor": floor})})
    asked, grouped = "SELECT building FROM visits", "GROUP BY building HAVING COUNT(*) > 5"
    values = ", ".join(f"'f{n}'" for n in range(400))
    started = time.perf_counter()
    for value, said in (("F77", "did you mean 'f77'?"), ("zz", "declared: 'f0', 'f1', 'f2', 'f3', 'f4' ...")):
        with pytest.raises(QuestionError) as caught:
            ask(f"{asked} WHERE floor IN ({values}, '{value}') {grouped}", declared, PUBLIC)
        assert caught.value.message.endswith(said)
    assert time.perf_counter() - started < 2


@pytest.mark.parametrize(
    ("test", "message"),
    [
        ("age > '65'", "`age` is compared with a number only, not with '65'; write 65 without quotes"),
        ("ward IN ('1')", "`ward` is compared with a number only, not with '1'; write 1 without quotes"),
        ("age > 'old'", "`age` is compared with a number only, not with 'old'"),
        ("zip = 1010", "`zip` is compared with text such as 'a' only, not with 1010; write '1010' with quotes"),
        ("smoker = 'yes'", "`smoker` is compared with TRUE or FALSE only, not with 'yes'"),
        (
            "seen = '2024-01-02'",
            "`2024-01-02` is a day, and `seen` holds hours; write seen >= '2024-01-02' AND seen < '2024-01-03'",
        ),
        (
            "seen NOT IN (DATE '2024-01-31')",
            "`2024-01-31` is a day, and `seen` holds hours; write seen >= '2024-01-31' AND seen < '2024-02-01'",
        ),
    ],
)
def test_14_a_value_of_another_kind_is_named_with_the_fix(test, message):
    error = refusal(f"{FROM} WHERE {test} {GROUPS}")
    assert (error.rule, error.message) == ("comparable-values", message)


def test_14_a_threshold_in_quotes_is_named_with_the_fix():
    assert refusal(f"{HAVING} COUNT(*) > '500'").message == (
        "Thresholds must be numbers or columns of joined public tables, and '500' is text; write 500 without quotes"
    )


@pytest.mark.parametrize("text", [f"{HAVING} COUNT(*) > 5 AND", f"{FROM} WHERE age > 5 AND {GROUPS}"])
def test_14_what_cannot_be_read_is_told_where_to_look(text):
    message = refusal(text).message
    assert re.search("near `(AND|GROUP BY)`: a part is missing or too many", message)
    assert message.endswith("compare it with the examples in docs/questions.md")


def test_15_a_hidden_table_looks_like_none():
    hidden = ask_without_visits(f"SELECT building FROM visits {GROUPS}")
    unknown = ask_without_visits(f"SELECT building FROM vasuts {GROUPS}")
    assert str(hidden).replace("visits", "vasuts") == str(unknown)


def ask_without_visits(text: str) -> QuestionError:
    seen = replace(DECLARATIONS, tables={"patients": DECLARATIONS.tables["patients"]})
    with pytest.raises(QuestionError) as caught:
        ask(text, seen, PUBLIC)
    return caught.value


def test_16_always_false():
    found = question(f"{HAVING} count(*) > 100 AND count(*) < 50")
    assert found.formula is False
    assert "Always false; nothing was run or charged" in found.notes


def test_17_always_true():
    found = question(f"{HAVING} count(*) > 10 OR count(*) <= 10")
    assert found.formula is True
    assert "Always true; no data needed" in found.notes


@pytest.mark.parametrize("sign", ["=", "<>"])
def test_18_equality_is_no_threshold(sign):
    assert refusal(f"{HAVING} count(*) {sign} 100").message == (
        "Noise would always miss an equality of aggregates; compare with > or <"
    )


@pytest.mark.parametrize("both", ["count(*) > 5 AND count(*) > 5", "count(*) > 5 AND count(*) >= 6"])
def test_19_the_same_twice_counts_once(both):
    found = question(f"{HAVING} {both}")
    assert isinstance(found.formula, Atom)
    assert any("counted once" in note for note in found.notes)


def test_20_too_many_conditions():
    many = " AND ".join(f"COUNT(*) > {n}" for n in range(100))
    assert "Too many conditions (100 > 32)" in refusal(f"{HAVING} {many}").message


def test_20_conditions_at_the_limit_are_quick():
    forms = [f"COUNT(*) FILTER (WHERE age > {n})" for n in range(16)]
    many = " AND ".join(f"({form} > 5 OR {form} <= 3)" for form in forms)
    started = time.perf_counter()
    assert not isinstance(question(f"{HAVING} {many}").formula, bool)
    assert time.perf_counter() - started < 2


@pytest.mark.parametrize(
    "text",
    [
        f"{HAVING} {'NOT ' * 1000} COUNT(*) > 5",
        f"{FROM} WHERE {'NOT ' * 1000} age > 5 {GROUPS}",
        f"{HAVING} COUNT(*) > {'- ' * 900} 5",
        f"{HAVING} {'(' * 10_000}COUNT(*) > 5{')' * 10_000}",
        f"{HAVING} {'(' * 900}COUNT(*) > 5{')' * 900}",
        f"{FROM} WHERE {'(' * 900}age > 5{')' * 900} {GROUPS}",
        f"{HAVING} {'NOT (' * 500}COUNT(*) > 5{')' * 500}",
        f"{HAVING} COUNT(*) > 5 --" + "x" * 10**6,
        f"{HAVING} COUNT(*) > {'9' * 10**6}",
        f"{FROM} WHERE zip = '{'é' * 5000}' {GROUPS}",
        f"{FROM} WHERE age IN ({', '.join('1' for _ in range(1500))}) {GROUPS}",
        "(" * 10_000,
        ")" * 4000,
        f"{FROM} WHERE " + "age = NOT " * 300 + f"5 {GROUPS}",
    ],
)
def test_21_length_and_depth_have_limits(text):
    started = time.perf_counter()
    error = refusal(text)
    assert error.rule in ("query-size", "one-select", "readable-sql", "too-many-conditions", "total-expressions")
    assert time.perf_counter() - started < 2


def test_21_long_chains_are_not_deep():
    ors = " OR ".join(f"age = {n}" for n in range(450))
    assert question(f"{FROM} WHERE {ors} {GROUPS}").groups
    sums = " + ".join(["COUNT(*)"] * 300)
    assert question(f"{HAVING} {sums} > 5").formula.weights[0][1] == 1
    assert question(f"{HAVING} COUNT(*) > {' * '.join(['1'] * 600)}").formula.at_least == 2
    deep = f"{HAVING} {'(' * 20}COUNT(*) > 5{')' * 20}".replace("((((((((((C", "(" * 9 + "(C")
    assert refusal(deep).rule == "query-size"
    assert question(f"{HAVING} {'NOT (' * 9}COUNT(*) > 5{')' * 9}").formula.at_least == -5


def test_22_both_directions_on_one_aggregate():
    assert len(question(f"{HAVING} COUNT(*) > 5 AND COUNT(*) < 50").formula.parts) == 2


def test_23_thresholds_are_constants():
    message = refusal(f"{HAVING} COUNT(*) > (SELECT AVG(age) FROM patients)").message
    assert message.startswith("Thresholds must be constants or columns of joined public tables")


def test_24_ranges_by_case_are_refused():
    assert refusal(
        "SELECT CASE WHEN age <= 10 THEN 1 ELSE 2 END FROM patients GROUP BY 1 HAVING COUNT(*) > 5"
    ).rule == ("total-expressions")


@pytest.mark.parametrize("place", [0x00, 0x1B, 0x7F, 0x85, 0xD800, 0xDFFF], ids=hex)
def test_25_control_characters_and_surrogates_are_refused(place):
    character = chr(place)
    error = refusal(f"{FROM} WHERE zip = 'a{character}' {GROUPS}")
    assert error.rule == "readable-text"
    assert (error.line, error.column) == (1, len(f"{FROM} WHERE zip = 'a") + 1)
    assert character not in error.message


# An accented letter in one character and in two, a joiner, an override, a long s, a ligature, a crab.
KEPT = ["\u00e9", "e\u0301", "a\u200db", "\u202ex", "\u017f", "\ufb01", "\U0001f980", "\n", "\t", "\\", "''"]


@pytest.mark.parametrize("value", KEPT, ids=ascii)
def test_25_other_characters_are_kept_as_they_are(value):
    assert question(f"{FROM} WHERE zip = '{value}' {GROUPS}").where.codes == (value.replace("''", "'"),)


def test_26_quoted_names():
    found = question(
        """SELECT "select" FROM patients WHERE "select" = 'a; drop' GROUP BY "select" HAVING COUNT(*) > 5"""
    )
    assert [column.name for column in found.keys] == ["select"]
    assert '"select"' in found.text
    assert refusal(f'{FROM} WHERE "a; drop" = 5 {GROUPS}').message == (
        "No column `a; drop` is declared in [tables.patients.columns]; text takes single quotes: 'a; drop'"
    )


def test_27_sums_need_bounds():
    assert "Declare bounds for `zip`" in refusal(f"{HAVING} AVG(zip) > 5").message


@pytest.mark.parametrize(
    ("text", "nearest"),
    [
        ("MEDIAN(age)", "AVG"),
        ("STDDEV(age)", "AVG"),
        ("MAX(age)", "COUNT(*) FILTER (WHERE x > c) > k"),
        ("MIN(age)", "COUNT(*) FILTER (WHERE x < c) > k"),
        ("COUNT(DISTINCT zip)", "DISTINCT patient_id"),
    ],
)
def test_28_what_is_nearest_is_named(text, nearest):
    assert nearest in refusal(f"{HAVING} {text} > 5").message


@pytest.mark.parametrize("word", ["NaN", "inf", "-Infinity", "'NaN'"])
def test_37_thresholds_are_finite(word):
    assert refusal(f"{HAVING} COUNT(*) > {word}").rule in ("exact-numbers", "constant-thresholds")


@pytest.mark.parametrize(
    ("written", "at_least"),
    [("-0.0", 1), ("0", 1), (str(2**63), 2**63 + 1), (str(2**64), 2**64 + 1), ("1e3", 1001), ("0.1e1", 2), ("2.5", 3)],
)
def test_37_numbers_are_exact(written, at_least):
    assert question(f"{HAVING} COUNT(*) > {written}").formula.at_least == at_least


@pytest.mark.parametrize("text", [None, 5, b"SELECT", ["SELECT"], object()])
def test_only_text_is_read(text):
    assert refusal(text).message.startswith("A question is text")


@pytest.mark.parametrize(
    "text",
    [
        f"{HAVING} COUNT(*) > 5 OPTIONS(miss_rate=0.1)",
        f"{FROM} options (miss_rate=0.1) {GROUPS}",
        f"SELECT WITH DIFFERENTIAL_PRIVACY disease OPTIONS(miss_rate=0.1) FROM patients {GROUPS}",
    ],
)
def test_options_elsewhere_are_shown_their_place(text):
    error = refusal(text)
    assert error.rule == "known-options"
    assert "right after SELECT; write SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(miss_rate=0.05, ...)" in error.message


@pytest.mark.parametrize(
    ("written", "hint"),
    [("show=values", "show='values'"), ("mechanism=ppwlm", "mechanism='ppwlm'"), ("miss_rate", "=0.1")],
)
def test_options_without_quotes_are_shown_theirs(written, hint):
    text = f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS({written}) disease FROM patients {GROUPS}"
    assert refusal(text).message.endswith(hint)
