"""Questions mean what the SQL means: real DuckDB answers the text, plain Python answers our tree, and they agree."""

import re
from datetime import date, datetime
from fractions import Fraction

import duckdb
import pytest
from sql.asking import Asker
from sql.clinic import DECLARATIONS, PUBLIC
from sql.evaluation import answer
from hypothesis import given, settings
from hypothesis import strategies as st

from thresher.errors import QuestionError
from thresher.sql import ask

# Texts that say more than may be asked: what was settled without data, and a list of thresholds.
SETTLED = re.compile(r"(WHERE|HAVING) (TRUE|FALSE)|[<>]= \(")

rows = st.lists(
    st.fixed_dictionaries(
        {
            "patient_id": st.integers(1, 4),
            "disease": st.sampled_from(["flu", "flu", "measles", "gout", "zz", None]),
            "ward": st.sampled_from([1, 2, 2, 3, 9, None]),
            "age": st.sampled_from([None, 0, 1, 2, 17, 18, 64, 65, 110]),
            # On the grid of cents, and exact as doubles.
            "amount": st.sampled_from([None, *(Fraction(n, 4) for n in (-200, -14, -1, 0, 1, 2, 7, 199))]),
            "score": st.sampled_from([None, Fraction(0), Fraction(1, 2), Fraction(3), Fraction(19, 2)]),
            "smoker": st.sampled_from([None, True, False]),
            "admitted": st.sampled_from([None, date(2024, 1, 1), date(2024, 2, 29), date(2024, 12, 31)]),
            "seen": st.sampled_from([None, datetime(2024, 1, 1), datetime(2024, 1, 2, 5), datetime(2024, 1, 3, 23)]),
            "gender": st.sampled_from([None, "f", "m", "it's"]),
            "zip": st.sampled_from([None, "zz", "it's"]),
            "select": st.sampled_from([None, "x", "a; drop"]),
        }
    ),
    max_size=12,
)
TYPES = {
    "patient_id": "INTEGER",
    "disease": "VARCHAR",
    "ward": "INTEGER",
    "age": "INTEGER",
    "amount": "DOUBLE",
    "score": "DOUBLE",
    "smoker": "BOOLEAN",
    "admitted": "DATE",
    "seen": "TIMESTAMP",
    "gender": "VARCHAR",
    "zip": "VARCHAR",
    "select": "VARCHAR",
}


@pytest.fixture(scope="module")
def connection():
    found = duckdb.connect()
    found.execute("CREATE TABLE patients (" + ", ".join(f'"{name}" {kind}' for name, kind in TYPES.items()) + ")")
    found.execute("CREATE TABLE diseases (name VARCHAR, kind VARCHAR, severity INTEGER, notifiable BOOLEAN)")
    found.execute(
        "INSERT INTO diseases VALUES ('flu','viral',2,FALSE), ('measles','viral',3,TRUE), ('gout',NULL,1,NULL)"
    )
    yield found
    found.close()


def literal(value) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, date | datetime):
        return f"'{value}'"
    if isinstance(value, Fraction):
        return str(float(value))
    return repr(value) if not isinstance(value, str) else "'" + value.replace("'", "''") + "'"


def load(connection, rows) -> None:
    """Stores the rows as the declarations see them: a score that is missing is 0."""
    connection.execute("DELETE FROM patients")
    if rows:
        lines = [
            "(" + ", ".join(literal(row[name] if name != "score" else row[name] or 0) for name in TYPES) + ")"
            for row in rows
        ]
        connection.execute("INSERT INTO patients VALUES " + ", ".join(lines))


def check(connection, rows, *, keys, where, having, public) -> None:
    source = "patients p" + (" JOIN diseases AS d ON d.name = p.disease" if public else "")
    text, duck = (f"SELECT {keys} FROM {source} WHERE {where} GROUP BY {keys} HAVING {form}" for form in having)
    try:
        question = ask(text, DECLARATIONS, PUBLIC)
    except QuestionError as error:
        # FILTER may leave no row to count, and a threshold for each group then has nothing to be compared with.
        assert public, error
        assert "Nothing is left" in error.message, error
        return
    load(connection, rows)
    found = answer(question, rows)
    if public:  # databases want every column outside of an aggregate to be a key
        duck = duck.replace(f"GROUP BY {keys}", f"GROUP BY {keys}, d.severity")
    told = {tuple(row) for row in connection.execute(duck).fetchall()}
    domains = [set(DECLARATIONS_CODES[column.name]) for column in question.keys]
    declared = {group for group in told if all(code in domain for code, domain in zip(group, domains, strict=True))}
    assert declared == {group for group, (decided, filled) in found.items() if decided and filled}, question.text
    if not public:
        empty = f"SELECT 1 FROM (SELECT * FROM {source} WHERE FALSE) AS p HAVING {having[1]}"
        expected = bool(connection.execute(empty).fetchall())
        assert all(decided == expected for decided, filled in found.values() if not filled), question.text
    if not SETTLED.search(question.text):
        again = ask(question.text, DECLARATIONS, PUBLIC)
        assert (again.text, again.where, again.formula) == (question.text, question.where, question.formula)


DECLARATIONS_CODES = {"disease": ["flu", "measles", "gout"], "ward": [1, 2, 3], "gender": ["f", "m"], "smoker": [0, 1]}


@settings(max_examples=400)
@given(
    random=st.randoms(use_true_random=False), rows=rows, keys=st.sampled_from(["disease", "ward, gender", "p.smoker"])
)
def test_a_question_means_what_duckdb_says(connection, random, rows, keys):
    asker = Asker(random)
    check(connection, rows, keys=keys, where=asker.condition(), having=asker.having(), public=False)


@settings(max_examples=300)
@given(random=st.randoms(use_true_random=False), rows=rows, keys=st.sampled_from(["disease", "p.disease, gender"]))
def test_joins_to_public_tables_mean_what_duckdb_says(connection, random, rows, keys):
    asker = Asker(random, public=True)
    check(connection, rows, keys=keys, where=asker.condition(), having=asker.having(), public=True)
