"""Good questions, cut up and put together at random: out comes a question or a refusal, and nothing else."""

import random
import re
from pathlib import Path

from sql.declared_clinic import DECLARATIONS, PUBLIC, ask
from sql.random_questions import Asker

from thresher.errors import QuestionError
from thresher.question import Question
from thresher.sql import RULES

SEED = 20_261_116
PIECES = re.compile(r"'[^']*'|\"[^\"]*\"|\w+|\s+|[^\w\s]")


def good(chance: random.Random) -> str:
    public = chance.random() < 0.5
    asker = Asker(chance, public=public)
    source = "patients AS p" + (" INNER JOIN diseases d ON p.disease = d.name" if public else "")
    options = "WITH DIFFERENTIAL_PRIVACY OPTIONS(miss_rate=0.05, key='k') " if chance.random() < 0.2 else ""
    return (
        f"SELECT {options}disease, COUNT(*) FROM {source} WHERE {asker.condition()} "
        f"GROUP BY disease HAVING {asker.having()[0]}"
    )


def strange_words() -> list[str]:
    texts = [path.read_text() for path in sorted(Path(__file__).parent.glob("hostile/*.sql"))]
    return sorted({piece for text in texts for piece in PIECES.findall(text) if not piece.isspace()})


def mutated(text: str, other: str, strange: list[str], chance: random.Random) -> str:
    pieces = PIECES.findall(text)
    for _ in range(chance.choice([1, 1, 2, 3, 8])):
        place = chance.randrange(len(pieces))
        kind = chance.randrange(6)
        if kind == 0:
            del pieces[place]
        elif kind == 1:
            pieces.insert(place, pieces[chance.randrange(len(pieces))])
        elif kind == 2:
            pieces[place] = chance.choice(strange)
        elif kind == 3:
            pieces.insert(place, f" {chance.choice(strange)} ")
        elif kind == 4:
            start = chance.randrange(len(other))
            pieces.insert(place, other[start : start + chance.randrange(1, 40)])
        else:
            pieces[place : place + 1] = ["(", pieces[place], ")"]
        pieces = pieces or [" "]
    return "".join(pieces)


def outcome(text: str) -> Question | QuestionError:
    try:
        return ask(text, DECLARATIONS, PUBLIC)
    except QuestionError as error:
        return error


def test_mutated_questions_end_in_a_question_or_a_refusal(trials, measured):
    chance, strange, accepted = random.Random(SEED), strange_words(), 0
    count = trials(3_000, 50_000)
    for _ in range(count):
        text = mutated(good(chance), good(chance), strange, chance)
        found = outcome(text)
        if isinstance(found, Question):
            accepted += 1
        else:
            assert found.rule in RULES, text
            assert len(str(found)) < 500, text
    # The fuzz reaches past the first rules only if some mutants still are questions.
    assert count / 50 < accepted < count / 2
    measured(f"mutated SQL: {count} texts, {accepted} of them still questions, no crash")
