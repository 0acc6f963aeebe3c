"""Questions mean what the SQL means: real DuckDB answers the text, plain Python answers our tree, and they agree."""

import re
from datetime import date, datetime
from fractions import Fraction
from random import Random

import duckdb
import pytest
from sql.declared_clinic import DECLARATIONS, PUBLIC, ask
from sql.random_questions import Asker
from sql.row_by_row import answer

from thresher.errors import QuestionError
from thresher.question import Question

# Texts that say more than may be asked: what was settled without data, and a list of thresholds.
SETTLED = re.compile(r"(WHERE|HAVING) (TRUE|FALSE)|[<>]= \(")

VALUES = {
    "patient_id": [1, 2, 3, 4],
    "disease": ["flu", "flu", "measles", "gout", "zz", None],
    "ward": [1, 2, 2, 3, 9, None],
    "age": [None, None, 0, 1, 2, 17, 18, 64, 65, 110],
    # On the grid of cents, and exact as doubles.
    "amount": [None, *(Fraction(n, 4) for n in (-200, -14, -1, 0, 1, 2, 7, 199))],
    "score": [None, Fraction(0), Fraction(1, 2), Fraction(3), Fraction(19, 2)],
    "smoker": [None, True, False],
    "admitted": [None, date(2024, 1, 1), date(2024, 2, 29), date(2024, 12, 31)],
    "seen": [None, datetime(2024, 1, 1), datetime(2024, 1, 2, 5), datetime(2024, 1, 3, 23)],
    "gender": [None, "f", "m", "it's"],
    "zip": [None, "zz", "it's"],
    "select": [None, "x", "a; drop"],
}
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


def asked(text: str) -> Question | None:
    """The question, or None where a threshold for each group has nothing to be compared with: FILTER left no row."""
    try:
        return ask(text, DECLARATIONS, PUBLIC)
    except QuestionError as error:
        if "Nothing is left" in error.message:
            return None
        raise


def check(connection, rows, *, keys, where, having, public) -> None:
    source = "patients p" + (" JOIN diseases AS d ON d.name = p.disease" if public else "")
    text, duck = (f"SELECT {keys} FROM {source} WHERE {where} GROUP BY {keys} HAVING {form}" for form in having)
    question = asked(text)
    if question is None:
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


def draw_rows(chance: Random) -> list[dict[str, object]]:
    count = chance.choice([0, 1, 2, 4, 8, 16, 30])
    return [{name: chance.choice(values) for name, values in VALUES.items()} for _ in range(count)]


def where_of(asker: Asker) -> str:
    """Often a condition that leaves all rows: HAVING has more to say of larger groups."""
    return asker.condition() if asker.random.random() < 0.6 else "p.age IS NULL OR p.age IS NOT NULL"


def test_a_question_means_what_duckdb_says(connection, trials):
    for seed in range(trials(1_000, 20_000)):
        asker = Asker(Random(seed))
        keys = asker.one(["disease", "ward, gender", "p.smoker"])
        where, having = where_of(asker), asker.having()
        check(connection, draw_rows(asker.random), keys=keys, where=where, having=having, public=False)


def test_joins_to_public_tables_mean_what_duckdb_says(connection, trials):
    for seed in range(trials(600, 20_000)):
        asker = Asker(Random(-1 - seed), public=True)
        keys = asker.one(["disease", "p.disease, gender"])
        where, having = where_of(asker), asker.having()
        check(connection, draw_rows(asker.random), keys=keys, where=where, having=having, public=True)
