"""Make people with personal budgets: two laws of budgets, questions of known selectivity, and labels to learn.

Budgets, answers and questions must be the same everywhere, so numpy's generator makes them with fixed seeds. They are
data, not noise: a test checks that no release can reach this file.
Reads: nothing. Writes: nothing. Never: noise.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import NANO
from thresher.personal.roster import Roster

Answers = NDArray[np.bool_]
Features = NDArray[np.float64]
SEED = 7
MADE_UP = "made up"
PEOPLE, LEARNT_PEOPLE, DIMENSIONS = 100_000, 50_000, 14
SELECTIVITIES = (0.5, 0.2, 0.05, 0.01, 0.002)
_EACH = 8
LEAST = 0.01
# Of those with the smallest budget three tenths answer yes; of those with the largest, one.
_FALLING = (0.3, 0.1)
# So steep that the best line errs at 23 of 100 made-up people.
_STEEPNESS = 7.4


@dataclass(frozen=True, slots=True)
class Law:
    """Where budgets come from, and the grid they are floored to: a thousand classes or fewer."""

    name: str
    about: str
    mean: float
    most: float
    grid: Fraction
    draw: Callable[[np.random.Generator, int], NDArray[np.float64]]


def _uniform(generator: np.random.Generator, people: int) -> NDArray[np.float64]:
    return generator.uniform(LEAST, 0.1, people)


def _normal(generator: np.random.Generator, people: int) -> NDArray[np.float64]:
    """Draw budgets, again where they fall outside the range."""
    budgets = np.empty(0)
    while budgets.size < people:
        drawn = generator.normal(0.1, 1.0, 4 * people)
        budgets = np.concatenate([budgets, drawn[(drawn >= LEAST) & (drawn <= 1)]])
    return budgets[:people]


LAWS: Mapping[str, Law] = MappingProxyType(
    {
        "uniform": Law("uniform", "Uniform(0.01, 0.1)", 0.055, 0.1, Fraction(1, 10_000), _uniform),
        "normal": Law("normal", "Normal(0.1, 1) on [0.01, 1]", 0.4727, 1.0, Fraction(1, 1_000), _normal),
    }
)


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """People and the truth: for each yes-or-no question, who answers yes (people by questions)."""

    name: str
    answers: Answers
    about: str = ""

    @property
    def people(self) -> int:
        return len(self.answers)

    @property
    def shares(self) -> NDArray[np.float64]:
        """Of each question: what share of the people answers yes."""
        return np.asarray(self.answers.mean(axis=0))


@dataclass(frozen=True, slots=True, eq=False)
class Labelled:
    """People with features of norm 1 at most and one of two labels, in no order."""

    name: str
    features: Features
    labels: Answers
    about: str = ""


def roster_of(law: Law, people: int, seed: int = SEED) -> Roster:
    """Return budgets that are independent of the answers."""
    return _floored(law, law.draw(np.random.default_rng(seed), people))


def made_up(people: int = PEOPLE, seed: int = SEED) -> Asked:
    """Return people and eight questions of each selectivity, with independent answers."""
    generator = np.random.default_rng((seed, 1))
    shares = np.repeat(SELECTIVITIES, _EACH)
    answers = np.stack([generator.random(people) < share for share in shares], axis=1)
    return Asked(_called(people, PEOPLE), answers, "40 questions, 8 of each selectivity from 0.5 to 0.002")


def correlated(people: int = PEOPLE, seed: int = SEED) -> tuple[Roster, Asked]:
    """Return uniform budgets, and one question that people with larger budgets answer less often with yes."""
    law = LAWS["uniform"]
    generator = np.random.default_rng((seed, 2))
    budgets = law.draw(generator, people)
    chance = np.interp(budgets, (LEAST, law.most), _FALLING)
    answers = (generator.random(people) < chance)[:, None]
    return _floored(law, budgets), Asked("correlated", answers, "P(yes) falls from 0.3 to 0.1 as budgets rise")


def ranges(sizes: tuple[int, ...], questions: int, attributes: int | None, seed: int = SEED) -> list[dict[int, range]]:
    """Return random intervals of the domains 0..size-1, for each attribute or for `attributes` of them at random."""
    generator = np.random.default_rng((seed, 3))
    asked = []
    for _ in range(questions):
        few = attributes is not None and attributes < len(sizes)
        places = generator.choice(len(sizes), attributes, replace=False) if few else np.arange(len(sizes))
        ends = [np.sort(generator.integers(0, sizes[place], 2)).tolist() for place in places]
        asked.append({int(place): range(low, high + 1) for place, (low, high) in zip(places, ends, strict=True)})
    return asked


def in_no_order(people: int, seed: int = SEED) -> NDArray[np.int64]:
    """Return a random order of people, which divides them for learning and for the test."""
    return np.random.default_rng((seed, 4)).permutation(people)


def made_up_labels(people: int = LEARNT_PEOPLE, seed: int = SEED) -> Labelled:
    """Return people of a logistic model: normal features cut to norm 1, and labels that depend on one direction."""
    generator = np.random.default_rng((seed, 5))
    features = generator.normal(size=(people, DIMENSIONS)) / np.sqrt(DIMENSIONS)
    features /= np.maximum(1, np.linalg.norm(features, axis=1, keepdims=True))
    direction = generator.normal(size=DIMENSIONS)
    scores = features @ (direction / np.linalg.norm(direction))
    chance = 1 / (1 + np.exp(-_STEEPNESS * scores))
    labels = generator.random(people) < chance
    return Labelled(_called(people, LEARNT_PEOPLE), features, labels, f"a logistic model of {DIMENSIONS} features")


def _called(people: int, usual: int) -> str:
    """Name a set; only the usual number of people has the name that reference numbers are known for."""
    return MADE_UP if people == usual else f"{MADE_UP}, {people:,}"


def _floored(law: Law, budgets: NDArray[np.float64]) -> Roster:
    """Round budgets down to steps of the grid, as `Roster.of` does, but without a fraction for each person."""
    steps, classes = np.unique(np.floor(budgets / float(law.grid)).astype(np.int64), return_inverse=True)
    return Roster(steps * int(law.grid * NANO), classes.astype(np.int64))
