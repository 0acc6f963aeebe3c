"""What is decided for each group: conditions on aggregates, joined by AND and OR.

Everything is in whole numbers. A condition such as `AVG(age) < 5` is `weights . aggregates >= at_least`: `<` turned
round by negative weights, strictness by adding one, fractions by a common denominator, AVG by its linear form
(`sum(x) - c count(x)`). So one sign decides, and NOT never appears.
Reads: nothing. Writes: nothing. Never: a value that came from the protected data.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction

from thresher.question.aggregate import Aggregate


@dataclass(frozen=True, slots=True)
class Atom:
    """Holds in a group if the weighted sum of its aggregates is at least `at_least` there.

    `at_least` is one number, or one for each group in the order of the question's groups. `aggregate` and `text` are
    what was written (`AVG(age)`, `AVG(age) < 5`); one of its units is `steps` of the weighted sum, and for an average
    (`per_row`) that is so for every row of the group. Two atoms are equal if they ask the same, however it is written.
    """

    weights: tuple[tuple[Aggregate, int], ...]
    at_least: int | tuple[int, ...]
    aggregate: str = field(compare=False)
    text: str = field(compare=False)
    steps: Fraction = field(compare=False)
    per_row: bool = field(compare=False, default=False)
    # False if the weights are those of the opposite of `aggregate`, as for `<`.
    upwards: bool = field(compare=False, default=True)
    # False for what was added to say the same as SQL, such as that an average has rows: nobody wished a width for it.
    written: bool = field(compare=False, default=True)


@dataclass(frozen=True, slots=True)
class Every:
    """AND: two parts or more."""

    parts: tuple["Formula", ...]


@dataclass(frozen=True, slots=True)
class Some:
    """OR: two parts or more."""

    parts: tuple["Formula", ...]


Formula = Atom | Every | Some


def atoms_of(formula: Formula) -> Iterator[Atom]:
    """Every atom as often as it is written, from left to right."""
    if isinstance(formula, Atom):
        yield formula
    else:
        for part in formula.parts:
            yield from atoms_of(part)


def negated(formula: Formula) -> Formula:
    """The formula that holds exactly where this one does not: two-valued, what was added for NULLs included."""
    if isinstance(formula, Atom):
        weights = tuple((aggregate, -weight) for aggregate, weight in formula.weights)
        line = formula.at_least
        at_least = tuple(1 - one for one in line) if isinstance(line, tuple) else 1 - line
        return replace(formula, weights=weights, at_least=at_least, upwards=not formula.upwards)
    parts = tuple(negated(part) for part in formula.parts)
    return Some(parts) if isinstance(formula, Every) else Every(parts)
